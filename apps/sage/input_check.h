/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks on an input deck that concern more than one key; main.c calls them after
 * input_read has read the whole deck.
 */
#ifndef SAGE_INPUT_CHECK_H
#define SAGE_INPUT_CHECK_H

#include "apps/sage/input.h"

/**
 * Check that the values of a deck fit together.
 *
 * @param path     for the message only
 * @param message  gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0 or -EINVAL
 */
int input_check(const char *path, const struct input *input, char *message);

/**
 * Check that every rank can get a root cell.
 *
 * @return 0 or -EINVAL, as input_check
 */
int input_check_ranks(const char *path, const struct input *input, int n_ranks,
                      char *message);

#endif
