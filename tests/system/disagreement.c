/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a communicator that are not in the same collective get an error through
 * its error handler, and the next collective is right. Verifies itself; natively such
 * programs hang or get wrong data.
 */
#include "tests/conformance/check.h"

enum { N_LONG = 20000 };

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static void the_next_one_is_right(struct world world)
{
    int mine = world.rank, sum = -1;

    CHECK_EQUAL(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK_EQUAL(sum, world.size * (world.size - 1) / 2);
}

static void allreduces(struct world world)
{
    /* by the engine; by one member, which passes the result on; by all, in shares */
    static const int counts[] = {1, 50, N_LONG};
    static double in[2 * N_LONG], out[2 * N_LONG];
    int is_last = world.rank == world.size - 1, code;

    code = is_last ? MPI_Barrier(MPI_COMM_WORLD)
                   : MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(class_of(code), MPI_ERR_OTHER);
    the_next_one_is_right(world);
    for (int i = 0; i < CHECK_N(counts); i++) {
        code = MPI_Allreduce(in, out, counts[i] * (1 + is_last), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
        CHECK_EQUAL(class_of(code), MPI_ERR_TRUNCATE);
        the_next_one_is_right(world);
    }
}

/* The last rank asks for more than is sent, or for less; so does it with a request. The
 * others may have what is theirs. */
static void broadcasts(struct world world)
{
    static const int counts[] = {5, 1000, N_LONG};
    static int data[2 * N_LONG];
    int is_last = world.rank == world.size - 1;

    for (int i = 0; i < 2 * CHECK_N(counts); i++) {
        int n = counts[i / 2], count = is_last == i % 2 ? n : 2 * n, code;
        MPI_Request request;

        code = MPI_Bcast(data, count, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(class_of(code) == MPI_ERR_TRUNCATE || (code == MPI_SUCCESS && !is_last));
        the_next_one_is_right(world);
        MPI_Ibcast(data, count, MPI_INT, 0, MPI_COMM_WORLD, &request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(class_of(code), is_last ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        the_next_one_is_right(world);
    }
}

/* What a root sends to itself has another length than it expects; the others agree. */
static void blocks_of_the_root(struct world world)
{
    enum { N = 4 };
    int is_root = world.rank == 0,
        *all = check_alloc(2 * N * (size_t)world.size * sizeof(int));
    int wanted = is_root ? MPI_ERR_TRUNCATE : MPI_SUCCESS, mine[2 * N] = {0};

    for (int n = N / 2; n <= 2 * N; n += 3 * N / 2) {
        int count = is_root ? n : N;

        CHECK_EQUAL(class_of(MPI_Gather(mine, count, MPI_INT, all, N, MPI_INT, 0,
                                        MPI_COMM_WORLD)),
                    wanted);
        CHECK_EQUAL(class_of(MPI_Scatter(all, N, MPI_INT, mine, count, MPI_INT, 0,
                                         MPI_COMM_WORLD)),
                    wanted);
        the_next_one_is_right(world);
    }
    free(all);
}

/* Equal lengths of other types are in order. */
static void other_types_of_one_length(struct world world)
{
    int is_root = world.rank == 0, data[6];
    MPI_Datatype pair;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < 6; i++) {
        data[i] = is_root ? i : -1;
    }
    CHECK_EQUAL(
        MPI_Bcast(data, is_root ? 6 : 3, is_root ? MPI_INT : pair, 0, MPI_COMM_WORLD),
        MPI_SUCCESS);
    for (int i = 0; i < 6; i++) {
        CHECK_EQUAL(data[i], i);
    }
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    allreduces(world);
    broadcasts(world);
    blocks_of_the_root(world);
    other_types_of_one_length(world);
    return check_end();
}
