/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service; see far_service.h. run and what it calls is the thread itself, the last
 * part belongs to the program's thread.
 *
 * To all others of its machine the thread is one more process that gives commands: it
 * calls what they call, and so is atomic with them, and wakes who sleeps. It has views
 * of the own regions, under a lock of its own, which is held for one command at a time.
 * The service waits for nobody: two processes may ask each other at once.
 *
 * Waiting for a word. The service keeps a wait of each process, and looks at its word
 * each time that its bell has rung. It counts the wait in the state of the region as a
 * sleeper, and in n_far. So who changes a word there calls remote_wake, which rings for
 * the service. As a sleeper does, the service has a barrier for all processes between
 * its counting and its look. It tells whether the word was there, or the region closed.
 */
#include "libbcs/channel/far_service.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "libbcs/channel/buffer.h"
#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/region_users.h"
#include "libbcs/fabric/base/barrier.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/system.h"
#include "libbcs/fabric/base/thread_start.h"

/** An own region, as the service has it, after it was taken back, too: until all have
 *  released it they may look at what is there. */
struct view {
    struct bcs_remote remote;
    struct bcs_remote_state inside; /* of it */
    uint64_t serial;                /* 0: never exported */
};

/** What a process of another machine waits for. */
struct far_wait {
    bool is_active;
    uint32_t number;
    uint64_t serial, offset, at_least, id;
};

struct remote_service {
    struct channels *channels;
    struct bcs_bell bell;
    pthread_t id;
    bool is_stopping;     /* atomic */
    pthread_mutex_t lock; /* of the views */
    struct view views[BCS_REGION_NUMBERS];
    uint32_t is_unsettled;  /* of the thread's commands */
    uint64_t *n_served;     /* [size] the last request of each */
    struct far_wait *waits; /* [size] */
};

/* ------------------------------------------------------------------ the thread */

/** The region of an export, as open for this thread. @return false: there is none */
static bool find_region(struct remote_service *service, uint32_t number,
                        uint64_t serial, struct bcs_remote *region_out)
{
    const struct view *view = &service->views[number % BCS_REGION_NUMBERS];

    if (serial == 0 || view->serial != serial) {
        return false;
    }
    *region_out = view->remote;
    region_out->thread = bcs_remote_thread();
    region_out->is_unsettled = &service->is_unsettled;
    return true;
}

static void count_wait(const struct bcs_remote *region, int64_t n)
{
    struct remote_head *head = region->inside->head;

    /* Both pair with the loads of wake_service and bcs_remote_after_change. */
    __atomic_fetch_add(&head->n_far, (uint64_t)n, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&head->state, (uint64_t)n, __ATOMIC_SEQ_CST);
}

static bool is_reached(const struct bcs_remote *region, const struct far_wait *wait)
{
    /* Pairs with all that changes words. */
    return __atomic_load_n(bcs_remote_word(region, wait->offset), __ATOMIC_ACQUIRE) >=
           wait->at_least;
}

static void end_wait(struct remote_service *service, struct far_wait *wait)
{
    struct bcs_remote region;

    if (wait->is_active && find_region(service, wait->number, wait->serial, &region)) {
        count_wait(&region, -1);
    }
    wait->is_active = false;
}

/** Begin a wait, in the place of the last one of that process. @return 0: the word is
 *  there; or BCS_E_PENDING */
static int begin_wait(struct remote_service *service, uint32_t rank,
                      const struct bcs_remote *region,
                      const struct remote_far_request *request)
{
    struct far_wait *wait = &service->waits[rank];

    end_wait(service, wait);
    *wait = (struct far_wait){
        .is_active = true,
        .number = request->number,
        .serial = request->serial,
        .offset = request->offset,
        .at_least = request->n,
        .id = request->extra,
    };
    count_wait(region, 1);
    bcs_barrier_all();
    if (!is_reached(region, wait)) {
        return BCS_E_PENDING;
    }
    end_wait(service, wait);
    return 0;
}

/** A process releases a region: it waits there no more. */
static void release(struct remote_service *service, uint32_t rank,
                    const struct remote_far_request *request)
{
    struct far_wait *wait = &service->waits[rank];
    struct channels *channels = service->channels;

    if (wait->number == request->number && wait->serial == request->serial) {
        end_wait(service, wait);
    }
    region_count_out(channels, channels->rank, request->number);
}

