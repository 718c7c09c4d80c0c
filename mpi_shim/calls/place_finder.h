/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of this process before anything waits, to find places in the program
 * later: which files are not the program's own, and whether there is an interpreter.
 * Found in MPI_Init; read by any thread.
 */
#ifndef SHIM_PLACE_FINDER_H
#define SHIM_PLACE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/stand.h"
#include "mpi_shim/real/interpreter.h"
#include "nic_threads/nic_config.h"

#pragma GCC visibility push(hidden)

/** Learn what this process is. Without memory all files are the program's own, and
 *  there is no interpreter. */
void shim_place_finder_setup(const struct nic_config *config);

/** Forget it: nothing waits any more. */
void shim_place_finder_teardown(void);

/** The interpreter of this process. @return NULL: there is none */
const struct shim_interpreter *shim_place_interpreter(void);

/** Whether a file of code, as the loader names it, is not the program's own: one that
 *  BCS_PLACE_SKIP names. */
bool shim_place_is_skipped(const char *path);

/**
 * The lines of Python of the calling thread, which is in a call of MPI. There must be
 * an interpreter.
 *
 * @param with_skipped  whether also those in files that are not the program's own
 * @param n_most, lines_out  as for shim_traceback_lines
 */
void shim_place_lines(bool with_skipped, uint32_t n_most,
                      char lines_out[BCS_STAND_LINES_BYTES]);

#pragma GCC visibility pop

#endif
