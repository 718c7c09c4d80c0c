/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives between machines. What concerns near nodes only is transport shm's. A
 * transfer to one far node is one active message to the process that has made its heap
 * (ucx_send.c), carried out when it arrives, in the order of its sender's messages to
 * that process (ucx_stream.c). What concerns several nodes of which some are far is
 * asked of the sequencer (ucx_group.c).
 *
 * One order. Every effect on a node's memory is made under its lock of transport shm,
 * by whoever makes it, so that the argument of libbcs/fabric/transport/shm/shm.c holds,
 * if the calls of each handle take effect in their order. They do: a handle's messages
 * to one process are numbered; before it turns to another process, or to a near node,
 * it asks whether all that it has sent has taken effect, and is busy until the answer
 * comes. So a handle that stays with one node never waits, and one that changes pays a
 * round trip; unless it orders by node (bcs_core_order_by_node): then it only waits
 * before and behind what concerns several nodes.
 *
 * Local events come with an answer, after the data are there; so do errors.
 */
#include "libbcs/fabric/transport/ucx/ucx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/patience.h"
#include "libbcs/fabric/base/system.h"
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/ucx/ucx_memory.h"
#include "libbcs/fabric/transport/ucx/ucx_send.h"
#include "libbcs/fabric/transport/ucx/ucx_worker.h"

enum { SEQUENCER = 0, NAP_NS = 50000, COPIED_BYTES = 64 << 10 };

/* A round trip over TCP takes 20 us. */
static const struct bcs_patience patience = {
    .n_first = 64,
    .n_a_halt = 1,
    .n_yields = 64,
};

_Static_assert(offsetof(struct ucx_handle, base) == 0, "cast from bcs_transport");

static struct ucx_handle *ucx_of(struct bcs_transport *transport)
{
    return (struct ucx_handle *)transport;
}

static int ucx_open(struct bcs_memory *memory, uint32_t node,
                    struct bcs_transport **transport_out)
{
    struct ucx_memory *ucx = (struct ucx_memory *)memory;
    struct ucx_handle *handle = calloc(1, sizeof(*handle));
    int rc;

    if (handle == NULL) {
        bcs_error("transport ucx: out of memory");
        return -ENOMEM;
    }
    rc = bcs_shm_ops.open(ucx->shm, node, &handle->shm);
    if (rc < 0) {
        free(handle);
        return rc;
    }
    handle->base.ops = &bcs_ucx_ops;
    handle->memory = ucx;
    handle->worker = ucx->worker;
    handle->node = node;
    *transport_out = &handle->base;
    return 0;
}

/** Whether all nodes of a set are near. */
static bool is_near(const struct ucx_handle *handle, const struct bcs_node_set *set)
{
    const struct bcs_node_set *near = &handle->memory->base.near;

    if (handle->worker == NULL) {
        return true;
    }
    if (set->marks == NULL) {
        return set->first - near->first < near->n_nodes &&
               set->n_nodes <= near->n_nodes - (set->first - near->first);
    }
    for (uint32_t node = bcs_node_set_step(set, 0); node != BCS_NODE_NONE;
         node = bcs_node_set_step(set, node + 1)) {
        if (!bcs_node_set_has(near, node)) {
            return false;
        }
    }
    return true;
}

/** Take an error that a call before has met. */
static int take_error(struct ucx_handle *handle)
{
    return atomic_exchange_explicit(&handle->late_error, 0, memory_order_relaxed);
}

/** Whether all that went by a lane has taken effect, or never will; if not, have it
 *  answered. */
static bool is_over(struct ucx_handle *handle, const struct ucx_lane *lane)
{
    if (!ucx_fence(handle->worker, lane->peer, lane->number)) {
        return false;
    }
    if (lane->peer->n_known < lane->number) {
        atomic_store_explicit(&handle->late_error, -EOWNERDEAD, memory_order_relaxed);
    }
    return true;
}

/**
 * Turn to a peer, or, as NULL, to near nodes.
 *
 * @param is_behind_all  also behind what went to other nodes, where the handle orders
 *                       by node
 * @return 0; BCS_E_BUSY: what was sent elsewhere may not be there yet; <0: an error met
 *         late
 */
