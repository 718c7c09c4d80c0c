/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The initial state: two gases at rest, divided by a sphere (blast) or by a plane
 * across the x axis (shock_tube).
 */
#ifndef SAGE_INITIAL_H
#define SAGE_INITIAL_H

#include "apps/sage/input.h"
#include "apps/sage/mesh.h"
#include "apps/sage/units.h"

/** Set the contents of all own cells to the mean of the initial state within them. */
void initial_fill(struct mesh *mesh, const struct units *units,
                  const struct input *input);

#endif
