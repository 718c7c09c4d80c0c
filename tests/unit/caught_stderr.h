/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard error, caught: what is written goes to a packet socket, which keeps writes
 * apart.
 */
#ifndef BCS_UNIT_CAUGHT_STDERR_H
#define BCS_UNIT_CAUGHT_STDERR_H

/** From now on this process's standard error, and that of children that it forks, is
 *  caught. */
void caught_stderr_begin(void);

/** Give standard error back. */
void caught_stderr_end(void);

/** The next write to standard error, valid until the next call, or "" if there was
 *  none. */
const char *caught_stderr_next(void);

#endif