static int turn_to(struct ucx_handle *handle, const struct ucx_peer *peer,
                   bool is_behind_all)
{
    bool must_wait = false;
    uint32_t n_left = 0;

    for (uint32_t i = 0; i < handle->n_lanes; i++) {
        const struct ucx_lane lane = handle->lanes[i];
        bool is_free = lane.peer == peer ||
                       (handle->is_by_node && !is_behind_all && !lane.is_for_several);

        if (lane.peer->n_known >= lane.number || (!is_free && is_over(handle, &lane))) {
            continue;
        }
        must_wait |= !is_free;
        handle->lanes[n_left++] = lane;
    }
    handle->n_lanes = n_left;
    return must_wait ? BCS_E_BUSY : take_error(handle);
}

/** Make room for one more lane. @return 0 or -ENOMEM, logged */
static int lanes_grow(struct ucx_handle *handle)
{
    uint32_t n_most = 2 * handle->n_most_lanes + 2;
    struct ucx_lane *lanes;

    if (handle->n_lanes < handle->n_most_lanes) {
        return 0;
    }
    lanes = realloc(handle->lanes, n_most * sizeof(*lanes));
    if (lanes == NULL) {
        bcs_error("transport ucx: no memory for what goes to %u nodes", n_most);
        return -ENOMEM;
    }
    handle->lanes = lanes;
    handle->n_most_lanes = n_most;
    return 0;
}

/** Something has gone to a peer. */
static void note_sent(struct ucx_handle *handle, struct ucx_peer *peer,
                      bool is_for_several)
{
    struct ucx_lane *lane = handle->lanes;

    while (lane < handle->lanes + handle->n_lanes && lane->peer != peer) {
        lane++;
    }
    if (lane == handle->lanes + handle->n_lanes) {
        handle->n_lanes++;
        lane->is_for_several = false;
    }
    lane->peer = peer;
    lane->number = peer->n_sent;
    lane->is_for_several |= is_for_several;
}

/** Send a record, the handle's last one. */
static int send_as(struct ucx_handle *handle, struct ucx_record *record,
                   struct ucx_peer *peer)
{
    bool is_for_several = record->head.kind == UCX_ASK;
    int rc;

    if (record->local_event_gva != 0 || (is_for_several && record->question == NULL)) {
        record->asker = handle;
    }
    rc = ucx_send(record, peer);
    if (rc == 0) {
        note_sent(handle, peer, is_for_several);
    }
    return rc;
}

/** A transfer to one far node. */
static int send_put(struct ucx_handle *handle, const struct bcs_xfer *xfer)
{
    uint32_t node = bcs_node_set_step(xfer->dests, 0);
    struct ucx_peer *peer = &handle->worker->peers[node];
    struct ucx_record *record;
    int rc = turn_to(handle, peer, false);

    if (rc == 0) {
        rc = lanes_grow(handle);
    }
    if (rc != 0) {
        return rc;
    }
    record = ucx_record_new(handle->worker, UCX_PUT);
    if (record == NULL) {
        return -ENOMEM;
    }
    record->head.node = node;
    record->head.gva = xfer->dest_gva;
    record->head.event_gva = xfer->remote_event_gva;
    record->local_event_gva = xfer->local_event_gva;
    if (xfer->n_bytes > 0 && ucx_record_data(record, xfer->src, xfer->n_bytes,
                                             xfer->n_bytes > COPIED_BYTES) < 0) {
        return -ENOMEM;
    }
    return send_as(handle, record, peer);
}

/** An operation as it goes over the network: its marks and data behind it. @param
 *  data  of a transfer @return allocated; NULL: no memory, logged */
