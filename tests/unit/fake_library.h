/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A play of the MPI library below the shim, for tests of the shim's files by
 * themselves: its datatypes and operations, and how often they were freed.
 */
#ifndef BCS_UNIT_FAKE_LIBRARY_H
#define BCS_UNIT_FAKE_LIBRARY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { FAKE_TYPE_BYTES = 8 };

/** In the prototype of a test's function: it stands for one that files of the shim
 *  call, which meson.build names for this test. */
#define PLAYS(function) __asm__("__wrap_" #function)

/** How a datatype was made, as MPI_Type_get_contents tells it. */
struct fake_contents {
    int combiner;
    int n_integers, n_addresses, n_types;
    const int *integers;
    const MPI_Aint *addresses;
    const MPI_Datatype *types;
};

/** A datatype, whose handle is its address. If it is a named one, byte i of an
 *  element's data is at places[i]; only such a type is packed. */
struct fake_type {
    size_t size;
    ptrdiff_t extent;
    unsigned char places[FAKE_TYPE_BYTES];
    const struct fake_contents *contents; /* NULL: it is named */
    bool is_uncommitted;
    int n_frees;
};

/** A user's operation, whose handle is its address: adds signed characters of data. */
struct fake_op {
    int n_calls;
    int n_most; /* elements of the longest call */
    int n_frees;
    int rc; /* of a call */
};

/** The last error class that the library's handler was called with, and on what. */
extern int fake_error_class;
extern MPI_Comm fake_error_comm;

/** Make the shim find this library. */
void fake_library_set(void);

/** The handle of a datatype. */
MPI_Datatype fake_type_handle(struct fake_type *type);

/** The handle of an operation. */
MPI_Op fake_op_handle(struct fake_op *op);

/** Where byte i of the data of an element is. */
ptrdiff_t fake_type_place(const struct fake_type *type, size_t element, size_t i);

#endif
