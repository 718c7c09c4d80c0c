/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The faces between cells, and the walls. Where a cell has a finer neighbour, it has
 * four faces on that side, one for each fine cell: what leaves one cell is exactly what
 * enters the other, so nothing has to be corrected afterwards.
 *
 * Every rank lists its faces in an order that is a part of one global order (axis, low
 * cell, high cell), so that sums over the faces of a cell round alike on every rank.
 */
#ifndef SAGE_FACES_H
#define SAGE_FACES_H

#include <stdint.h>

#include "apps/sage/halo.h"

struct face {
    /* Local indices of the cells on the low and the high side. */
    int low, high;
    int8_t level_low, level_high;
    /* Where the face is seen from the coarser cell's centre, on the two other axes in
     * ascending order: -1 or 1 quarters of its edge; 0 if no cell is coarser. */
    int8_t quarter[2];
};

struct wall {
    int cell;
    int8_t level, axis;
    /* 0 at the low end of the domain, 1 at the high end. */
    int8_t side;
};

struct faces {
    struct face *list[N_AXES];
    int n[N_AXES];
    /* Faces before this one have a ghost on their low side: its owner has the flux. */
    int first_owned[N_AXES];
    /* Those from there up to this one have no ghost; later ones may, on their high
     * side. */
    int first_border[N_AXES];
    struct wall *walls;
    int n_walls;
};

/** Find the faces of all cells that a rank owns. */
void faces_init(struct faces *faces, const struct halo *halo,
                const struct forest *forest);

/** Free what is held; a zeroed struct is allowed. */
void faces_fini(struct faces *faces);

#endif
