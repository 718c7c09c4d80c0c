/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The octree of nbody: the one that a single process would build of all bodies, of
 * which each process has what it needs.
 *
 * A tree is an array of cells, each followed by what is below it, children in the order
 * of their keys. A *branch* is a cell with bodies of one process only whose parent has
 * bodies of others, too. Each process builds its branches, and sends to each other
 * process those cells of them that its bodies can come to look at. With its own
 * branches and those that it got, and the cells above them, a process has a tree in
 * which its bodies see exactly what they would see in the whole one: forces have the
 * same bits on any number of processes.
 */
#ifndef CBSP_NBODY_TREE_H
#define CBSP_NBODY_TREE_H

#include "apps/cbsp/nbody_body.h"

struct nbody_cell {
    double center[NBODY_AXES];
    double mass;
    /* Of its first corner; it has 8^(NBODY_LEVELS - level) keys. */
    uint64_t key;
    /* If it is one body, its number; otherwise -1. */
    int64_t body;
    int32_t level;
    /* Number of cells from this one to the next that is not below it. */
    int32_t n_below;
};

struct nbody_cells {
    struct nbody_cell *items;
    size_t n;
    size_t room;
};

/* What all know about the bodies of a process; keys are 1 and 0 if it has none. */
struct nbody_border {
    uint64_t first_key;
    uint64_t last_key;
    struct nbody_box box;
};

/* Which cells count as far away from what. */
struct nbody_opening {
    /* [level] least square of the distance. */
    double far2[NBODY_LEVELS + 2];
};

/** Set the distances for cells of a cube and an opening of size to distance. */
void nbody_opening_init(struct nbody_opening *opening, double width, double theta);

/** Whether a cell is taken as one body from this square of a distance. */
static inline bool nbody_is_taken(const struct nbody_opening *opening,
                                  const struct nbody_cell *cell, double distance2)
{
    return cell->body >= 0 || distance2 > opening->far2[cell->level];
}

/** The branches of a process, of its sorted bodies, one after the other. */
void nbody_branches(struct nbody_cells *cells, const struct world *world,
                    const struct nbody_bodies *bodies,
                    const struct nbody_border borders[]);

/** Of some branches, the cells that bodies in a box can come to look at. */
void nbody_essential(struct nbody_cells *essential, const struct world *world,
                     const struct nbody_cells *branches, const struct nbody_box *box,
                     const struct nbody_opening *opening);

/** Add cells to others. */
void nbody_cells_add(struct nbody_cells *cells, const struct world *world,
                     const struct nbody_cell *items, size_t n);

/** Build the tree above all branches, which come in the order of their keys. */
void nbody_join(struct nbody_cells *tree, const struct world *world,
                const struct nbody_cells *branches);

#endif
