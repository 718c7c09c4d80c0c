/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what CPython writes of a thread (mpi_shim/real/interpreter.h). Pure.
 */
#ifndef SHIM_TRACEBACK_H
#define SHIM_TRACEBACK_H

#include <stdint.h>

#include "libbcs/fabric/ring/stand.h"

#pragma GCC visibility push(hidden)

/**
 * Find the program's own lines of Python in a traceback.
 *
 * @param skip       files to leave out, as for shim_skip_has
 * @param n_most     lines at most
 * @param lines_out  "step, run.py:7", the last call first, each on a line; "": there is
 *                   none, or the text is not as it should be. What does not fit is left
 *                   out; of the first one names are cut
 */
void shim_traceback_lines(const char *text, const char *skip, uint32_t n_most,
                          char lines_out[BCS_STAND_LINES_BYTES]);

#pragma GCC visibility pop

#endif
