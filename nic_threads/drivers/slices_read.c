/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was recorded of slices, all desks of a node together. Called by any process, at
 * the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"

/** Copy what one desk has, or the strobe sender. */
static int copy(const struct nic_recorder *recorder, struct bcs_spans *recorded_out)
{
    if (!nic_recorder_is_on(recorder)) {
        return -ENOENT;
    }
    return nic_monitor_copy(recorder, &recorded_out->spans, &recorded_out->n,
                            &recorded_out->shift);
}

/** The same under the lock of the desk. */
static int copy_locked(struct nic_view *view, struct bcs_spans *recorded_out)
{
    int rc;

    while (!nic_engine_try_lock(view)) {
        bcs_yield();
    }
    rc = copy(view->recorder, recorded_out);
    nic_engine_unlock(view);
    return rc;
}

/** Whether nobody but the processes of the job leads the rounds. */
static bool leads_itself(const struct nic_engine *engine)
{
    uint32_t serves = nic_driver_find(engine->config)->serves;

    return (serves & (NIC_SERVES(NIC_SERVE_SS) | NIC_SERVES(NIC_SERVE_TIME))) == 0;
}

/** Lead the round under way on, or end the slices after it. */
static void lead_on(struct nic_engine *engine, struct nic_view *first)
{
    nic_engine_turn(engine);
    if (nic_engine_try_lock(first)) {
        nic_strobe_sender_step(first);
        nic_engine_unlock(first);
    }
}

void nic_engine_end_slices(struct nic_engine *engine)
{
    struct nic_view *first = nic_engine_node(engine, 0);
    _Atomic uint32_t *end = &engine->machine->slices_end;

    if (!nic_recorder_is_on(nic_engine_sender_recorder(engine)) ||
        (engine->n_nodes == 1 && !engine->is_timed)) {
        return; /* there is no strobe sender */
    }
    /* seq_cst: what the sender is woken for */
    atomic_store_explicit(end, BCS_SLICES_END_ASKED, memory_order_seq_cst);
    bcs_park_wake(&engine->machine->strobe_park);
    nic_engine_ring_own(first);
    /* acquire: pairs with the store in nic_strobe_sender_is_over */
    while (atomic_load_explicit(end, memory_order_acquire) != BCS_SLICES_HAVE_ENDED) {
        if (leads_itself(engine)) {
            lead_on(engine, first);
        }
        bcs_yield();
    }
}

int nic_engine_recorded(struct nic_engine *engine, uint32_t node, bool is_global,
                        struct bcs_spans *recorded_out)
{
    uint64_t begin = engine->config->record.first;
    uint32_t n_desks = engine->layout.n_desks, first = node * n_desks;
    struct bcs_spans sum;
    int rc;

    if (is_global) {
        nic_engine_desk(engine, 0); /* knows where it is */
        return copy(nic_engine_sender_recorder(engine), recorded_out);
    }
    rc = copy_locked(nic_engine_desk(engine, first), &sum);
    for (uint32_t i = 1; i < n_desks && rc == 0; i++) {
        struct bcs_spans recorded;

        rc = copy_locked(nic_engine_desk(engine, first + i), &recorded);
        rc = rc == 0 ? bcs_spans_join(&sum, &recorded, begin) : rc;
        if (rc < 0) {
            free(sum.spans);
        }
    }
    if (rc == 0) {
        *recorded_out = sum;
    }
    return rc;
}
