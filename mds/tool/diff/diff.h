/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs-mds diff has of its two sides, and the tables that it prints, each in a
 * file. One thread.
 */
#ifndef MDS_TOOL_DIFF_DIFF_H
#define MDS_TOOL_DIFF_DIFF_H

#include "mds/tool/analysis/noise.h"
#include "mds/tool/analysis/runs_compared.h"

/** Two sides: before and after. */
struct diff {
    struct runs_compared sides[2];
    bool
        is_per_rank; /* the numbers of ranks are not all the same: totals are by rank */
    bool is_single;  /* one run a side */
    size_t n_most;   /* lines of a table */
    const char **names; /* [n_names] of primitives, of all runs */
    uint32_t n_names;
};

/** A number on both sides, as a line of a table has it. */
struct diff_pair {
    struct noise_sample of[2];
};

/** How much a number has grown. */
static inline double diff_change(const struct diff_pair *pair)
{
    return pair->of[1].mean - pair->of[0].mean;
}

/** What a total of a run counts as: itself, or its part by rank. */
static inline double diff_scaled(const struct diff *diff, const struct run *run,
                                 double total)
{
    return diff->is_per_rank ? total / run->n_files : total;
}

/** Print a change in per cent, in a column of nine. */
void diff_print_percent(const struct diff_pair *pair);

/** Run time, its parts, efficiency, messages. */
void diff_print_whole(const struct diff *diff);

/** Primitives by the change of their total time. @return 0 or -ENOMEM */
int diff_print_calls(const struct diff *diff);

/** Places in the program by the change of their total time, and by that of the time for
 *  which late ranks were waited for there. @return 0 or -ENOMEM */
int diff_print_sites(const struct diff *diff);

/** Which runs tell what calls have waited for: all can be compared only. */
enum diff_split { DIFF_SPLIT_NONE, DIFF_SPLIT_SOME, DIFF_SPLIT_ALL };
enum diff_split diff_split(const struct diff *diff);

/** What calls have waited for, by the change of each part, and ranks by that of the
 *  time for which they were waited for or have waited. @return 0 or -ENOMEM */
int diff_print_split(const struct diff *diff);

/** Distributions by how far they have moved. @return 0 or -ENOMEM */
int diff_print_spreads(const struct diff *diff);

/** Ranks by the change of their times; all runs have the same. @return 0 or -ENOMEM */
int diff_print_ranks(const struct diff *diff);

/** Pairs of ranks by the change of the bytes between them. @return 0 or -ENOMEM */
int diff_print_peers(const struct diff *diff);

/** Compare the sides, which have been read, and print all tables. @return 0 or -ENOMEM;
 *  names is for free */
int diff_print(struct diff *diff);

#endif
