/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random matchings: the ranks are shuffled by Fisher and Yates, neighbours in the
 * result are partners. Pure; the numbers come from splitmix64, so that they are the
 * same everywhere.
 */
#include "apps/overhead/measure/matching.h"

#include <stdint.h>

static uint64_t random_next(uint64_t *state)
{
    uint64_t value = (*state += 0x9e3779b97f4a7c15u);

    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* A number below n; the rest of the division favours none by more than n / 2^64. */
static int random_below(uint64_t *state, int n)
{
    return (int)(random_next(state) % (uint64_t)n);
}

int matching_partner(unsigned long seed, long number, int n_ranks, int rank, int *order)
{
    uint64_t state = seed;

    state = random_next(&state) + (uint64_t)number;
    for (int i = 0; i < n_ranks; i++) {
        order[i] = i;
    }
    for (int i = n_ranks - 1; i > 0; i--) {
        int other = random_below(&state, i + 1);
        int kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < n_ranks; i++) {
        if (order[i] == rank) {
            return order[i ^ 1];
        }
    }
    return -1;
}
