/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that end untidily or are made side by side: freed with receives that
 * nobody serves, made by overlapping groups at the same time, duplicates of duplicates
 * of which the first are freed first.
 */
#include "tests/conformance/check.h"

static void never_served(struct world world)
{
    MPI_Request requests[3];
    MPI_Status status;
    MPI_Comm comm;
    int in[3] = {-1, -1, -1}, is_cancelled;

    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
        MPI_Recv_init(&in[1], 1, MPI_INT, world.left, 7, comm, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Recv_init(&in[2], 1, MPI_INT, world.left, 8, comm, &requests[2]);
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Cancel(&requests[0]);
        MPI_Cancel(&requests[1]);
        for (int r = 0; r < 2; r++) {
            MPI_Wait(&requests[r], &status);
            MPI_Test_cancelled(&status, &is_cancelled);
            CHECK(is_cancelled);
        }
        MPI_Request_free(&requests[1]);
        MPI_Request_free(&requests[2]);
    }
    CHECK_EQUAL(in[0] + in[1] + in[2], -3);
    check_say("never served\n");
}

/** The neighbours first and first + 1 make a communicator of their own. */
static MPI_Comm with_neighbour(MPI_Group all, int first)
{
    int ranks[2] = {first, first + 1};
    MPI_Group pair;
    MPI_Comm comm;

    MPI_Group_incl(all, 2, ranks, &pair);
    MPI_Comm_create_group(MPI_COMM_WORLD, pair, 3, &comm);
    MPI_Group_free(&pair);
    return comm;
}

/** On a line of ranks each makes one with its left neighbour and one with its right. */
static void made_by_overlapping_groups(struct world world)
{
    MPI_Group all;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int round = 0; round < 100; round++) {
        MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

        for (int parity = 0; parity < 2; parity++) {
            int first = world.rank % 2 == parity ? world.rank : world.rank - 1;

            if (first >= 0 && first + 1 < world.size) {
                comms[parity] = with_neighbour(all, first);
            }
        }
        for (int i = 0; i < 2; i++) {
            int parity = (i + round) % 2;
            int rank, in = -1;

            if (comms[parity] != MPI_COMM_NULL) {
                MPI_Comm_rank(comms[parity], &rank);
                CHECK_EQUAL(rank, world.rank % 2 != parity);
                MPI_Sendrecv(&world.rank, 1, MPI_INT, 1 - rank, 1, &in, 1, MPI_INT,
                             MPI_ANY_SOURCE, 1, comms[parity], MPI_STATUS_IGNORE);
                CHECK_EQUAL(in, rank == 0 ? world.rank + 1 : world.rank - 1);
            }
        }
        for (int i = 0; i < 2; i++) {
            if (comms[i] != MPI_COMM_NULL) {
                MPI_Comm_free(&comms[i]);
            }
        }
    }
    MPI_Group_free(&all);
    check_say("made by overlapping groups\n");
}

static void duplicates_of_duplicates(struct world world)
{
    enum { DEPTH = 40 };
    MPI_Comm comms[DEPTH];
    int sum;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &comms[0]);
    for (int i = 1; i < DEPTH; i++) {
        MPI_Comm_dup(comms[i - 1], &comms[i]);
        if (i % 2) {
            MPI_Comm_disconnect(&comms[i - 1]);
            CHECK(comms[i - 1] == MPI_COMM_NULL);
        }
    }
    for (int i = DEPTH - 1; i >= 0; i--) {
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
            CHECK_EQUAL(sum, i * world.size);
            MPI_Comm_free(&comms[i]);
        }
    }
    check_say("duplicates of duplicates\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    never_served(world);
    made_by_overlapping_groups(world);
    duplicates_of_duplicates(world);
    return check_end();
}
