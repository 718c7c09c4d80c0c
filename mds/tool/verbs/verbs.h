/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs-mds does with a run, one function for each verb. They print on standard
 * output.
 */
#ifndef MDS_TOOL_VERBS_VERBS_H
#define MDS_TOOL_VERBS_VERBS_H

#include "mds/tool/analysis/check_rhythm.h"
#include "mds/tool/read/run_read.h"

enum {
    VERBS_USAGE_STATUS = 2, /* the program's, if its command line is wrong */
    VERBS_RHYTHMS = 8,      /* most that check is told to expect */
};

/** The options of all verbs. */
struct verb_options {
    const char *of; /* dist: of which primitive, or "computation" or "communication" */
    bool is_of_sizes; /* dist: of its sizes, not of its latencies */
    int64_t rank;     /* summary, dist: of this rank only; -1: of all */
    int64_t n_most;   /* summary, matrix, events, diff: lines of a table at most; -1: as
                         many as usual */
    bool has_ranks;   /* summary: a table for each rank, too */
    const char *format; /* export: name of one */
    const char *metric; /* slices: name of one */
    int64_t node;       /* slices: of this node only; -1: of all */
    int64_t grid_us;    /* check: slices are so near their grid; -1: need not be */
    struct rhythm rhythms[VERBS_RHYTHMS]; /* check: [n_rhythms] */
    size_t n_rhythms;
    const char *output; /* dist, export, report, slices: the file that is made, "-" for
                           standard output */
};

/** The table of the paper, how each rank has spent its time, and efficiency. @return
 *  the program's exit status, as all of these */
int verb_summary(const struct run *run, const struct verb_options *options);

/** A distribution. */
int verb_dist(const struct run *run, const struct verb_options *options);

/** Who sends how much to whom. */
int verb_matrix(const struct run *run, const struct verb_options *options);

/** The last calls, one by one. */
int verb_events(const struct run *run, const struct verb_options *options);

/** For whom ranks have waited. */
int verb_waits(const struct run *run, const struct verb_options *options);

/** A metric of slices, by their numbers. */
int verb_slices(const struct run *run, const struct verb_options *options);

/** Whether what was recorded agrees with itself. */
int verb_check(const struct run *run, const struct verb_options *options);

/** One page about all of it. */
int verb_report(const struct run *run, const struct verb_options *options);

/** What has changed most between two sides, each the folder of a run or one of such
 *  folders. */
int verb_diff(const char *a, const char *b, const struct verb_options *options);

/** One page about what bcsrun has found, in a document of bcsrun --json, and what was
 *  recorded in a run's folder; what matters most is printed. If the folder cannot be
 *  read, the page says why. */
int verb_diagnosis(const char *findings, const char *folder,
                   const struct verb_options *options);

/** All of it, in a file of another format. */
int verb_export(const struct run *run, const struct verb_options *options);

#endif
