/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scalar flux of the whole grid on rank 0, one k plane at a time, so that rank 0
 * needs no memory for all of it.
 */
#ifndef SWEEP3D_FLUX_PLANE_H
#define SWEEP3D_FLUX_PLANE_H

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"

struct flux_plane;

/**
 * Allocate buffers for one plane. Every rank calls it.
 *
 * @return NULL if there is no memory on this rank
 */
struct flux_plane *flux_plane_create(const struct decomposition *decomposition);

/** Free all; NULL is allowed. */
void flux_plane_destroy(struct flux_plane *plane);

/**
 * Bring plane k together on rank 0; collective.
 *
 * @return on rank 0 the plane as [j][i], valid until the next call; NULL elsewhere
 */
const double *flux_plane_gather(struct flux_plane *plane, const struct fields *fields,
                                int k);

#endif
