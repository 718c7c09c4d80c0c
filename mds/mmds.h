/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: from what collect.h has recorded to the report of the paper's table 5.3.
 * mmds_start is called at the end of MPI_Init, mmds_stop and mmds_report at the begin
 * of MPI_Finalize, by the thread that makes those calls; all else is pure.
 */
#ifndef MDS_MMDS_H
#define MDS_MMDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mds/collect.h"

/** Statistics of one kind of interval, in nanoseconds. */
struct mmds_interval {
    uint64_t count;
    uint64_t min_ns, max_ns, total_ns;
};

/** Time by part, in nanoseconds; by enum mds_part. */
struct mmds_split {
    uint64_t ns[MDS_N_PARTS];
};

/** Timed strobes; see struct bcs_strobes. All zero where there were none. */
struct mmds_strobes {
    uint64_t slice_ns, n_sent, n_left_out, n_idle, late_ns, is_prompt;
};

/** What one process did, or several merged. Plain data of fixed size: may be sent. */
struct mmds_summary {
    uint64_t n_processes;        /* merged into this one */
    uint64_t n_unended;          /* of them, whose slices and passed are not known */
    uint64_t n_slices;           /* the largest of the processes' */
    struct mmds_strobes strobes; /* of the process that has seen most */
    uint64_t run_ns;             /* end of MPI_Init to begin of MPI_Finalize; sum */
    uint64_t gap_ns;     /* |run - (computation + communication)| of each; sum */
    uint64_t instant_ns; /* in non-blocking primitives, part of the computation */
    struct mmds_interval computation, communication;
    struct mmds_interval primitives[MDS_MAX_PRIMITIVES];
    uint64_t passed[MDS_MAX_PRIMITIVES]; /* calls left to the real MPI library */
    struct mmds_split splits[MDS_MAX_PRIMITIVES]; /* of those that block */
};

/** What mmds_report needs besides the summary. */
struct mmds_report {
    const char *const *names; /* of the primitives, in the order of their numbers */
    uint32_t n_primitives;
    uint32_t rank, n_ranks;
    bool is_brief; /* the table over all processes only */
    /**
     * Collect n bytes of every rank at rank 0, in rank order; all is NULL elsewhere.
     * Called once by every rank. Returns 0 or -errno.
     */
    int (*gather)(void *arg, const void *mine, size_t n_bytes, void *all);
    void *arg;
    FILE *out; /* used by rank 0 */
};

/** What is to be recorded. */
struct mmds_plan {
    bool is_shared; /* several threads may be inside MPI at a time */
    struct mds_shape shape;
    uint32_t rank;
    const char *const *names; /* of the primitives, in the order of their numbers */
    const enum mds_timing *timings;
    uint32_t n_primitives;
    const char *path; /* of the file to record in; NULL: none; see live.h */
    /* As of struct mds_collect; where several threads record, calls are not split. */
    const uint64_t *slice;
    struct bcs_stamps *stamps;
    const struct bcs_slice_begins *begins;
};

/**
 * Start recording: the first computation interval begins.
 *
 * @param collect_out  where to record; end with mds_live_drop
 * @return 0   recording
 * @return <0  -errno; nothing is recorded: no memory, or the file cannot be had
 */
int mmds_start(const struct mmds_plan *plan, struct mds_collect **collect_out);

/** Record the distributions of a primitive, too. Before it is called. */
void mmds_distribute(struct mds_collect *collect, uint32_t primitive);

/**
 * Let a recording that was left under way end with the last call that has begun or
 * ended: for the copy of a file.
 *
 * @return 0
 * @return -ESTALE  its clocks are not those of this machine as it runs now
 */
int mmds_cut(struct mds_collect *copy);

/** Stop recording: the last interval ends. Calls that begin from now on must not find
 *  it. */
void mmds_stop(struct mds_collect *collect);

/** Nanoseconds of a tick, in a stopped recording. */
double mmds_ns_per_tick(const struct mds_collect *collect);

/** An interval in nanoseconds. */
struct mmds_interval mmds_interval_of(const struct mds_interval *interval,
                                      double ns_per_tick);

/** A split in nanoseconds: parts are rounded so that they come to what their sum is
 *  rounded to. */
struct mmds_split mmds_split_of(const struct mds_split *split, double ns_per_tick);

/** Add from to into. */
void mmds_split_merge(struct mmds_split *into, const struct mmds_split *from);

/** All parts together. */
uint64_t mmds_split_total_ns(const struct mmds_split *split);

/**
 * Turn a stopped recording into a summary of one process; n_slices, strobes and passed
 * are zero for the caller to fill. Ticks become nanoseconds by the ratio between the
 * two clocks over the run itself.
 */
void mmds_summarize(const struct mds_collect *collect,
                    struct mmds_summary *summary_out);

/** Add from to into. A zeroed into is the neutral element. */
void mmds_interval_merge(struct mmds_interval *into, const struct mmds_interval *from);

/** The same of summaries. */
void mmds_merge(struct mmds_summary *into, const struct mmds_summary *from);

/** Print one summary: a title line, the table, the account of the run time, and what
 *  was passed to the MPI library. names has n_primitives entries. */
void mmds_print(FILE *out, const char *title, const char *const *names,
                uint32_t n_primitives, const struct mmds_summary *summary);

/**
 * Gather all summaries and print, at rank 0, the table over all processes and then,
 * unless it is to be brief, one for each. Called by every rank.
 *
 * @return 0   done
 * @return <0  -errno of gather or -ENOMEM; nothing is printed
 */
int mmds_report(const struct mmds_report *report, const struct mmds_summary *mine);

#endif
