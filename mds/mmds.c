/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the recording of a process and makes its summary. Called in MPI_Init
 * and MPI_Finalize, by one thread.
 *
 * Intervals are recorded in ticks, whose rate is not known. The same two moments, start
 * and stop, are read on both clocks; their ratio converts. So no time is spent on
 * calibration, and the rate is that of this run. What remains between the run time and
 * computation + communication is what the recording itself lost or counted twice.
 */
#include "mds/mmds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The thread's own: calls in calls are those of one thread, whatever records them. */
_Thread_local struct mds_call mds_call __attribute__((tls_model("initial-exec")));

/** Bytes that what a process records takes; only what is used becomes memory. */
static size_t collect_bytes(const struct mds_shape *shape)
{
    return sizeof(struct mds_collect) +
           (size_t)MDS_N_DISTRIBUTIONS * mds_histogram_n(shape->bits) *
               sizeof(uint64_t) +
           shape->n_ranks * sizeof(struct mds_peer);
}

int mmds_start(bool is_shared, const struct mds_shape *shape,
               struct mds_collect **collect_out)
{
    struct mds_collect *collect = calloc(1, collect_bytes(shape));

    if (collect == NULL) {
        return -ENOMEM;
    }
    collect->is_shared = is_shared;
    collect->shape = *shape;
    collect->n_buckets = mds_histogram_n(shape->bits);
    collect->start_ns = bcs_clock_now_ns();
    collect->start_ticks = bcs_clock_ticks();
    collect->since_ticks = collect->start_ticks;
    *collect_out = collect;
    return 0;
}

void mmds_distribute(struct mds_collect *collect, uint32_t primitive)
{
    collect->has_distribution[primitive / 64] |= UINT64_C(1) << primitive % 64;
}

void mmds_stop(struct mds_collect *collect)
{
    mds_lock(collect);
    collect->stop_ns = bcs_clock_now_ns();
    collect->stop_ticks = bcs_clock_ticks();
    mds_switch(collect, collect->n_blocked > 0, collect->stop_ticks);
    mds_unlock(collect);
}

static uint64_t ticks_to_ns(uint64_t ticks, double ns_per_tick)
{
    return (uint64_t)((double)ticks * ns_per_tick + 0.5);
}

static struct mmds_interval interval_to_ns(const struct mds_interval *interval,
                                           double ns_per_tick)
{
    return (struct mmds_interval){
        .count = interval->count,
        .min_ns = ticks_to_ns(interval->min_ticks, ns_per_tick),
        .max_ns = ticks_to_ns(interval->max_ticks, ns_per_tick),
        .total_ns = ticks_to_ns(interval->total_ticks, ns_per_tick),
    };
}

void mmds_summarize(const struct mds_collect *collect, struct mmds_summary *summary_out)
{
    uint64_t run_ns = collect->stop_ns - collect->start_ns;
    uint64_t run_ticks = collect->stop_ticks - collect->start_ticks;
    double ns_per_tick = run_ticks > 0 ? (double)run_ns / (double)run_ticks : 0;
    uint64_t accounted_ns;

    memset(summary_out, 0, sizeof(*summary_out));
    summary_out->n_processes = 1;
    summary_out->run_ns = run_ns;
    summary_out->instant_ns = ticks_to_ns(collect->instant_ticks, ns_per_tick);
    summary_out->computation = interval_to_ns(&collect->computation, ns_per_tick);
    summary_out->communication = interval_to_ns(&collect->communication, ns_per_tick);
    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        summary_out->primitives[i] =
            interval_to_ns(&collect->primitives[i].time, ns_per_tick);
    }
    accounted_ns =
        summary_out->computation.total_ns + summary_out->communication.total_ns;
    summary_out->gap_ns =
        run_ns > accounted_ns ? run_ns - accounted_ns : accounted_ns - run_ns;
}

static void interval_merge(struct mmds_interval *into, const struct mmds_interval *from)
{
    if (from->count == 0) {
        return;
    }
    if (into->count == 0 || from->min_ns < into->min_ns) {
        into->min_ns = from->min_ns;
    }
    if (from->max_ns > into->max_ns) {
        into->max_ns = from->max_ns;
    }
    into->count += from->count;
    into->total_ns += from->total_ns;
}

void mmds_merge(struct mmds_summary *into, const struct mmds_summary *from)
{
    into->n_processes += from->n_processes;
    if (from->n_slices > into->n_slices) {
        into->n_slices = from->n_slices;
    }
    if (from->strobes.n_sent > into->strobes.n_sent) {
        into->strobes = from->strobes;
    }
    into->run_ns += from->run_ns;
    into->gap_ns += from->gap_ns;
    into->instant_ns += from->instant_ns;
    interval_merge(&into->computation, &from->computation);
    interval_merge(&into->communication, &from->communication);
    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        interval_merge(&into->primitives[i], &from->primitives[i]);
        into->passed[i] += from->passed[i];
    }
}
