/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixed-point number wide enough for every double: 32-bit digits kept in 64-bit
 * signed integers, so that 2^30 terms fit before carries must be passed on. Integer
 * addition has no order, so neither has the sum. sweep3d and sage use it, on every
 * rank.
 */
#include "apps/common/exact_sum.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 32
#define DIGIT_MASK INT64_C(0xffffffff)
#define LOWEST_EXPONENT (-1074)
#define MANTISSA_BITS 52
#define MANTISSA_MASK UINT64_C(0xfffffffffffff)
#define EXPONENT_MASK 0x7ff
#define MAX_PENDING (INT64_C(1) << 30)
#define SUM_WORDS (EXACT_SUM_DIGITS + 2)

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
    uint64_t bits, mantissa, low, high;
    int exponent, bit;
    int64_t sign, *digits;

    memcpy(&bits, &term, sizeof(bits));
    exponent = bits >> MANTISSA_BITS & EXPONENT_MASK;
    mantissa = bits & MANTISSA_MASK;
    if (exponent == EXPONENT_MASK) {
        sum->n_not_finite++;
        return;
    }
    /* term = mantissa * 2^bit units of the lowest digit; subnormal terms are 2^0. */
    mantissa |= exponent != 0 ? MANTISSA_MASK + 1 : 0;
    bit = exponent != 0 ? exponent - 1 : 0;
    sign = bits >> 63 != 0 ? -1 : 1;
    low = (mantissa & DIGIT_MASK) << bit % DIGIT_BITS;
    high = ((mantissa >> DIGIT_BITS) << bit % DIGIT_BITS) + (low >> DIGIT_BITS);
    digits = &sum->digits[bit / DIGIT_BITS];
    digits[0] += sign * (int64_t)(low & DIGIT_MASK);
    digits[1] += sign * (int64_t)(high & DIGIT_MASK);
    digits[2] += sign * (int64_t)(high >> DIGIT_BITS);
    sum->n_pending++;
    if (sum->n_pending == MAX_PENDING) {
        pass_carries(sum);
    }
}

_Static_assert(sizeof(struct exact_sum) == SUM_WORDS * sizeof(int64_t),
               "a sum is words only, and the reduction adds all of them");

static void pass_all_carries(struct exact_sum *sums, int n)
{
    for (int s = 0; s < n; s++) {
        pass_carries(&sums[s]);
    }
}

void exact_sum_allreduce(struct exact_sum *sums, int n)
{
    pass_all_carries(sums, n);
    MPI_Allreduce(MPI_IN_PLACE, sums, n * SUM_WORDS, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    pass_all_carries(sums, n);
}

void exact_sum_allreduce_begin(struct exact_sum *sums, int n, MPI_Request *request)
{
    pass_all_carries(sums, n);
    MPI_Iallreduce(MPI_IN_PLACE, sums, n * SUM_WORDS, MPI_INT64_T, MPI_SUM,
                   MPI_COMM_WORLD, request);
}

void exact_sum_allreduce_end(struct exact_sum *sums, int n, MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    pass_all_carries(sums, n);
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
