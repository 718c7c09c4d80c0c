/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forest of octrees: the domain is a box of equal root cells, and each root cell may
 * be split into eight again and again. Only leaves exist; a leaf is named by one
 * number, its id, and the ids in ascending order are the global order of the cells:
 * root cells lexicographically (x fastest), within a root cell along a Morton curve.
 *
 * Pure functions without state; every rank gets the same answers.
 */
#ifndef SAGE_FOREST_H
#define SAGE_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#define FOREST_MAX_LEVEL 8
#define FOREST_MAX_ROOTS (1 << 24)
#define N_AXES 3
#define N_CHILDREN 8

struct forest {
    /* Along x, y and z, and their product. */
    int n_roots[N_AXES];
    int n_roots_all;
    int max_level;
};

/* An id is the key of the leaf's lowest corner, then four bits with its level. */

/** Level of a leaf, 0 for a root cell. */
int forest_level(uint64_t id);

/** Place on the curve of the leaf's lowest corner, in finest cells. */
uint64_t forest_key(uint64_t id);

/** Number of finest cells, and so of keys, in a leaf of a level. */
uint64_t forest_n_keys(const struct forest *forest, int level);

/** Edge of a cell of a level in finest cells. */
int forest_edge(const struct forest *forest, int level);

/** Id of a root cell that is a leaf. */
uint64_t forest_root_id(const struct forest *forest, int root);

/** Number of the root cell that a leaf is in. */
int forest_root(const struct forest *forest, uint64_t id);

/** Id of child 0 to 7 of a leaf below the finest level. */
uint64_t forest_child(const struct forest *forest, uint64_t id, int child);

/** Id of the parent of a leaf above level 0. */
uint64_t forest_parent(const struct forest *forest, uint64_t id);

/** Lowest corner of a leaf, in finest cells from the lowest corner of the domain. */
void forest_position(const struct forest *forest, uint64_t id,
                     int position_out[N_AXES]);

/** Key of the finest cell at a position inside the domain. */
uint64_t forest_key_at(const struct forest *forest, const int position[N_AXES]);

/**
 * Root cell beyond one side of a leaf, if that side lies on the root cell's surface.
 *
 * @param side  0 the low one, 1 the high one
 * @return the root cell's number, or -1 inside a root cell and at the domain's boundary
 */
int forest_root_beyond(const struct forest *forest, uint64_t id, int axis, int side);

#endif
