/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strobe receiver: coordinates the roles of one node. It collects what the local
 * processes have posted and calls each role in its microphase, all five at once on a node
 * that is alone, or one for each microstrobe. Runs under the node's engine lock.
 * [BCS-MPI section 4.2]
 *
 * Timed slices. BEGIN delivers what the last slice has completed; then rounds follow until
 * nothing is pending, on a single node without microstrobes. Ring entries are given back only
 * when the slice is over, which several nodes know at the next BEGIN: so a slice takes a ring
 * of each port at most and ends however fast a process posts.
 */
#include "nic_threads/crew.h"
#include "nic_threads/engine.h"
#include "nic_threads/roles.h"
#include "nic_threads/wire.h"

/** Of this part of a ring, receives need no strobe; more are taken, so that no ring fills with
 *  them. */
enum { PART_WITHOUT_STROBE = 4 };

/** Entry `head` of a ring, or NULL if its owner has not published it. */
static inline const struct bcs_descriptor *ring_entry(const struct bcs_port *port,
                                                      uint32_t ring_mask, uint32_t head)
{
    const struct bcs_descriptor *entry = &port->ring[head & ring_mask];

    /* acquire: pairs with bcs_poster_publish */
    return atomic_load_explicit(&entry->turn, memory_order_acquire) == head + 1 ? entry
                                                                                : NULL;
}

static inline bool port_has_entry(const struct nic_view *view, uint32_t local,
                                  uint32_t head)
{
    return ring_entry(nic_view_port(view, local), view->ring_mask, head) != NULL;
}

/** Sort one descriptor into the batch. */
static void batch_add(struct nic_batch *batch, const struct bcs_descriptor *descriptor,
                      const struct nic_posted *posted)
{
    switch (descriptor->kind) {
    case BCS_SEND:
        batch->sends[batch->n_sends++] = *posted;
        break;
    case BCS_RECEIVE:
    case BCS_CLAIM:
    case BCS_CANCEL: /* of a receive before it, not of a later one with the same cell */
        batch->receives[batch->n_receives++] = *posted;
        break;
    case BCS_PROBE:
        batch->probes[batch->n_probes++] = *posted;
        break;
    default:
        batch->notes[batch->n_notes++] = *posted;
        break;
    }
}

static void collect_port(struct nic_view *view, uint32_t local)
{
    struct nic_node *node = view->node;
    struct nic_batch *batch = &node->batch;
    const struct bcs_port *port = nic_view_port(view, local);
    const struct bcs_descriptor *descriptor;
    uint32_t n_most = nic_view_limits(view)->batch, ring_mask = view->ring_mask;
    uint32_t head = node->heads[local];

    if (node->is_held[local]) {
        __atomic_store_n(&node->is_held[local], false, __ATOMIC_RELAXED);
    }
    while (batch->n_collected < n_most &&
           (descriptor = ring_entry(port, ring_mask, head)) != NULL) {
        struct nic_posted posted = {
            .offset = (uint64_t)((const char *)descriptor - view->engine->base),
            .port = view->first_port + local,
            .item = NIC_ITEM_NONE,
        };
        if (descriptor->kind == BCS_SEND && nic_view_is_full(view)) {
            __atomic_store_n(&node->is_held[local], true, __ATOMIC_RELAXED);
            nic_view_hold(view);
            break; /* the sender waits until receives have made room */
        }
        batch_add(batch, descriptor, &posted);
        batch->n_collected++;
        head++;
    }
    if (head != node->heads[local]) {
        /* relaxed, as all words here that has_pending reads without the lock */
        __atomic_store_n(&node->heads[local], head, __ATOMIC_RELAXED);
        node->touched[local / 64] |= UINT64_C(1) << (local % 64);
    }
}

static bool has_returned(const struct nic_node *node)
{
    /* acquire: pairs with the release in the background thread's give_back */
    return atomic_load_explicit(&node->n_returned, memory_order_acquire) !=
           __atomic_load_n(&node->n_returned_seen, __ATOMIC_RELAXED);
}

/** Queue the transfers whose chunk the background thread has copied, and hand back those that
 *  it may not copy. */
