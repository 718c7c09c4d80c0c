/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether runs differ beyond noise; see noise.h. Pure.
 */
#include "mds/tool/analysis/noise.h"

#include <math.h>

#define MOST_NEGLIGIBLE_DELTA 0.147
#define STANDARD_ERRORS 3.0

/** Student's t that is exceeded by chance, on either side, once in a hundred. */
static const struct {
    uint32_t freedom; /* degrees of it, from this on */
    double t;
} critical[] = {
    {1, 63.657}, {2, 9.925},  {3, 5.841},  {4, 4.604},   {5, 4.032},  {6, 3.707},
    {7, 3.499},  {8, 3.355},  {9, 3.250},  {10, 3.169},  {12, 3.055}, {15, 2.947},
    {20, 2.845}, {30, 2.750}, {60, 2.660}, {120, 2.617},
};

static double critical_t(uint32_t freedom)
{
    double t = critical[0].t;

    for (uint32_t i = 0; i < sizeof(critical) / sizeof(critical[0]); i++) {
        if (critical[i].freedom <= freedom) {
            t = critical[i].t;
        }
    }
    return t;
}

void noise_add(struct noise_sample *sample, double number)
{
    double distance = number - sample->mean;

    sample->n++;
    sample->mean += distance / sample->n;
    sample->squares += distance * (number - sample->mean);
}

enum noise_verdict noise_judge(const struct noise_sample *a,
                               const struct noise_sample *b)
{
    double difference = fabs(b->mean - a->mean);
    uint32_t freedom = a->n + b->n - 2;
    double error;

    if (a->n == 0 || b->n == 0 || freedom == 0) {
        return NOISE_UNKNOWN;
    }
    error = sqrt((a->squares + b->squares) / freedom * (1.0 / a->n + 1.0 / b->n));
    return difference > critical_t(freedom) * error ? NOISE_BEYOND : NOISE_WITHIN;
}

enum noise_verdict noise_judge_shift(const struct spread_shift *shift, uint64_t n_a,
                                     uint64_t n_b)
{
    if (n_a == 0 || n_b == 0) {
        return NOISE_UNKNOWN;
    }
    return fabs(shift->delta) >= MOST_NEGLIGIBLE_DELTA &&
                   fabs(shift->z) >= STANDARD_ERRORS
               ? NOISE_BEYOND
               : NOISE_WITHIN;
}

const char *noise_word(enum noise_verdict verdict)
{
    static const char *const words[] = {"?", "within", "beyond"};

    return words[verdict];
}
