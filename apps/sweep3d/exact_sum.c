/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixed-point number wide enough for every double: 32-bit digits kept in 64-bit
 * signed integers, so that 2^30 terms fit before carries must be passed on. Integer
 * addition has no order, so neither has the sum. totals.c uses it, on every rank.
 */
#include "apps/sweep3d/exact_sum.h"

#include <math.h>
#include <mpi.h>
#include <string.h>

#define DIGIT_BITS 32
#define DIGIT_MASK INT64_C(0xffffffff)
#define LOWEST_EXPONENT (-1074)
#define MANTISSA_BITS 53
#define MAX_PENDING (INT64_C(1) << 30)

void exact_sum_init(struct exact_sum *sum)
{
    memset(sum, 0, sizeof(*sum));
}

/* Bring all digits but the last, which carries the sign, into 0 .. 2^32 - 1. */
static void pass_carries(struct exact_sum *sum)
{
    for (int n = 0; n < EXACT_SUM_DIGITS - 1; n++) {
        int64_t low = sum->digits[n] & DIGIT_MASK;
        sum->digits[n + 1] += (sum->digits[n] - low) / (DIGIT_MASK + 1);
        sum->digits[n] = low;
    }
    sum->n_pending = 0;
}

void exact_sum_add(struct exact_sum *sum, double term)
{
    int exponent;
    double fraction = frexp(term, &exponent);

    if (!isfinite(term)) {
        sum->n_not_finite++;
        return;
    }
    /* term = mantissa * 2^(exponent - 53); no double has bits below the lowest digit,
     * so the division of a subnormal term leaves no rest. */
    int64_t mantissa = (int64_t)ldexp(fraction, MANTISSA_BITS);
    int bit = exponent - MANTISSA_BITS - LOWEST_EXPONENT;
    if (bit < 0) {
        mantissa /= INT64_C(1) << -bit;
        bit = 0;
    }
    uint64_t magnitude = mantissa < 0 ? -(uint64_t)mantissa : (uint64_t)mantissa;
    int64_t sign = mantissa < 0 ? -1 : 1;
    int shift = bit % DIGIT_BITS;
    uint64_t low = (magnitude & DIGIT_MASK) << shift;
    uint64_t high = ((magnitude >> DIGIT_BITS) << shift) + (low >> DIGIT_BITS);
    int64_t *digits = &sum->digits[bit / DIGIT_BITS];

    digits[0] += sign * (int64_t)(low & DIGIT_MASK);
    digits[1] += sign * (int64_t)(high & DIGIT_MASK);
    digits[2] += sign * (int64_t)(high >> DIGIT_BITS);
    sum->n_pending++;
    if (sum->n_pending == MAX_PENDING) {
        pass_carries(sum);
    }
}

void exact_sum_allreduce(struct exact_sum *sum)
{
    pass_carries(sum);
    MPI_Allreduce(MPI_IN_PLACE, sum->digits, EXACT_SUM_DIGITS, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &sum->n_not_finite, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    pass_carries(sum);
}

/* Value of a sum that is not negative and has its carries passed on. */
static double round_magnitude(const struct exact_sum *sum)
{
    int top = EXACT_SUM_DIGITS - 1;
    uint64_t bits, rest;
    int shift;

    while (top > 2 && sum->digits[top] == 0) {
        top--;
    }
    /* The leading 64 bits, and a last bit that tells if anything non-zero follows. */
    bits = (uint64_t)sum->digits[top] << DIGIT_BITS | (uint64_t)sum->digits[top - 1];
    rest = (uint64_t)sum->digits[top - 2];
    shift = bits == 0 ? DIGIT_BITS : __builtin_clzll(bits);
    if (shift > DIGIT_BITS) {
        shift = DIGIT_BITS;
    }
    bits = bits << shift | rest >> (DIGIT_BITS - shift);
    rest = rest << shift & (uint64_t)DIGIT_MASK;
    for (int n = top - 3; n >= 0; n--) {
        rest |= (uint64_t)sum->digits[n];
    }
    bits |= rest != 0;
    return ldexp((double)bits, (top - 1) * DIGIT_BITS - shift + LOWEST_EXPONENT);
}

double exact_sum_value(struct exact_sum *sum)
{
    struct exact_sum magnitude;

    if (sum->n_not_finite > 0) {
        return NAN;
    }
    pass_carries(sum);
    magnitude = *sum;
    if (sum->digits[EXACT_SUM_DIGITS - 1] >= 0) {
        return round_magnitude(&magnitude);
    }
    for (int n = 0; n < EXACT_SUM_DIGITS; n++) {
        magnitude.digits[n] = -magnitude.digits[n];
    }
    pass_carries(&magnitude);
    return -round_magnitude(&magnitude);
}
