/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which level each cell shall have.
 */
#ifndef SAGE_TARGETS_H
#define SAGE_TARGETS_H

#include <stdint.h>

#include "apps/sage/simulation.h"

/**
 * Find the level that each cell shall have: its own, one more or one less. Neighbours
 * end at most one level apart, and children vanish all eight together. The ghosts'
 * primitive variables must be there. Every rank calls it.
 *
 * @return an array over the local cells, right for the own ones; free() it
 */
int64_t *targets_choose(struct simulation *simulation);

#endif
