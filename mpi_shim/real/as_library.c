/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmpi_bcs.so: what a program loads in place of libmpi.so, if it looks up MPI's
 * functions in a library that is named to it. The file has no code. The linker notes in
 * it that libbcs_mpi.so and then libmpi.so are needed, and dlsym looks into those in
 * that order: functions are ours, data are the MPI library's.
 */
typedef int as_library_is_empty; /* ISO C wants a declaration in each file */
