/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of every intracommunicator constructor: ranks are as the standard says,
 * messages and collectives stay inside, MPI_UNDEFINED gives none.
 */
#include "tests/conformance/check.h"

/* One ring message, a wildcard receive and all collectives of one int, on comm. */
static void exercise(const char *name, MPI_Comm comm)
{
    int rank;
    int size;
    int in = -1;
    int sum;
    int *all;
    MPI_Status status;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    all = check_alloc(size * sizeof(int));
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK_EQUAL(in, (rank + size - 1) % size);
    CHECK_EQUAL(status.MPI_SOURCE, in);
    MPI_Barrier(comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(all[i], i);
    }
    in = rank == size - 1 ? 77 : 0;
    MPI_Bcast(&in, 1, MPI_INT, size - 1, comm);
    CHECK_EQUAL(in, 77);
    MPI_Scatter(all, 1, MPI_INT, &in, 1, MPI_INT, 0, comm);
    CHECK_EQUAL(in, rank);
    free(all);
    check_say("%s: rank %d of %d\n", name, rank, size);
}

static void duplicates(void)
{
    MPI_Comm first;
    MPI_Comm second;
    MPI_Info info;
    int result;

    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_compare(first, MPI_COMM_WORLD, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    exercise("dup", first);
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(first, info, &second);
    MPI_Info_free(&info);
    MPI_Comm_free(&first);
    CHECK(first == MPI_COMM_NULL);
    exercise("dup of a dup", second);
    MPI_Comm_free(&second);
    MPI_Comm_dup(MPI_COMM_SELF, &first);
    exercise("dup of self", first);
    MPI_Comm_free(&first);
    exercise("self", MPI_COMM_SELF);
}

static void splits(struct world world)
{
    MPI_Comm comm;
    MPI_Comm inner;
    int rank;

    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &comm);
    exercise("even and odd", comm);
    MPI_Comm_split(comm, 0, -world.rank, &inner);
    exercise("even and odd, reversed", inner);
    MPI_Comm_free(&inner);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 3, -world.rank, &comm);
    MPI_Comm_rank(comm, &rank);
    CHECK_EQUAL(rank, world.size - 1 - world.rank);
    exercise("reversed", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 7, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    CHECK_EQUAL(rank, world.rank);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world.rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (world.rank == 0));
    if (comm != MPI_COMM_NULL) {
        exercise("all but the first", comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, world.rank, 0, &comm);
    exercise("each alone", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    exercise("shared", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD,
                        world.rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
                        MPI_INFO_NULL, &comm);
    CHECK((comm == MPI_COMM_NULL) == (world.rank == 0));
    if (comm != MPI_COMM_NULL) {
        exercise("shared but the first", comm);
        MPI_Comm_free(&comm);
    }
}

static void creates(struct world world)
{
    MPI_Group all;
    MPI_Group half;
    MPI_Group reversed;
    MPI_Comm comm;
    int n_half = (world.size + 1) / 2;
    int *ranks = check_alloc(world.size * sizeof(int));

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < world.size; i++) {
        ranks[i] = world.size - 1 - i;
    }
    MPI_Group_incl(all, world.size, ranks, &reversed);
    MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm);
    exercise("create, reversed", comm);
    MPI_Comm_free(&comm);
    MPI_Group_incl(reversed, n_half, ranks + world.size - n_half, &half);
    MPI_Comm_create(MPI_COMM_WORLD, half, &comm);
    if (comm != MPI_COMM_NULL) {
        exercise("create, a half", comm);
        MPI_Comm_free(&comm);
    }
    /* Only the members call; the rest goes on to the next line. */
    if (world.rank % 2 == 0) {
        MPI_Group even;
        int range[1][3] = {{0, world.size - 1, 2}};

        MPI_Group_range_incl(all, 1, range, &even);
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 9, &comm);
        exercise("create_group, even", comm);
        MPI_Comm_free(&comm);
        MPI_Group_free(&even);
    }
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Group_free(&half);
    MPI_Group_free(&reversed);
    MPI_Group_free(&all);
    free(ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("creates\n");
}

/* A communicator may be freed while a message on it is under way. */
static void freed_with_messages_under_way(struct world world)
{
    enum { N = 200000 };
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Comm comm;
    MPI_Request requests[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_fill(out, N, world.rank);
    MPI_Irecv(in, N, MPI_BYTE, world.left, 1, comm, &requests[0]);
    MPI_Isend(out, N, MPI_BYTE, world.right, 1, comm, &requests[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(in, N, world.left));
    free(out);
    free(in);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    exercise("after a free", comm);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    check_say("freed with messages under way\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    exercise("world", MPI_COMM_WORLD);
    duplicates();
    splits(world);
    creates(world);
    freed_with_messages_under_way(world);
    return check_end();
}
