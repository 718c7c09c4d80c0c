/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strobe receiver: coordinates the roles of one node. It collects what the local
 * processes have posted and calls each role in its microphase, all five at once on a
 * node that is alone, or one for each microstrobe. Runs under the desk's engine lock.
 * [BCS-MPI section 4.2]
 *
 * Timed slices. BEGIN delivers what the last slice has completed; then rounds follow
 * until nothing is pending, on a single node without microstrobes. Ring entries are
 * given back only when the slice is over, which several nodes know at the next BEGIN:
 * so a slice takes a ring of each port at most and ends however fast a process posts.
 */
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/link.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/machine/wire.h"
#include "nic_threads/node/completing.h"
#include "nic_threads/roles/at_once.h"
#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/slice_record.h"

/** Whether a chunk can be scheduled: in this slice if it is timed, else in the next. */
static inline bool schedule_can_go(const struct nic_view *view)
{
    const struct nic_schedule *schedule = &view->desk->schedule;

    return (view->engine->is_timed ? nic_schedule_can_go_on(schedule)
                                   : nic_schedule_is_waiting(schedule)) &&
           !__atomic_load_n(&view->desk->is_stalled, __ATOMIC_RELAXED);
}

/** Whether the rounds of several nodes go through the desk. */
static inline bool is_in_rounds(const struct nic_view *view)
{
    return !view->is_alone && view->engine->n_nodes > 1;
}

/** Whether anything can be done but to take what has been posted. */
static inline bool has_more_pending(const struct nic_view *view)
{
    if (schedule_can_go(view) || nic_collection_has_returned(view->desk) ||
        nic_link_has_work(view)) {
        return true;
    }
    return is_in_rounds(view) &&
           (nic_wire_has_work(view) || nic_collective_helper_has_result(view) ||
            __atomic_load_n(&view->node->has_more_ready, __ATOMIC_RELAXED));
}

/** Whether anything can be done. */
static inline bool has_pending(const struct nic_view *view)
{
    return nic_collection_has_posts(view) || has_more_pending(view);
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
    if (view->is_alone) {
        return has_pending(view);
    }
    return has_new_strobe(view->node) ||
           (is_in_rounds(view) && can_demand(view->node) && has_pending(view));
}

/** A slice begins. */
static void open_slice(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;

    __atomic_store_n(&desk->slice, desk->slice + 1, __ATOMIC_RELAXED);
    nic_schedule_open(&desk->schedule, &view->items);
}

/** Whether the DMA helper has anything to do. */
static inline bool has_moves(const struct nic_batch *batch)
{
    return batch->n_pairs + batch->n_controls + batch->n_shares > 0;
}

/** Carry out a step of a role: on its thread if the driver has one, else here. @param
 *  recorder as of all that follows: of the slice, or NULL */
static inline void carry_out(struct nic_view *view, enum nic_role role,
                             nic_role_fn step, const struct nic_recorder *recorder)
{
    const struct nic_engine *engine = view->engine;

    if (__builtin_expect(engine->crew != NULL, 0)) {
        engine->crew_ops->hand_over(view, role, step);
    } else {
        step(view);
    }
    if (recorder != NULL) {
        nic_monitor_part(recorder->monitor, NIC_LOCAL(BCS_METRIC_LTR) + role);
    }
}

/** The roles of a microphase in their order: for what has been collected, with other
 *  nodes or where none takes part. */
static inline void run_roles(struct nic_view *view, enum nic_phase phase, bool is_alone,
                             const struct nic_recorder *recorder)
{
    const struct nic_batch *batch = &view->desk->batch;

    switch (phase) {
    case NIC_PHASE_DEM:
        if (!is_alone && batch->n_sends > 0) {
            carry_out(view, NIC_ROLE_BS, nic_buffer_sender_step, recorder);
        }
        if (batch->n_controls > 0) {
            carry_out(view, NIC_ROLE_CH, nic_collective_helper_exchange, recorder);
        }
        break;
    case NIC_PHASE_MSM:
        carry_out(view, NIC_ROLE_BR, nic_buffer_receiver_step, recorder);
        if (!is_alone) {
            carry_out(view, NIC_ROLE_CH, nic_collective_helper_schedule, recorder);
        }
        break;
    case NIC_PHASE_PM:
        if (has_moves(batch)) {
            carry_out(view, NIC_ROLE_DH, nic_dma_helper_step, recorder);
        }
        break;
    case NIC_PHASE_BBM:
        if (batch->n_ready > 0) {
            carry_out(view, NIC_ROLE_CH, nic_collective_helper_step, recorder);
        }
        break;
    case NIC_PHASE_RM:
        if (batch->n_ready > 0) {
            carry_out(view, NIC_ROLE_RH, nic_reduce_helper_step, recorder);
        }
        break;
    default: /* begin and end are the strobe receiver's own */
        break;
    }
}

