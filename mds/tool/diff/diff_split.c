/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: the tables of what blocking calls have waited for, by call and by rank;
 * by place it is in diff_sites.c. Times of a part have no distribution: what is noise,
 * runs of a side tell.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/split_read.h"
#include "mds/tool/diff/diff.h"

#define NS_PER_MS 1e6

/** A part of the time of a primitive, on both sides. */
struct part_line {
    const char *name;
    enum mds_part part;
    struct diff_pair ns;
};

static int compare_parts(const void *left, const void *right)
{
    const struct part_line *x = left, *y = right;
    double a = fabs(diff_change(&x->ns)), b = fabs(diff_change(&y->ns));
    int order;

    if (a != b) {
        return a > b ? -1 : 1;
    }
    order = strcmp(x->name, y->name);
    return order != 0 ? order : (int)x->part - (int)y->part;
}

/** Add a run to the lines of a primitive. @param lines  [MDS_N_PARTS] */
static void add_run(const struct diff *diff, uint32_t which, const struct run *run,
                    struct part_line *lines)
{
    uint32_t name = run_find_name(run, lines[0].name);

    for (int part = 0; part < MDS_N_PARTS; part++) {
        double ns = 0;

        for (uint32_t i = 0; name < run->n_names && i < run->n_files; i++) {
            ns += (double)run->summaries[i].splits[name].ns[part];
        }
        noise_add(&lines[part].ns.of[which], diff_scaled(diff, run, ns));
    }
}

/** Make the lines of all primitives, without those that are nothing. @return how
 *  many */
static size_t fill_parts(const struct diff *diff, struct part_line *lines)
{
    size_t n = 0;

    for (uint32_t i = 0; i < diff->n_names; i++) {
        struct part_line parts[MDS_N_PARTS];

        for (int part = 0; part < MDS_N_PARTS; part++) {
            parts[part] = (struct part_line){.name = diff->names[i], .part = part};
        }
        for (uint32_t which = 0; which < 2; which++) {
            for (uint32_t j = 0; j < diff->sides[which].n_runs; j++) {
                add_run(diff, which, &diff->sides[which].runs[j], parts);
            }
        }
        for (int part = 0; part < MDS_N_PARTS; part++) {
            if (parts[part].ns.of[0].mean > 0 || parts[part].ns.of[1].mean > 0) {
                lines[n++] = parts[part];
            }
        }
    }
    return n;
}

/** @return 0 or -ENOMEM */
static int print_parts(const struct diff *diff)
{
    struct part_line *lines =
        calloc((size_t)diff->n_names * MDS_N_PARTS + 1, sizeof(*lines));
    size_t n;

    if (lines == NULL) {
        return -ENOMEM;
    }
    n = fill_parts(diff, lines);
    qsort(lines, n, sizeof(*lines), compare_parts);
    if (n > 0) {
        printf("\n%-20s %-18s %11s %11s %11s %9s  %s\n", "Waited in", "For",
               "Total A(ms)", "Total B(ms)", "Change(ms)", "Change(%)", "Noise");
    }
    for (size_t i = 0; i < n && i < diff->n_most; i++) {
        const struct diff_pair *ns = &lines[i].ns;

        printf("%-20s %-18s %11.3f %11.3f %11.3f ", lines[i].name,
               split_names[lines[i].part], ns->of[0].mean / NS_PER_MS,
               ns->of[1].mean / NS_PER_MS, diff_change(ns) / NS_PER_MS);
        diff_print_percent(ns);
        printf("  %s\n", noise_word(noise_judge(&ns->of[0], &ns->of[1])));
    }
    free(lines);
    return 0;
}

/** How long a rank has waited for late ones, and others for it, on both sides. */
struct late_line {
    uint32_t rank;
    struct diff_pair own, others;
};

static double larger_change(const struct late_line *line)
{
    return fmax(fabs(diff_change(&line->own)), fabs(diff_change(&line->others)));
}

