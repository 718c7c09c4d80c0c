/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: the tables of primitives and of distributions.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mds/tool/diff/diff.h"

#define NS_PER_US 1e3
#define NS_PER_MS 1e6

/** A primitive on both sides. */
struct call_line {
    const char *name;
    struct diff_pair count, total_ns;
    struct spread spreads[2]; /* of its times, of all runs of a side */
    enum noise_verdict verdict;
};

static int compare_calls(const void *left, const void *right)
{
    double a = fabs(diff_change(&((const struct call_line *)left)->total_ns));
    double b = fabs(diff_change(&((const struct call_line *)right)->total_ns));

    return a > b ? -1 : a < b;
}

/** Add a run to a primitive's line. */
static int add_call(const struct diff *diff, uint32_t which, uint32_t number,
                    struct call_line *line)
{
    const struct runs_compared *side = &diff->sides[which];
    const struct run *run = &side->runs[number];
    uint32_t name = run_find_name(run, line->name);
    uint64_t count = 0, total_ns = 0;

    for (uint32_t i = 0; name < run->n_names && i < run->n_files; i++) {
        count += run->summaries[i].primitives[name].count;
        total_ns += run->summaries[i].primitives[name].total_ns;
    }
    noise_add(&line->count.of[which], diff_scaled(diff, run, (double)count));
    noise_add(&line->total_ns.of[which], diff_scaled(diff, run, (double)total_ns));
    return name < run->n_names
               ? spread_merge(&line->spreads[which], &side->spreads[number].times[name])
               : 0;
}

/** One run a side: have single calls become longer? Several: has the total? */
static enum noise_verdict judge_call(const struct diff *diff,
                                     const struct call_line *line)
{
    struct spread_shift shift;

    if (!diff->is_single) {
        return noise_judge(&line->total_ns.of[0], &line->total_ns.of[1]);
    }
    shift = spread_compare(&line->spreads[0], &line->spreads[1]);
    return noise_judge_shift(&shift, line->spreads[0].n, line->spreads[1].n);
}

static int fill_call(const struct diff *diff, struct call_line *line)
{
    int rc = 0;

    for (uint32_t which = 0; which < 2; which++) {
        line->spreads[which].bits = diff->sides[0].spreads[0].periods[0].bits;
        for (uint32_t i = 0; i < diff->sides[which].n_runs && rc == 0; i++) {
            rc = add_call(diff, which, i, line);
        }
    }
    line->verdict = judge_call(diff, line);
    return rc;
}

static double mean_us(const struct call_line *line, uint32_t which)
{
    double count = line->count.of[which].mean;

    return count > 0 ? line->total_ns.of[which].mean / count / NS_PER_US : 0;
}

static void print_call(const struct call_line *line)
{
    printf("%-20s %11.0f %11.0f %11.3f %11.3f %11.3f ", line->name,
           line->count.of[0].mean, line->count.of[1].mean,
           line->total_ns.of[0].mean / NS_PER_MS, line->total_ns.of[1].mean / NS_PER_MS,
           diff_change(&line->total_ns) / NS_PER_MS);
    diff_print_percent(&line->total_ns);
    printf(" %11.3f %11.3f  %s\n", mean_us(line, 0), mean_us(line, 1),
           noise_word(line->verdict));
}

int diff_print_calls(const struct diff *diff)
{
    struct call_line *lines = calloc((size_t)diff->n_names + 1, sizeof(*lines));
    int rc = lines == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < diff->n_names && rc == 0; i++) {
        lines[i].name = diff->names[i];
        rc = fill_call(diff, &lines[i]);
    }
    if (rc == 0) {
        qsort(lines, diff->n_names, sizeof(*lines), compare_calls);
        printf("\n%-20s %11s %11s %11s %11s %11s %9s %11s %11s  %s\n", "Primitive",
               "Count A", "Count B", "Total A(ms)", "Total B(ms)", "Change(ms)",
               "Change(%)", "Mean A(us)", "Mean B(us)", "Noise");
    }
    for (uint32_t i = 0; i < diff->n_names && rc == 0; i++) {
        if (i < diff->n_most) {
            print_call(&lines[i]);
        }
    }
    for (uint32_t i = 0; i < diff->n_names && lines != NULL; i++) {
        spread_fini(&lines[i].spreads[0]);
        spread_fini(&lines[i].spreads[1]);
    }
    free(lines);
    return rc;
}

