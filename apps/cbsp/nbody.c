/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nbody: the motion of bodies that attract each other, by the method of Barnes and Hut.
 * [cBSP section 6.2.2] Steps are in nbody_step.c, trees in nbody_tree.c. At the end
 * process 0 collects the bodies, compares some forces with the sum over all bodies, and
 * the energy and the momentum with what they were at the beginning.
 */
#include <math.h>
#include <stdlib.h>

#include "apps/cbsp/frame.h"
#include "apps/cbsp/nbody_step.h"

#define MAX_FORCE_ERROR 0.02
#define MAX_ENERGY_GAIN 0.01
#define MAX_MOMENTUM 0.01
#define N_COMPARED 32

struct input {
    long n;
    long n_steps;
    long seed;
};

/* All bodies by number, on process 0; for the handler. */
static struct nbody_body *collected;

static void place_bodies(int source, void *address, int n_bytes)
{
    const struct nbody_body *bodies = address;

    (void)source;
    for (size_t b = 0; b < (size_t)n_bytes / sizeof(*bodies); b++) {
        collected[bodies[b].id] = bodies[b];
    }
}

static void collect(struct nbody *nbody, size_t n)
{
    if (nbody->world->pid == 0) {
        collected = world_array(nbody->world, n, sizeof(*collected));
    }
    world_deliver(0, place_bodies, nbody->bodies.items,
                  nbody->bodies.n * sizeof(*collected));
    world_sync_unknown(nbody->world);
}

/* Where a body was when forces were last computed. */
static void middle_of_step(const struct nbody *nbody, const struct nbody_body *body,
                           double position[NBODY_AXES])
{
    for (int a = 0; a < NBODY_AXES; a++) {
        position[a] = body->position[a] - 0.5 * nbody->step * body->velocity[a];
    }
}

static void attract_directly(const struct nbody *nbody, size_t n, size_t which,
                             double sum[NBODY_AXES])
{
    double here[NBODY_AXES];
    double there[NBODY_AXES];

    middle_of_step(nbody, &collected[which], here);
    for (size_t b = 0; b < n; b++) {
        double square = nbody->softening * nbody->softening;

        middle_of_step(nbody, &collected[b], there);
        for (int a = 0; a < NBODY_AXES; a++) {
            square += (there[a] - here[a]) * (there[a] - here[a]);
        }
        for (int a = 0; a < NBODY_AXES && b != which; a++) {
            sum[a] +=
                collected[b].mass * (there[a] - here[a]) / (square * sqrt(square));
        }
    }
}

/* Of some bodies, the error of their acceleration as part of it, root of mean
 * square. */
static double force_error(const struct nbody *nbody, size_t n)
{
    size_t stride = n / N_COMPARED + 1;
    double error = 0;
    double all = 0;

    for (size_t which = 0; which < n; which += stride) {
        double sum[NBODY_AXES] = {0};

        attract_directly(nbody, n, which, sum);
        for (int a = 0; a < NBODY_AXES; a++) {
            double difference = collected[which].acceleration[a] - sum[a];
            error += difference * difference;
            all += sum[a] * sum[a];
        }
    }
    return all > 0 ? sqrt(error / all) : error;
}

static double energy_gain(size_t n)
{
    double first = 0;
    double last = 0;

    for (size_t b = 0; b < n; b++) {
        first += collected[b].first_energy;
        last += collected[b].last_energy;
    }
    return fabs(last - first) / fabs(first);
}

/* The change of the total momentum as part of the sum of all its amounts. */
static double momentum_gain(const struct input *input)
{
    double gain[NBODY_AXES] = {0};
    double all = 0;

    for (int64_t b = 0; b < input->n; b++) {
        struct nbody_body start = nbody_plummer((uint64_t)input->seed, b, input->n);
        for (int a = 0; a < NBODY_AXES; a++) {
            gain[a] += start.mass * (collected[b].velocity[a] - start.velocity[a]);
            all += start.mass * fabs(start.velocity[a]);
        }
    }
    return (fabs(gain[0]) + fabs(gain[1]) + fabs(gain[2])) / all;
}

static uint64_t checksum(size_t n, double *n_interactions)
{
    uint64_t sum = 0;

    for (size_t b = 0; b < n; b++) {
        const struct nbody_body *body = &collected[b];

        sum = frame_checksum(sum, body->position, NBODY_AXES);
        sum = frame_checksum(sum, body->velocity, NBODY_AXES);
        *n_interactions += (double)body->work;
    }
    return sum;
}

static void judge(const struct nbody *nbody, const struct input *input,
                  struct frame_result *result)
{
    size_t n = (size_t)input->n;
    double force = force_error(nbody, n);
    double energy = energy_gain(n);
    double momentum = momentum_gain(input);

    result->number_name = "interactions a step";
    result->checksum = checksum(n, &result->number);
    result->n_checks = 3;
    result->checks[0] = (struct check){
        .name = "forces",
        .applies = true,
        .passed = force <= MAX_FORCE_ERROR,
        .value = force,
        .rule = "forces must be within 2 % of sums over all bodies",
    };
    result->checks[1] = (struct check){
        .name = "energy",
        .applies = true,
        .passed = energy <= MAX_ENERGY_GAIN,
        .value = energy,
        .rule = "the total must change by no more than 1 %",
    };
    result->checks[2] = (struct check){
        .name = "momentum",
        .applies = true,
        .passed = momentum <= MAX_MOMENTUM,
        .value = momentum,
        .rule = "the total must change by no more than 1 % of its parts",
    };
}

static void add_bodies(struct nbody *nbody, const struct input *input)
{
    const struct world *world = nbody->world;
    int64_t first = input->n * world->pid / world->n_processes;
    int64_t end = input->n * (world->pid + 1) / world->n_processes;

    for (int64_t id = first; id < end; id++) {
        struct nbody_body body = nbody_plummer((uint64_t)input->seed, id, input->n);
        nbody_add(world, &nbody->bodies, &body);
    }
}

static void run(struct world *world, const void *problem, struct frame_result *result)
{
    const struct input *input = problem;
    struct nbody nbody;

    nbody_init(&nbody, world);
    add_bodies(&nbody, input);
    nbody_deal_out(&nbody);
    world_start(world);
    for (long step = 0; step < input->n_steps; step++) {
        nbody_step(&nbody);
    }
    world_stop(world);
    collect(&nbody, (size_t)input->n);
    if (world->pid == 0) {
        judge(&nbody, input, result);
    }
    free(collected);
    collected = NULL;
    nbody_fini(&nbody);
}

int main(int argc, char **argv)
{
    struct input input = {.n = 16000, .n_steps = 20, .seed = 1};
    const struct frame_option options[] = {
        {"--bodies", &input.n, 2, 10000000, "number of bodies"},
        {"--steps", &input.n_steps, 1, 1000000, "steps in time"},
        {"--seed", &input.seed, 0, 1000000000, "which bodies"},
    };
    const struct frame_program program = {
        .name = "nbody",
        .summary = "Motion of bodies that attract each other, by Barnes and Hut.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "Plummer sphere, dealt out along a curve",
        .input = &input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