static int compare_late(const void *left, const void *right)
{
    const struct late_line *x = left, *y = right;
    double a = larger_change(x), b = larger_change(y);

    if (a != b) {
        return a > b ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = ((const struct late_line *)left)->rank;
    uint32_t b = ((const struct late_line *)right)->rank;

    return a < b ? -1 : a > b;
}

/** Add a run to the lines, [n] in the order of ranks; a rank without one is left out.
 *  @return 0 or -ENOMEM */
static int add_ranks(const struct run *run, uint32_t which, struct late_line *lines,
                     uint32_t n)
{
    struct split_rank *ranks = split_ranks(run);

    if (ranks == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct late_line key = {.rank = ranks[i].rank};
        struct late_line *line = bsearch(&key, lines, n, sizeof(*lines), compare_ranks);

        if (line != NULL) {
            noise_add(&line->own.of[which], (double)split_late_ns(ranks[i].own.ns));
            noise_add(&line->others.of[which],
                      (double)split_late_ns(ranks[i].others_ns));
        }
    }
    free(ranks);
    return 0;
}

static void print_pair(const struct diff_pair *pair)
{
    printf(" | %12.3f %12.3f %12.3f %-6s", pair->of[0].mean / NS_PER_MS,
           pair->of[1].mean / NS_PER_MS, diff_change(pair) / NS_PER_MS,
           noise_word(noise_judge(&pair->of[0], &pair->of[1])));
}

static void print_lines(const struct diff *diff, const struct late_line *lines,
                        uint32_t n_lines)
{
    size_t n = 0;

    printf("\n%8s | %38s %-6s | %38s %-6s\n%8s | %12s %12s %12s %-6s | %12s %12s %12s "
           "%-6s\n",
           "", "Waited for late ranks(ms)", "", "Others for it(ms)", "", "Rank", "A",
           "B", "Change", "Noise", "A", "B", "Change", "Noise");
    for (uint32_t i = 0; i < n_lines && n < diff->n_most; i++) {
        if (lines[i].own.of[0].n > 0 && lines[i].own.of[1].n > 0) {
            printf("%8u", lines[i].rank);
            print_pair(&lines[i].own);
            print_pair(&lines[i].others);
            printf("\n");
            n++;
        }
    }
}

/** All runs have the same ranks. @return 0 or -ENOMEM */
static int print_ranks(const struct diff *diff)
{
    const struct run *first = &diff->sides[0].runs[0];
    struct late_line *lines = calloc((size_t)first->n_files + 1, sizeof(*lines));
    int rc = lines == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; rc == 0 && i < first->n_files; i++) {
        lines[i].rank = first->files[i].process.rank;
    }
    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs && rc == 0; i++) {
            rc = add_ranks(&diff->sides[which].runs[i], which, lines, first->n_files);
        }
    }
    if (rc == 0) {
        qsort(lines, first->n_files, sizeof(*lines), compare_late);
        print_lines(diff, lines, first->n_files);
    }
    free(lines);
    return rc;
}

enum diff_split diff_split(const struct diff *diff)
{
    bool is_in_any = false, is_in_all = true;

    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs; i++) {
            is_in_any |= split_is_in_any(&diff->sides[which].runs[i]);
            is_in_all &= split_is_in_all(&diff->sides[which].runs[i]);
        }
    }
    return is_in_all ? DIFF_SPLIT_ALL : is_in_any ? DIFF_SPLIT_SOME : DIFF_SPLIT_NONE;
}

int diff_print_split(const struct diff *diff)
{
    enum diff_split split = diff_split(diff);
    int rc;

    if (split == DIFF_SPLIT_SOME) {
        printf("\nWhat calls have waited for is not compared: some runs are of an "
               "earlier version, which\ndid not record it.\n");
    }
    if (split != DIFF_SPLIT_ALL) {
        return 0;
    }
    rc = print_parts(diff);
    return rc == 0 && !diff->is_per_rank ? print_ranks(diff) : rc;
}