/** Carry out a command in a region. */
static int command(struct remote_service *service, uint32_t rank,
                   const struct remote_far_request *request,
                   struct remote_far_answer *answer)
{
    struct bcs_remote region;

    if (request->op == REMOTE_FAR_RELEASE) {
        release(service, rank, request);
        return 0;
    }
    if (!find_region(service, request->number, request->serial, &region)) {
        return BCS_E_CLOSED;
    }
    switch ((enum remote_far_op)request->op) {
    case REMOTE_FAR_WRITE:
        return channels_call_remote_write(&region, request->offset, request->data,
                                          request->n);
    case REMOTE_FAR_READ:
        return channels_call_remote_read(&region, request->offset, answer->data,
                                         request->n);
    case REMOTE_FAR_SWAP:
        return bcs_remote_compare_swap(&region, request->offset, request->n,
                                       request->extra, &answer->extra);
    case REMOTE_FAR_ACCUMULATE:
        return channels_call_remote_accumulate(
            &region, request->offset,
            &(struct bcs_remote_accumulation){
                .op = (enum bcs_op)(request->extra >> 32),
                .type = (enum bcs_type)(uint32_t)request->extra,
                .operands = request->data,
                .count = request->n,
                .before_out = answer->data,
            });
    case REMOTE_FAR_APPEND:
        return remote_append(&region, request->offset, request->data, request->n,
                             &answer->extra);
    default:
        return begin_wait(service, rank, &region, request);
    }
}

/** Carry out what a process has asked for. */
static int serve(struct remote_service *service, uint32_t rank,
                 const struct remote_far_request *request,
                 struct remote_far_answer *answer)
{
    struct channels *channels = service->channels;
    int rc;

    if (request->op == REMOTE_FAR_IMPORT) {
        return region_count_in(channels, channels->rank, request->number,
                               request->serial)
                   ? 0
                   : BCS_E_PENDING;
    }
    pthread_mutex_lock(&service->lock);
    rc = command(service, rank, request, answer);
    pthread_mutex_unlock(&service->lock);
    return rc;
}

/** Put a block where a process looks for it, and ring. */
static int tell(struct remote_service *service, uint32_t rank, uint64_t gva,
                const void *block, size_t n_bytes)
{
    struct bcs_node_set one = bcs_node_set_one(rank);

    return remote_transfer(service->channels,
                           &(struct bcs_xfer){
                               .src = block,
                               .n_bytes = n_bytes,
                               .dest_gva = gva,
                               .dests = &one,
                               .remote_event_gva = service->channels->layout.bell_gva,
                           });
}

/** Serve a process, if it has asked for something. @return 1: it has; 0, or -errno */
static int serve_one(struct remote_service *service, uint32_t rank)
{
    const struct channel_layout *layout = &service->channels->layout;
    const struct remote_far_request *request =
        (const struct remote_far_request *)bcs_core_address(service->channels->core,
                                                            layout->requests_gva) +
        rank;
    struct remote_far_answer answer = {0};
    int rc;

    /* Pairs with the put of ask in far_command.c. */
    answer.sequence = __atomic_load_n(&request->sequence, __ATOMIC_ACQUIRE);
    if (answer.sequence == service->n_served[rank]) {
        return 0;
    }
    service->n_served[rank] = answer.sequence;
    answer.result = serve(service, rank, request, &answer);
    rc = tell(service, rank, layout->answer_gva, &answer, sizeof(answer));
    return rc < 0 ? rc : 1;
}

/** Look at a wait, and tell if it is over, or the region closed. */
static int look_at_wait(struct remote_service *service, uint32_t rank)
{
    struct far_wait *wait = &service->waits[rank];
    struct bcs_remote region;
    bool is_there, is_over;
    uint64_t word;

    if (!wait->is_active) {
        return 0;
    }
    pthread_mutex_lock(&service->lock);
    is_over = !find_region(service, wait->number, wait->serial, &region);
    is_there = !is_over && is_reached(&region, wait);
    is_over = is_over || is_there || remote_is_closed(&region);
    if (is_over) {
        end_wait(service, wait);
    }
    pthread_mutex_unlock(&service->lock);
    word = wait->id << 1 | is_there;
    return is_over ? tell(service, rank, service->channels->layout.told_gva, &word,
                          sizeof(word))
                   : 0;
}

/** Look at all processes of other machines once. @return how many have asked for
 *  something; or -errno */
