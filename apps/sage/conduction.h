/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat conduction within a time step: temperatures after the step by an implicit
 * solve, then the heat that they drive across the faces.
 */
#ifndef SAGE_CONDUCTION_H
#define SAGE_CONDUCTION_H

#include <stdbool.h>

#include "apps/sage/simulation.h"

/**
 * Conduct heat for one time step. Primitive variables must be up to date; they are not
 * afterwards. Every rank calls it; no step is too long for it.
 *
 * @param n_iterations  gets the iterations added
 * @return true if the solver has reached the tolerance
 */
bool conduction_advance(struct simulation *simulation, double time_step,
                        int64_t *n_iterations);

#endif
