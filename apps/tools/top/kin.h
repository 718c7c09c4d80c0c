/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has started whom, by /proc. One thread.
 */
#ifndef APPS_TOOLS_TOP_KIN_H
#define APPS_TOOLS_TOP_KIN_H

#include <stdbool.h>
#include <stdint.h>

/** Whether a process is another one, or was started by it or by one that was. */
bool kin_is_below(int64_t pid, int64_t ancestor);

#endif
