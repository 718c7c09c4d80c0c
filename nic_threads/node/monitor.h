/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitor of the engine: what each slice took and did, by its number, at a desk
 * and, of all nodes, at the strobe sender. It stands in NIC memory behind the state of
 * the desk, or of the node, if it is wanted at all, or with its spans in memory that
 * whoever asks for it has given (nic_record_config.places); who records holds the lock
 * of the desk, or node. Off, a view has none, and a slice costs a branch. [BCS-MPI
 * section 5.2]
 *
 * Time stamps follow each other: each ends what the last one has begun, so that no
 * moment is read twice. A slice is added to its span when it is over: with rounds of
 * several nodes that is known when the next one begins, or when somebody reads. Slices
 * by the clock are known by their numbers; on demand, where each process has slices of
 * its own, by the interval of BCS_SLICE of time in which they begin, which is the same
 * for all desks. There, where a slice takes less than a microsecond, the times of its
 * parts are taken of one in NIC_MONITOR_SAMPLE, and of the first one in an interval;
 * numbers, and when it has begun, of all.
 */
#ifndef NIC_THREADS_NODE_MONITOR_H
#define NIC_THREADS_NODE_MONITOR_H

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/sleep.h"
#include "nic_threads/rules/series.h"

/** A metric of the strobe receiver, by its number among its own; those of the strobe
 *  sender have theirs anyway. The first four mean the same of both. */
#define NIC_LOCAL(metric) ((metric)-BCS_METRICS_LOCAL)

enum { NIC_MONITOR_SAMPLE = 16, NIC_MONITOR_PAGE_BYTES = 4096 };

enum nic_monitored {
    NIC_MONITORED_ELAPSED, /* since the slice before began */
    NIC_MONITORED_DEM,
    NIC_MONITORED_MSM,
    NIC_MONITORED_WHOLE, /* the slice itself */
};

_Static_assert((int)NIC_MONITORED_WHOLE == (int)BCS_METRIC_GTTS &&
                   (int)NIC_MONITORED_WHOLE == (int)NIC_LOCAL(BCS_METRIC_LTTS),
               "both in one order");

/** The monitor of a desk, or of the strobe sender; all zero until nic_monitor_init. */
struct nic_monitor {
    struct nic_series series;
    uint64_t metrics; /* bits: those that are recorded, of its own; 0: none are */
    uint64_t number;  /* of the slice under way, or its interval */
    uint64_t n_begun; /* slices so far */
    uint64_t began;   /* when the one under way did, */
    uint64_t ended;   /* and when its last phase so far has ended */
    uint64_t since;   /* the last stamp, */
    uint64_t entered; /* and the phase's first one */
    uint64_t next;    /* on demand: when the present interval ends */
    uint64_t has;     /* bits: the slice under way has a value; 0: it was added */
    uint64_t values[BCS_SPAN_TALLIES];
    /* On demand: slices of the present interval since the last one whose times were
     * taken, */
    uint64_t n_quick;
    struct bcs_tally quick[BCS_SPAN_TALLIES]; /* and what they had */
};

/** What a process has of a monitor: where it is. */
struct nic_recorder {
    struct nic_monitor *monitor;
    struct nic_spans spans;
    const struct bcs_machine *machine; /* knows when the job began */
    bool is_by_time;                   /* slices are not by the clock */
};

/** Whether slices are recorded. @param recorder  NULL: no */
static inline bool nic_recorder_is_on(const struct nic_recorder *recorder)
{
    return __builtin_expect(recorder != NULL, 0) && recorder->monitor->metrics != 0;
}

/** The next stamp. */
static inline uint64_t nic_monitor_stamp(struct nic_monitor *monitor)
{
    uint64_t now = bcs_clock_ticks();

    monitor->since = now > monitor->since ? now : monitor->since; /* of another core */
    return monitor->since;
}

/** Add to a value of the slice under way. */
static inline void nic_monitor_add(struct nic_monitor *monitor, uint32_t metric,
                                   uint64_t value)
{
    monitor->values[metric] += value;
    monitor->has |= UINT64_C(1) << metric;
}

/** A phase begins. */
static inline void nic_monitor_enter(struct nic_monitor *monitor)
{
    monitor->entered = nic_monitor_stamp(monitor);
}

/** A part of a phase ends, which began with the last stamp. */
static inline void nic_monitor_part(struct nic_monitor *monitor, uint32_t metric)
{
    uint64_t since = monitor->since;

    nic_monitor_add(monitor, metric, nic_monitor_stamp(monitor) - since);
}

/** A phase ends with the last stamp, and another one begins with it. */
static inline void nic_monitor_leave(struct nic_monitor *monitor, uint32_t metric)
{
    nic_monitor_add(monitor, metric, monitor->since - monitor->entered);
    monitor->entered = monitor->since;
}

/** The slice ends with the last stamp, unless another round follows. */
static inline void nic_monitor_end(struct nic_monitor *monitor)
{
    monitor->ended = monitor->since;
}

/** Whether a slice on demand that begins at a moment, the stamp of nic_monitor_enter,
 *  is a quick one: only numbers are taken of it. */
static inline bool nic_monitor_is_quick(const struct nic_monitor *monitor)
{
    return monitor->entered < monitor->next &&
           monitor->n_quick < NIC_MONITOR_SAMPLE - 1;
}

/** A quick slice begins. */
static inline void nic_monitor_begin_quick(struct nic_monitor *monitor)
{
    bcs_tally_add(&monitor->quick[NIC_MONITORED_ELAPSED],
                  monitor->entered - monitor->began);
    monitor->began = monitor->entered;
    monitor->n_begun++;
    monitor->n_quick++;
}

/** A number of a quick slice. */
static inline void nic_monitor_add_quick(struct nic_monitor *monitor, uint32_t metric,
                                         uint64_t value)
{
    bcs_tally_add(&monitor->quick[metric], value);
}

/** Bytes that a monitor takes with its spans behind it, two halves of n_spans: whole
 *  pages. */
static inline size_t nic_monitor_bytes(uint64_t n_spans)
{
    size_t n_bytes = sizeof(struct nic_monitor) + 2 * n_spans * sizeof(struct bcs_span);

    return bcs_align_up(n_bytes, NIC_MONITOR_PAGE_BYTES);
}

/** The spans behind a monitor. */
static inline struct bcs_span *nic_monitor_spans(struct nic_monitor *monitor)
{
    return (struct bcs_span *)(monitor + 1);
}

/** Begin a monitor: of slices from `first` on, n of them, in two halves of n_spans. */
void nic_monitor_init(struct nic_monitor *monitor, uint64_t metrics, uint64_t first,
                      uint64_t n, uint64_t n_spans);

/** A slice begins with the phase that was entered last. */
void nic_monitor_begin(const struct nic_recorder *recorder);

/** The slice is over: add it to its span, unless that was done. */
void nic_monitor_close(const struct nic_recorder *recorder);

/**
 * Copy what was recorded, the slice under way, too. The begins of spans are in ticks
 * since the job began, times in ticks.
 *
 * @param spans_out  [*n_out] by number, for free; all of 2^*shift_out slices
 * @return 0 or -ENOMEM
 */
int nic_monitor_copy(const struct nic_recorder *recorder, struct bcs_span **spans_out,
                     size_t *n_out, uint64_t *shift_out);

#endif
