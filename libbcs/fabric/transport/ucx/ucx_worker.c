/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker; see the header.
 *
 * Who progresses. A thread that waits does, by ucx_worker_progress. The worker's own
 * thread sleeps on UCX's descriptor, which it has armed before. When something comes,
 * it looks whether others have progressed since; if so, it rests for REST_MS and leaves
 * it to them, as two that take turns at a lock are slower than one. Whoever stops
 * progressing and sleeps says so by ucx_worker_leave, which ends the rest. Who goes on
 * computing says nothing; the thread then finds out after its rest.
 *
 * No message is left lying. The thread sets is_resting and then polls kick_fd; who
 * leaves makes it readable if it sees is_resting. Both are seq_cst: if the one who
 * leaves does not see it, the thread has not begun its rest, arms next, and UCX refuses
 * to arm while something is there.
 */
#include "libbcs/fabric/transport/ucx/ucx_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/thread_start.h"
#include "libbcs/fabric/transport/ucx/ucx_group.h"
#include "libbcs/fabric/transport/ucx/ucx_send.h"
#include "libbcs/fabric/transport/ucx/ucx_stream.h"

enum { REST_MS = 1 };

static ucs_status_t on_message(void *arg, const void *header, size_t n_header_bytes,
                               void *data, size_t n_bytes,
                               const ucp_am_recv_param_t *param)
{
    struct ucx_worker *worker = arg;
    ucp_ep_h reply = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0
                         ? param->reply_ep
                         : NULL;
    struct ucx_head head;

    if (n_header_bytes != sizeof(head)) {
        bcs_fatal("a message with a head of %zu bytes from another machine; is the "
                  "version the same on all?",
                  n_header_bytes);
    }
    memcpy(&head, header, sizeof(head));
    ucx_arrive(worker, &head, data, n_bytes, reply);
    return UCS_OK;
}

/** Log what UCX refuses. @return -EIO */
static int refused(const struct ucx_worker *worker, const char *what,
                   ucs_status_t status)
{
    bcs_error("the network between machines: UCX refuses %s: %s", what,
              worker->ucp->ucs_status_string(status));
    return -EIO;
}

static int make_context(struct ucx_worker *worker)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
    };
    ucp_config_t *config;
    ucs_status_t status = worker->ucp->ucp_config_read(NULL, NULL, &config);

    if (status != UCS_OK) {
        return refused(worker, "its settings", status);
    }
    status = worker->ucp->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params,
                                           config, &worker->context);
    worker->ucp->ucp_config_release(config);
    return status == UCS_OK ? 0 : refused(worker, "a context", status);
}

static int make_worker(struct ucx_worker *worker)
{
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id = UCX_AM_ID,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = on_message,
        .arg = worker,
    };
    ucs_status_t status =
        worker->ucp->ucp_worker_create(worker->context, &params, &worker->worker);

    if (status != UCS_OK) {
        return refused(worker, "a worker", status);
    }
    status = worker->ucp->ucp_worker_set_am_recv_handler(worker->worker, &handler);
    if (status == UCS_OK) {
        status = worker->ucp->ucp_worker_get_efd(worker->worker, &worker->event_fd);
    }
    return status == UCS_OK ? 0 : refused(worker, "to tell of messages", status);
}

int ucx_worker_new(struct ucx_memory *memory, struct ucx_worker **worker_out)
{
    struct ucx_worker *worker = calloc(1, sizeof(*worker));
    int rc;

    if (worker == NULL) {
        bcs_error("transport ucx: no memory");
        return -ENOMEM;
    }
    *worker_out = worker;
    worker->memory = memory;
    worker->deferred_end = &worker->deferred;
    pthread_mutex_init(&worker->mutex, NULL);
    worker->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->peers = calloc(memory->base.n_nodes, sizeof(*worker->peers));
    if (worker->kick_fd < 0 || worker->peers == NULL ||
        getrandom(&worker->name, sizeof(worker->name), 0) != sizeof(worker->name)) {
        rc = errno == 0 ? -ENOMEM : -errno;
        bcs_error("transport ucx: %s", strerror(-rc));
        return rc;
    }
    rc = ucp_library_load(worker->ucp);
    rc = rc < 0 ? rc : make_context(worker);
    return rc < 0 ? rc : make_worker(worker);
}

int ucx_worker_address(const struct ucx_worker *worker,
                       struct ucx_worker_address *address_out)
{
    ucp_address_t *address;
    size_t n_bytes;
    ucs_status_t status =
        worker->ucp->ucp_worker_get_address(worker->worker, &address, &n_bytes);

    if (status != UCS_OK) {
        return refused(worker, "its address", status);
    }
    if (n_bytes > sizeof(address_out->bytes)) {
        bcs_error(
            "the network between machines: UCX's address has %zu bytes, more than "
            "%zu; name fewer networks in UCX_NET_DEVICES or UCX_TLS",
            n_bytes, sizeof(address_out->bytes));
        worker->ucp->ucp_worker_release_address(worker->worker, address);
        return -E2BIG;
    }
    address_out->n_bytes = (uint32_t)n_bytes;
    memcpy(address_out->bytes, address, n_bytes);
    worker->ucp->ucp_worker_release_address(worker->worker, address);
    return 0;
}

int ucx_worker_learn(struct ucx_worker *worker, uint32_t node,
                     const struct ucx_worker_address *address)
{
    void *copy = malloc(address->n_bytes);

    if (copy == NULL) {
        bcs_error("transport ucx: no memory for the address of node %u", node);
        return -ENOMEM;
    }
    memcpy(copy, address->bytes, address->n_bytes);
    worker->peers[node].address = copy;
    return 0;
}

