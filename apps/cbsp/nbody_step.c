/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of nbody: half a step of motion, then in supersteps
 *
 *   1. all tell all the boxes around their bodies: the cube, and so the keys, follow;
 *   2. all tell all samples of their keys, at equal distances of work: the ranges of
 *      keys in which all have the same work follow;
 *   3. a body whose key is in the range of another process goes there, each in a
 *      message of its own, of which the receiver knows neither the number nor the
 *      place: a handler places them;
 *   4. all tell all the borders of their ranges and the boxes around their bodies;
 *   5. all send all what they need of their trees, one message each, of a length that
 *      the receiver does not know: a handler takes them;
 *
 * then the forces, the change of velocities, and half a step of motion. Only for
 * superstep 3 the count is not known. [cBSP section 6.2.2]
 */
#include "apps/cbsp/nbody_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_SAMPLES 128
#define STEP 0.01
#define THETA 0.55
#define SOFTENING 0.02

struct samples {
    int64_t work;
    /* Each stands for an equal part of the work; none if work is 0. */
    uint64_t keys[N_SAMPLES];
};

struct sample {
    uint64_t key;
    double work;
};

/* A handler gets no more than an address, so what it adds to must be found from
 * here. */
static struct nbody *receiver;

static void take_body(int source, void *address, int n_bytes)
{
    (void)source;
    (void)n_bytes;
    nbody_add(receiver->world, &receiver->arrived, address);
    receiver->n_moved++;
}

static void take_cells(int source, void *address, int n_bytes)
{
    size_t n = (size_t)n_bytes / sizeof(struct nbody_cell);

    nbody_cells_add(&receiver->received[source], receiver->world, address, n);
}

/* --- supersteps 1 to 3: dealing out
 * --------------------------------------------------- */

static void find_cube(struct nbody *nbody)
{
    struct nbody_box mine = nbody_box_of(&nbody->bodies);
    const struct nbody_box *all = (const struct nbody_box *)nbody->boxes.mine;
    struct nbody_box box = mine;

    world_share(nbody->world, &nbody->boxes, &mine, sizeof(mine));
    for (int process = 0; process < nbody->world->n_processes; process++) {
        nbody_box_add(&box, &all[process]);
    }
    nbody->cube = nbody_cube_of(&box);
}

static struct samples find_samples(const struct nbody_bodies *bodies)
{
    struct samples samples = {.work = 0};
    int64_t work = 0;
    int64_t n = 0;

    for (size_t b = 0; b < bodies->n; b++) {
        samples.work += bodies->items[b].work;
    }
    for (size_t b = 0; b < bodies->n; b++) {
        work += bodies->items[b].work;
        while (n < N_SAMPLES && work * N_SAMPLES > n * samples.work) {
            samples.keys[n++] = bodies->items[b].key;
        }
    }
    return samples;
}

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left;
    const struct sample *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* Returns all samples, sorted; the caller frees them. */
static struct sample *sort_samples(const struct nbody *nbody, size_t *n_out)
{
    const struct world *world = nbody->world;
    const struct samples *all = (const struct samples *)nbody->samples.mine;
    struct sample *sorted =
        world_array(world, (size_t)world->n_processes * N_SAMPLES, sizeof(*sorted));
    size_t n = 0;

    for (int process = 0; process < world->n_processes; process++) {
        for (int s = 0; s < N_SAMPLES && all[process].work > 0; s++) {
            sorted[n++] = (struct sample){
                .key = all[process].keys[s],
                .work = (double)all[process].work / N_SAMPLES,
            };
        }
    }
    qsort(sorted, n, sizeof(*sorted), compare_samples);
    *n_out = n;
    return sorted;
}

/* The last key of each process, so that all have the same work; the caller frees it. */
static uint64_t *find_ends(const struct nbody *nbody)
{
    int n_processes = nbody->world->n_processes;
    uint64_t *ends = world_array(nbody->world, (size_t)n_processes, sizeof(*ends));
    size_t n;
    struct sample *samples = sort_samples(nbody, &n);
    double all = 0;
    double work = 0;
    int process = 0;

    for (size_t s = 0; s < n; s++) {
        all += samples[s].work;
    }
    for (size_t s = 0; s < n; s++) {
        work += samples[s].work;
        while (process < n_processes - 1 && work * n_processes > all * (process + 1)) {
            ends[process++] = samples[s].key;
        }
    }
    while (process < n_processes) {
        ends[process++] = NBODY_KEYS - 1;
    }
    free(samples);
    return ends;
}

/* Sends away what belongs to others; what is left keeps its order. */
static void send_bodies(struct nbody *nbody, const uint64_t ends[])
{
    struct nbody_bodies *bodies = &nbody->bodies;
    size_t n_left = 0;
    int owner = 0;

    for (size_t b = 0; b < bodies->n; b++) {
        while (bodies->items[b].key > ends[owner]) {
            owner++;
        }
        if (owner == nbody->world->pid) {
            bodies->items[n_left++] = bodies->items[b];
        } else {
            world_deliver(owner, take_body, &bodies->items[b],
                          sizeof(bodies->items[b]));
        }
    }
    bodies->n = n_left;
}

void nbody_deal_out(struct nbody *nbody)
{
    struct samples samples;
    uint64_t *ends;

    find_cube(nbody);
    nbody_sort(&nbody->bodies, &nbody->cube);
    samples = find_samples(&nbody->bodies);
    world_share(nbody->world, &nbody->samples, &samples, sizeof(samples));
    ends = find_ends(nbody);
    send_bodies(nbody, ends);
    free(ends);
    world_sync_unknown(nbody->world);
    for (size_t b = 0; b < nbody->arrived.n; b++) {
        nbody_add(nbody->world, &nbody->bodies, &nbody->arrived.items[b]);
    }
    nbody->arrived.n = 0;
    nbody_sort(&nbody->bodies, &nbody->cube);
}

