/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bodies of nbody, growing arrays of them, and their place on the curve by which they
 * are dealt out to the processes.
 */
#ifndef CBSP_NBODY_BODY_H
#define CBSP_NBODY_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/cbsp/world.h"

#define NBODY_AXES 3
/* Levels of the octree below its root: three bits of a key each. */
#define NBODY_LEVELS 21
#define NBODY_KEYS (UINT64_C(1) << (NBODY_AXES * NBODY_LEVELS))

struct nbody_body {
    double position[NBODY_AXES];
    double velocity[NBODY_AXES];
    double acceleration[NBODY_AXES];
    double mass;
    /* Kinetic and potential, in the middle of the first step and of the last one. */
    double first_energy;
    double last_energy;
    /* On the Morton curve through the present cube. */
    uint64_t key;
    int64_t id;
    /* Interactions in the last step. */
    int64_t work;
};

struct nbody_bodies {
    struct nbody_body *items;
    size_t n;
    size_t room;
};

/* A cube that holds all bodies. */
struct nbody_cube {
    double origin[NBODY_AXES];
    double width;
};

/* The smallest box around some bodies; without bodies it is infinitely far away. */
struct nbody_box {
    double low[NBODY_AXES];
    double high[NBODY_AXES];
};

/** Room for one more element of n in an array that doubles; returns where it is now. */
void *nbody_grow(const struct world *world, void *items, size_t n, size_t *room,
                 size_t element_bytes);

/** Add a body at the end. */
void nbody_add(const struct world *world, struct nbody_bodies *bodies,
               const struct nbody_body *body);

/** The body of this number in a Plummer sphere of n bodies, in units in which the
 *  total mass and the constant of gravity are 1 and the energy is about -1/4. */
struct nbody_body nbody_plummer(uint64_t seed, int64_t id, int64_t n);

/** The box around bodies. */
struct nbody_box nbody_box_of(const struct nbody_bodies *bodies);

/** Extend a box so that it holds another one. */
void nbody_box_add(struct nbody_box *box, const struct nbody_box *other);

/** The cube around a box. */
struct nbody_cube nbody_cube_of(const struct nbody_box *box);

/** Give bodies their keys in a cube, and put them into the order of keys. */
void nbody_sort(struct nbody_bodies *bodies, const struct nbody_cube *cube);

#endif