static void *pack(const struct ucx_operation *operation, const struct bcs_node_set *set,
                  const void *data, size_t *n_bytes_out)
{
    size_t n_words = set->marks == NULL ? 0 : bcs_node_words(set->n_nodes);
    size_t n_mark_bytes = n_words * sizeof(operation->marks[0]);
    struct ucx_operation *packed;

    *n_bytes_out = sizeof(*packed) + n_mark_bytes + operation->n_bytes;
    packed = malloc(*n_bytes_out);
    if (packed == NULL) {
        bcs_error("transport ucx: no memory for an operation of several machines");
        return NULL;
    }
    *packed = *operation;
    packed->first = set->first;
    packed->n_nodes = set->n_nodes;
    packed->n_words = (uint32_t)n_words;
    if (n_words > 0) {
        memcpy(packed->marks, set->marks, n_mark_bytes);
    }
    if (operation->n_bytes > 0) {
        memcpy(packed->marks + n_words, data, operation->n_bytes);
    }
    return packed;
}

/** Ask the sequencer for an operation. @param data  of a transfer @param question  who
 *  waits for the answer; NULL: nobody */
static int ask(struct ucx_handle *handle, const struct ucx_operation *operation,
               const struct bcs_node_set *set, const void *data,
               uint64_t local_event_gva, struct ucx_question *question)
{
    size_t n_bytes;
    void *packed = pack(operation, set, data, &n_bytes);
    struct ucx_record *record = NULL;
    int rc = packed == NULL ? -ENOMEM : lanes_grow(handle);

    if (rc == 0) {
        record = ucx_record_new(handle->worker, UCX_ASK);
        rc = record == NULL ? -ENOMEM : ucx_record_data(record, packed, n_bytes, false);
    }
    free(packed);
    if (rc < 0) {
        return rc;
    }
    record->local_event_gva = local_event_gva;
    record->question = question;
    return send_as(handle, record, &handle->worker->peers[SEQUENCER]);
}

static int ask_xfer(struct ucx_handle *handle, const struct bcs_xfer *xfer)
{
    struct ucx_operation operation = {
        .gva = xfer->dest_gva,
        .n_bytes = xfer->n_bytes,
        .event_gva = xfer->remote_event_gva,
    };
    int rc = turn_to(handle, &handle->worker->peers[SEQUENCER], true);

    return rc != 0 ? rc
                   : ask(handle, &operation, xfer->dests, xfer->src,
                         xfer->local_event_gva, NULL);
}

static bool is_one(const struct bcs_node_set *set)
{
    return bcs_node_set_next(set, bcs_node_set_next(set, 0) + 1) == BCS_NODE_NONE;
}

static int ucx_xfer(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    struct ucx_handle *handle = ucx_of(transport);
    struct ucx_worker *worker = handle->worker;
    int rc;

    if (worker == NULL) {
        return bcs_shm_ops.xfer(handle->shm, xfer);
    }
    ucx_worker_lock(worker);
    if (is_near(handle, xfer->dests)) {
        rc = turn_to(handle, NULL, false);
        ucx_worker_unlock(worker);
        return rc != 0 ? rc : bcs_shm_ops.xfer(handle->shm, xfer);
    }
    if (ucx_is_full(worker)) {
        rc = BCS_E_BUSY;
    } else {
        rc = is_one(xfer->dests) ? send_put(handle, xfer) : ask_xfer(handle, xfer);
    }
    ucx_worker_unlock(worker);
    return rc;
}

/** Wait between two looks. */
static void pause_for(struct ucx_handle *handle, struct bcs_spell *spell)
{
    switch (bcs_spell_next(spell, &patience)) {
    case BCS_WAIT_YIELD:
        bcs_yield();
        break;
    case BCS_WAIT_SLEEP:
        ucx_worker_leave(handle->worker);
        bcs_rest(NAP_NS);
        break;
    default:
        break;
    }
    ucx_worker_progress(handle->worker, handle->node, 0, 0);
}

/** Turn to a peer, however long it takes. @return 0 or -errno; the mutex is taken */
static int turn_and_lock(struct ucx_handle *handle, struct ucx_peer *peer)
{
    struct bcs_spell spell = {0};
    int rc;

    for (;;) {
        ucx_worker_lock(handle->worker);
        rc = turn_to(handle, peer, true);
        if (rc != BCS_E_BUSY) {
            return rc;
        }
        ucx_worker_unlock(handle->worker);
        pause_for(handle, &spell);
    }
}

