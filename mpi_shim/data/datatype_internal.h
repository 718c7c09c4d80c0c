/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files datatype*.c share. Nobody else includes this.
 */
#ifndef MPI_SHIM_DATATYPE_INTERNAL_H
#define MPI_SHIM_DATATYPE_INTERNAL_H

#include "libbcs/fabric/base/layout.h"
#include "mpi_shim/data/datatype.h"

/** A predefined type: its symbol in the library, and which reductions it can do. */
struct shim_predefined_type {
    const char *symbol;
    uint16_t ops;   /* as in struct shim_datatype */
    uint8_t number; /* enum shim_number_kind */
};

/** How the kernels see the values of a type; the width is the type's size. */
enum shim_number_kind {
    SHIM_NUMBER_OTHER, /* no kernel: combined by the real library */
    SHIM_NUMBER_SIGNED,
    SHIM_NUMBER_UNSIGNED,
    SHIM_NUMBER_REAL,
    SHIM_NUMBER_COMPLEX,
};

/** The predefined types that may be used in communication; ends with a NULL symbol. */
extern const struct shim_predefined_type shim_predefined_types[];

/** The kernels' type for a kind of number of size bytes, or -1. */
int8_t shim_number_reduce_type(enum shim_number_kind kind, size_t size);

/**
 * Ask the real library about a type that the program made.
 *
 * @return 0        type_out is filled; its layout is the caller's
 * @return -EINVAL  the type is not committed, or cannot be described; the latter logged
 * @return -ENOMEM
 */
int shim_datatype_describe(MPI_Datatype handle, struct shim_datatype *type_out);

/** Set layout and is_dense of a type whose sizes are known. @return as
 *  shim_datatype_layout */
int shim_datatype_look_inside(struct shim_datatype *type);

/** Sizes and extents only; never fails on a valid handle. */
void shim_datatype_measure(MPI_Datatype handle, struct shim_datatype *type_out);

/**
 * Find out where the data of a type's elements are. Uses handle, size and extent.
 *
 * @param layout_out  for free
 * @return 0        done
 * @return -EINVAL  the type is made in a way that is not known here; logged
 * @return -ENOMEM
 */
int shim_datatype_layout(const struct shim_datatype *type,
                         struct bcs_layout **layout_out);

/** Make the communicator with which the real library packs for us: it has only this
 *  process and returns errors. @return 0 or -EIO */
int shim_pack_setup(void);

/** Whether a type is committed, and thus may be packed. */
bool shim_pack_accepts(MPI_Datatype handle);

/** Have the real library pack one element, of size bytes. @return 0 or -EIO */
int shim_pack_element(const void *buf, MPI_Datatype handle, size_t size, void *out);

#endif