static void take_returned(struct nic_view *view)
{
    struct nic_node *node = view->node;

    while (has_returned(node)) {
        uint64_t n = node->n_returned_seen;
        const struct nic_returned *returned =
            &node->returned[n % nic_view_limits(view)->opened];

        if (returned->item != NIC_ITEM_NONE) {
            nic_schedule_add(&node->schedule, view->items, returned->item);
        } else {
            nic_view_remind(view, returned->port, returned->cell);
        }
        __atomic_store_n(&node->n_returned_seen, n + 1, __ATOMIC_RELAXED);
    }
}

/** DEM: take what the local processes have posted, starting with another one each time. */
static uint32_t collect(struct nic_view *view)
{
    const struct nic_node *node = view->node;
    uint64_t number = nic_is_alone(view->engine) ? node->slice : node->round;
    uint32_t first = (uint32_t)(number % view->n_local);

    take_returned(view);
    for (uint32_t i = first; i < view->n_local; i++) {
        collect_port(view, i);
    }
    for (uint32_t i = 0; i < first; i++) {
        collect_port(view, i);
    }
    return view->node->batch.n_collected;
}

/** Whether the owner has published entry `first` of a ring and all that there is room for
 *  behind it. */
static bool is_full(const struct nic_view *view, const struct bcs_port *port,
                    uint32_t first)
{
    return ring_entry(port, view->ring_mask, first + view->ring_mask) != NULL;
}

/** Give the entries that have been read back to their owner. */
static void release_ring(struct nic_view *view, uint32_t local)
{
    struct bcs_port *port = nic_view_port(view, local);
    /* relaxed: only the engine writes it */
    uint32_t before = atomic_load_explicit(&port->consumed, memory_order_relaxed);

    /* release: pairs with the acquire in bcs_poster_entry */
    atomic_store_explicit(&port->consumed, view->node->heads[local],
                          memory_order_release);
    if (view->engine->is_background) {
        /* Where processes do not run the engine they sleep for want of room. The owner
         * publishes, announces its nap (seq_cst) and looks at consumed: either it sees the
         * store above, or this fence comes later, and its entries are seen. */
        atomic_thread_fence(memory_order_seq_cst);
        if (is_full(view, port, before)) {
            nic_view_touch(view, view->first_port + local);
        }
    }
}

