/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks on an input file that concern more than one value; main.c calls them after
 * input_read has read the whole file.
 */
#ifndef SWEEP3D_INPUT_CHECK_H
#define SWEEP3D_INPUT_CHECK_H

#include "apps/sweep3d/input.h"

/**
 * Check that the values of a file fit together.
 *
 * @param path     for the message only
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0 or -EINVAL
 */
int input_check(const char *path, const struct input *input, char *message);

#endif
