/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixed-point units of the conserved quantities. Cells hold whole numbers of units, and
 * what crosses a face is rounded to whole units before it is taken from one cell and
 * given to another. Addition of whole numbers is exact and has no order: nothing is
 * ever lost, and no result depends on which rank adds what first.
 */
#ifndef SAGE_UNITS_H
#define SAGE_UNITS_H

#include <stdint.h>

#include "apps/sage/input.h"
#include "apps/sage/mesh.h"

/* Primitive variables of a cell: density, velocity along three axes, pressure. */
#define N_PRIMITIVE 5
#define DENSITY 0
#define VELOCITY 1
#define PRESSURE 4

/* No content of a cell may exceed this many units. */
#define UNITS_MAX (INT64_C(1) << 61)

struct units {
    double gamma;
    /* One unit, a power of two, and its inverse. */
    double size[N_CONSERVED], per_size[N_CONSERVED];
    /* Geometry and, to get a density from units, size / volume; by level. */
    double edge[FOREST_MAX_LEVEL + 1];
    double area[FOREST_MAX_LEVEL + 1];
    double volume[FOREST_MAX_LEVEL + 1];
    double density[FOREST_MAX_LEVEL + 1][N_CONSERVED];
};

/** Choose units such that the initial state uses 2^-6 of the range. */
void units_init(struct units *units, const struct input *input);

/** Contents of a cell with this primitive state, rounded to units. */
void units_from_primitive(const struct units *units, int level,
                          const double primitive[N_PRIMITIVE],
                          int64_t state_out[N_CONSERVED]);

/** Primitive state of a cell; without meaning if the density is not positive. */
void units_to_primitive(const struct units *units, int level,
                        const int64_t state[N_CONSERVED],
                        double primitive_out[N_PRIMITIVE]);

#endif
