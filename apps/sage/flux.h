/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fluxes across faces, and what they move from cell to cell.
 */
#ifndef SAGE_FLUX_H
#define SAGE_FLUX_H

#include "apps/sage/simulation.h"

/**
 * Add to work.change what crosses each face and wall within a time, in whole units. A
 * face is computed by the owner of its low cell; ghosts' changes are to be scattered.
 *
 * @return number of face sides whose reconstruction was not positive and that were
 *         computed from the cell's mean instead
 */
int64_t flux_add_changes(struct simulation *simulation, double time);

#endif
