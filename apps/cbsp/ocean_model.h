/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The currents of a square ocean of two layers, driven by wind: quasi-geostrophic
 * vorticity. What one process has of it, and the steps in time.
 */
#ifndef CBSP_OCEAN_MODEL_H
#define CBSP_OCEAN_MODEL_H

#include <stdint.h>

#include "apps/cbsp/ocean_multigrid.h"

#define OCEAN_LAYERS 2

/* The stream function is solved for in two modes, each an equation of its own: what
 * both layers do together, and how they differ. */
enum ocean_mode { OCEAN_TOGETHER, OCEAN_APART, OCEAN_MODES };

struct ocean {
    struct world *world;
    double step;
    struct ocean_multigrid grid;
    struct ocean_field modes[OCEAN_MODES];
    /* Potential vorticity of each layer. */
    struct ocean_field vorticity[OCEAN_LAYERS];
    /* Stream functions of the layers and relative vorticity, from the above, at all
     * stored points; in the layout of a field. */
    double *stream[OCEAN_LAYERS];
    double *relative[OCEAN_LAYERS];
    /* Rate of change of the vorticity, of this step and the one before. */
    double *change[2][OCEAN_LAYERS];
    int64_t n_steps;
};

/** An ocean at rest on a grid of n x n intervals; collective. */
void ocean_init(struct ocean *ocean, struct world *world, size_t n, double tolerance);

/** Free it; collective. */
void ocean_fini(struct ocean *ocean);

/** Go one step in time. Collective. */
void ocean_step(struct ocean *ocean);

/** Part of the grid that a current goes in a step, at its fastest on the own rows. */
double ocean_courant(struct ocean *ocean);

#endif
