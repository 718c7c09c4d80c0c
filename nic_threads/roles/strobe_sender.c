/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strobe sender: numbers the rounds of the job and leads all nodes through their
 * microphases. It stands on node 0; with strobes on demand a job of one node has no
 * need of it. Runs under the engine lock of node 0's desk; in driver `threads` on a
 * thread of its own, which is the only one to use node->phase and is_open.
 *
 * Protocol. A node that has work puts the number of the round it wants to node 0: one
 * more than the last round it has seen begin. The sender begins round r when somebody
 * wants a round after r - 1, puts the microstrobe to all nodes
 * (Xfer-And-Signal), and sends the next one when every node's `done` has reached the
 * present one (Compare-And-Write). So no node is ever more than one microphase ahead of
 * another, and work that a node collected too late for round r is demanded for r + 1.
 * Whether PM, BBM and RM are needed at all is one more query. [BCS-MPI section 4.2]
 *
 * All nodes put their demand to the same words, one for odd numbers and one for even
 * ones. No put hides a later demand. For what a node puts for round r is there before
 * the node counts any microphase of r as done, so that no round after r has begun, and
 * nobody wants one after r + 1, as long as it is under way.
 *
 * With strobes on demand every round is a slice. A timed slice is opened by the clock,
 * with a round of the phase BEGIN alone. Each node demands what it still needs before
 * it counts BEGIN or END as done; the slice is closed when all have done so and none
 * has demanded.
 */
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/roles.h"

/** Do the strobe receiver's part of an empty slice. @return whether it was empty */
static bool begin_idle(struct nic_view *view)
{
    if (!nic_strobe_receiver_is_idle(view) || !nic_engine_try_lock(view)) {
        return false;
    }
    nic_strobe_receiver_step(view);
    nic_engine_unlock(view);
    return true;
}

/** After the microstrobe that begins a slice: ring all nodes where there is something
 *  to do. On a node that has nothing, deliver in its place, so that empty slices cost
 *  one wake-up. */
static __attribute__((noinline)) void begin_everywhere(struct nic_view *view)
{
    struct nic_engine *engine = view->engine;

    nic_engine_flush(view); /* the strobe, before anybody looks for it */
    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        if (!nic_engine_is_near(engine, i) || !begin_idle(nic_engine_node(engine, i))) {
            nic_engine_ring(view, i);
        }
    }
}

static void send_strobe(struct nic_view *view)
{
    struct nic_slice_state *state = &view->node->phase;
    uint64_t strobe = nic_microstrobe(state->round, (enum nic_phase)state->phase);
    bool begins = state->phase == NIC_PHASE_BEGIN;
    struct bcs_node_set all = bcs_node_set_range(0, view->engine->n_nodes);
    const struct bcs_xfer xfer = {
        .src = &strobe,
        .n_bytes = sizeof(strobe),
        .dest_gva = NIC_NODE_GVA(view, strobe),
        .dests = &all,
        .remote_event_gva = !begins && nic_engine_has_bells(view->engine)
                                ? NIC_NODE_GVA(view, bell)
                                : 0,
    };

    nic_engine_xfer(view, &xfer);
    if (begins && nic_engine_has_bells(view->engine)) {
        begin_everywhere(view);
    }
}

static bool query_all(struct nic_view *view, uint64_t variable_gva, enum bcs_compare op,
                      uint64_t value)
{
    struct bcs_node_set all = bcs_node_set_range(0, view->engine->n_nodes);
    const struct bcs_comparison comparison = {
        .variable_gva = variable_gva,
        .op = op,
        .value = value,
        .dests = &all,
    };

    return nic_engine_compare(view, &comparison);
}

/** What records the slices of all nodes; NULL: nothing does. */
static const struct nic_recorder *recorder_of(const struct nic_view *view)
{
    const struct nic_recorder *recorder = nic_engine_sender_recorder(view->engine);

    return nic_recorder_is_on(recorder) ? recorder : NULL;
}

/** A slice begins: GETTS. */
static void record_begin(const struct nic_view *view)
{
    const struct nic_recorder *recorder = recorder_of(view);

    if (recorder != NULL) {
        nic_monitor_close(recorder);
        nic_monitor_enter(recorder->monitor);
        nic_monitor_begin(recorder);
        nic_monitor_add(recorder->monitor, BCS_METRIC_USRTS, 0);
        nic_monitor_add(recorder->monitor, BCS_METRIC_USRDEM, 0);
        nic_monitor_add(recorder->monitor, BCS_METRIC_USRMSM, 0);
    }
}

/** A microphase begins: its strobe comes next. */
static void record_phase(const struct nic_view *view)
{
    const struct nic_recorder *recorder = recorder_of(view);

    if (recorder != NULL) {
        nic_monitor_enter(recorder->monitor);
    }
}

