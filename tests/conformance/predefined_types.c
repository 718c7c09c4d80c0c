/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every predefined type of C and Fortran, and the pair types, through a send, a
 * broadcast and an allgather; the same number of bytes as natively.
 */
#include "tests/conformance/check.h"

struct named_type {
    const char *name;
    MPI_Datatype type;
};

#define TYPE(type)                                                                     \
    {                                                                                  \
#type, type                                                                    \
    }

static void one_type(struct world world, const struct named_type *named)
{
    enum { N = 37, MAX_BYTES = 64 * N };
    char out[MAX_BYTES];
    char in[MAX_BYTES];
    char *all = check_alloc((size_t)MAX_BYTES * world.size);
    MPI_Request request;
    MPI_Status status;
    MPI_Aint lower;
    MPI_Aint extent;
    int size;
    int count;

    MPI_Type_size(named->type, &size);
    MPI_Type_get_extent(named->type, &lower, &extent);
    CHECK(extent * N <= MAX_BYTES);
    check_fill(out, sizeof(out), world.rank);
    memset(in, 0, sizeof(in));
    MPI_Isend(out, N, named->type, world.right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in, N, named->type, world.left, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, named->type, &count);
    CHECK_EQUAL(count, N);
    if (size == extent) {
        CHECK(check_is_filled(in, (size_t)size * N / 8 * 8, world.left));
    }
    MPI_Allgather(out, N, named->type, all, N, named->type, MPI_COMM_WORLD);
    CHECK(memcmp(all + extent * N * world.left, in, size) == 0);
    MPI_Bcast(in, N, named->type, world.size - 1, MPI_COMM_WORLD);
    check_say("%s %d %ld: ", named->name, size, (long)extent);
    check_say_sum("sum",
                  check_mix(check_sum(in, sizeof(in)), check_sum(all, extent * N)));
    free(all);
}

static void types_of_c(struct world world)
{
    const struct named_type types[] = {
        TYPE(MPI_CHAR),
        TYPE(MPI_SIGNED_CHAR),
        TYPE(MPI_UNSIGNED_CHAR),
        TYPE(MPI_BYTE),
        TYPE(MPI_PACKED),
        TYPE(MPI_WCHAR),
        TYPE(MPI_SHORT),
        TYPE(MPI_UNSIGNED_SHORT),
        TYPE(MPI_INT),
        TYPE(MPI_UNSIGNED),
        TYPE(MPI_LONG),
        TYPE(MPI_UNSIGNED_LONG),
        TYPE(MPI_LONG_LONG),
        TYPE(MPI_LONG_LONG_INT),
        TYPE(MPI_UNSIGNED_LONG_LONG),
        TYPE(MPI_FLOAT),
        TYPE(MPI_DOUBLE),
        TYPE(MPI_LONG_DOUBLE),
        TYPE(MPI_C_BOOL),
        TYPE(MPI_INT8_T),
        TYPE(MPI_INT16_T),
        TYPE(MPI_INT32_T),
        TYPE(MPI_INT64_T),
        TYPE(MPI_UINT8_T),
        TYPE(MPI_UINT16_T),
        TYPE(MPI_UINT32_T),
        TYPE(MPI_UINT64_T),
        TYPE(MPI_C_COMPLEX),
        TYPE(MPI_C_FLOAT_COMPLEX),
        TYPE(MPI_C_DOUBLE_COMPLEX),
        TYPE(MPI_C_LONG_DOUBLE_COMPLEX),
        TYPE(MPI_AINT),
        TYPE(MPI_OFFSET),
        TYPE(MPI_COUNT),
        TYPE(MPI_CXX_BOOL),
        TYPE(MPI_CXX_FLOAT_COMPLEX),
        TYPE(MPI_CXX_DOUBLE_COMPLEX),
    };

    for (int i = 0; i < CHECK_N(types); i++) {
        one_type(world, &types[i]);
    }
}

static void types_of_fortran(struct world world)
{
    const struct named_type types[] = {
        TYPE(MPI_INTEGER),
        TYPE(MPI_INTEGER1),
        TYPE(MPI_INTEGER2),
        TYPE(MPI_INTEGER4),
        TYPE(MPI_INTEGER8),
        TYPE(MPI_REAL),
        TYPE(MPI_REAL4),
        TYPE(MPI_REAL8),
        TYPE(MPI_DOUBLE_PRECISION),
        TYPE(MPI_COMPLEX),
        TYPE(MPI_COMPLEX8),
        TYPE(MPI_COMPLEX16),
        TYPE(MPI_DOUBLE_COMPLEX),
        TYPE(MPI_LOGICAL),
        TYPE(MPI_CHARACTER),
        TYPE(MPI_2REAL),
        TYPE(MPI_2DOUBLE_PRECISION),
        TYPE(MPI_2INTEGER),
    };

    for (int i = 0; i < CHECK_N(types); i++) {
        one_type(world, &types[i]);
    }
}

static void pair_types(struct world world)
{
    const struct named_type types[] = {
        TYPE(MPI_FLOAT_INT), TYPE(MPI_DOUBLE_INT), TYPE(MPI_LONG_INT),
        TYPE(MPI_2INT),      TYPE(MPI_SHORT_INT),  TYPE(MPI_LONG_DOUBLE_INT),
    };

    for (int i = 0; i < CHECK_N(types); i++) {
        one_type(world, &types[i]);
    }
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    types_of_c(world);
    types_of_fortran(world);
    pair_types(world);
    return check_end();
}
