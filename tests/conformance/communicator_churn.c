/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many communicators: made and freed in a loop, many alive at once, traffic interleaved
 * on several, made by different groups at the same time.
 */
#include "tests/conformance/check.h"

static void made_and_freed(struct world world)
{
    for (int i = 0; i < 150; i++) {
        MPI_Comm comm;
        int in = -1;
        int rank;
        int size;

        if (i % 3) {
            MPI_Comm_split(MPI_COMM_WORLD, world.rank % (i % 3 + 1), i % 2 ? -1 : 0,
                           &comm);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, (rank + size - 1) % size);
        MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_MAX, comm);
        CHECK_EQUAL(in, size - 1);
        MPI_Comm_free(&comm);
    }
    check_say("made and freed\n");
}

static void many_alive(struct world world)
{
    enum { N = 80 };
    MPI_Comm comms[N];
    MPI_Request requests[2 * N];
    int in[N];
    int out[N];
    int sum;

    for (int i = 0; i < N; i++) {
        MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                  &requests[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        out[i] = 100 * world.rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, world.right, 3, comms[i], &requests[N + i]);
    }
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(in[i], 100 * world.left + i);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        CHECK_EQUAL(sum, i * world.size);
    }
    for (int i = 0; i < N; i++) {
        MPI_Comm_free(&comms[(i * 37) % N]);
    }
    check_say("many alive\n");
}

static void traffic_is_interleaved(struct world world)
{
    enum { N = 60 };
    MPI_Comm comms[2];
    MPI_Request requests[2 * N];
    int out[2][N];
    int in;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comms[1]);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 2; c++) {
            out[c][i] = 1000 * c + i;
            MPI_Isend(&out[c][i], 1, MPI_INT, world.right, 7, comms[c],
                      &requests[2 * i + c]);
        }
    }
    for (int c = 1; c >= 0; c--) {
        for (int i = 0; i < N; i++) {
            MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 7, comms[c], MPI_STATUS_IGNORE);
            CHECK_EQUAL(in, 1000 * c + i);
        }
    }
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    /* Collectives of the two may be in progress at once on different ranks. */
    for (int i = 0; i < 100; i++) {
        int value = world.rank == 0 ? i : -1;

        MPI_Bcast(&value, 1, MPI_INT, 0, comms[0]);
        CHECK_EQUAL(value, i);
        MPI_Bcast(&value, 1, MPI_INT, world.size - 1, comms[1]);
        MPI_Reduce(&value, &in, 1, MPI_INT, MPI_SUM, 0, comms[i % 2]);
        CHECK(world.rank || in == i * world.size);
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    check_say("traffic is interleaved\n");
}

/* Halves make communicators of their own, a different number each, then meet again. */
static void groups_go_their_own_ways(struct world world)
{
    MPI_Comm half;
    MPI_Comm inner;
    MPI_Comm outer;
    int which = world.rank % 2;
    int sum;

    MPI_Comm_split(MPI_COMM_WORLD, which, world.rank, &half);
    for (int i = 0; i < (which ? 3 : 11); i++) {
        MPI_Comm_dup(half, &inner);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, inner);
        CHECK_EQUAL(sum, i);
        MPI_Comm_free(&inner);
    }
    MPI_Comm_dup(half, &inner);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Allreduce(&which, &sum, 1, MPI_INT, MPI_SUM, outer);
    CHECK_EQUAL(sum, world.size / 2);
    MPI_Allreduce(&which, &sum, 1, MPI_INT, MPI_MAX, inner);
    CHECK_EQUAL(sum, which);
    MPI_Comm_free(&inner);
    MPI_Comm_free(&outer);
    MPI_Comm_free(&half);
    check_say("groups go their own ways\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    made_and_freed(world);
    many_alive(world);
    traffic_is_interleaved(world);
    groups_go_their_own_ways(world);
    return check_end();
}
