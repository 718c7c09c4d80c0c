/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells that a rank owns: a contiguous range of the global order, whole root cells
 * at a time. Every rank knows which root cells every other rank has.
 */
#ifndef SAGE_MESH_H
#define SAGE_MESH_H

#include <stdint.h>

#include "apps/sage/forest.h"
#include "apps/sage/input.h"

/* What is conserved: mass, momentum along three axes, energy. */
#define N_CONSERVED 5
#define MASS 0
#define MOMENTUM 1
#define ENERGY 4

struct mesh {
    struct forest forest;
    int rank, n_ranks;
    /* Rank r owns the roots from first_root[r] up to, not including, first_root[r + 1].
     */
    int *first_root;
    int n_cells;
    /* Ascending. */
    uint64_t *id;
    /* Contents of each cell, in the units of struct units: whole numbers. */
    int64_t (*state)[N_CONSERVED];
};

/** Make the mesh of root cells, in equal shares; contents are 0. Every rank calls it.
 */
void mesh_init(struct mesh *mesh, const struct input *input);

/** Free what a mesh holds; a zeroed one is allowed. */
void mesh_fini(struct mesh *mesh);

/** Rank that owns a root cell. */
int mesh_owner(const struct mesh *mesh, int root);

/** Put other cells in the place of the mesh's, which are freed. */
void mesh_replace(struct mesh *mesh, int n_cells, uint64_t *id,
                  int64_t (*state)[N_CONSERVED]);

#endif