static int look_at_all(struct remote_service *service)
{
    struct channels *channels = service->channels;
    int n = 0, rc = 0;

    for (uint32_t i = 0; rc >= 0 && i < channels->size; i++) {
        if (!channels_is_near(channels, i)) {
            rc = serve_one(service, i);
            n += rc > 0;
        }
    }
    for (uint32_t i = 0; rc >= 0 && i < channels->size; i++) {
        rc = look_at_wait(service, i);
    }
    return rc < 0 ? rc : n;
}

static int wait_step(struct remote_service *service, struct bcs_bell_wait *wait)
{
    switch (bcs_bell_step(&service->bell, wait)) {
    case BCS_WAIT_SLEEP:
        return bcs_bell_sleep(&service->bell, wait);
    case BCS_WAIT_YIELD:
        bcs_yield();
        return 0;
    default:
        return 0;
    }
}

static void *run(void *arg)
{
    struct remote_service *service = arg;
    struct bcs_bell_wait wait = {0};
    bool is_stopping = false;
    int rc = 0;

    while (rc >= 0 && !is_stopping) {
        /* Pairs with the store of remote_service_stop. First: what was asked before
         * that is answered. */
        is_stopping = __atomic_load_n(&service->is_stopping, __ATOMIC_ACQUIRE);
        rc = look_at_all(service);
        if (rc > 0) {
            wait = (struct bcs_bell_wait){0};
        } else if (rc == 0 && !is_stopping) {
            rc = wait_step(service, &wait);
        }
    }
    if (rc < 0) {
        bcs_error("the service of remote commands ends, as the primitives have failed; "
                  "other machines get no answers");
    }
    return NULL;
}

/* ------------------------------------------------------------------ the program's
 * thread */

static void service_free(struct remote_service *service)
{
    if (service != NULL) {
        pthread_mutex_destroy(&service->lock);
        free(service->n_served);
        free(service->waits);
        free(service);
    }
}

static struct remote_service *service_new(struct channels *channels,
                                          const struct bcs_bell *bell)
{
    struct remote_service *service = calloc(1, sizeof(*service));

    if (service == NULL) {
        return NULL;
    }
    pthread_mutex_init(&service->lock, NULL);
    service->channels = channels;
    service->bell = *bell;
    service->n_served = calloc(channels->size, sizeof(*service->n_served));
    service->waits = calloc(channels->size, sizeof(*service->waits));
    if (service->n_served == NULL || service->waits == NULL) {
        service_free(service);
        return NULL;
    }
    return service;
}

int remote_service_start(struct channels *channels, const struct bcs_bell *bell)
{
    struct remote_service *service = service_new(channels, bell);
    int rc;

    if (service == NULL) {
        bcs_error("bcs_channels_init: out of memory");
        return -ENOMEM;
    }
    rc = bcs_thread_start(&service->id, "bcs-remote", run, service);
    if (rc < 0) {
        bcs_error("bcs_channels_init: the system makes no thread: error %d", -rc);
        service_free(service);
        return rc;
    }
    channels->remotes.service = service;
    return 0;
}

/** Wake the thread, if it sleeps. */
static void ring(const struct remote_service *service)
{
    /* The event is in the own heap, and was checked when its heap was laid out. */
    (void)bcs_signal_event(service->bell.core, service->bell.gva);
}

void remote_service_stop(struct channels *channels)
{
    struct remote_service *service = channels->remotes.service;

    if (service == NULL) {
        return;
    }
    /* Pairs with the load of run. */
    __atomic_store_n(&service->is_stopping, true, __ATOMIC_RELEASE);
    ring(service);
    pthread_join(service->id, NULL);
    service_free(service);
    channels->remotes.service = NULL;
}

void remote_service_hold(struct channels *channels)
{
    if (channels->remotes.service != NULL) {
        pthread_mutex_lock(&channels->remotes.service->lock);
    }
}

void remote_service_go_on(struct channels *channels)
{
    if (channels->remotes.service != NULL) {
        pthread_mutex_unlock(&channels->remotes.service->lock);
    }
}

void remote_service_open(struct channels *channels, const struct bcs_remote *own,
                         uint64_t serial)
{
    struct remote_service *service = channels->remotes.service;

    if (service != NULL) {
        struct view *view = &service->views[own->number];

        view->remote = *own;
        view->inside = *own->inside;
        view->remote.inside = &view->inside;
        view->serial = serial;
    }
}
