/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one way in which the library ends a process that cannot go on. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_FATAL_H
#define LIBBCS_FABRIC_BASE_FATAL_H

#include "libbcs/fabric/base/log.h"

/** End the process at once, with a status; the caller has logged why. The launcher ends
 *  the rest of the job. Exit handlers do not run: this thread may hold a lock that one
 *  of them waits for. */
_Noreturn void bcs_end_process(int status);

/** Log why, as bcs_error does, and end the process with status 1. */
#define bcs_fatal(...) (bcs_error(__VA_ARGS__), bcs_end_process(1))

#endif
