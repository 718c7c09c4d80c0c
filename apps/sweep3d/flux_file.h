/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scalar flux as a text file: a comment with IT JT KT, then a value a line, i
 * fastest and k slowest, with the 17 digits that give back the same double.
 */
#ifndef SWEEP3D_FLUX_FILE_H
#define SWEEP3D_FLUX_FILE_H

#include <stdio.h>

#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/flux_plane.h"
#include "apps/sweep3d/input.h"

/**
 * Write the whole flux; collective, rank 0 writes.
 *
 * @param file  open for writing on rank 0, NULL elsewhere; it stays open
 */
void flux_file_write(FILE *file, const struct input *input, const struct fields *fields,
                     struct flux_plane *plane);

#endif
