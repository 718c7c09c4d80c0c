/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is expected of timed slices; see check_rhythm.h.
 */
#include "mds/tool/analysis/check_rhythm.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_US 1000
#define PERCENT_MISSED                                                                 \
    1 /* that an expectation may be missed by: [the paper's "negligible"] */

/** How often what was expected was so. */
struct count {
    uint64_t n, n_met;
};

/** What is expected, of which slices. */
struct wish {
    const char *what;   /* in words */
    const char *metric; /* of slices in which it is not 0; NULL: of all slices */
    uint64_t n_slices;  /* from one to the next; 0: any whole number */
    uint64_t most_off;  /* ns from that; UINT64_MAX: the nearest whole number counts */
};

/** Whether the file has timed slices, each by itself. */
static bool can_tell(const struct node_file *file)
{
    return file->node.interval == 0 && file->node.shift == 0 && file->node.slice > 0;
}

/** Begins of slices in a file, in the order of time. */
struct walk {
    const struct node_file *file;
    bool is_of_all;  /* of all slices; else of those in which a metric is not 0 */
    uint32_t metric; /* its number */
    uint32_t next;
};

/** @return false: there is none any more */
static bool walk_on(struct walk *walk, uint64_t *began_out)
{
    const struct node_file *file = walk->file;

    while (walk->next < file->spans.n) {
        uint32_t i = walk->next++;

        if (walk->is_of_all || node_tally(file, i, walk->metric).total > 0) {
            *began_out = node_span(file, i).began;
            return true;
        }
    }
    return false;
}

/** A gap between two begins: as so many whole slices, and how far from them. */
static uint64_t slices_of(uint64_t gap, uint64_t slice, uint64_t *off_out)
{
    uint64_t n = (gap + slice / 2) / slice;

    *off_out = gap > n * slice ? gap - n * slice : n * slice - gap;
    return n;
}

/** Count the gaps of a file. */
static struct count count_gaps(struct walk walk, const struct wish *wish)
{
    struct count count = {0};
    uint64_t before, began;

    if (!walk_on(&walk, &before)) {
        return count;
    }
    for (; walk_on(&walk, &began); before = began) {
        uint64_t off;
        uint64_t n = slices_of(began - before, walk.file->node.slice, &off);

        count.n++;
        count.n_met +=
            (wish->n_slices == 0 || n == wish->n_slices) && off <= wish->most_off;
    }
    return count;
}

/** Say what a file has told. @return number of findings */
static int tell(const struct node_file *file, struct count count, const char *what)
{
    uint64_t n_missed = count.n - count.n_met;

    if (file->is_global) {
        printf("all nodes: ");
    } else {
        printf("node %u: ", file->node.node);
    }
    printf("%s %" PRIu64 " of %" PRIu64 " times\n", what, count.n_met, count.n);
    return n_missed * 100 > count.n * PERCENT_MISSED;
}

/** Nothing could be told. @return number of findings */
static int refuse(const char *what)
{
    printf("%s: cannot be told; it needs timed slices (BCS_STROBE=timed BCS_MDS=emds), "
           "each "
           "recorded by itself (BCS_MDS_WINDOW), and two at least that have it\n",
           what);
    return 1;
}

/** Look at all files. @return number of findings */
static int check(const struct run *run, const struct wish *wish)
{
    bool is_told = false;
    int n_found = 0;

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct node_file *file = &run->nodes[i];
        struct walk walk = {.file = file, .is_of_all = wish->metric == NULL};
        struct count count;

        if (wish->metric != NULL) {
            walk.metric = node_find_metric(file, wish->metric);
        }
        if (!can_tell(file) || (!walk.is_of_all && walk.metric == file->metrics.n)) {
            continue;
        }
        count = count_gaps(walk, wish);
        if (count.n > 0) {
            n_found += tell(file, count, wish->what);
            is_told = true;
        }
    }
    return is_told ? n_found : refuse(wish->what);
}

int check_rhythm(const struct run *run, const struct rhythm *rhythm)
{
    char what[96];
    struct wish wish = {what, rhythm->metric, (uint64_t)rhythm->n_slices, UINT64_MAX};

    snprintf(what, sizeof(what), "%s comes every %" PRId64 " slices", rhythm->metric,
             rhythm->n_slices);
    return check(run, &wish);
}

int check_grid(const struct run *run, int64_t most_us)
{
    char what[96];
    struct wish wish = {what, NULL, 0, (uint64_t)most_us * NS_PER_US};

    snprintf(what, sizeof(what), "slices are within %" PRId64 " us of their grid",
             most_us);
    return check(run, &wish);
}
