/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From which line of Python an entry point was called, for the MDS and the lint. All
 * calls of mpi4py come from the same addresses of its library, so the place is the
 * instruction of Python that is under way. Used by caller.c, at the begin of an entry
 * point; any thread.
 */
#ifndef SHIM_PYTHON_PLACE_H
#define SHIM_PYTHON_PLACE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/** What is known of a program in Python. */
struct shim_python_places;

/** @return end with shim_python_places_free; NULL: there is no interpreter that tells
 *  its instructions, or no memory */
struct shim_python_places *shim_python_places_make(void);

/** Forget it, and all words. Accepts NULL. */
void shim_python_places_free(struct shim_python_places *places);

/**
 * The place of a call that returns to an address. A call from a file that
 * BCS_PLACE_SKIP names is one of the line of Python that runs, if some does.
 *
 * @param words_out  for it, until shim_python_places_free; NULL: it is the address
 * @return a number of the place: the address, or that of the instruction
 */
uintptr_t shim_python_place(struct shim_python_places *places, uintptr_t address,
                            const char **words_out);

#pragma GCC visibility pop

#endif
