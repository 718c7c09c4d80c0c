/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking. Called by whoever runs the engine, and watch by any process that leaves work
 * behind.
 */
#include "nic_threads/machine/waking.h"

#include "nic_threads/node/views.h"

static void wake_owner(struct nic_view *view, uint32_t local)
{
    bcs_sleep_wake(view->engine->machine, nic_view_port(view, local));
}

void nic_engine_wake(struct nic_view *view)
{
    nic_view_take_marks(view, view->wake, view->n_local, wake_owner);
}

void nic_engine_ring(struct nic_view *view, uint32_t node)
{
    if (nic_engine_rings(view->engine, node)) {
        struct bcs_node_set dests = bcs_node_set_one(node);

        nic_engine_xfer(view, &(struct bcs_xfer){
                                  .dests = &dests,
                                  .remote_event_gva = NIC_NODE_GVA(view, bell),
                              });
        nic_engine_push(view); /* this thread may sleep next */
    }
}

void nic_engine_ring_own(struct nic_view *view)
{
    if (nic_engine_has_bells(view->engine)) {
        nic_engine_signal(view, NIC_NODE_GVA(view, bell));
    }
}

void nic_engine_await_bell(struct nic_view *view, uint64_t n_rings)
{
    nic_engine_await(view, NIC_NODE_GVA(view, bell), n_rings);
}

/** A near port, which this process may not have looked at. */
static struct bcs_port *near_port(const struct nic_engine *engine, uint32_t port)
{
    const struct nic_layout *layout = &engine->layout;
    char *heap = bcs_memory_heap(engine->memory, nic_layout_node(layout, port));

    return (struct bcs_port *)(heap + nic_layout_port_gva(layout, port));
}

void nic_engine_call_near(const struct nic_engine *engine, uint64_t now_ns)
{
    struct bcs_machine *machine = engine->machine;

    /* seq_cst: whoever announces itself later sees the call in bcs_external_listen */
    atomic_store_explicit(&machine->called_ns, now_ns, memory_order_seq_cst);
    if (atomic_load_explicit(&machine->n_asleep, memory_order_seq_cst) == 0) {
        return;
    }
    for (uint32_t i = 0; i < machine->n_ports; i++) {
        uint32_t port = machine->first_port + i;

        if (port != engine->port || engine->is_background) {
            bcs_sleep_wake(machine, near_port(engine, port));
        }
    }
}

/** Tell some far nodes of a call. */
static void call_nodes(const struct nic_engine *engine, uint32_t first, uint32_t n,
                       uint64_t now_ns)
{
    const struct nic_view *view = nic_engine_own(engine);
    const struct bcs_node_set dests = bcs_node_set_range(first, n);
    const struct bcs_xfer xfer = {
        .src = &now_ns,
        .n_bytes = sizeof(now_ns),
        .dest_gva = NIC_NODE_GVA(view, called),
        .dests = &dests,
        .remote_event_gva = NIC_NODE_GVA(view, bell),
    };

    if (n > 0) { /* a failure is found by who waits for these nodes */
        bcs_xfer_and_signal_blocking(view->core, &xfer);
        bcs_core_flush(view->core);
    }
}

void nic_engine_call_far(const struct nic_engine *engine, uint64_t now_ns)
{
    uint32_t end = engine->first_near + engine->n_near;

    call_nodes(engine, 0, engine->first_near, now_ns);
    call_nodes(engine, end, engine->n_nodes - end, now_ns);
}

void nic_engine_watch(const struct nic_engine *engine)
{
    _Atomic uint32_t *watch = &engine->machine->watch;
    uint32_t wanted =
        nic_engine_has_idle_core(engine) ? BCS_WATCH_SOON : BCS_WATCH_LATE;
    /* seq_cst: see nic_threads/service/background.c */
    uint32_t present = atomic_load_explicit(watch, memory_order_seq_cst);

    while (present < wanted) {
        if (atomic_compare_exchange_strong_explicit(
                watch, &present, wanted, memory_order_seq_cst, memory_order_seq_cst)) {
            bcs_park_wake(&engine->machine->background_park);
            return;
        }
    }
}

/** Processes of this job on the machine that may run at once without one having to
 *  stand in a queue. */
static uint32_t n_places(const struct nic_engine *engine)
{
    const struct bcs_machine *machine = engine->machine;

    /* relaxed: a hint, which changes at any time */
    return machine->n_cpus +
           atomic_load_explicit(&machine->n_asleep, memory_order_relaxed);
}

/** Those that may want to run, of all jobs. */
static uint32_t n_wanted(const struct nic_engine *engine)
{
    return engine->machine->n_ports + bcs_jobs_n_beside(&engine->own_slot);
}

bool nic_engine_has_idle_core(const struct nic_engine *engine)
{
    return n_wanted(engine) < n_places(engine);
}

bool nic_engine_is_crowded(const struct nic_engine *engine)
{
    return n_wanted(engine) > n_places(engine);
}
