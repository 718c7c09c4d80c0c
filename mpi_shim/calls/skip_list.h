/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files of code are not the program's own, by the patterns of BCS_PLACE_SKIP.
 * Pure.
 */
#ifndef SHIM_SKIP_LIST_H
#define SHIM_SKIP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/** Write the patterns that a setting stands for: with a + before it, those that are
 *  usual and its own.
 *  @param list_out  ended by a zero, cut off if there is no room */
void shim_skip_list(const char *setting, const char *usual, char *list_out,
                    size_t n_bytes);

/** Whether a file is to be skipped: by its name, or by a folder that it is in. */
bool shim_skip_has(const char *list, const char *path);

#pragma GCC visibility pop

#endif
