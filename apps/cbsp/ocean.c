/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ocean: eddies and boundary currents of an ocean, as in the application of that name
 * of SPLASH. [cBSP section 6.2.4] The model is in ocean_model.c, the solution of its
 * elliptic equations, where nearly all time goes, in ocean_multigrid.c.
 *
 * Before the ocean moves, an equation of which the solution is known is solved.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "apps/cbsp/frame.h"
#include "apps/cbsp/ocean_model.h"
#include "apps/common/message.h"

#define PI 3.14159265358979323846
#define MAX_KNOWN_ERROR 1e-6
#define KNOWN_SHIFT 10.0
#define KNOWN_TOLERANCE 1e-9

struct input {
    long n;
    long n_steps;
    long digits;
};

/* What process 0 is told by each process at the end. */
struct outcome {
    uint64_t checksum;
    double known_error;
    double courant;
};

static double known_solution(size_t n, size_t i, size_t j)
{
    return sin(PI * (double)i / (double)n) * sin(2.0 * PI * (double)j / (double)n);
}

/* Minus the factor by which the discrete laplacian multiplies the known solution. */
static double known_factor(size_t n)
{
    double across = sin(PI / (2.0 * (double)n));
    double along = sin(PI / (double)n);

    return 4.0 * (double)n * (double)n * (across * across + along * along);
}

/* Largest error on the own rows for an equation with a known solution. */
static double known_error(struct ocean_multigrid *grid)
{
    const struct ocean_level *level = &grid->levels[0];
    double factor = -(known_factor(level->n) + KNOWN_SHIFT);
    double tolerance = grid->tolerance;
    struct ocean_field solution;
    double worst = 0;

    for (size_t i = level->first; i < level->end; i++) {
        double *side = ocean_multigrid_side(grid, i);
        for (size_t j = 1; j < level->n; j++) {
            side[j] = factor * known_solution(level->n, i, j);
        }
    }
    ocean_field_init(&solution, level);
    grid->tolerance = KNOWN_TOLERANCE;
    ocean_multigrid_solve(grid, &solution, KNOWN_SHIFT);
    grid->tolerance = tolerance;
    grid->n_cycles = 0;
    for (size_t i = level->first; i < level->end; i++) {
        const double *row = ocean_row(&solution, level, i);
        for (size_t j = 1; j < level->n; j++) {
            double error = fabs(row[j] - known_solution(level->n, i, j));
            /* In this form a value that is not a number is kept. */
            worst = error <= worst ? worst : error;
        }
    }
    ocean_field_fini(&solution);
    return worst;
}

/* A sum over rows, so that it does not matter who owns which. */
static uint64_t checksum(const struct ocean *ocean)
{
    const struct ocean_level *level = &ocean->grid.levels[0];
    uint64_t sum = 0;

    for (size_t i = level->first; i < level->end; i++) {
        for (int mode = 0; mode < OCEAN_MODES; mode++) {
            const struct ocean_field *field = &ocean->modes[mode];
            sum += frame_checksum(i, ocean_row(field, level, i), level->n);
        }
        for (int k = 0; k < OCEAN_LAYERS; k++) {
            const struct ocean_field *field = &ocean->vorticity[k];
            sum += frame_checksum(i, ocean_row(field, level, i), level->n);
        }
    }
    return sum;
}

static void judge(const struct ocean *ocean, const struct outcome *all,
                  struct frame_result *result)
{
    struct outcome total = {0};

    for (int process = 0; process < ocean->world->n_processes; process++) {
        const struct outcome *one = &all[process];
        total.checksum += one->checksum;
        total.known_error = one->known_error <= total.known_error ? total.known_error
                                                                  : one->known_error;
        total.courant = one->courant <= total.courant ? total.courant : one->courant;
    }
    result->checksum = total.checksum;
    result->number_name = "cycles";
    result->number = (double)ocean->grid.n_cycles;
    result->n_checks = 3;
    result->checks[0] = (struct check){
        .name = "known solution",
        .applies = true,
        .passed = total.known_error <= MAX_KNOWN_ERROR,
        .value = total.known_error,
        .rule = "an equation with a known solution must be solved to 1e-6",
    };
    result->checks[1] = (struct check){
        .name = "residual",
        .applies = true,
        .passed = ocean->grid.n_failed == 0,
        .value = ocean->grid.n_failed,
        .rule = "each equation must be solved to the wanted digits",
    };
    result->checks[2] = (struct check){
        .name = "currents",
        .applies = true,
        .passed = total.courant > 0 && total.courant < 1,
        .value = total.courant,
        .rule = "in a step currents must move, by less than a mesh",
    };
}

static void run(struct world *world, const void *problem, struct frame_result *result)
{
    const struct input *input = problem;
    struct outcome mine;
    struct area outcomes;
    struct ocean ocean;

    ocean_init(&ocean, world, (size_t)input->n, pow(10.0, -(double)input->digits));
    mine.known_error = known_error(&ocean.grid);
    world_start(world);
    for (long step = 0; step < input->n_steps; step++) {
        ocean_step(&ocean);
    }
    world_stop(world);
    mine.checksum = checksum(&ocean);
    mine.courant = ocean_courant(&ocean);
    area_init(&outcomes, world, (size_t)world->n_processes * sizeof(mine));
    world_share(world, &outcomes, &mine, sizeof(mine));
    judge(&ocean, (const struct outcome *)outcomes.mine, result);
    area_fini(&outcomes);
    ocean_fini(&ocean);
}

static int check_input(const void *problem, char *message)
{
    const struct input *input = problem;

    if ((input->n & (input->n - 1)) != 0) {
        message_set(message, "--grid is '%ld'; allowed: a power of 2 from 4 to 4096",
                    input->n);
        return -EINVAL;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct input input = {.n = 256, .n_steps = 3, .digits = 8};
    const struct frame_option options[] = {
        {"--grid", &input.n, 4, 4096, "intervals along each side, a power of 2"},
        {"--steps", &input.n_steps, 1, 1000000, "steps in time"},
        {"--digits", &input.digits, 1, 9, "to which equations are solved"},
    };
    const struct frame_program program = {
        .name = "ocean",
        .summary = "Currents of an ocean of two layers, by red-black multigrid.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "square ocean, rows dealt out in blocks",
        .input = &input,
        .check_input = check_input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
