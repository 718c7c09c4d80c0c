/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_free does not wait for the other members: communicators freed in another
 * order on each rank, early by one rank that has a receive pending, and many in all:
 * where BCS_COMMUNICATORS is small (the test few_communicators), what a free keeps
 * until the last member has left must be used again.
 */
#include "tests/conformance/check.h"

/** Every pair of neighbours has a communicator; all free their left one first, so that
 *  frees that waited would wait around the ring. */
static void freed_around_a_ring(struct world world)
{
    MPI_Comm comms[2];

    for (int i = 0; i < world.size; i++) {
        int is_first = world.rank == i;
        int is_second = world.rank == (i + 1) % world.size;
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, is_first || is_second ? 1 : MPI_UNDEFINED, 0,
                       &comm);
        if (is_first) {
            comms[0] = comm;
        }
        if (is_second) {
            comms[1] = comm;
        }
        if (world.size == 1) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
        }
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    CHECK_EQUAL(comms[0] == MPI_COMM_NULL, 1);
    check_say("freed around a ring\n");
}

/** The last rank frees before its receive is over, and before rank 0 has sent. */
static void freed_with_a_pending_receive(struct world world)
{
    enum { N = 5000 };
    static int data[N];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (world.rank == world.size - 1) {
        MPI_Irecv(data, N, MPI_INT, 0, 5, comm, &request);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0 && world.size > 1) {
        for (int i = 0; i < N; i++) {
            data[i] = 3 * i;
        }
        MPI_Send(data, N, MPI_INT, world.size - 1, 5, comm);
    } else if (world.size == 1) {
        MPI_Cancel(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world.rank == world.size - 1 && world.size > 1) {
        CHECK_EQUAL(data[N - 1], 3 * (N - 1));
    }
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_free(&comm);
    }
    check_say("freed with a pending receive\n");
}

/** A message that a probe has taken is received when its communicator is no more. */
static void received_after_the_end(struct world world)
{
    for (int i = 0; i < 100; i++) {
        int received = -1;
        MPI_Request request;
        MPI_Message message;
        MPI_Comm comm, other;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Isend(&i, 1, MPI_INT, world.right, 6, comm, &request);
        MPI_Mprobe(world.left, 6, comm, &message, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_SELF, &other); /* in its place, maybe */
        MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK_EQUAL(received, i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&other);
    }
    check_say("received after the end\n");
}

/** More than may be alive at a time, each used; rank 0 leads all of them. */
static void many_one_after_the_other(struct world world)
{
    for (int i = 0; i < 5000; i++) {
        MPI_Comm comm;
        int sum;

        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_free(&comm);
        if (i % 20 == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
            CHECK_EQUAL(sum, i * world.size);
            MPI_Comm_free(&comm);
        }
    }
    check_say("many one after the other\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    freed_around_a_ring(world);
    freed_with_a_pending_receive(world);
    received_after_the_end(world);
    many_one_after_the_other(world);
    return check_end();
}
