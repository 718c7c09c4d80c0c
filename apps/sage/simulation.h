/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that a rank has of a running simulation. main.c owns it; the parts of a
 * cycle (hydro, conduction, adaptation, totals) take it whole.
 */
#ifndef SAGE_SIMULATION_H
#define SAGE_SIMULATION_H

#include "apps/sage/faces.h"
#include "apps/sage/halo.h"
#include "apps/sage/input.h"
#include "apps/sage/mesh.h"
#include "apps/sage/units.h"
#include "apps/sage/wide_sum.h"

/* Work space for each local cell. Own cells begin at halo.first_owned. */
struct work {
    double (*primitive)[N_PRIMITIVE];
    /* Slope of each primitive variable along each axis, axis by axis. */
    double (*slope)[N_AXES * N_PRIMITIVE];
    /* Difference quotients to the low and to the high side. */
    double (*backward)[N_PRIMITIVE];
    double (*forward)[N_PRIMITIVE];
    /* What enters each cell in this stage, and what entered in the one before. */
    int64_t (*change)[N_CONSERVED];
    int64_t (*earlier_change)[N_CONSERVED];
};

struct simulation {
    const struct input *input;
    struct units units;
    struct mesh mesh;
    /* Made anew whenever the mesh has changed. */
    struct halo halo;
    struct faces faces;
    struct work work;
    /* Momentum that the walls have given to this rank's cells. */
    struct wide_sum impulse[N_AXES];
};

/** Free what a simulation holds; a zeroed one is allowed. */
void simulation_fini(struct simulation *simulation);

/** Make halo, faces and work space again after the mesh has changed, and share the
 * primitive variables. Every rank. */
void simulation_rebuild(struct simulation *simulation);

/** Compute the primitive variables of the own cells from their contents. */
void simulation_update_primitive(struct simulation *simulation);

/** The same, and begin to gather them for the ghosts; cells that travel come first. */
void simulation_share_primitive(struct simulation *simulation);

#endif
