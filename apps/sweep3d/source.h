/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source of one sweep: the fixed source of the problem plus what scattering makes
 * of the flux of the sweep before.
 */
#ifndef SWEEP3D_SOURCE_H
#define SWEEP3D_SOURCE_H

#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/input.h"

/**
 * Prepare a sweep: keep the scalar flux as the old one, compute the source from flux
 * and current, then set flux, current and leakage to zero.
 */
void source_update(struct fields *fields, const struct decomposition *decomposition,
                   const struct input *input);

/** Strength of the fixed source in a cell given by global indices from 0. */
double source_fixed(const struct input *input, int i, int j, int k);

#endif
