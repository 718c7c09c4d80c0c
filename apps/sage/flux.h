/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fluxes across faces, and what they move from cell to cell.
 */
#ifndef SAGE_FLUX_H
#define SAGE_FLUX_H

#include "apps/sage/simulation.h"

/**
 * Add to work.change what crosses faces within a time, in whole units. This one takes
 * the faces of one axis between own cells. Whole numbers may be added in any order.
 *
 * @return number of face sides whose reconstruction was not positive and that were
 *         computed from the cell's mean instead
 */
int64_t flux_add_inner(struct simulation *simulation, int axis, double time);

/**
 * The same for walls and for faces with ghosts, on all axes. A face is computed by the
 * owner of its low cell; the ghosts' changes are to be scattered afterwards.
 */
int64_t flux_add_border(struct simulation *simulation, double time);

#endif
