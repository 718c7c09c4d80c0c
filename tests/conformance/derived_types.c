/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every type constructor: data go out of and into the places that the type names, the
 * gaps between are left alone, and the bytes are those of MPI_Pack.
 */
#include "tests/conformance/check.h"

enum { AREA = 65536, ORIGIN = 16384 };

struct shape {
    const char *name;
    MPI_Datatype (*make)(void);
};

static MPI_Datatype make_contiguous(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(7, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype make_vector(void)
{
    MPI_Datatype type;

    MPI_Type_vector(6, 2, 5, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_vector_of_negative_stride(void)
{
    MPI_Datatype type;

    MPI_Type_vector(6, 2, -4, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_hvector(void)
{
    MPI_Datatype type;

    MPI_Type_create_hvector(5, 3, 29, MPI_CHAR, &type);
    return type;
}

static MPI_Datatype make_indexed(void)
{
    static const int lengths[] = {3, 0, 1, 5};
    static const int places[] = {9, 2, 0, 14};
    MPI_Datatype type;

    MPI_Type_indexed(4, lengths, places, MPI_SHORT, &type);
    return type;
}

static MPI_Datatype make_indexed_block(void)
{
    static const int places[] = {8, 0, 4};
    MPI_Datatype type;

    MPI_Type_create_indexed_block(3, 2, places, MPI_FLOAT, &type);
    return type;
}

static MPI_Datatype make_hindexed(void)
{
    static const int lengths[] = {1, 4, 2};
    static const MPI_Aint places[] = {40, -24, 8};
    MPI_Datatype type;

    MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_struct_with_gaps(void)
{
    static const int lengths[] = {1, 3, 2, 5};
    static const MPI_Aint places[] = {0, 8, 40, 17};
    MPI_Datatype types[] = {MPI_CHAR, MPI_FLOAT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype type;

    MPI_Type_create_struct(4, lengths, places, types, &type);
    return type;
}

static MPI_Datatype make_resized(void)
{
    MPI_Datatype inner = make_vector();
    MPI_Datatype type;

    MPI_Type_create_resized(inner, -8, 200, &type);
    MPI_Type_free(&inner);
    return type;
}

static MPI_Datatype make_resized_to_overlap(void)
{
    MPI_Datatype column;
    MPI_Datatype type;

    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &type);
    MPI_Type_free(&column);
    return type;
}

static MPI_Datatype make_subarray(void)
{
    static const int sizes[] = {5, 6, 7};
    static const int parts[] = {2, 3, 4};
    static const int starts[] = {1, 2, 3};
    MPI_Datatype type;

    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_subarray_of_fortran(void)
{
    static const int sizes[] = {9, 8};
    static const int parts[] = {4, 5};
    static const int starts[] = {3, 2};
    MPI_Datatype type;

    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE,
                             &type);
    return type;
}

static MPI_Datatype make_darray(void)
{
    static const int sizes[] = {12, 10};
    static const int ways[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    static const int blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    static const int grid[] = {3, 2};
    MPI_Datatype type;

    MPI_Type_create_darray(6, 3, 2, sizes, ways, blocks, grid, MPI_ORDER_C, MPI_INT,
                           &type);
    return type;
}

static MPI_Datatype make_dup(void)
{
    MPI_Datatype inner = make_struct_with_gaps();
    MPI_Datatype type;

    MPI_Type_dup(inner, &type);
    MPI_Type_free(&inner);
    return type;
}

static MPI_Datatype make_nest(void)
{
    MPI_Datatype inner = make_indexed();
    MPI_Datatype middle;
    MPI_Datatype type;

    MPI_Type_create_hvector(3, 2, 100, inner, &middle);
    MPI_Type_contiguous(2, middle, &type);
    MPI_Type_free(&inner);
    MPI_Type_free(&middle);
    return type;
}

static MPI_Datatype make_empty(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(0, MPI_INT, &type);
    return type;
}

static const struct shape shapes[] = {
    {"contiguous", make_contiguous},
    {"vector", make_vector},
    {"vector of negative stride", make_vector_of_negative_stride},
    {"hvector", make_hvector},
    {"indexed", make_indexed},
    {"indexed block", make_indexed_block},
    {"hindexed", make_hindexed},
    {"struct with gaps", make_struct_with_gaps},
    {"resized", make_resized},
    {"resized to overlap", make_resized_to_overlap},
    {"subarray", make_subarray},
    {"subarray of fortran", make_subarray_of_fortran},
    {"darray", make_darray},
    {"dup", make_dup},
    {"nest", make_nest},
    {"empty", make_empty},
};

struct areas {
    char *out;
    char *in;
    char *expected;
    char *packed;
};

static void make_expected(struct world world, MPI_Datatype type, int count,
                          struct areas *areas)
{
    int n_packed;
    int at = 0;
    char *left_out = check_alloc(AREA);

    check_fill(left_out, AREA, 10 + world.left);
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &n_packed);
    CHECK(n_packed <= AREA);
    MPI_Pack(left_out + ORIGIN, count, type, areas->packed, AREA, &at, MPI_COMM_WORLD);
    n_packed = at;
    at = 0;
    memset(areas->expected, 0x44, AREA);
    MPI_Unpack(areas->packed, n_packed, &at, areas->expected + ORIGIN, count, type,
               MPI_COMM_WORLD);
    free(left_out);
}

/* Typed to typed, typed to packed bytes, packed bytes to typed: all give the same. */
static void exchange(struct world world, MPI_Datatype type, int count,
                     struct areas *areas)
{
    MPI_Request request;
    MPI_Status status;
    int size;
    int n;

    MPI_Type_size(type, &size);
    size *= count;
    make_expected(world, type, count, areas);
    check_fill(areas->out, AREA, 10 + world.rank);
    memset(areas->in, 0x44, AREA);
    MPI_Isend(areas->out + ORIGIN, count, type, world.right, 1, MPI_COMM_WORLD,
              &request);
    MPI_Recv(areas->in + ORIGIN, count, type, world.left, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, type, &n);
    CHECK_EQUAL(n, size ? count : 0);
    CHECK(memcmp(areas->in, areas->expected, AREA) == 0);

    memset(areas->in, 0x44, AREA);
    MPI_Irecv(areas->in + ORIGIN, count, type, world.left, 2, MPI_COMM_WORLD, &request);
    MPI_Ssend(areas->out + ORIGIN, count, type, world.right, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(memcmp(areas->in, areas->expected, AREA) == 0);

    MPI_Isend(areas->out + ORIGIN, count, type, world.right, 3, MPI_COMM_WORLD,
              &request);
    MPI_Recv(areas->in, size, MPI_PACKED, world.left, 3, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(memcmp(areas->in, areas->packed, size) == 0);

    memcpy(areas->out, areas->in, size);
    memset(areas->in, 0x44, AREA);
    MPI_Isend(areas->out, size, MPI_PACKED, world.left, 4, MPI_COMM_WORLD, &request);
    MPI_Recv(areas->in + ORIGIN, count, type, world.right, 4, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 3, 40};
    struct world world = check_begin(&argc, &argv);
    struct areas areas = {check_alloc(AREA), check_alloc(AREA), check_alloc(AREA),
                          check_alloc(AREA)};

    for (int i = 0; i < CHECK_N(shapes); i++) {
        MPI_Datatype type = shapes[i].make();
        uint64_t sum = 0;

        MPI_Type_commit(&type);
        for (int c = 0; c < CHECK_N(counts); c++) {
            exchange(world, type, counts[c], &areas);
            sum = check_mix(sum, check_sum(areas.in, AREA));
        }
        check_say_sum(shapes[i].name, sum);
        MPI_Type_free(&type);
    }
    free(areas.out);
    free(areas.in);
    free(areas.expected);
    free(areas.packed);
    return check_end();
}