static int ucx_flush(struct bcs_transport *transport)
{
    struct ucx_handle *handle = ucx_of(transport);
    int rc;

    if (handle->worker == NULL) {
        return 0;
    }
    rc = turn_and_lock(handle, NULL);
    ucx_worker_unlock(handle->worker);
    return rc;
}

/** Wait for the answer to a question. */
static int64_t await_answer(struct ucx_handle *handle,
                            const struct ucx_question *question)
{
    struct bcs_spell spell = {0};
    bool is_answered;

    for (;;) {
        ucx_worker_lock(handle->worker);
        is_answered = question->is_answered;
        ucx_worker_unlock(handle->worker);
        if (is_answered) {
            return question->answer;
        }
        pause_for(handle, &spell);
    }
}

static int ucx_compare_and_write(struct bcs_transport *transport,
                                 const struct bcs_comparison *comparison,
                                 bool *is_true_out)
{
    struct ucx_handle *handle = ucx_of(transport);
    struct ucx_operation operation = {
        .variable_gva = comparison->variable_gva,
        .value = comparison->value,
        .write_gva = comparison->write_gva,
        .write_value = comparison->write_value,
        .op = comparison->op,
    };
    struct ucx_question question = {0};
    int64_t answer;
    int rc;

    if (handle->worker == NULL) {
        return bcs_shm_ops.compare_and_write(handle->shm, comparison, is_true_out);
    }
    if (is_near(handle, comparison->dests)) {
        rc = ucx_flush(transport);
        return rc < 0 ? rc
                      : bcs_shm_ops.compare_and_write(handle->shm, comparison,
                                                      is_true_out);
    }
    rc = turn_and_lock(handle, &handle->worker->peers[SEQUENCER]);
    if (rc == 0) {
        rc = ask(handle, &operation, comparison->dests, NULL, 0, &question);
    }
    ucx_worker_unlock(handle->worker);
    if (rc < 0) {
        return rc;
    }
    answer = await_answer(handle, &question);
    *is_true_out = answer > 0;
    return answer < 0 ? (int)answer : 0;
}

static int ucx_progress(struct bcs_transport *transport, uint64_t first_gva,
                        uint64_t n_bytes)
{
    struct ucx_handle *handle = ucx_of(transport);

    if (handle->worker == NULL) {
        return 0;
    }
    ucx_worker_progress(handle->worker, handle->node, first_gva, n_bytes);
    return atomic_load_explicit(&handle->late_error, memory_order_relaxed) == 0
               ? 0
               : take_error(handle);
}

static void ucx_leave(struct bcs_transport *transport)
{
    struct ucx_worker *worker = ucx_of(transport)->worker;

    if (worker != NULL) {
        ucx_worker_leave(worker);
    }
}

static int ucx_wait(struct bcs_transport *transport, struct bcs_event *event,
                    uint64_t seen)
{
    ucx_leave(transport);
    return bcs_shm_ops.wait(ucx_of(transport)->shm, event, seen);
}

static void ucx_close(struct bcs_transport *transport)
{
    struct ucx_handle *handle = ucx_of(transport);

    if (!handle->memory->base.is_taken_away) {
        while (ucx_flush(transport) < 0) { /* logged */
        }
    }
    bcs_shm_ops.close(handle->shm);
    free(handle->lanes);
    free(handle);
}

static void ucx_order_by_node(struct bcs_transport *transport)
{
    ucx_of(transport)->is_by_node = true;
}

const struct bcs_transport_ops bcs_ucx_ops = {
    .delivers = true,
    .copied_bytes = COPIED_BYTES,
    .memory_size = ucx_memory_size,
    .memory_create = ucx_memory_create,
    .memory_address = ucx_memory_address,
    .memory_connect = ucx_memory_connect,
    .memory_seal = ucx_memory_seal,
    .memory_map = ucx_memory_map,
    .memory_fini = ucx_memory_fini,
    .open = ucx_open,
    .close = ucx_close,
    .xfer = ucx_xfer,
    .compare_and_write = ucx_compare_and_write,
    .progress = ucx_progress,
    .leave = ucx_leave,
    .order_by_node = ucx_order_by_node,
    .flush = ucx_flush,
    .wait = ucx_wait,
};
