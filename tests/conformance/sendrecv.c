/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sendrecv and Sendrecv_replace: every length, both directions at once, different types
 * and lengths on the two sides, wildcards, and partners that use plain calls.
 */
#include "tests/conformance/check.h"

static void around_the_ring(struct world world)
{
    char *out = check_alloc(CHECK_MAX_LENGTH);
    char *in = check_alloc(CHECK_MAX_LENGTH);
    MPI_Status status;
    uint64_t sum = 0;

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];

        check_fill(out, n, n + world.rank);
        MPI_Sendrecv(out, n, MPI_BYTE, world.right, 1, in, CHECK_MAX_LENGTH, MPI_BYTE,
                     world.left, 1, MPI_COMM_WORLD, &status);
        CHECK(check_is_filled(in, n, n + world.left));
        MPI_Sendrecv_replace(in, n, MPI_BYTE, world.left, 2, world.right, 2,
                             MPI_COMM_WORLD, &status);
        CHECK(check_is_filled(in, n, n + world.rank));
        CHECK_EQUAL(status.MPI_SOURCE, world.right);
        sum = check_mix(sum, check_sum(in, n < 4096 ? n : 4096));
    }
    check_say_sum("around the ring", sum);
    free(out);
    free(in);
}

static void unlike_sides(struct world world)
{
    double out[10];
    char in[200];
    int to_n = world.rank % 10;
    int from_n = world.left % 10;
    int count;
    MPI_Status status;

    for (int i = 0; i < 10; i++) {
        out[i] = world.rank + i / 4.0;
    }
    MPI_Sendrecv(out, to_n, MPI_DOUBLE, world.right, world.rank, in, sizeof(in),
                 MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    CHECK_EQUAL(status.MPI_TAG, world.left);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_EQUAL(count, from_n);
    for (int i = 0; i < from_n; i++) {
        CHECK(((double *)(void *)in)[i] == world.left + i / 4.0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("unlike sides\n");
}

static void a_derived_type_is_replaced(struct world world)
{
    int grid[8][8];
    MPI_Datatype column;
    MPI_Status status;

    for (int i = 0; i < 64; i++) {
        grid[i / 8][i % 8] = 1000 * world.rank + i;
    }
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv_replace(&grid[0][3], 1, column, world.right, 5, world.left, 5,
                         MPI_COMM_WORLD, &status);
    for (int i = 0; i < 64; i++) {
        CHECK_EQUAL(grid[i / 8][i % 8],
                    1000 * (i % 8 == 3 ? world.left : world.rank) + i);
    }
    MPI_Type_free(&column);
    check_say("a derived type is replaced\n");
}

static void partners_use_plain_calls(struct world world)
{
    int value = world.rank;
    int in = -1;
    MPI_Request request;

    if (world.rank % 2 == 0) {
        MPI_Sendrecv(&value, 1, MPI_INT, world.right, 8, &in, 1, MPI_INT, world.left, 8,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(&in, 1, MPI_INT, world.left, 8, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, world.right, 8, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(in, world.left);
    check_say("partners use plain calls\n");
}

static void many_hops(struct world world)
{
    long token = world.rank;

    for (int i = 0; i < 20 * world.size; i++) {
        MPI_Sendrecv_replace(&token, 1, MPI_LONG, world.right, 3, world.left, 3,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK_EQUAL(token, world.rank);
    check_say("many hops\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    around_the_ring(world);
    unlike_sides(world);
    a_derived_type_is_replaced(world);
    partners_use_plain_calls(world);
    many_hops(world);
    return check_end();
}
