/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bodies: how they begin, and their order. Nothing here communicates.
 */
#include "apps/cbsp/nbody_body.h"

#include <math.h>
#include <stdlib.h>

#include "apps/cbsp/frame.h"

#define PI 3.14159265358979323846
#define MAX_RADIUS 10.0
#define DRAWS 256

void *nbody_grow(const struct world *world, void *items, size_t n, size_t *room,
                 size_t element_bytes)
{
    if (n < *room) {
        return items;
    }
    *room = *room == 0 ? 64 : 2 * *room;
    items = realloc(items, *room * element_bytes);
    if (items == NULL) {
        world_fail(world, "no memory; allowed: fewer bodies");
    }
    return items;
}

void nbody_add(const struct world *world, struct nbody_bodies *bodies,
               const struct nbody_body *body)
{
    bodies->items =
        nbody_grow(world, bodies->items, bodies->n, &bodies->room, sizeof(*body));
    bodies->items[bodies->n++] = *body;
}

/* --- the Plummer sphere
 * --------------------------------------------------------------- */

/* Random numbers of one body. */
struct draws {
    uint64_t seed;
    uint64_t next;
};

static double draw(struct draws *draws)
{
    return frame_random(draws->seed, draws->next++);
}

/* A vector of this length in any direction. */
static void point_anywhere(struct draws *draws, double length,
                           double vector[NBODY_AXES])
{
    double height = 2.0 * draw(draws) - 1.0;
    double angle = 2.0 * PI * draw(draws);
    double across = sqrt(1.0 - height * height);

    vector[0] = length * across * cos(angle);
    vector[1] = length * across * sin(angle);
    vector[2] = length * height;
}

/* Speed as part of the speed of escape, by rejection. */
static double draw_speed(struct draws *draws)
{
    double speed, limit;

    do {
        speed = draw(draws);
        limit = 0.1 * draw(draws);
    } while (limit > speed * speed * pow(1.0 - speed * speed, 3.5));
    return speed;
}

static double draw_radius(struct draws *draws)
{
    double radius;

    do {
        radius = 1.0 / sqrt(pow(draw(draws), -2.0 / 3.0) - 1.0);
    } while (!(radius < MAX_RADIUS));
    return radius;
}

struct nbody_body nbody_plummer(uint64_t seed, int64_t id, int64_t n)
{
    struct draws draws = {.seed = seed, .next = (uint64_t)id * DRAWS};
    struct nbody_body body = {.id = id, .work = 1};
    double size = 3.0 * PI / 16.0;
    double radius = draw_radius(&draws);
    double escape = sqrt(2.0) * pow(1.0 + radius * radius, -0.25);

    /* Masses differ by a factor of up to 3; their mean is 1 / n. */
    body.mass = (0.5 + draw(&draws)) / (double)n;
    point_anywhere(&draws, size * radius, body.position);
    point_anywhere(&draws, escape * draw_speed(&draws) / sqrt(size), body.velocity);
    return body;
}

/* --- boxes and keys
 * ------------------------------------------------------------------- */

struct nbody_box nbody_box_of(const struct nbody_bodies *bodies)
{
    struct nbody_box box;

    for (int a = 0; a < NBODY_AXES; a++) {
        box.low[a] = INFINITY;
        box.high[a] = -INFINITY;
        for (size_t b = 0; b < bodies->n; b++) {
            box.low[a] = fmin(box.low[a], bodies->items[b].position[a]);
            box.high[a] = fmax(box.high[a], bodies->items[b].position[a]);
        }
    }
    return box;
}

void nbody_box_add(struct nbody_box *box, const struct nbody_box *other)
{
    for (int a = 0; a < NBODY_AXES; a++) {
        box->low[a] = fmin(box->low[a], other->low[a]);
        box->high[a] = fmax(box->high[a], other->high[a]);
    }
}

struct nbody_cube nbody_cube_of(const struct nbody_box *box)
{
    struct nbody_cube cube = {.width = 0};

    for (int a = 0; a < NBODY_AXES; a++) {
        cube.origin[a] = box->low[a];
        cube.width = fmax(cube.width, box->high[a] - box->low[a]);
    }
    return cube;
}

/* Spreads 21 bits so that two zeros follow each. */
static uint64_t spread(uint64_t bits)
{
    bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
    bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
    bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
    bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (bits | bits << 2) & UINT64_C(0x1249249249249249);
}

static uint64_t key_of(const struct nbody_body *body, const struct nbody_cube *cube)
{
    const double n_places = (double)(UINT64_C(1) << NBODY_LEVELS);
    uint64_t key = 0;

    for (int a = 0; a < NBODY_AXES; a++) {
        double part = (body->position[a] - cube->origin[a]) / cube->width;
        double place = fmin(fmax(part * n_places, 0.0), n_places - 1.0);

        key |= spread((uint64_t)place) << a;
    }
    return key;
}

static int compare(const void *left, const void *right)
{
    const struct nbody_body *a = left;
    const struct nbody_body *b = right;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

void nbody_sort(struct nbody_bodies *bodies, const struct nbody_cube *cube)
{
    for (size_t b = 0; b < bodies->n; b++) {
        bodies->items[b].key = key_of(&bodies->items[b], cube);
    }
    if (bodies->n > 0) {
        qsort(bodies->items, bodies->n, sizeof(bodies->items[0]), compare);
    }
}
