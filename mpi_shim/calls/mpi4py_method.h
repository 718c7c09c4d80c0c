/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods of mpi4py for objects, as comm.allreduce: each makes several calls of MPI,
 * which the program does not see. Used by call_place.c and comm_make.c.
 */
#ifndef SHIM_MPI4PY_METHOD_H
#define SHIM_MPI4PY_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/ring/stand.h"

#pragma GCC visibility push(hidden)

/** Whether a file of code is mpi4py's. */
bool shim_mpi4py_has(const char *path);

/**
 * Name such a method.
 *
 * @param function  where the code begins of the function of mpi4py that Python has
 *                  called
 * @param name_out  "comm.allreduce"
 * @return false: it is none of them
 */
bool shim_mpi4py_method(uintptr_t function, char name_out[BCS_STAND_METHOD_BYTES]);

/** Whether the calling thread is in such a method. Takes some ten microseconds if there
 *  is an interpreter. */
bool shim_mpi4py_is_hidden(void);

#pragma GCC visibility pop

#endif
