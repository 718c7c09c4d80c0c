/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output, caught in a file; for one thread.
 */
#ifndef BCS_UNIT_CAUGHT_STDOUT_H
#define BCS_UNIT_CAUGHT_STDOUT_H

/** From now on what is printed is caught. */
void caught_stdout_begin(void);

/** Give standard output back. @return what was printed, a megabyte of it at most, valid
 *  until the next call */
const char *caught_stdout_end(void);

#endif
