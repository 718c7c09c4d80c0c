/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of one process among those of all, and their steps in time.
 */
#ifndef CBSP_NBODY_STEP_H
#define CBSP_NBODY_STEP_H

#include "apps/cbsp/nbody_body.h"
#include "apps/cbsp/nbody_tree.h"

struct nbody {
    struct world *world;
    double step;
    double theta;
    double softening;
    struct nbody_bodies bodies;
    struct nbody_cube cube;
    /* [process] each. */
    struct area boxes;
    struct area samples;
    struct area borders;
    /* What comes in: bodies, and cells of each process. */
    struct nbody_bodies arrived;
    struct nbody_cells *received;
    struct nbody_cells branches;
    struct nbody_cells essential;
    struct nbody_cells tree;
    int64_t n_steps;
    /* Bodies that have come in from other processes. */
    int64_t n_moved;
};

/** Start with a share of bodies that the caller then adds. Collective; one a process at
 *  a time. */
void nbody_init(struct nbody *nbody, struct world *world);

/** Free it; collective. */
void nbody_fini(struct nbody *nbody);

/** Deal all bodies out anew, by their places and their work; three supersteps. */
void nbody_deal_out(struct nbody *nbody);

/** Go one step in time: five supersteps. Collective. */
void nbody_step(struct nbody *nbody);

#endif
