/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random datatypes from a seed: all constructors, nested, with bounds and strides of
 * any sign, for programs that compare what a message does with what MPI_Pack does.
 */
#ifndef TESTS_CONFORMANCE_RANDOM_TYPE_H
#define TESTS_CONFORMANCE_RANDOM_TYPE_H

#include <stdbool.h>

#include "tests/conformance/check.h"

enum { RANDOM_MAX_SIZE = 1 << 16, RANDOM_MAX_SPAN = 1 << 20, RANDOM_MAX_PARTS = 5 };

/** A stream of numbers that depends on its seed only. */
struct random_stream {
    uint64_t seed;
    uint64_t index;
};

/** A number from low to high. */
static inline int random_between(struct random_stream *stream, int low, int high)
{
    uint64_t n = (uint64_t)(high - low) + 1;

    return low + (int)(check_mix(stream->seed, stream->index++) % n);
}

/** How large a type is, and where its elements lie. */
struct extents {
    MPI_Count size;
    MPI_Count lb, extent;
    MPI_Count true_lb, true_extent;
};

static inline struct extents random_extents(MPI_Datatype type)
{
    struct extents extents;

    MPI_Type_size_x(type, &extents.size);
    MPI_Type_get_extent_x(type, &extents.lb, &extents.extent);
    MPI_Type_get_true_extent_x(type, &extents.true_lb, &extents.true_extent);
    return extents;
}

static inline MPI_Datatype random_blocks(struct random_stream *stream,
                                         MPI_Datatype inner, int constructor)
{
    int lengths[RANDOM_MAX_PARTS], displacements[RANDOM_MAX_PARTS];
    MPI_Aint addresses[RANDOM_MAX_PARTS];
    int count = random_between(stream, 0, RANDOM_MAX_PARTS);
    int length = random_between(stream, 0, 3);
    bool is_regular = random_between(stream, 0, 3) == 0;
    MPI_Datatype type;

    for (int i = 0; i < count; i++) {
        lengths[i] = random_between(stream, 0, 3);
        displacements[i] = is_regular ? 5 * i : random_between(stream, -9, 9);
        addresses[i] = is_regular ? 40 * i : random_between(stream, -200, 200);
    }
    if (constructor == 0) {
        MPI_Type_indexed(count, lengths, displacements, inner, &type);
    } else if (constructor == 1) {
        MPI_Type_create_hindexed(count, lengths, addresses, inner, &type);
    } else if (constructor == 2) {
        MPI_Type_create_indexed_block(count, length, displacements, inner, &type);
    } else {
        MPI_Type_create_hindexed_block(count, length, addresses, inner, &type);
    }
    return type;
}

