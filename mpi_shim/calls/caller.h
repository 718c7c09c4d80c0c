/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which place of the program an entry point was called, for the MDS. Programs in
 * Fortran call the MPI library's bindings, which call us: for them the place is where
 * the bindings were called. For those in Python it is a line of Python
 * (python_place.h). Any thread, at the begin of an entry point.
 */
#ifndef SHIM_CALLER_H
#define SHIM_CALLER_H

#include "mds/collect.h"
#include "mpi_shim/real/state.h"

#pragma GCC visibility push(hidden)

/** Look for the bindings and for Python in this process, before calls are recorded;
 *  done once. Where there is one of them, shim_state.callers is set. */
void shim_caller_setup(void);

/** Forget them: no call is recorded any more. */
void shim_caller_teardown(void);

/**
 * The slow part of shim_call_from: the place outside of all bindings.
 *
 * @param address  where the entry point returns to
 * @param cfa      the entry point's canonical frame address
 * @param words_out  for the place, of a call from Python; else NULL
 */
const void *shim_caller_outside(const void *address, const void *cfa,
                                const char **words_out);

#pragma GCC visibility pop

/** An entry point was called, which takes the slow path; inlined, it would cost the
 *  fast one, too.
 *  @param address, cfa  as for shim_caller_outside */
static __attribute__((noinline, unused)) void shim_call_from(const void *address,
                                                             const void *cfa)
{
    if (__builtin_expect(shim_state.callers != NULL, 0) && mds_call.depth == 0) {
        address = shim_caller_outside(address, cfa, &mds_call.words);
    }
    mds_call_from(address);
}

#endif
