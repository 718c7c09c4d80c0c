/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending; see the header.
 *
 * A record is free when UCX has sent it and its answer has come, if it wants one. An
 * answer to a numbered message says that this one and all before it to that peer have
 * taken effect, whoever in this process has sent them; so one fence serves all handles.
 */
#include "libbcs/fabric/transport/ucx/ucx_send.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/transport/event_word.h"

bool ucx_is_full(const struct ucx_worker *worker)
{
    return worker->n_unsent >= UCX_MOST_RECORDS;
}

static uint32_t node_of(const struct ucx_worker *worker, const struct ucx_peer *peer)
{
    return (uint32_t)(peer - worker->peers);
}

/** A peer cannot be reached any more. At the end of a job that is as it should be, so
 *  that nobody hears of it yet. */
static void note_death(struct ucx_worker *worker, struct ucx_peer *peer,
                       const char *why)
{
    if (!peer->is_dead) {
        peer->is_dead = true;
        peer->why = why;
        worker->has_death = true;
    }
}

/** Somebody needs a peer that is dead. @return -EOWNERDEAD */
static int tell_death(const struct ucx_worker *worker, struct ucx_peer *peer)
{
    if (!peer->is_told) {
        peer->is_told = true;
        bcs_error("the process of node %" PRIu32 ", on another machine, has gone: %s",
                  node_of(worker, peer), peer->why);
    }
    return -EOWNERDEAD;
}

struct ucx_record *ucx_record_new(struct ucx_worker *worker, enum ucx_kind kind)
{
    struct ucx_record *record = worker->free_records;

    if (record != NULL) {
        worker->free_records = record->next;
    } else {
        record = malloc(sizeof(*record));
    }
    if (record == NULL) {
        bcs_error("transport ucx: no memory for a message");
        return NULL;
    }
    memset(record, 0, offsetof(struct ucx_record, bytes));
    record->worker = worker;
    record->head.kind = kind;
    record->head.sender = worker->name;
    return record;
}

static void record_free(struct ucx_record *record)
{
    free(record->room);
    record->room = NULL;
    record->next = record->worker->free_records;
    record->worker->free_records = record;
}

int ucx_record_data(struct ucx_record *record, const void *data, size_t n_bytes,
                    bool is_lasting)
{
    record->n_bytes = n_bytes;
    record->data = data;
    if (n_bytes <= sizeof(record->bytes)) {
        memcpy(record->bytes, data, n_bytes);
        record->data = record->bytes;
    } else if (!is_lasting) {
        record->room = malloc(n_bytes);
        if (record->room == NULL) {
            bcs_error("transport ucx: no memory for a message of %zu bytes", n_bytes);
            record_free(record);
            return -ENOMEM;
        }
        memcpy(record->room, data, n_bytes);
        record->data = record->room;
    }
    return 0;
}

static void on_failure(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
    struct ucx_worker *worker = arg;

    for (uint32_t i = 0; i < worker->memory->base.n_nodes; i++) {
        if (worker->peers[i].endpoint == endpoint) {
            note_death(worker, &worker->peers[i],
                       worker->ucp->ucs_status_string(status));
        }
    }
}

/** Connect to a peer. @return 0 or -EOWNERDEAD */
static int connect_to(struct ucx_worker *worker, struct ucx_peer *peer)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = peer->address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_failure, .arg = worker},
    };
    ucs_status_t status =
        worker->ucp->ucp_ep_create(worker->worker, &params, &peer->endpoint);

    if (status != UCS_OK) {
        peer->endpoint = NULL;
        note_death(worker, peer, worker->ucp->ucs_status_string(status));
        return -EOWNERDEAD;
    }
    return 0;
}

/** UCX needs a record no more. */
static void sent(struct ucx_record *record)
{
    record->is_sent = true;
    record->worker->n_unsent--;
    if (!record->is_waiting) {
        record_free(record);
    }
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct ucx_record *record = arg;
    struct ucx_worker *worker = record->worker;

    if (status != UCS_OK && record->peer != NULL) {
        note_death(worker, record->peer, worker->ucp->ucs_status_string(status));
    }
    sent(record);
    worker->ucp->ucp_request_free(request);
}

/** Hand a record to UCX. @return UCX's status: UCS_OK also if it is under way */
static ucs_status_t submit(struct ucx_record *record, ucp_ep_h endpoint)
{
    struct ucx_worker *worker = record->worker;
    const ucp_request_param_t params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .flags =
            UCP_AM_SEND_FLAG_EAGER |
            (record->head.token != 0 && record->peer != NULL ? UCP_AM_SEND_FLAG_REPLY
                                                             : 0),
        .cb.send = on_sent,
        .user_data = record,
    };
    bool was_within = worker->is_within;
    ucs_status_ptr_t request;

    worker->n_unsent++;
    worker->is_within = true; /* what goes to this process itself is handed over now */
    request = worker->ucp->ucp_am_send_nbx(endpoint, UCX_AM_ID, &record->head,
                                           sizeof(record->head), record->data,
                                           record->n_bytes, &params);
    worker->is_within = was_within;
    if (request == NULL || UCS_PTR_IS_ERR(request)) {
        sent(record);
    }
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