/** A distribution on both sides. */
struct spread_line {
    const char *name;
    bool is_size;
    struct spread spreads[2];
    struct diff_pair median;
    struct spread_shift shift;
    enum noise_verdict verdict;
};

static int compare_spreads(const void *left, const void *right)
{
    double a = fabs(((const struct spread_line *)left)->shift.delta);
    double b = fabs(((const struct spread_line *)right)->shift.delta);

    return a > b ? -1 : a < b;
}

/** The distribution of a line in a run; NULL: it has none. */
static const struct spread *spread_in(const struct runs_compared *side, uint32_t number,
                                      const struct spread_line *line, int period)
{
    const struct spreads *spreads = &side->spreads[number];
    uint32_t name;

    if (period >= 0) {
        return &spreads->periods[period];
    }
    name = run_find_name(&side->runs[number], line->name);
    if (name == side->runs[number].n_names) {
        return NULL;
    }
    return line->is_size ? &spreads->sizes[name] : &spreads->times[name];
}

/** @param period  which of the two it is; -1: it is a primitive's */
static int fill_spread(const struct diff *diff, struct spread_line *line, int period)
{
    int rc = 0;

    for (uint32_t which = 0; which < 2; which++) {
        const struct runs_compared *side = &diff->sides[which];

        line->spreads[which].bits = side->spreads[0].periods[0].bits;
        for (uint32_t i = 0; i < side->n_runs && rc == 0; i++) {
            const struct spread *spread = spread_in(side, i, line, period);

            if (spread != NULL && spread->n > 0) {
                noise_add(&line->median.of[which], spread_quantile(spread, 0.5));
                rc = spread_merge(&line->spreads[which], spread);
            }
        }
    }
    line->shift = spread_compare(&line->spreads[0], &line->spreads[1]);
    line->verdict =
        diff->is_single
            ? noise_judge_shift(&line->shift, line->spreads[0].n, line->spreads[1].n)
            : noise_judge(&line->median.of[0], &line->median.of[1]);
    return rc;
}

static void print_spread(const struct spread_line *line)
{
    double unit = line->is_size ? 1 : NS_PER_US;

    printf("%-20s %-5s", line->name, line->is_size ? "bytes" : "us");
    for (uint32_t which = 0; which < 2; which++) {
        printf(" %13.3f %13.3f", spread_quantile(&line->spreads[which], 0.5) / unit,
               spread_quantile(&line->spreads[which], 0.99) / unit);
    }
    printf(" %7.3f  %s\n", line->shift.delta, noise_word(line->verdict));
}

/** Fill all lines that both sides have. @return how many; <0: -ENOMEM */
static int64_t fill_spreads(const struct diff *diff, struct spread_line *lines)
{
    static const char *const periods[] = {"Comp Granularity", "Comm Overhead"};
    int64_t n = 0;
    int rc = 0;

    for (uint32_t i = 0; i < 2 + 2 * diff->n_names && rc == 0; i++) {
        struct spread_line *line = &lines[n];

        line->name = i < 2 ? periods[i] : diff->names[(i - 2) / 2];
        line->is_size = i >= 2 && i % 2 == 1;
        rc = fill_spread(diff, line, i < 2 ? (int)i : -1);
        if (line->spreads[0].n > 0 && line->spreads[1].n > 0) {
            n++;
        } else {
            spread_fini(&line->spreads[0]);
            spread_fini(&line->spreads[1]);
            *line = (struct spread_line){0};
        }
    }
    return rc < 0 ? rc : n;
}

int diff_print_spreads(const struct diff *diff)
{
    size_t n_lines = 2 + 2 * (size_t)diff->n_names;
    struct spread_line *lines = calloc(n_lines, sizeof(*lines));
    int64_t n = lines == NULL ? -ENOMEM : fill_spreads(diff, lines);

    if (n > 0) {
        qsort(lines, (size_t)n, sizeof(*lines), compare_spreads);
        printf("\n%-20s %-5s %13s %13s %13s %13s %7s  %s\n", "Distribution of", "in",
               "Median A", "99% A", "Median B", "99% B", "Shift", "Noise");
    }
    for (int64_t i = 0; i < n; i++) {
        if ((size_t)i < diff->n_most) {
            print_spread(&lines[i]);
        }
    }
    for (size_t i = 0; i < n_lines && lines != NULL; i++) {
        spread_fini(&lines[i].spreads[0]);
        spread_fini(&lines[i].spreads[1]);
    }
    free(lines);
    return n < 0 ? (int)n : 0;
}
