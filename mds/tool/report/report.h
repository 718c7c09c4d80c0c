/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of the page that bcs-mds report makes, each in a file. What they print
 * is bounded, however many ranks there are. One thread.
 */
#ifndef MDS_TOOL_REPORT_REPORT_H
#define MDS_TOOL_REPORT_REPORT_H

#include <stdio.h>

#include "mds/tool/analysis/spread.h"
#include "mds/tool/analysis/waits.h"

/** Colours that are told apart on paper, and by those who see fewer. */
#define REPORT_OUTSIDE "#0072b2"
#define REPORT_BLOCKING "#e69f00"
#define REPORT_OTHER "#999"

/** What a primitive comes to, of all ranks. */
struct report_call {
    const char *name;
    uint32_t number; /* in run.names[] */
    bool is_blocking;
    struct mmds_interval time;
    struct mmds_split split;
    uint64_t n_sized, n_bytes, n_passed;
    double variation; /* of the ranks' totals: standard deviation by mean */
};

/** The primitives of a run, by their total time. @return for free, [run->n_names];
 *  NULL: no memory */
struct report_call *report_calls_of(const struct run *run);

/** What was run, where, with which settings, and how efficiently. */
void report_print_run(FILE *out, const struct run *run);

/** The variables that it ran with. */
void report_print_settings(FILE *out, const struct run *run);

/** How each rank has spent its time. @return 0 or -ENOMEM */
int report_print_ranks(FILE *out, const struct run *run);

/** The table of primitives. */
void report_print_calls(FILE *out, const struct run *run,
                        const struct report_call *calls);

/** The places that have cost most. @return 0 or -ENOMEM */
int report_print_sites(FILE *out, const struct run *run);

/** A cell with a primitive and its place. @param cell "td" or "th" @return 0 or
 *  -ENOMEM */
int report_print_place(FILE *out, const char *cell, const struct site *site,
                       struct places *places);

/** What calls have waited for, if it was recorded. @return 0 or -ENOMEM */
int report_print_split(FILE *out, const struct run *run,
                       const struct report_call *calls);

/** What stands out. @return 0 or -ENOMEM */
int report_print_outstanding(FILE *out, const struct run *run,
                             const struct waits *waits);

/** For whom ranks have waited, if events were recorded. @return 0 or -ENOMEM */
int report_print_waits(FILE *out, const struct run *run, const struct waits *waits);

/** What slices came to, if they were recorded. @return 0 or -ENOMEM */
int report_print_slices(FILE *out, const struct run *run);

/** Distributions as drawings. @return 0 or -ENOMEM */
int report_print_spreads(FILE *out, const struct run *run,
                         const struct report_call *calls);

/** Who sends how much to whom. @return 0 or -ENOMEM */
int report_print_matrix(FILE *out, const struct run *run);

/** What is done on which communicator. @return 0 or -ENOMEM */
int report_print_comms(FILE *out, const struct run *run);

#endif
