/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ids, keys and positions of leaves. Morton bits are interleaved by shifts and masks; a
 * coordinate has up to FOREST_MAX_LEVEL bits within a root cell.
 */
#include "apps/sage/forest.h"

#include <stddef.h>

#define LEVEL_BITS 4
#define LEVEL_MASK 15

/* Put two zero bits between the bits of a number below 2^8. */
static uint64_t spread(uint64_t bits)
{
    bits = (bits | bits << 8) & UINT64_C(0x00f00f);
    bits = (bits | bits << 4) & UINT64_C(0x0c30c3);
    return (bits | bits << 2) & UINT64_C(0x249249);
}

static int compact(uint64_t bits)
{
    bits &= UINT64_C(0x249249);
    bits = (bits | bits >> 2) & UINT64_C(0x0c30c3);
    bits = (bits | bits >> 4) & UINT64_C(0x00f00f);
    return (int)((bits | bits >> 8) & UINT64_C(0xff));
}

int forest_level(uint64_t id)
{
    return (int)(id & LEVEL_MASK);
}

uint64_t forest_key(uint64_t id)
{
    return id >> LEVEL_BITS;
}

uint64_t forest_n_keys(const struct forest *forest, int level)
{
    return UINT64_C(1) << (N_AXES * (forest->max_level - level));
}

int forest_edge(const struct forest *forest, int level)
{
    return 1 << (forest->max_level - level);
}

uint64_t forest_root_id(const struct forest *forest, int root)
{
    return ((uint64_t)root * forest_n_keys(forest, 0)) << LEVEL_BITS;
}

int forest_root(const struct forest *forest, uint64_t id)
{
    return (int)(forest_key(id) >> (N_AXES * forest->max_level));
}

uint64_t forest_child(const struct forest *forest, uint64_t id, int child)
{
    int level = forest_level(id) + 1;
    uint64_t key = forest_key(id) + (uint64_t)child * forest_n_keys(forest, level);

    return key << LEVEL_BITS | (uint64_t)level;
}

uint64_t forest_parent(const struct forest *forest, uint64_t id)
{
    int level = forest_level(id) - 1;
    uint64_t key = forest_key(id) & ~(forest_n_keys(forest, level) - 1);

    return key << LEVEL_BITS | (uint64_t)level;
}

void forest_position(const struct forest *forest, uint64_t id, int position_out[N_AXES])
{
    uint64_t inside = forest_key(id) & (forest_n_keys(forest, 0) - 1);
    int root = forest_root(forest, id);

    for (int axis = 0; axis < N_AXES; axis++) {
        position_out[axis] = (root % forest->n_roots[axis]) * forest_edge(forest, 0) +
                             compact(inside >> axis);
        root /= forest->n_roots[axis];
    }
}

uint64_t forest_key_at(const struct forest *forest, const int position[N_AXES])
{
    int edge = forest_edge(forest, 0);
    uint64_t inside = 0;
    uint64_t root = 0;

    for (int axis = N_AXES - 1; axis >= 0; axis--) {
        root = root * (uint64_t)forest->n_roots[axis] +
               (uint64_t)(position[axis] >> forest->max_level);
        inside |= spread((uint64_t)(position[axis] & (edge - 1))) << axis;
    }
    return root * forest_n_keys(forest, 0) + inside;
}

int forest_root_beyond(const struct forest *forest, uint64_t id, int axis, int side)
{
    int edge = forest_edge(forest, 0);
    int stride = 1;
    int position[N_AXES];
    int root_place;

    forest_position(forest, id, position);
    position[axis] += side == 1 ? forest_edge(forest, forest_level(id)) : 0;
    root_place = position[axis] / edge - (side == 0 ? 1 : 0);
    if (position[axis] % edge != 0 || root_place < 0 ||
        root_place >= forest->n_roots[axis]) {
        return -1;
    }
    for (int lower = 0; lower < axis; lower++) {
        stride *= forest->n_roots[lower];
    }
    return forest_root(forest, id) + (side == 1 ? stride : -stride);
}