/** All microphases on what has been collected, where no other node takes part. */
static inline void run_batch(struct nic_view *view, const struct nic_recorder *recorder)
{
    run_roles(view, NIC_PHASE_DEM, true, recorder);
    if (recorder != NULL) {
        nic_monitor_leave(recorder->monitor, NIC_MONITORED_DEM);
    }
    run_roles(view, NIC_PHASE_MSM, true, recorder);
    if (recorder != NULL) {
        nic_record_scheduling(view, recorder);
        nic_monitor_leave(recorder->monitor, NIC_MONITORED_MSM);
    }
    run_roles(view, NIC_PHASE_PM, true, recorder);
    run_roles(view, NIC_PHASE_BBM, true, recorder);
    run_roles(view, NIC_PHASE_RM, true, recorder);
}

static bool collect_work(struct nic_view *view)
{
    bool has_sent = nic_link_flush(view);

    return nic_collection_take(view) > 0 || schedule_can_go(view) || has_sent;
}

/** A slice at a desk that is alone ends. */
static inline void end_alone(struct nic_view *view)
{
    nic_collection_empty(&view->desk->batch);
    nic_collection_release(view);
    nic_engine_push(view); /* whoever polls keeps the lock */
}

/** nic_strobe_receiver_run_alone, where slices are recorded. */
static __attribute__((noinline)) bool run_recorded(struct nic_view *view)
{
    const struct nic_recorder *recorder = view->recorder;

    if (!has_pending(view)) { /* spares whoever polls the clock */
        return false;
    }
    nic_monitor_enter(recorder->monitor);
    if (!collect_work(view)) {
        return false;
    }
    if (nic_monitor_is_quick(recorder->monitor)) {
        uint32_t n_calls = nic_record_n_calls(view);

        open_slice(view);
        run_batch(view, NULL);
        nic_record_quick(view, recorder, n_calls);
        end_alone(view);
        return true;
    }
    nic_record_begin(view, recorder);
    nic_record_exchange(view, recorder, 0);
    open_slice(view);
    run_batch(view, recorder);
    end_alone(view);
    nic_record_end(recorder);
    nic_monitor_close(recorder);
    return true;
}

/** A slice by all roles. @return whether there was anything */
static bool run_whole(struct nic_view *view)
{
    if (!collect_work(view)) {
        return false;
    }
    open_slice(view);
    run_batch(view, NULL);
    end_alone(view);
    return true;
}

enum nic_carried nic_strobe_receiver_run_alone(struct nic_view *view)
{
    enum nic_carried at_once = NIC_CARRIED_NOTHING;
    bool has_left;

    if (nic_recorder_is_on(view->recorder)) {
        return run_recorded(view) ? NIC_CARRIED_SOME : NIC_CARRIED_NOTHING;
    }
    if (view->is_at_once) {
        at_once = nic_at_once_run(view, &has_left);
        if (!has_left && !has_more_pending(view)) {
            return at_once;
        }
    }
    return run_whole(view) || at_once != NIC_CARRIED_NOTHING ? NIC_CARRIED_SOME
                                                             : NIC_CARRIED_NOTHING;
}

/** Take what is for the next round of a slice on a single node. */
static bool collect_round(struct nic_view *view, const struct nic_recorder *recorder)
{
    bool has_work;

    if (recorder == NULL) {
        return collect_work(view);
    }
    nic_monitor_enter(recorder->monitor);
    has_work = collect_work(view);
    nic_record_exchange(view, recorder, 0);
    if (!has_work) {
        nic_monitor_leave(recorder->monitor, NIC_MONITORED_DEM);
    }
    return has_work;
}

/** Let who waits know when a timed slice has begun. */
static void tell_begin(const struct nic_view *view)
{
    const struct nic_engine *engine = view->engine;

    if (engine->config->record.has_stamps != 0 && view->index == 0) {
        bcs_slice_begins_add(&engine->machine->begins, bcs_clock_ticks());
    }
}

/** A timed slice begins; without other nodes it is over when this returns. */
static void begin_slice(struct nic_view *view, const struct nic_recorder *recorder)
{
    if (recorder != NULL) {
        nic_record_begin(view, recorder);
    }
    tell_begin(view);
    open_slice(view); /* first: who finds a completion finds the number of this slice */
    nic_view_deliver(view);
    nic_collection_release(view); /* of a slice that other nodes took part in */
    if (view->engine->n_nodes == 1) {
        while (collect_round(view, recorder)) {
            run_batch(view, recorder);
            nic_collection_empty(&view->desk->batch);
        }
        nic_collection_release(view);
    }
}

