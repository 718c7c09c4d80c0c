/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One time step of the Euler equations.
 */
#ifndef SAGE_HYDRO_H
#define SAGE_HYDRO_H

#include <stdbool.h>

#include "apps/sage/simulation.h"

/**
 * Check the state of all cells of all ranks; one reduction.
 *
 * @return true if every density and pressure is positive and every content in range
 */
bool hydro_is_valid(const struct simulation *simulation);

/** Largest sum over the axes of (speed + sound) / edge of all cells; one reduction. */
double hydro_rate(const struct simulation *simulation);

/**
 * Advance all cells by one step, in two stages. The primitive variables must have been
 * shared; afterwards they are not up to date.
 *
 * @param n_fallbacks  gets the fallbacks of this rank's fluxes added
 * @return false if the state after the first stage is not valid; the step is not
 *         completed then
 */
bool hydro_advance(struct simulation *simulation, double time_step,
                   int64_t *n_fallbacks);

#endif
