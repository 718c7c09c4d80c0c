/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks on an input file that concern more than one value; input.c calls them after
 * the whole file has been read.
 */
#ifndef SWEEP3D_INPUT_CHECK_H
#define SWEEP3D_INPUT_CHECK_H

#include "apps/sweep3d/input.h"

#define INPUT_ALLOWED_EPSI                                                             \
    "1e-14 to 1 (relative change), or -1 to -1000000 (whole, that many iterations)"
#define INPUT_ALLOWED_SIGS1 "-SIGS/3 to SIGS/3 (else the source could be negative)"

/**
 * Check that the values of a file fit together.
 *
 * @param path     for the message only
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0 or -EINVAL
 */
int input_check(const char *path, const struct input *input, char *message);

#endif
