/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name that a function of C has in Python: a module that is compiled tells its
 * methods to the interpreter in tables, which also modules without symbols have. Any
 * thread.
 */
#ifndef MPI_SHIM_REAL_PYTHON_METHOD_H
#define MPI_SHIM_REAL_PYTHON_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { SHIM_METHOD_BYTES = 24 };

/**
 * Find the name of a method. Takes some ten microseconds, and the loader's lock.
 *
 * @param function  where its code begins
 * @param name_out  "allreduce"
 * @return false: no table of its file has it, or under a longer name
 */
bool shim_python_method_name(uintptr_t function, char name_out[SHIM_METHOD_BYTES]);

#pragma GCC visibility pop

#endif