/** All nodes are through a microphase: GTDEM, GTMSM. */
static void record_passed(const struct nic_view *view, uint32_t phase)
{
    const struct nic_recorder *recorder = recorder_of(view);

    if (recorder != NULL) {
        nic_monitor_stamp(recorder->monitor);
        if (phase == NIC_PHASE_DEM) {
            nic_monitor_leave(recorder->monitor, NIC_MONITORED_DEM);
        } else if (phase == NIC_PHASE_MSM) {
            nic_monitor_leave(recorder->monitor, NIC_MONITORED_MSM);
        }
        nic_monitor_end(recorder->monitor);
    }
}

/** They are not yet: USRTS, USRDEM, USRMSM. */
static void record_in_vain(const struct nic_view *view, uint32_t phase)
{
    const struct nic_recorder *recorder = recorder_of(view);

    if (recorder != NULL) {
        nic_monitor_add(recorder->monitor,
                        phase == NIC_PHASE_DEM   ? BCS_METRIC_USRDEM
                        : phase == NIC_PHASE_MSM ? BCS_METRIC_USRMSM
                                                 : BCS_METRIC_USRTS,
                        1);
    }
}

static bool is_demanded(const struct nic_view *view)
{
    uint64_t round = __atomic_load_n(&view->node->phase.round, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < NIC_DEMAND_WORDS; i++) {
        /* acquire: pairs with the strobe receiver's put_demand */
        if (__atomic_load_n(&view->node->demand[i], __ATOMIC_ACQUIRE) > round) {
            return true;
        }
    }
    return false;
}

bool nic_strobe_sender_has_work(const struct nic_view *view)
{
    const struct nic_node *node = view->node;

    return __atomic_load_n(&node->phase.phase, __ATOMIC_RELAXED) != NIC_PHASE_IDLE ||
           (view->engine->is_timed ? node->is_open : is_demanded(view));
}

/** Change the state, which nic_strobe_sender_has_work reads without the lock. */
static void enter(struct nic_slice_state *state, const struct nic_slice_state *next)
{
    __atomic_store_n(&state->round, next->round, __ATOMIC_RELAXED);
    __atomic_store_n(&state->phase, next->phase, __ATOMIC_RELAXED);
}

static void begin_round(struct nic_view *view, bool opens_slice)
{
    struct nic_slice_state *state = &view->node->phase;
    struct nic_slice_state next = *state;

    nic_slice_begin(&next, opens_slice);
    if (opens_slice || !view->engine->is_timed) {
        record_begin(view);
    } else {
        record_phase(view);
    }
    enter(state, &next);
    send_strobe(view);
}

void nic_strobe_sender_open_slice(struct nic_view *view)
{
    view->node->is_open = true;
    begin_round(view, true);
}

bool nic_strobe_sender_is_over(const struct nic_view *view)
{
    _Atomic uint32_t *end = &view->engine->machine->slices_end;
    uint32_t state = atomic_load_explicit(end, memory_order_relaxed);

    if (state == BCS_SLICES_END_ASKED) {
        /* release: the last slice; pairs with the load in nic_engine_end_slices */
        atomic_store_explicit(end, BCS_SLICES_HAVE_ENDED, memory_order_release);
    }
    return state != BCS_SLICES_GO_ON;
}

/** Between rounds. @return whether anything was done */
static bool go_on(struct nic_view *view)
{
    bool is_timed = view->engine->is_timed;

    if (!view->node->is_open && nic_strobe_sender_is_over(view)) {
        return false;
    }
    if (is_demanded(view) && (!is_timed || view->node->is_open)) {
        begin_round(view, false);
        return true;
    }
    if (is_timed && view->node->is_open) {
        view->node->is_open = false;
        return true;
    }
    return false;
}

bool nic_strobe_sender_step(struct nic_view *view)
{
    struct nic_slice_state *state = &view->node->phase;
    struct nic_slice_state next = *state;
    uint64_t strobe = nic_microstrobe(state->round, (enum nic_phase)state->phase);
    bool has_later_work = true;

    if (state->phase == NIC_PHASE_IDLE) {
        return go_on(view);
    }
    if (!query_all(view, NIC_NODE_GVA(view, done), BCS_COMPARE_GE, strobe)) {
        record_in_vain(view, state->phase);
        return false;
    }
    record_passed(view, state->phase);
    if (state->phase == NIC_PHASE_MSM) {
        has_later_work =
            !query_all(view, NIC_NODE_GVA(view, has_later_work), BCS_COMPARE_EQ, 0);
    }
    nic_slice_advance(&next, has_later_work);
    enter(state, &next);
    if (state->phase != NIC_PHASE_IDLE) {
        record_phase(view);
        send_strobe(view);
    }
    return true;
}