void ucx_worker_lock(struct ucx_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
}

void ucx_worker_unlock(struct ucx_worker *worker)
{
    ucx_arrive_deferred(worker);
    while (worker->has_death) {
        worker->has_death = false;
        ucx_fail_waiting(worker);
        ucx_group_bury(worker);
        ucx_streams_drain(worker);
        ucx_arrive_deferred(worker);
    }
    pthread_mutex_unlock(&worker->mutex);
}

void ucx_worker_progress(struct ucx_worker *worker, uint32_t node, uint64_t first_gva,
                         uint64_t n_bytes)
{
    atomic_fetch_add_explicit(&worker->n_polls, 1, memory_order_relaxed);
    if (pthread_mutex_trylock(&worker->mutex) == 0) {
        worker->looked_node = node;
        worker->looked_gva = first_gva;
        worker->n_looked_bytes = n_bytes;
        worker->ucp->ucp_worker_progress(worker->worker);
        ucx_arrive_deferred(worker);
        worker->n_looked_bytes = 0;
        ucx_worker_unlock(worker);
    }
}

static void kick(struct ucx_worker *worker)
{
    const uint64_t one = 1;
    ssize_t n_bytes = write(worker->kick_fd, &one, sizeof(one));

    (void)n_bytes; /* if it is full, it is readable */
}

void ucx_worker_leave(struct ucx_worker *worker)
{
    if (atomic_load_explicit(&worker->is_resting, memory_order_seq_cst)) {
        kick(worker);
    }
}

/** Leave progress to others for some time. */
static void rest(struct ucx_worker *worker)
{
    struct pollfd kicked = {.fd = worker->kick_fd, .events = POLLIN};
    uint64_t n_kicks;

    atomic_store_explicit(&worker->is_resting, true, memory_order_seq_cst);
    if (poll(&kicked, 1, REST_MS) > 0) {
        ssize_t n_bytes = read(worker->kick_fd, &n_kicks, sizeof(n_kicks));

        (void)n_bytes;
    }
    atomic_store_explicit(&worker->is_resting, false, memory_order_seq_cst);
}

/** Progress until nothing comes, and arm. @return whether UCX's descriptor will tell
 *  what comes next */
static bool progress_and_arm(struct ucx_worker *worker)
{
    ucs_status_t status;

    ucx_worker_lock(worker);
    while (worker->ucp->ucp_worker_progress(worker->worker) != 0) {
        ucx_arrive_deferred(worker);
    }
    status = worker->ucp->ucp_worker_arm(worker->worker);
    ucx_worker_unlock(worker);
    return status == UCS_OK;
}

static void *thread_main(void *arg)
{
    struct ucx_worker *worker = arg;
    struct pollfd fds[] = {{.fd = worker->event_fd, .events = POLLIN},
                           {.fd = worker->kick_fd, .events = POLLIN}};

    /* relaxed: the kick that follows it makes poll return */
    while (!atomic_load_explicit(&worker->is_ending, memory_order_relaxed)) {
        uint32_t n_polls = atomic_load_explicit(&worker->n_polls, memory_order_relaxed);

        if (!progress_and_arm(worker)) {
            continue;
        }
        poll(fds, 2, -1);
        if (atomic_load_explicit(&worker->n_polls, memory_order_relaxed) != n_polls ||
            fds[1].revents != 0) {
            rest(worker);
        }
    }
    return NULL;
}

int ucx_worker_start(struct ucx_worker *worker)
{
    int rc = bcs_thread_start(&worker->thread, "bcs-network", thread_main, worker);

    if (rc < 0) {
        bcs_error("no thread for the network between machines: %s", strerror(-rc));
        return rc;
    }
    worker->has_thread = true;
    return 0;
}

/** Close an endpoint; what was sent has arrived, or its peer has gone. */
static void close_endpoint(struct ucx_worker *worker, ucp_ep_h endpoint)
{
    const ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t request = worker->ucp->ucp_ep_close_nbx(endpoint, &params);

    while (UCS_PTR_IS_PTR(request) &&
           worker->ucp->ucp_request_check_status(request) == UCS_INPROGRESS) {
        worker->ucp->ucp_worker_progress(worker->worker);
    }
    if (UCS_PTR_IS_PTR(request)) {
        worker->ucp->ucp_request_free(request);
    }
}

void ucx_worker_free(struct ucx_worker *worker)
{
    if (worker == NULL) {
        return;
    }
    if (worker->has_thread) {
        atomic_store_explicit(&worker->is_ending, true, memory_order_relaxed);
        kick(worker);
        pthread_join(worker->thread, NULL);
    }
    if (worker->worker != NULL) {
        while (worker->n_unsent > 0) { /* of peers that have gone it fails */
            worker->ucp->ucp_worker_progress(worker->worker);
        }
        for (uint32_t i = 0; i < worker->memory->base.n_nodes; i++) {
            if (worker->peers[i].endpoint != NULL) {
                close_endpoint(worker, worker->peers[i].endpoint);
            }
        }
        ucx_group_fini(worker);
        worker->ucp->ucp_worker_destroy(worker->worker);
    }
    if (worker->context != NULL) {
        worker->ucp->ucp_cleanup(worker->context);
    }
    ucx_streams_fini(worker);
    if (worker->peers != NULL) {
        ucx_send_fini(worker);
    }
    if (worker->kick_fd > 0) {
        close(worker->kick_fd);
    }
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}
