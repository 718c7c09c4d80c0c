/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a simulation.
 */
#ifndef SAGE_START_H
#define SAGE_START_H

#include "apps/sage/simulation.h"

/** Make the adapted mesh with the initial state; simulation_fini frees it. Every rank
 * calls it. */
void simulation_start(struct simulation *simulation, const struct input *input);

#endif
