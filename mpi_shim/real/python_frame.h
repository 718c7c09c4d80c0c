/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which instruction of Python a thread is at: an address that tells the places in a
 * program in Python apart, as a return address does in C. A few loads; no lock, neither
 * the GIL nor another.
 */
#ifndef MPI_SHIM_REAL_PYTHON_FRAME_H
#define MPI_SHIM_REAL_PYTHON_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { SHIM_PYTHON_STEPS = 3 };

/** The way from a thread's state to its instruction: where in each structure the
 *  pointer to the next one is. */
struct shim_python_way {
    uint32_t version; /* of CPython: major and minor, a byte each */
    uint32_t n_steps;
    uint32_t steps[SHIM_PYTHON_STEPS]; /* bytes from the begin of a structure */
};

/**
 * Find the way, and try it on the calling thread: it must lead to what CPython itself
 * says. The thread is in a call of MPI.
 *
 * @return false: this CPython is not known, or the thread does not hold the GIL
 */
bool shim_python_way_find(struct shim_python_way *way_out);

#pragma GCC visibility pop

/** Go the way, in the thread whose state it is, within a call of MPI. @param state not
 *  NULL @return 0: it runs no Python */
static inline uintptr_t shim_python_instruction(const struct shim_python_way *way,
                                                const void *state)
{
    uintptr_t at = (uintptr_t)state;

    for (uint32_t i = 0; i < way->n_steps && at != 0; i++) {
        at = *(const uintptr_t *)(at + way->steps[i]);
    }
    return at;
}

#endif
