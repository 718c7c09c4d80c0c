/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each wave is a shock or a rarefaction, whichever the pressure between them says. That
 * pressure is where the velocities behind both waves agree; bisection finds it. Every
 * rank runs it once, to check the result.
 */
#include "apps/sage/riemann.h"

#include <math.h>
#include <stdbool.h>

#define N_BISECTIONS 200

/* Velocity that a wave gives to the gas on one side when it brings it to a pressure. */
static double wave_velocity(const struct riemann *riemann, int side, double pressure)
{
    double gamma = riemann->gamma;
    double before = riemann->pressure[side];

    if (pressure > before) {
        double a = 2 / ((gamma + 1) * riemann->density[side]);
        double b = (gamma - 1) / (gamma + 1) * before;
        return (pressure - before) * sqrt(a / (pressure + b));
    }
    return 2 * riemann->sound[side] / (gamma - 1) *
           (pow(pressure / before, (gamma - 1) / (2 * gamma)) - 1);
}

void riemann_solve(struct riemann *riemann_out, const struct input *input)
{
    struct riemann riemann = {
        .gamma = input->gamma,
        .density = {input->inner_density, input->outer_density},
        .pressure = {input->inner_pressure, input->outer_pressure},
    };
    double low = fmin(riemann.pressure[0], riemann.pressure[1]);
    double high = fmax(riemann.pressure[0], riemann.pressure[1]);

    for (int side = 0; side < 2; side++) {
        riemann.sound[side] =
            sqrt(riemann.gamma * riemann.pressure[side] / riemann.density[side]);
    }
    /* Between gases at rest the pressure lies between theirs. */
    for (int n = 0; n < N_BISECTIONS; n++) {
        double middle = 0.5 * (low + high);
        if (wave_velocity(&riemann, 0, middle) + wave_velocity(&riemann, 1, middle) <
            0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    riemann.middle_pressure = low;
    riemann.middle_velocity =
        0.5 * (wave_velocity(&riemann, 1, low) - wave_velocity(&riemann, 0, low));
    *riemann_out = riemann;
}

/* Density on one side; place and velocity count away from the membrane. */
static double side_density(const struct riemann *riemann, int side, double place)
{
    double gamma = riemann->gamma;
    double sound = riemann->sound[side];
    double density = riemann->density[side];
    double ratio = riemann->middle_pressure / riemann->pressure[side];
    double middle = side == 1 ? riemann->middle_velocity : -riemann->middle_velocity;
    double k = (gamma - 1) / (gamma + 1);

    if (ratio > 1) {
        double shock =
            sound * sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma));
        return place >= shock ? density : density * (ratio + k) / (k * ratio + 1);
    }
    if (place >= sound) {
        return density;
    }
    if (place <= middle + sound * pow(ratio, (gamma - 1) / (2 * gamma))) {
        return density * pow(ratio, 1 / gamma);
    }
    return density * pow(2 / (gamma + 1) + k * place / sound, 2 / (gamma - 1));
}

double riemann_density(const struct riemann *riemann, double place_per_time)
{
    if (place_per_time > riemann->middle_velocity) {
        return side_density(riemann, 1, place_per_time);
    }
    return side_density(riemann, 0, -place_per_time);
}
