/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random choices that are the same wherever they are made with the same numbers. A plan
 * draws for each operation from a source of its own, so that leaving out one operation
 * changes no other.
 */
#ifndef TESTS_RANDOM_DRAW_H
#define TESTS_RANDOM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/conformance/check.h"

struct draw {
    uint64_t state;
};

/** A source that only these three numbers give. */
static inline struct draw draw_from(uint64_t seed, uint64_t a, uint64_t b)
{
    struct draw draw = {check_mix(check_mix(check_mix(seed, 5), a), b)};

    return draw;
}

static inline uint64_t draw_word(struct draw *draw)
{
    draw->state = check_mix(draw->state, 17);
    return draw->state;
}

/** @return 0 to below - 1; below must be positive */
static inline int draw_below(struct draw *draw, int below)
{
    return (int)(draw_word(draw) % (uint64_t)below);
}

/** @return true in this many of a hundred cases */
static inline bool draw_chance(struct draw *draw, int percent)
{
    return draw_below(draw, 100) < percent;
}

/** A number of bytes around all places where the way of a message may change. */
static inline int draw_bytes(struct draw *draw)
{
    static const int limits[] = {1,    9,    66,    81,    84,     1000,
                                 4100, 9000, 16500, 66000, 140000, 300000};
    static const int edges[] = {0,    80,    81,    4096,  4097,
                                8192, 16384, 16385, 65536, 65537};

    if (draw_chance(draw, 20)) {
        return edges[draw_below(draw, CHECK_N(edges))];
    }
    return draw_below(draw, limits[draw_below(draw, CHECK_N(limits))]);
}

/** Bring n numbers into a random order. */
static inline void draw_shuffle(struct draw *draw, int *numbers, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = draw_below(draw, i + 1);
        int kept = numbers[i];

        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

#endif