/** Descriptor exchange microphase. */
static void run_exchange(struct nic_view *view, const struct nic_recorder *recorder)
{
    uint32_t n_arrived;

    if (!view->engine->is_timed) {
        open_slice(view);
        if (recorder != NULL) {
            nic_record_begin(view, recorder);
        }
    }
    nic_wire_flush(view);
    nic_wire_collect(view, true);
    n_arrived = recorder == NULL ? 0 : nic_record_n_messages(view);
    nic_collection_take(view);
    if (recorder != NULL) {
        nic_record_exchange(view, recorder, n_arrived);
    }
    run_roles(view, NIC_PHASE_DEM, false, recorder);
}

/** Message scheduling microphase. */
static void run_scheduling(struct nic_view *view, const struct nic_recorder *recorder)
{
    struct nic_node *node = view->node;
    struct nic_desk *desk = view->desk;

    nic_wire_collect(view, true);
    if (recorder != NULL) {
        nic_monitor_stamp(recorder->monitor);
    }
    run_roles(view, NIC_PHASE_MSM, false, recorder);
    if (recorder != NULL) {
        nic_record_scheduling(view, recorder);
    }
    __atomic_store_n(&node->has_later_work,
                     has_moves(&desk->batch) || desk->batch.n_ready > 0,
                     __ATOMIC_RELEASE);
}

static void end_round(struct nic_view *view)
{
    nic_collective_helper_finish(view);
    nic_wire_release(view);
    if (!view->engine->is_timed) {
        nic_collection_release(view);
    }
    nic_collection_empty(&view->desk->batch);
}

static void run_phase(struct nic_view *view, enum nic_phase phase,
                      const struct nic_recorder *recorder)
{
    switch (phase) {
    case NIC_PHASE_BEGIN:
        begin_slice(view, recorder);
        break;
    case NIC_PHASE_DEM:
        run_exchange(view, recorder);
        break;
    case NIC_PHASE_MSM:
        run_scheduling(view, recorder);
        break;
    case NIC_PHASE_PM:
        nic_wire_collect(view, false);
        run_roles(view, phase, false, recorder);
        break;
    case NIC_PHASE_BBM:
    case NIC_PHASE_RM:
        run_roles(view, phase, false, recorder);
        break;
    default:
        end_round(view);
        break;
    }
}

/** Tell the strobe sender that this node wants another round. @return whether it was
 *  news */
static __attribute__((noinline)) bool put_demand(struct nic_view *view)
{
    struct nic_node *node = view->node;
    uint64_t wanted = node->round + 1;
    struct bcs_node_set sender = bcs_node_set_one(0);
    const struct bcs_xfer xfer = {
        .src = &wanted,
        .n_bytes = sizeof(wanted),
        .dest_gva = NIC_NODE_GVA(view, demand[wanted % NIC_DEMAND_WORDS]),
        .dests = &sender,
        .remote_event_gva = nic_bell_gva(view, 0),
    };

    if (node->demanded >= wanted) {
        return false;
    }
    __atomic_store_n(&node->demanded, wanted, __ATOMIC_RELAXED);
    nic_engine_xfer(view, &xfer);
    return true;
}

static bool demand(struct nic_view *view)
{
    return view->engine->n_nodes > 1 && can_demand(view->node) && has_pending(view) &&
           put_demand(view);
}

/** Carry out a microphase, and see that all is there that it has put. */
static void carry_out_phase(struct nic_view *view, enum nic_phase phase)
{
    const struct nic_recorder *recorder =
        nic_recorder_is_on(view->recorder) ? view->recorder : NULL;

    if (recorder != NULL) {
        nic_record_enter(view, recorder, phase);
    }
    run_phase(view, phase, recorder);
    if (phase == NIC_PHASE_BEGIN || phase == NIC_PHASE_END) {
        demand(view); /* before the strobe sender decides whether to go on */
    }
    nic_engine_flush(view);
    if (recorder != NULL) {
        nic_record_leave(recorder, phase);
    }
}

bool nic_strobe_receiver_is_idle(const struct nic_view *view)
{
    return !has_pending(view);
}

bool nic_strobe_receiver_is_at_rest(const struct nic_view *view)
{
    uint64_t ports = 0;

    for (uint32_t word = 0; word < nic_port_words(view->n_served); word++) {
        ports |= view->per_port.touched[word] | view->per_port.has_deferred[word];
    }
    if (ports != 0 || nic_schedule_is_waiting(&view->desk->schedule)) {
        return false;
    }
    for (uint32_t i = 0; i < view->n_served; i++) {
        if (nic_collection_needs_strobe(view, i)) {
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
        carry_out_phase(view, phase);
        /* release: Compare-And-Write reads it with acquire. It says that all that was
         * put in this phase is there. */
        __atomic_store_n(&node->done, strobe, __ATOMIC_RELEASE);
        return true;
    }
    return demand(view);
}
