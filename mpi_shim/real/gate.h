/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the entry points lead: to us, or to the real library. Any thread reads
 * shim_state.gate; it is written at start, in MPI_Init, in MPI_Finalize and in a forked
 * child only.
 */
#ifndef SHIM_GATE_H
#define SHIM_GATE_H

#pragma GCC visibility push(hidden)

/** Find the real library, its functions and handles; done once, by the first thread
 *  that comes, later calls return at once. See shim_real_resolve. Every entry point
 *  does this by itself before it needs a real function. */
void shim_gate_resolve(void);

/**
 * From now on buffered functions go to shim_<Name> and passed ones are counted. Called
 * by shim_Init once everything is ready, after shim_state.collect is set if it is at
 * all.
 */
void shim_gate_open(void);

/** From now on all functions go to the real library, uncounted. For shim_Finalize. */
void shim_gate_close(void);

/** From now on no function is carried out, but MPI_Finalize, which does nothing: this
 *  is a forked child. A bcs_forked function. */
void shim_gate_forbid(void *unused);

#pragma GCC visibility pop

#endif