/* --- supersteps 4 and 5: the tree
 * ------------------------------------------------------- */

static void share_borders(struct nbody *nbody)
{
    const struct nbody_bodies *bodies = &nbody->bodies;
    struct nbody_border border = {.first_key = 1, .box = nbody_box_of(bodies)};

    if (bodies->n > 0) {
        border.first_key = bodies->items[0].key;
        border.last_key = bodies->items[bodies->n - 1].key;
    }
    world_share(nbody->world, &nbody->borders, &border, sizeof(border));
}

static void share_cells(struct nbody *nbody, const struct nbody_opening *opening)
{
    const struct nbody_border *borders =
        (const struct nbody_border *)nbody->borders.mine;
    struct world *world = nbody->world;

    for (int process = 0; process < world->n_processes; process++) {
        nbody->received[process].n = 0;
        if (process != world->pid) {
            nbody_essential(&nbody->essential, world, &nbody->branches,
                            &borders[process].box, opening);
            world_deliver(process, take_cells, nbody->essential.items,
                          nbody->essential.n * sizeof(struct nbody_cell));
        }
    }
    world_sync(world, world->n_processes - 1);
}

static void build_tree(struct nbody *nbody, const struct nbody_opening *opening)
{
    struct world *world = nbody->world;
    struct nbody_cells all = {0};

    share_borders(nbody);
    nbody_branches(&nbody->branches, world, &nbody->bodies,
                   (const struct nbody_border *)nbody->borders.mine);
    share_cells(nbody, opening);
    for (int process = 0; process < world->n_processes; process++) {
        const struct nbody_cells *cells =
            process == world->pid ? &nbody->branches : &nbody->received[process];
        nbody_cells_add(&all, world, cells->items, cells->n);
    }
    nbody_join(&nbody->tree, world, &all);
    free(all.items);
}

/* --- motion
 * --------------------------------------------------------------------------- */

static void move(struct nbody *nbody)
{
    for (size_t b = 0; b < nbody->bodies.n; b++) {
        struct nbody_body *body = &nbody->bodies.items[b];
        for (int a = 0; a < NBODY_AXES; a++) {
            body->position[a] += 0.5 * nbody->step * body->velocity[a];
        }
    }
}

/* Sets acceleration and work; returns the potential. */
static double attract(const struct nbody *nbody, const struct nbody_opening *opening,
                      struct nbody_body *body)
{
    const struct nbody_cell *cell = nbody->tree.items;
    const struct nbody_cell *end = cell + nbody->tree.n;
    double softening2 = nbody->softening * nbody->softening;
    double sum[NBODY_AXES] = {0};
    double potential = 0;

    body->work = 1;
    while (cell < end) {
        double x = cell->center[0] - body->position[0];
        double y = cell->center[1] - body->position[1];
        double z = cell->center[2] - body->position[2];
        double distance2 = x * x + y * y + z * z;

        if (!nbody_is_taken(opening, cell, distance2)) {
            cell++;
            continue;
        }
        if (cell->body != body->id) {
            double inverse = 1.0 / sqrt(distance2 + softening2);
            double part = cell->mass * inverse;
            double factor = part * inverse * inverse;

            sum[0] += factor * x;
            sum[1] += factor * y;
            sum[2] += factor * z;
            potential -= part;
            body->work++;
        }
        cell += cell->n_below;
    }
    memcpy(body->acceleration, sum, sizeof(sum));
    return potential;
}

/* Change of velocity, and the energy in the middle of it. */
static void accelerate(const struct nbody *nbody, struct nbody_body *body,
                       double potential)
{
    double square = 0;

    for (int a = 0; a < NBODY_AXES; a++) {
        double half = 0.5 * nbody->step * body->acceleration[a];
        double middle = body->velocity[a] + half;

        square += middle * middle;
        body->velocity[a] = middle + half;
    }
    body->last_energy = 0.5 * body->mass * (square + potential);
    if (nbody->n_steps == 0) {
        body->first_energy = body->last_energy;
    }
}

void nbody_step(struct nbody *nbody)
{
    struct nbody_opening opening;

    move(nbody);
    nbody_deal_out(nbody);
    nbody_opening_init(&opening, nbody->cube.width, nbody->theta);
    build_tree(nbody, &opening);
    for (size_t b = 0; b < nbody->bodies.n; b++) {
        struct nbody_body *body = &nbody->bodies.items[b];
        accelerate(nbody, body, attract(nbody, &opening, body));
    }
    move(nbody);
    nbody->n_steps++;
}

void nbody_init(struct nbody *nbody, struct world *world)
{
    size_t n = (size_t)world->n_processes;

    *nbody = (struct nbody){
        .world = world, .step = STEP, .theta = THETA, .softening = SOFTENING};
    area_init(&nbody->boxes, world, n * sizeof(struct nbody_box));
    area_init(&nbody->samples, world, n * sizeof(struct samples));
    area_init(&nbody->borders, world, n * sizeof(struct nbody_border));
    nbody->received = world_array(world, n, sizeof(*nbody->received));
    receiver = nbody;
}

void nbody_fini(struct nbody *nbody)
{
    area_fini(&nbody->boxes);
    area_fini(&nbody->samples);
    area_fini(&nbody->borders);
    for (int process = 0; process < nbody->world->n_processes; process++) {
        free(nbody->received[process].items);
    }
    free(nbody->received);
    free(nbody->bodies.items);
    free(nbody->arrived.items);
    free(nbody->branches.items);
    free(nbody->essential.items);
    free(nbody->tree.items);
    receiver = NULL;
}
