/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shim knows about MPI datatypes: a description of each one, kept from its
 * first use until it is freed, and packing of those that are not plain bytes. Called
 * by the shim's entry points in the application's threads; all functions are safe in
 * several threads at once.
 */
#ifndef MPI_SHIM_DATATYPE_H
#define MPI_SHIM_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A datatype that may be used in communication. */
struct shim_datatype {
    MPI_Datatype handle;
    size_t size; /* bytes of data of one element */
    ptrdiff_t lb;
    ptrdiff_t extent;
    ptrdiff_t true_lb;
    ptrdiff_t true_extent;
    bool is_dense; /* count elements at buf are the count * size bytes from buf on */
    bool is_predefined;
    int8_t reduce_type;        /* enum nic_reduce_type, or -1 */
    uint16_t reduce_ops;       /* bit i: enum shim_op i is defined on the type */
    struct bcs_layout *layout; /* of the data; NULL if is_dense */
};

/**
 * Describe the predefined types and set up what packing needs. Call once, between the
 * real library's MPI_Init and the first use of any function of this file or of op.h.
 *
 * @return 0 or -errno
 */
int shim_datatype_setup(void);

/** Give back what belongs to the real library, before its MPI_Finalize, in which types
 *  may still be used. */
void shim_pack_teardown(void);

/** Forget all types, after the real library's MPI_Finalize. */
void shim_datatype_teardown(void);

/**
 * Look up a type, and describe it if it is new. A few nanoseconds for a known type.
 *
 * The description is valid until the program frees the type; an operation that may
 * last longer uses shim_datatype_hold.
 *
 * @return NULL for a null handle, a type that is not committed or has been freed while
 *         it was held, or without memory
 */
const struct shim_datatype *shim_datatype_find(MPI_Datatype handle);

/** Whether count elements at buf may be communicated. NULL is MPI_BOTTOM, too: no error
 *  if there are no data, or the type says where they are; so the real library looks at
 *  it. */
static inline bool shim_datatype_fits(const struct shim_datatype *type, const void *buf,
                                      int64_t count)
{
    return __builtin_expect(buf != NULL, 1) || count <= 0 ||
           (!type->is_predefined && (type->size == 0 || type->true_lb != 0));
}

/** Keep a type usable even if the program frees it meanwhile. */
void shim_datatype_hold(const struct shim_datatype *type);

/** Undo one shim_datatype_hold; the last one carries out a free that was put off. */
void shim_datatype_release(const struct shim_datatype *type);

/**
 * MPI_Type_free: forget the type and free it, at once or when nobody holds it any more.
 *
 * @return what the real MPI_Type_free returns; MPI_SUCCESS if that is put off;
 *         MPI_ERR_TYPE, raised: it has been, already
 */
int shim_datatype_free(MPI_Datatype *handle);

/** Copy count elements at buf to count * type->size contiguous bytes. */
void shim_pack(const void *buf, size_t count, const struct shim_datatype *type,
               void *out);

/** Copy n_bytes contiguous bytes to elements at buf, of which there are enough. If the
 *  bytes end within an element, the rest of that element is left as it is. */
void shim_unpack(const void *in, size_t n_bytes, void *buf,
                 const struct shim_datatype *type);

#endif