int ucx_send(struct ucx_record *record, struct ucx_peer *peer)
{
    struct ucx_worker *worker = record->worker;
    ucs_status_t status;

    if (peer->is_dead || (peer->endpoint == NULL && connect_to(worker, peer) < 0)) {
        record_free(record);
        return tell_death(worker, peer);
    }
    record->peer = peer;
    if (record->head.kind < UCX_N_NUMBERED) {
        record->head.number = ++peer->n_sent;
    }
    if (record->asker != NULL || record->head.kind == UCX_FENCE ||
        record->question != NULL) {
        record->head.token = (uint64_t)(uintptr_t)record;
        record->is_waiting = true;
        record->next = worker->waiting_records;
        worker->waiting_records = record;
        peer->n_fenced = record->head.number;
    }
    status = submit(record, peer->endpoint);
    if (status != UCS_OK) {
        note_death(worker, peer, worker->ucp->ucs_status_string(status));
        return tell_death(worker, peer); /* ucx_fail_waiting frees what waits */
    }
    return 0;
}

void ucx_answer(struct ucx_worker *worker, ucp_ep_h reply, const struct ucx_head *asked,
                int64_t result)
{
    struct ucx_record *record = ucx_record_new(worker, UCX_ANSWER);

    if (record != NULL) {
        record->head.token = asked->token;
        record->head.result = result;
        submit(record, reply); /* one that has gone needs no answer */
    }
}

/** What follows from an answer, or from the death of who was to give it. */
static void conclude(struct ucx_record *record, int64_t result)
{
    struct ucx_handle *asker = record->asker;

    if (record->question != NULL) {
        *record->question = (struct ucx_question){true, result};
    } else if (asker != NULL && result < 0) {
        atomic_store_explicit(&asker->late_error, (int)result, memory_order_relaxed);
    } else if (asker != NULL && record->local_event_gva != 0) {
        struct bcs_event *event =
            bcs_memory_at(&asker->memory->base, asker->node, record->local_event_gva);

        bcs_event_signal(event);
        bcs_event_wake(event);
    }
    record->is_waiting = false;
    if (record->is_sent) {
        record_free(record);
    }
}

/** Take a record out of those that wait. @return whether it was there */
static bool take_waiting(struct ucx_worker *worker, const struct ucx_record *record)
{
    struct ucx_record **place = &worker->waiting_records;

    while (*place != NULL && *place != record) {
        place = &(*place)->next;
    }
    if (*place == NULL) {
        return false;
    }
    *place = record->next;
    return true;
}

void ucx_answered(struct ucx_worker *worker, const struct ucx_head *head)
{
    struct ucx_record *record = (struct ucx_record *)(uintptr_t)head->token;
    struct ucx_peer *peer;

    if (!take_waiting(worker, record)) {
        return; /* its peer was taken for dead */
    }
    peer = record->peer;
    if (head->result < 0 && record->head.kind != UCX_ASK) {
        note_death(worker, peer, "its memory is broken");
    } else if (record->head.number > peer->n_known) {
        peer->n_known = record->head.number;
    }
    conclude(record, head->result);
}

void ucx_fail_waiting(struct ucx_worker *worker)
{
    struct ucx_record *all = worker->waiting_records, *next;

    worker->waiting_records = NULL;
    for (struct ucx_record *record = all; record != NULL; record = next) {
        next = record->next;
        if (record->peer->is_dead) {
            if (record->asker != NULL || record->question != NULL) {
                tell_death(worker, record->peer);
            }
            conclude(record, -EOWNERDEAD);
        } else {
            record->next = worker->waiting_records;
            worker->waiting_records = record;
        }
    }
}

bool ucx_fence(struct ucx_worker *worker, struct ucx_peer *peer, uint64_t number)
{
    struct ucx_record *record;

    if (peer->is_dead || peer->n_known >= number) {
        return true;
    }
    if (peer->n_fenced < number) {
        record = ucx_record_new(worker, UCX_FENCE);
        return record != NULL && ucx_send(record, peer) < 0;
    }
    return false;
}

static void free_list(struct ucx_record *first)
{
    struct ucx_record *next;

    for (struct ucx_record *record = first; record != NULL; record = next) {
        next = record->next;
        free(record->room);
        free(record);
    }
}

void ucx_send_fini(struct ucx_worker *worker)
{
    free_list(worker->free_records);
    free_list(worker->waiting_records);
    for (uint32_t i = 0; i < worker->memory->base.n_nodes; i++) {
        free(worker->peers[i].address);
    }
    free(worker->peers);
}
