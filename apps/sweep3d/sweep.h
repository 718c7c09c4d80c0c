/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One sweep of the whole grid in all directions: eight octants, each a pipeline of
 * steps over blocks of angles and of k planes.
 */
#ifndef SWEEP3D_SWEEP_H
#define SWEEP3D_SWEEP_H

#include <stdbool.h>

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/input.h"

struct sweep;

/**
 * Prepare to sweep. The input and the decomposition must outlive the result.
 *
 * @return NULL if there is no memory
 */
struct sweep *sweep_create(const struct input *input,
                           const struct decomposition *decomposition,
                           bool is_nonblocking);

/** Free all; NULL is allowed. */
void sweep_destroy(struct sweep *sweep);

/** Number of steps in one sweep: octants * blocks of angles * blocks of planes. */
int sweep_n_steps(const struct sweep *sweep);

/**
 * Sweep once, all ranks together: from the source, add to flux, current and leakage.
 *
 * @return number of negative outflows that this process set to 0
 */
long sweep_run(struct sweep *sweep, struct fields *fields);

#endif
