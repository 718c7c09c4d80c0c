/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was recorded of slices, all desks of a node together. Called by any process, at the end.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/drivers/driver.h"
#include "nic_threads/node/engine_lock.h"

/** Copy what one desk has, or the strobe sender. */
static int copy(const struct nic_recorder *recorder, struct nic_recorded *recorded_out)
{
    if (!nic_recorder_is_on(recorder)) {
        return -ENOENT;
    }
    return nic_monitor_copy(recorder, &recorded_out->spans, &recorded_out->n,
                            &recorded_out->shift);
}

/** The same under the lock of the desk. */
static int copy_locked(struct nic_view *view, struct nic_recorded *recorded_out)
{
    int rc;

    while (!nic_engine_try_lock(view)) {
        sched_yield();
    }
    rc = copy(view->recorder, recorded_out);
    nic_engine_unlock(view);
    return rc;
}

/** Add what another desk of the node has, and free that. @return 0 or -ENOMEM */
static int add(struct nic_recorded *into, struct nic_recorded *from, uint64_t begin)
{
    struct bcs_span *spans =
        realloc(into->spans, (into->n + from->n + 1) * sizeof(*spans));

    if (spans != NULL) {
        uint64_t shift = into->shift > from->shift ? into->shift : from->shift;

        into->spans = spans;
        into->n = bcs_spans_coarsen(spans, into->n, begin, shift);
        from->n = bcs_spans_coarsen(from->spans, from->n, begin, shift);
        into->n = bcs_spans_add(spans, into->n, from->spans, from->n);
        into->shift = shift;
    }
    free(from->spans);
    return spans == NULL ? -ENOMEM : 0;
}

int nic_engine_recorded(struct nic_engine *engine, uint32_t node, bool is_global,
                        struct nic_recorded *recorded_out)
{
    struct nic_view *desks = &engine->views[node * engine->layout.n_desks];
    uint64_t begin = engine->config->record.first;
    struct nic_recorded sum;
    int rc;

    if (is_global) {
        return copy(nic_engine_sender_recorder(engine), recorded_out);
    }
    rc = copy_locked(&desks[0], &sum);
    for (uint32_t i = 1; i < engine->layout.n_desks && rc == 0; i++) {
        struct nic_recorded recorded;

        rc = copy_locked(&desks[i], &recorded);
        rc = rc == 0 ? add(&sum, &recorded, begin) : rc;
        if (rc < 0) {
            free(sum.spans);
        }
    }
    if (rc == 0) {
        *recorded_out = sum;
    }
    return rc;
}
