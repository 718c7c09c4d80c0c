/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slopes of the primitive variables within cells, for second order in space.
 */
#ifndef SAGE_SLOPES_H
#define SAGE_SLOPES_H

#include "apps/sage/simulation.h"

/** Compute the limited slopes of all own cells; the ghosts' primitives must be there.
 */
void slopes_compute(struct simulation *simulation);

#endif
