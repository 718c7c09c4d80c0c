/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If the problem looks the same in a mirror, so must the flux.
 */
#ifndef SWEEP3D_SYMMETRY_H
#define SWEEP3D_SYMMETRY_H

#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/flux_plane.h"
#include "apps/sweep3d/input.h"

/* Error of an axis on which the problem itself has no symmetry. */
#define SYMMETRY_NONE (-1.0)

/**
 * Compare the flux with its mirror images; collective.
 *
 * @param error_out  for i, j and k: the largest difference between mirrored cells, as a
 *                   part of the largest flux; or SYMMETRY_NONE. The same on every rank
 */
void symmetry_measure(double error_out[3], const struct input *input,
                      const struct fields *fields, struct flux_plane *plane);

#endif
