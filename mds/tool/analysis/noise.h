/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether two numbers of runs differ by more than runs differ among each other. Pure.
 *
 * The rule: with several runs on a side, by the spread between its runs, Student's test
 * of two samples with one spread, at 1 %. With one run on each side that spread is not
 * known: the only noise is that within the runs, and a distribution has moved if the
 * rank test finds three standard errors and Cliff's delta is not negligible, 0.147 or
 * more.
 */
#ifndef MDS_TOOL_ANALYSIS_NOISE_H
#define MDS_TOOL_ANALYSIS_NOISE_H

#include <stdint.h>

#include "mds/tool/analysis/spread.h"

/** One number of each of several runs. */
struct noise_sample {
    uint32_t n;
    double mean;
    double squares; /* of the distances from the mean, their sum */
};

/** What is found. */
enum noise_verdict {
    NOISE_UNKNOWN, /* one run a side, and no distribution */
    NOISE_WITHIN,
    NOISE_BEYOND,
};

/** Add the number of one more run. */
void noise_add(struct noise_sample *sample, double number);

/** Whether the means of two samples differ by more than chance lets them, once in a
 *  hundred. */
enum noise_verdict noise_judge(const struct noise_sample *a,
                               const struct noise_sample *b);

/** Whether a distribution has moved, of one run a side. @param n_a, n_b their values */
enum noise_verdict noise_judge_shift(const struct spread_shift *shift, uint64_t n_a,
                                     uint64_t n_b);

/** A word for a verdict. */
const char *noise_word(enum noise_verdict verdict);

#endif