static inline MPI_Datatype random_array(struct random_stream *stream,
                                        MPI_Datatype inner, bool is_distributed)
{
    int sizes[3], parts[3], starts[3], kinds[3], arguments[3], processes[3];
    int n = random_between(stream, 1, 3);
    int order = random_between(stream, 0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int n_processes = 1;
    MPI_Datatype type;

    for (int i = 0; i < n; i++) {
        sizes[i] = random_between(stream, 1, 6);
        parts[i] = random_between(stream, 1, sizes[i]);
        starts[i] = random_between(stream, 0, sizes[i] - parts[i]);
        processes[i] = random_between(stream, 1, 3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        switch (random_between(stream, 0, 4)) {
        case 0:
            kinds[i] = MPI_DISTRIBUTE_NONE;
            processes[i] = 1;
            break;
        case 1:
            kinds[i] = MPI_DISTRIBUTE_CYCLIC;
            break;
        case 2:
            kinds[i] = MPI_DISTRIBUTE_CYCLIC;
            arguments[i] = random_between(stream, 1, 3);
            break;
        case 3:
            kinds[i] = MPI_DISTRIBUTE_BLOCK;
            arguments[i] = (sizes[i] + processes[i] - 1) / processes[i] +
                           random_between(stream, 0, 1);
            break;
        default:
            kinds[i] = MPI_DISTRIBUTE_BLOCK;
            break;
        }
        n_processes *= processes[i];
    }
    if (is_distributed) {
        MPI_Type_create_darray(n_processes, random_between(stream, 0, n_processes - 1),
                               n, sizes, kinds, arguments, processes, order, inner,
                               &type);
    } else {
        MPI_Type_create_subarray(n, sizes, parts, starts, order, inner, &type);
    }
    return type;
}

static inline MPI_Datatype random_type(struct random_stream *stream, MPI_Datatype base,
                                       int depth);

static inline MPI_Datatype random_struct(struct random_stream *stream,
                                         MPI_Datatype base, int depth)
{
    int lengths[RANDOM_MAX_PARTS];
    MPI_Aint addresses[RANDOM_MAX_PARTS];
    MPI_Datatype types[RANDOM_MAX_PARTS], type;
    int count = random_between(stream, 1, RANDOM_MAX_PARTS);

    for (int i = 0; i < count; i++) {
        lengths[i] = random_between(stream, 0, 2);
        addresses[i] = random_between(stream, -300, 300);
        types[i] = random_type(stream, base, random_between(stream, 0, depth - 1));
        if (random_extents(types[i]).size == 0) {
            /* Open MPI 4.1 packs count elements wrongly if such a member widens them */
            MPI_Type_free(&types[i]);
            MPI_Type_dup(base, &types[i]);
        }
    }
    MPI_Type_create_struct(count, lengths, addresses, types, &type);
    for (int i = 0; i < count; i++) {
        MPI_Type_free(&types[i]);
    }
    return type;
}

/** A stride up to a limit, of any sign; not -1, which Open MPI 4.1 takes for 1 if it is
 *  between single bytes. */
static inline int random_stride(struct random_stream *stream, int limit)
{
    int stride = random_between(stream, -limit, limit);

    return stride == -1 ? 1 : stride;
}

static inline MPI_Datatype random_made_of(struct random_stream *stream,
                                          MPI_Datatype inner)
{
    int count = random_between(stream, 0, 4);
    int length = random_between(stream, 0, 3);
    int constructor = random_between(stream, 0, 10);
    MPI_Datatype type;

    switch (constructor) {
    case 0:
        MPI_Type_contiguous(count, inner, &type);
        break;
    case 1:
        MPI_Type_vector(count, length, random_stride(stream, 5), inner, &type);
        break;
    case 2:
        MPI_Type_create_hvector(count, length, random_stride(stream, 99), inner, &type);
        break;
    case 3:
        MPI_Type_dup(inner, &type);
        break;
    case 4:
    case 5:
        /* Open MPI 4.1 distributes no arrays of elements without data */
        return random_array(stream, inner,
                            constructor == 4 && random_extents(inner).size > 0);
    case 6:
        MPI_Type_create_resized(inner, random_between(stream, -32, 32),
                                random_between(stream, -2, 12) * 8, &type);
        break;
    default:
        return random_blocks(stream, inner, constructor - 7);
    }
    return type;
}

/** A type, not committed, whose basic types are all the base: up to depth levels deep.
 *  Free it. */
static inline MPI_Datatype random_type(struct random_stream *stream, MPI_Datatype base,
                                       int depth)
{
    MPI_Datatype type, inner;
    struct extents extents;

    if (depth == 0) {
        MPI_Type_dup(base, &type);
        return type;
    }
    if (random_between(stream, 0, 4) == 0) {
        type = random_struct(stream, base, depth);
    } else {
        inner = random_type(stream, base, depth - 1);
        type = random_made_of(stream, inner);
        MPI_Type_free(&inner);
    }
    extents = random_extents(type);
    if (extents.size > RANDOM_MAX_SIZE || extents.true_extent > RANDOM_MAX_SPAN) {
        MPI_Type_free(&type);
        MPI_Type_dup(base, &type);
    }
    return type;
}

#endif
