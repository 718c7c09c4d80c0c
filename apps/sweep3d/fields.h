/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process knows of its cells: flux, source and what has left through the outer
 * faces. Cell arrays are indexed [k][j][i] with local indices, i fastest.
 */
#ifndef SWEEP3D_FIELDS_H
#define SWEEP3D_FIELDS_H

#include <stddef.h>

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/input.h"

/* The scalar flux, and with P1 scattering the current along i, j and k. */
#define FIELDS_MAX_MOMENTS 4

enum face {
    FACE_WEST,
    FACE_EAST,
    FACE_SOUTH,
    FACE_NORTH,
    FACE_BOTTOM,
    FACE_TOP,
    N_FACES
};

struct fields {
    int n_i, n_j, n_k;
    size_t n_cells;
    /* 1, or 4 with P1 scattering; the moments beyond are NULL. */
    int n_moments;
    double *flux[FIELDS_MAX_MOMENTS];
    double *old_flux;
    double *source[FIELDS_MAX_MOMENTS];
    /* Particles that left, a unit of area, for each cell of each outer face: [k][j] for
     * west and east, [k][i] for south and north, [j][i] for bottom and top. Faces that
     * this process does not hold stay 0. */
    double *leakage[N_FACES];
};

/** Number of cells of this process along a face. */
size_t fields_face_cells(const struct fields *fields, enum face face);

/** Allocate all arrays, zeroed. @return 0 or -ENOMEM (then nothing is allocated) */
int fields_init(struct fields *fields, const struct decomposition *decomposition,
                const struct input *input);

/** Free all arrays; harmless on fields that are all zero bytes. */
void fields_fini(struct fields *fields);

#endif
