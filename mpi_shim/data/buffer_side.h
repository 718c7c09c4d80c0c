/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two shapes in which a collective's data stand in an MPI call, one buffer or one
 * block for each rank, as the contiguous bytes that the API wants. Data of dense types
 * are used where they are, unless buffers are watched; others are packed into temporary
 * memory, and unpacked from it. Called by the shim's collectives in the application's
 * threads.
 */
#ifndef MPI_SHIM_DATA_BUFFER_SIDE_H
#define MPI_SHIM_DATA_BUFFER_SIDE_H

#include "mpi_shim/data/datatype.h"
#include <bcs/bcs.h>

/** One buffer. data and n_bytes are for the API. */
struct shim_side {
    char *data;
    size_t n_bytes;
    void *buf;
    const struct shim_datatype *type;
    char *temporary; /* or NULL */
};

/**
 * Open count elements at buf; is_input says whether their present values are needed.
 *
 * @return 0 or -errno; close in any case
 */
int shim_side_open(struct shim_side *side_out, const void *buf, size_t count,
                   const struct shim_datatype *type, bool is_input);

/** Close; with is_output the bytes become the buffer's values. */
void shim_side_close(struct shim_side *side, bool is_output);

/**
 * Data of an MPI call as the program describes them: one buffer, or a block for each
 * rank, count or counts elements, at displs or without gaps, of one type or one for
 * each.
 */
struct shim_layout {
    const void *buf;
    int count;               /* of the buffer, or of each block */
    bool is_vector;          /* counts and displs describe the blocks, else count */
    bool has_types;          /* datatypes give the types; displacements are in bytes */
    const int *counts;       /* [size] */
    const int *displs;       /* [size], in units of the extent */
    const MPI_Aint *offsets; /* [size], of those that have MPI_Aint displacements */
    MPI_Datatype datatype;
    const MPI_Datatype *datatypes; /* [size] */
    /* Found by the shim. */
    const struct shim_datatype *type;
    const struct shim_datatype **types; /* [n_types] of has_types; allocated */
    int32_t n_types;
    int32_t n_blocks; /* of is_vector: size, where this rank uses the blocks; else 0 */
    void *kept;       /* copies of counts, displs and offsets, or NULL; allocated */
};

/**
 * Copy the arrays that describe the blocks; free layout->kept at the end. The standard
 * forbids a program to change its own before the operation is over, but bindings that
 * convert them have no other place for them than the call. So without memory there is
 * no copy.
 */
void shim_layout_keep(struct shim_layout *layout);

/** The bytes of a block, or of the buffer, whose types have been found. */
static inline size_t shim_layout_block_bytes(const struct shim_layout *layout,
                                             int32_t i)
{
    const struct shim_datatype *type =
        layout->has_types ? layout->types[i] : layout->type;

    return type->size * (size_t)(layout->is_vector ? layout->counts[i] : layout->count);
}

/** Where a block is in the program's memory, with its elements. */
const char *shim_layout_block(const struct shim_layout *layout, int32_t i,
                              size_t *count_out, const struct shim_datatype **type_out);

/* Up to so many ranks, the description of the blocks needs no allocation. */
#define SHIM_BLOCKS_SMALL 32

/** Blocks of all ranks. blocks is for the API. */
struct shim_blocks {
    struct bcs_blocks blocks;
    const struct shim_layout *layout; /* until it is closed */
    int32_t size;
    char *temporary; /* or NULL */
    size_t *numbers; /* lengths and displacements, if any: small, or allocated */
    size_t small[2 * SHIM_BLOCKS_SMALL];
};

#define SHIM_INPUT_NONE (-1)
#define SHIM_INPUT_ALL (-2)

/**
 * Open the blocks of size ranks. blocks.data is not NULL afterwards.
 *
 * @param input  SHIM_INPUT_NONE, SHIM_INPUT_ALL, or the one rank whose block's present
 *               values are needed
 * @return 0 or -errno; close in any case
 */
int shim_blocks_open(struct shim_blocks *blocks_out, const struct shim_layout *layout,
                     int32_t size, int input);

/** Whether there is something to close. */
static inline bool shim_blocks_is_open(const struct shim_blocks *blocks)
{
    return blocks->temporary != NULL || blocks->numbers != blocks->small;
}

/** Close; with is_output the bytes become the buffers' values. */
void shim_blocks_close(struct shim_blocks *blocks, bool is_output);

#endif
