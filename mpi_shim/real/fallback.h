/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go to the real library: counting them for the report, and keeping both
 * sides moving. Ranks that wait in us must let the real library progress once it has
 * something to do; ranks that wait in the real library must run our engine. Any thread.
 */
#ifndef SHIM_FALLBACK_H
#define SHIM_FALLBACK_H

#include "mpi_shim/real/real.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/** A passed call begins: count it, unless it is made by the real library from within
 *  another passed call, or the shim is not active. */
void shim_pass_begin(enum shim_function function);

/** A call of the real library begins that may wait for other ranks there; passed ones
 *  do this by themselves. How long it has waited counts from now, unless this thread is
 *  in another such call already. Then call shim_outside_end. */
void shim_outside_begin(void);

/** That call has returned. Outside of the door. */
void shim_outside_end(void);

/** The passed call of this thread ends. */
void shim_pass_end(void);

/** From now on others than the job's processes may need this one. */
void shim_pass_connected(void);

/** Copy the numbers of passed calls, of the first n functions. */
void shim_pass_counts(uint64_t *counts_out, uint32_t n);

/** Let the real library progress once; costs one call even if it has nothing to do.
 *  Our own hook is not called from within. */
void shim_progress_real(void);

/** Test a request of the real library, which progresses if it is not complete; our own
 *  hook is not called from within. A complete one becomes null. */
bool shim_test_real(MPI_Request *request);

/**
 * Have the real library call callback whenever it progresses, so that ranks blocked in
 * it run our engine, and call the others if they wait long; with more ranks than cores,
 * have it yield while it waits. callback must not call MPI.
 * Call after the real MPI_Init.
 *
 * @return 0        installed
 * @return -ENOSYS  the real library has no such hook
 */
int shim_progress_hook_install(void (*callback)(void));

/** After the real MPI_Finalize, which calls the hook to its end: forget about it. */
void shim_progress_hook_remove(void);

#pragma GCC visibility pop

#endif
