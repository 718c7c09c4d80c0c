/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact solution of the shock tube: two gases at rest, divided by a membrane that
 * vanishes at time 0.
 */
#ifndef SAGE_RIEMANN_H
#define SAGE_RIEMANN_H

#include "apps/sage/input.h"

struct riemann {
    double gamma;
    /* Left (inner) and right (outer) gas: density, pressure, speed of sound. */
    double density[2], pressure[2], sound[2];
    /* Pressure and velocity between the two waves. */
    double middle_pressure, middle_velocity;
};

/** Find the state between the waves. */
void riemann_solve(struct riemann *riemann_out, const struct input *input);

/** Density at a place divided by the time, both counted from the membrane's end. */
double riemann_density(const struct riemann *riemann, double place_per_time);

#endif
