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
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "mds/live.h"

enum { FIRST_LEVEL = 1 }; /* of MPI_Pcontrol, before it is called */

/* The thread's own: calls in calls are those of one thread, whatever records them. */
_Thread_local struct mds_call mds_call __attribute__((tls_model("initial-exec")));

static uint64_t unix_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/** Say whose recording it is, and of what. */
static void describe(const struct mmds_plan *plan, struct mds_origin *origin_out)
{
    origin_out->layout = mds_live_layout();
    origin_out->rank = plan->rank;
    origin_out->pid = getpid();
    gethostname(origin_out->host, sizeof(origin_out->host) - 1);
    origin_out->n_kinds = plan->n_primitives;
    for (uint32_t i = 0; i < plan->n_primitives; i++) {
        snprintf(origin_out->kinds[i].name, MDS_NAME_BYTES, "%s", plan->names[i]);
        origin_out->kinds[i].timing = plan->timings[i];
    }
}

int mmds_start(const struct mmds_plan *plan, struct mds_collect **collect_out)
{
    struct mds_collect *collect;
    int rc = mds_live_make(mds_live_bytes(&plan->shape), plan->path, &collect);

    if (rc < 0) {
        return rc;
    }
    describe(plan, &collect->origin);
    collect->is_shared = plan->is_shared;
    collect->shape = plan->shape;
    collect->slice = plan->shape.n_events > 0 ? plan->slice : NULL;
    collect->stamps = plan->is_shared ? NULL : plan->stamps;
    collect->begins = plan->begins;
    collect->n_buckets = mds_histogram_n(plan->shape.bits);
    collect->start_unix_ns = unix_ns();
    collect->start_ns = bcs_clock_now_ns();
    collect->start_ticks = bcs_clock_ticks();
    collect->since_ticks = collect->start_ticks;
    collect->now.since_ticks = collect->start_ticks;
    collect->phases.since_ticks = collect->start_ticks;
    collect->phases.table[mds_phases_find(&collect->phases, FIRST_LEVEL)].n = 1;
    /* Whoever finds the file finds the rest before this. */
    atomic_signal_fence(memory_order_release);
    memcpy(collect->origin.magic, MDS_ORIGIN_MAGIC, sizeof(collect->origin.magic));
    *collect_out = collect;
    return 0;
}

void mmds_distribute(struct mds_collect *collect, uint32_t primitive)
{
    collect->has_distribution[primitive / 64] |= UINT64_C(1) << primitive % 64;
}

int mmds_cut(struct mds_collect *copy)
{
    uint64_t now = bcs_clock_now_ns(), ticks = bcs_clock_ticks();
    uint64_t last = copy->now.since_ticks > copy->since_ticks ? copy->now.since_ticks
                                                              : copy->since_ticks;
    char host[MDS_HOST_BYTES] = "";

    gethostname(host, sizeof(host) - 1);
    if (strcmp(host, copy->origin.host) != 0 || now <= copy->start_ns ||
        ticks <= copy->start_ticks || last < copy->start_ticks || last > ticks) {
        return -ESTALE;
    }
    copy->stop_ticks = last;
    copy->stop_ns =
        copy->start_ns +
        (uint64_t)((double)(last - copy->start_ticks) * (double)(now - copy->start_ns) /
                       (double)(ticks - copy->start_ticks) +
                   0.5);
    mds_switch(copy, copy->n_blocked > 0, last);
    mds_phase_end(copy, last);
    return 0;
}

void mmds_stop(struct mds_collect *collect)
{
    mds_lock(collect);
    collect->stop_ns = bcs_clock_now_ns();
    collect->stop_ticks = bcs_clock_ticks();
    mds_switch(collect, collect->n_blocked > 0, collect->stop_ticks);
    mds_phase_end(collect, collect->stop_ticks);
    collect->peak_bytes = peak_bytes();
    mds_unlock(collect);
}

struct mmds_interval mmds_interval_of(const struct mds_interval *interval,
                                      double ns_per_tick)
{
    return (struct mmds_interval){
        .count = interval->count,
        .min_ns = bcs_clock_in_ns(interval->min_ticks, ns_per_tick),
        .max_ns = bcs_clock_in_ns(interval->max_ticks, ns_per_tick),
        .total_ns = bcs_clock_in_ns(interval->total_ticks, ns_per_tick),
    };
}

struct mmds_split mmds_split_of(const struct mds_split *split, double ns_per_tick)
{
    struct mmds_split split_ns;
    uint64_t ticks = 0, before_ns = 0;

    for (int i = 0; i < MDS_N_PARTS; i++) {
        uint64_t until_ns;

        ticks += split->ticks[i];
        until_ns = bcs_clock_in_ns(ticks, ns_per_tick);
        split_ns.ns[i] = until_ns - before_ns;
        before_ns = until_ns;
    }
    return split_ns;
}

void mmds_split_merge(struct mmds_split *into, const struct mmds_split *from)
{
    for (int i = 0; i < MDS_N_PARTS; i++) {
        into->ns[i] += from->ns[i];
    }
}

uint64_t mmds_split_total_ns(const struct mmds_split *split)
{
    uint64_t total_ns = 0;

    for (int i = 0; i < MDS_N_PARTS; i++) {
        total_ns += split->ns[i];
    }
    return total_ns;
}

double mmds_ns_per_tick(const struct mds_collect *collect)
{
    uint64_t run_ticks = collect->stop_ticks - collect->start_ticks;

    return run_ticks > 0
               ? (double)(collect->stop_ns - collect->start_ns) / (double)run_ticks
               : 0;
}

void mmds_summarize(const struct mds_collect *collect, struct mmds_summary *summary_out)
{
    uint64_t run_ns = collect->stop_ns - collect->start_ns;
    double ns_per_tick = mmds_ns_per_tick(collect);
    uint64_t accounted_ns;

    memset(summary_out, 0, sizeof(*summary_out));
    summary_out->n_processes = 1;
    summary_out->run_ns = run_ns;
    summary_out->instant_ns = bcs_clock_in_ns(collect->instant_ticks, ns_per_tick);
    summary_out->computation = mmds_interval_of(&collect->computation, ns_per_tick);
    summary_out->communication = mmds_interval_of(&collect->communication, ns_per_tick);
    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        summary_out->primitives[i] =
            mmds_interval_of(&collect->primitives[i].time, ns_per_tick);
        summary_out->splits[i] =
            mmds_split_of(&collect->primitives[i].split, ns_per_tick);
    }
    accounted_ns =
        summary_out->computation.total_ns + summary_out->communication.total_ns;
    summary_out->gap_ns =
        run_ns > accounted_ns ? run_ns - accounted_ns : accounted_ns - run_ns;
}

void mmds_interval_merge(struct mmds_interval *into, const struct mmds_interval *from)
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
    into->n_unended += from->n_unended;
    if (from->n_slices > into->n_slices) {
        into->n_slices = from->n_slices;
    }
    if (from->strobes.n_sent > into->strobes.n_sent) {
        into->strobes = from->strobes;
    }
    into->run_ns += from->run_ns;
    into->gap_ns += from->gap_ns;
    into->instant_ns += from->instant_ns;
    mmds_interval_merge(&into->computation, &from->computation);
    mmds_interval_merge(&into->communication, &from->communication);
    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        mmds_interval_merge(&into->primitives[i], &from->primitives[i]);
        into->passed[i] += from->passed[i];
        mmds_split_merge(&into->splits[i], &from->splits[i]);
    }
}
