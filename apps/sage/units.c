/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion between whole numbers of units and densities. Every rank runs it.
 */
#include "apps/sage/units.h"

#include <math.h>
#include <string.h>

/* A shock compresses and a collision of shocks does so again: leave 2^6 for that. */
#define HEADROOM 64

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The power of two that gives `most` at the upper end of the range. */
static double power_of_two(double most)
{
    return exp2(ceil(log2(most * HEADROOM / (double)UNITS_MAX)));
}

static void set_geometry(struct units *units, const struct input *input)
{
    for (int level = 0; level <= FOREST_MAX_LEVEL; level++) {
        units->edge[level] = ldexp(input->cell_width, -level);
        units->area[level] = units->edge[level] * units->edge[level];
        units->volume[level] = units->area[level] * units->edge[level];
        for (int n = 0; n < N_CONSERVED; n++) {
            units->density[level][n] = units->size[n] / units->volume[level];
        }
    }
}

void units_init(struct units *units, const struct input *input)
{
    double volume = input->cell_width * input->cell_width * input->cell_width;
    double mass = volume * larger(input->inner_density, input->outer_density);
    double energy = volume * larger(input->inner_pressure, input->outer_pressure) /
                    (input->gamma - 1);

    memset(units, 0, sizeof(*units));
    units->gamma = input->gamma;
    units->size[MASS] = power_of_two(mass);
    units->size[ENERGY] = power_of_two(energy);
    for (int axis = 0; axis < N_AXES; axis++) {
        /* No momentum exceeds sqrt(2 * mass * kinetic energy). */
        units->size[MOMENTUM + axis] = power_of_two(sqrt(2 * mass * energy));
    }
    for (int n = 0; n < N_CONSERVED; n++) {
        units->per_size[n] = 1 / units->size[n];
    }
    set_geometry(units, input);
}

void units_from_primitive(const struct units *units, int level,
                          const double primitive[N_PRIMITIVE],
                          int64_t state_out[N_CONSERVED])
{
    const double *velocity = &primitive[VELOCITY];
    double density[N_CONSERVED];
    double speed_squared = velocity[0] * velocity[0] + velocity[1] * velocity[1] +
                           velocity[2] * velocity[2];

    density[MASS] = primitive[DENSITY];
    for (int axis = 0; axis < N_AXES; axis++) {
        density[MOMENTUM + axis] = primitive[DENSITY] * velocity[axis];
    }
    density[ENERGY] = primitive[PRESSURE] / (units->gamma - 1) +
                      0.5 * primitive[DENSITY] * speed_squared;
    for (int n = 0; n < N_CONSERVED; n++) {
        state_out[n] = (int64_t)(density[n] / units->density[level][n]);
    }
}

void units_to_primitive(const struct units *units, int level,
                        const int64_t state[N_CONSERVED],
                        double primitive_out[N_PRIMITIVE])
{
    const double *factor = units->density[level];
    double density = (double)state[MASS] * factor[MASS];
    double per_density = 1 / density;
    double kinetic = 0;

    primitive_out[DENSITY] = density;
    for (int axis = 0; axis < N_AXES; axis++) {
        double momentum = (double)state[MOMENTUM + axis] * factor[MOMENTUM + axis];
        double velocity = momentum * per_density;
        primitive_out[VELOCITY + axis] = velocity;
        kinetic += 0.5 * momentum * velocity;
    }
    primitive_out[PRESSURE] =
        (units->gamma - 1) * ((double)state[ENERGY] * factor[ENERGY] - kinetic);
}
