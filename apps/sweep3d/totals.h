/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the whole grid: where the particles of the last sweep came from and went
 * to, and a fingerprint of the flux. No value depends on the process grid.
 */
#ifndef SWEEP3D_TOTALS_H
#define SWEEP3D_TOTALS_H

#include <stdint.h>

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/input.h"

/* Particles a unit of time, the same on every rank. */
struct totals {
    double source;
    /* Scattered into new directions in the last sweep (from the flux before it). */
    double scattered;
    /* Collided in the last sweep, to be scattered or absorbed. */
    double collided;
    double absorbed;
    double leakage[N_FACES];
    double leakage_all;
    /* (source + scattered - collided - leakage) / (source + scattered): rounding only.
     */
    double balance;
    /* (source - absorbed - leakage) / source: goes to 0 as the iteration converges. */
    double steady_state;
    /* The integral over the volume, the extremes, and the cell in the middle. */
    double flux_integral, flux_min, flux_max, flux_centre;
    /* Of the bits of all values and their places. */
    uint64_t flux_hash;
};

/** Compute all totals; collective. */
void totals_collect(struct totals *totals_out, const struct input *input,
                    const struct decomposition *decomposition,
                    const struct fields *fields);

#endif