/** End of a slice: give the ring entries back to their owners. */
static void release_rings(struct nic_view *view)
{
    struct nic_node *node = view->node;

    for (uint32_t word = 0; word * 64 < view->n_local; word++) {
        uint64_t bits = node->touched[word];
        node->touched[word] = 0;
        for (; bits != 0; bits &= bits - 1) {
            release_ring(view, word * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

/** End of a round. */
static void empty_batch(struct nic_batch *batch)
{
    batch->n_collected = 0;
    batch->n_sends = 0;
    batch->n_receives = 0;
    batch->n_probes = 0;
    batch->n_notes = 0;
    batch->n_pairs = 0;
    batch->n_plans = 0;
    batch->n_ready = 0;
}

/** Whether a chunk can be scheduled: in this slice if it is timed, else in the next. */
static inline bool schedule_can_go(const struct nic_view *view)
{
    const struct nic_schedule *schedule = &view->node->schedule;

    return (view->engine->is_timed ? nic_schedule_can_go_on(schedule)
                                   : nic_schedule_is_waiting(schedule)) &&
           !__atomic_load_n(&view->node->is_stalled, __ATOMIC_RELAXED);
}

/** Whether a port's sends stay in its ring. What is held does not count while the node is full,
 *  or slice would follow slice without end and without effect. */
static bool is_held_back(const struct nic_view *view, uint32_t local)
{
    return __atomic_load_n(&view->node->is_held[local], __ATOMIC_RELAXED) &&
           nic_view_is_full(view);
}

/** Whether the ring of a port holds anything that can be taken. */
static inline bool port_has_work(const struct nic_view *view, uint32_t local)
{
    return port_has_entry(
               view, local,
               __atomic_load_n(&view->node->heads[local], __ATOMIC_RELAXED)) &&
           !is_held_back(view, local);
}

/** Whether anything can be done but to take what has been posted. */
static inline bool has_more_pending(const struct nic_view *view)
{
    if (schedule_can_go(view) || has_returned(view->node)) {
        return true;
    }
    return view->engine->n_nodes > 1 &&
           (nic_wire_has_work(view) || nic_collective_helper_has_result(view) ||
            __atomic_load_n(&view->node->has_more_ready, __ATOMIC_RELAXED));
}

/** Whether anything can be done. */
static inline bool has_pending(const struct nic_view *view)
{
    for (uint32_t i = 0; i < view->n_local; i++) {
        if (port_has_work(view, i)) {
            return true;
        }
    }
    return has_more_pending(view);
}

/** Whether an entry of a ring has no effect before something else is posted: a receive of
 *  a process for which no message waits. */
static bool can_wait(const struct nic_view *view, uint32_t local,
                     const struct bcs_descriptor *descriptor)
{
    return descriptor->kind == BCS_RECEIVE && (descriptor->flags & BCS_TAKE) == 0 &&
           nic_match_n_sends(&view->node->match[local]) == 0;
}

bool nic_strobe_receiver_needs_strobe(const struct nic_view *view, uint32_t local)
{
    uint32_t head = __atomic_load_n(&view->node->heads[local], __ATOMIC_RELAXED);
    const struct bcs_port *port = nic_view_port(view, local);
    const struct bcs_descriptor *descriptor;
    uint32_t n_most = (view->ring_mask + 1) / PART_WITHOUT_STROBE;
    uint32_t n = 0;

    while (n < n_most &&
           (descriptor = ring_entry(port, view->ring_mask, head + n)) != NULL &&
           can_wait(view, local, descriptor)) {
        n++;
    }
    if (n == 0) {
        return port_has_work(view, local);
    }
    return port_has_entry(view, local, head + n);
}

/** Whether the round that this node needs next has not been demanded yet. */
static bool can_demand(const struct nic_node *node)
{
    return __atomic_load_n(&node->demanded, __ATOMIC_RELAXED) <=
           __atomic_load_n(&node->round, __ATOMIC_RELAXED);
}

static bool has_new_strobe(const struct nic_node *node)
{
    /* acquire: pairs with the put of the microstrobe */
    return __atomic_load_n(&node->strobe, __ATOMIC_ACQUIRE) >
           __atomic_load_n(&node->done, __ATOMIC_RELAXED);
}

bool nic_strobe_receiver_has_work(const struct nic_view *view)
{
    if (nic_is_alone(view->engine)) {
        return has_pending(view);
    }
    return has_new_strobe(view->node) ||
           (view->engine->n_nodes > 1 && can_demand(view->node) && has_pending(view));
}

/** A slice begins. */
static void open_slice(struct nic_view *view)
{
    struct nic_node *node = view->node;

    __atomic_store_n(&node->slice, node->slice + 1, __ATOMIC_RELAXED);
    nic_schedule_open(&node->schedule, view->items);
}

/** All microphases on what has been collected, where no other node takes part. */
static void run_batch(struct nic_view *view)
{
    struct nic_batch *batch = &view->node->batch;

    if (batch->n_notes > 0) {
        nic_crew_run(view, NIC_ROLE_CH, nic_collective_helper_exchange);
    }
    nic_crew_run(view, NIC_ROLE_BR, nic_buffer_receiver_step);
    if (batch->n_pairs + batch->n_notes + batch->n_plans > 0) {
        nic_crew_run(view, NIC_ROLE_DH, nic_dma_helper_step);
    }
    if (batch->n_ready > 0) {
        nic_crew_run(view, NIC_ROLE_CH, nic_collective_helper_step);
        nic_crew_run(view, NIC_ROLE_RH, nic_reduce_helper_step);
    }
    empty_batch(batch);
}

static bool collect_work(struct nic_view *view)
{
    return collect(view) > 0 || schedule_can_go(view);
}

bool nic_strobe_receiver_run_alone(struct nic_view *view)
{
    if (!collect_work(view)) {
        return false;
    }
    open_slice(view);
    run_batch(view);
    release_rings(view);
    return true;
}

/** A timed slice begins; without other nodes it is over when this returns. */
static void begin_slice(struct nic_view *view)
{
    nic_view_deliver(view);
    release_rings(view); /* of a slice that other nodes took part in */
    open_slice(view);
    if (view->engine->n_nodes == 1) {
        while (collect_work(view)) {
            run_batch(view);
        }
        release_rings(view);
    }
}

static bool has_later_work(const struct nic_batch *batch)
{
    return batch->n_pairs + batch->n_plans + batch->n_notes + batch->n_ready > 0;
}

/** Descriptor exchange microphase. */
static void run_exchange(struct nic_view *view)
{
    struct nic_batch *batch = &view->node->batch;

    if (!view->engine->is_timed) {
        open_slice(view);
    }
    nic_wire_flush(view);
    nic_wire_collect(view, true);
    collect(view);
    if (batch->n_sends > 0) {
        nic_crew_run(view, NIC_ROLE_BS, nic_buffer_sender_step);
    }
    if (batch->n_notes > 0) {
        nic_crew_run(view, NIC_ROLE_CH, nic_collective_helper_exchange);
    }
}

/** Message scheduling microphase. */
static void run_scheduling(struct nic_view *view)
{
    struct nic_node *node = view->node;

    nic_wire_collect(view, true);
    nic_crew_run(view, NIC_ROLE_BR, nic_buffer_receiver_step);
    nic_crew_run(view, NIC_ROLE_CH, nic_collective_helper_schedule);
    __atomic_store_n(&node->has_later_work, has_later_work(&node->batch),
                     __ATOMIC_RELEASE);
}

static void end_round(struct nic_view *view)
{
    nic_collective_helper_finish(view);
    nic_wire_release(view);
    if (!view->engine->is_timed) {
        release_rings(view);
    }
    empty_batch(&view->node->batch);
}

static void run_phase(struct nic_view *view, enum nic_phase phase)
{
    const struct nic_batch *batch = &view->node->batch;

    switch (phase) {
    case NIC_PHASE_BEGIN:
        begin_slice(view);
        break;
    case NIC_PHASE_DEM:
        run_exchange(view);
        break;
    case NIC_PHASE_MSM:
        run_scheduling(view);
        break;
    case NIC_PHASE_PM:
        nic_wire_collect(view, false);
        if (batch->n_pairs + batch->n_notes + batch->n_plans > 0) {
            nic_crew_run(view, NIC_ROLE_DH, nic_dma_helper_step);
        }
        break;
    case NIC_PHASE_BBM:
        if (batch->n_ready > 0) {
            nic_crew_run(view, NIC_ROLE_CH, nic_collective_helper_step);
        }
        break;
    case NIC_PHASE_RM:
        if (batch->n_ready > 0) {
            nic_crew_run(view, NIC_ROLE_RH, nic_reduce_helper_step);
        }
        break;
    default:
        end_round(view);
        break;
    }
}

static bool demand(struct nic_view *view)
{
    return view->engine->n_nodes > 1 && can_demand(view->node) && has_pending(view) &&
           nic_strobe_sender_demand(view);
}

bool nic_strobe_receiver_is_idle(const struct nic_view *view)
{
    return !has_pending(view);
}

bool nic_strobe_receiver_is_at_rest(const struct nic_view *view)
{
    uint64_t touched = 0;

    for (uint32_t word = 0; word * 64 < view->n_local; word++) {
        touched |= view->node->touched[word];
    }
    if (touched != 0 || view->node->deferred.first != NIC_ITEM_NONE ||
        nic_schedule_is_waiting(&view->node->schedule)) {
        return false;
    }
    for (uint32_t i = 0; i < view->n_local; i++) {
        if (nic_strobe_receiver_needs_strobe(view, i)) {
            return false;
        }
    }
    return !has_more_pending(view);
}

bool nic_strobe_receiver_step(struct nic_view *view)
{
    struct nic_node *node = view->node;

    if (has_new_strobe(node)) {
        uint64_t strobe = __atomic_load_n(&node->strobe, __ATOMIC_ACQUIRE);
        enum nic_phase phase = nic_microstrobe_phase(strobe);

        __atomic_store_n(&node->round, nic_microstrobe_round(strobe), __ATOMIC_RELAXED);
        run_phase(view, phase);
        if (phase == NIC_PHASE_BEGIN || phase == NIC_PHASE_END) {
            demand(view); /* before the strobe sender decides whether to go on */
        }
        /* release: Compare-And-Write reads it with acquire */
        __atomic_store_n(&node->done, strobe, __ATOMIC_RELEASE);
        return true;
    }
    return demand(view);
}
