/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of a sweep: diamond differences along one line of cells for a block of
 * angles. Pure; sweep.c decides the order of lines, blocks and octants.
 */
#ifndef SWEEP3D_KERNEL_H
#define SWEEP3D_KERNEL_H

#include <stdbool.h>

#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/quadrature.h"

/* A block of angles in one octant, with everything that depends on the angle alone. */
struct kernel_angles {
    int n_angles;
    bool is_fixed_up;
    double sigt;
    /* Cosines with the octant's signs. */
    double cosine[3][QUADRATURE_MAX_ANGLES];
    /* 2 |cosine| / cell width, per axis, and 1 / (sigt + their sum). */
    double slope[3][QUADRATURE_MAX_ANGLES];
    double inverse[QUADRATURE_MAX_ANGLES];
    double weight[QUADRATURE_MAX_ANGLES];
};

/* One line of n_i cells along i, walked from index `start` in steps of +1 or -1. */
struct kernel_line {
    int n_i, start, step;
    /* Moments of flux and source at the line's cell 0, as in struct fields. */
    double *flux[FIELDS_MAX_MOMENTS];
    const double *source[FIELDS_MAX_MOMENTS];
    /* Angular flux that enters and, after the call, that leaves: one value an angle for
     * the i face, [i][angle] for the j and k faces. */
    double *face_i, *face_j, *face_k;
};

/**
 * Sweep one line with isotropic scattering: replace inflow by outflow on the faces and
 * add to the scalar flux.
 *
 * @return number of outflows that were negative and set to 0
 */
long kernel_sweep_line_p0(const struct kernel_angles *angles,
                          const struct kernel_line *line);

/** The same with P1 scattering; adds to the current as well. */
long kernel_sweep_line_p1(const struct kernel_angles *angles,
                          const struct kernel_line *line);

#endif
