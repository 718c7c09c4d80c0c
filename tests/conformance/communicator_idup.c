/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup: several at a time, completed in all ways, in arrays with other
 * requests, while ranks wait for each other in messages; of intra- and
 * intercommunicators and of duplicates. The results carry messages and collectives like
 * any other communicator.
 */
#include "tests/conformance/sides.h"

enum { N = 6 };

/** A message around, the sum of the ranks, and no other's messages. */
static void exercise(MPI_Comm comm, int tag)
{
    int rank, size, in = -1, sum = -1;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, (rank + size - 1) % size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
}

static void exercise_and_free(MPI_Comm comms[], int n)
{
    for (int i = n - 1; i >= 0; i--) {
        exercise(comms[i], i);
        MPI_Comm_free(&comms[i]);
    }
}

static void all_at_once(void)
{
    MPI_Comm comms[N];
    MPI_Request requests[N];

    for (int i = 0; i < N; i++) {
        MPI_Comm_idup(i % 3 == 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comms[i],
                      &requests[i]);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    exercise_and_free(comms, N);
    check_say("all at once\n");
}

/** Complete n requests in one of several ways; no null ones are left. */
static void complete(int way, int n, MPI_Request requests[])
{
    int flag = 0, index, n_done, indices[2 * N];

    switch (way) {
    case 0:
        for (int i = n - 1; i >= 0; i--) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        break;
    case 1:
        for (int i = 0; i < n; i++) {
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index != MPI_UNDEFINED);
        }
        break;
    case 2:
        for (int left = n; left > 0; left -= n_done) {
            MPI_Testsome(n, requests, &n_done, indices, MPI_STATUSES_IGNORE);
        }
        break;
    case 3:
        for (int left = n; left > 0; left -= n_done) {
            MPI_Waitsome(n, requests, &n_done, indices, MPI_STATUSES_IGNORE);
        }
        break;
    case 4:
        while (!flag) {
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    default:
        for (int i = 0; i < n; i++) {
            flag = 0;
            while (!flag) {
                MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
            }
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            CHECK(flag);
        }
        break;
    }
    for (int i = 0; i < n; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

static void among_other_requests(struct world world)
{
    for (int way = 0; way < 6; way++) {
        MPI_Comm comms[3];
        MPI_Request requests[7];
        int in[2] = {-1, -1}, value = 10 * way;

        MPI_Irecv(&in[0], 1, MPI_INT, world.left, way, MPI_COMM_WORLD, &requests[0]);
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[0], &requests[1]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[1], &requests[3]);
        MPI_Isend(&value, 1, MPI_INT, world.right, way, MPI_COMM_WORLD, &requests[4]);
        MPI_Iallreduce(&value, &in[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                       &requests[5]);
        MPI_Comm_idup(MPI_COMM_WORLD, &comms[2], &requests[6]);
        complete(way, 7, requests);
        CHECK_EQUAL(in[0], value);
        CHECK_EQUAL(in[1], value);
        exercise_and_free(comms, 3);
    }
    check_say("among other requests\n");
}

/** Rank 0 comes last to the duplication, and only after messages from all who have
 *  begun; they then wait for it in a message, not in the request. */
static void while_waiting_in_messages(struct world world)
{
    for (int i = 0; i < 20; i++) {
        MPI_Request request;
        MPI_Comm comm;
        int in = -1;

        if (world.rank != 0) {
            MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
            MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQUAL(in, i);
        } else {
            for (int rank = 1; rank < world.size; rank++) {
                MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                CHECK_EQUAL(in, i);
            }
            MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int rank = 1; rank < world.size; rank++) {
                MPI_Send(&i, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        exercise(comm, 3);
        MPI_Comm_free(&comm);
    }
    check_say("while waiting in messages\n");
}

static void of_duplicates(struct world world)
{
    MPI_Comm first, second, third, half;
    MPI_Request requests[2];
    int result;

    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, -world.rank, &half);
    MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_idup(first, &second, &requests[0]);
    MPI_Comm_idup(half, &third, &requests[1]);
    exercise(first, 1);
    exercise(half, 2);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&half);
    MPI_Comm_compare(second, MPI_COMM_WORLD, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    exercise(second, 3);
    exercise(third, 4);
    MPI_Comm_free(&first);
    MPI_Comm_free(&third);
    MPI_Comm_free(&second);
    check_say("of duplicates\n");
}

/** One at a time: over several Open MPI alone hangs. */
/* Other communicators are made while several duplicates of one are on their way: a rank
 * that waits for them must not owe the others its part of a duplicate. */
static void beside_blocking_calls(struct world world)
{
    MPI_Comm other, made, comms[N];
    MPI_Request requests[N];

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++) {
            MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]);
        }
        MPI_Comm_dup(other, &made);
        exercise(made, 1);
        MPI_Comm_free(&made);
        MPI_Comm_split(other, world.rank % 2, -world.rank, &made);
        exercise(made, 2);
        MPI_Comm_free(&made);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        exercise_and_free(comms, N);
    }
    MPI_Comm_free(&other);
    check_say("beside blocking calls\n");
}

static void of_an_intercommunicator(struct world world)
{
    struct sides sides = sides_make(world, 1);
    MPI_Comm comm, merged;

    for (int i = 0; i < 3; i++) {
        int is_paired = sides.rank < sides.n_remote;
        int peer = is_paired ? sides.rank : MPI_PROC_NULL, in = -1, value = 50 + i;
        MPI_Request request;
        MPI_Status status;

        MPI_Comm_idup(sides.both, &comm, &request);
        MPI_Sendrecv(&value, 1, MPI_INT, peer, 9, &in, 1, MPI_INT, peer, 9, sides.both,
                     MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, is_paired ? value : -1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&value, 1, MPI_INT, peer, i, &in, 1, MPI_INT,
                     is_paired ? MPI_ANY_SOURCE : peer, MPI_ANY_TAG, comm, &status);
        CHECK_EQUAL(in, is_paired ? value : -1);
        CHECK_EQUAL(status.MPI_SOURCE, peer);
        MPI_Intercomm_merge(comm, sides.which, &merged);
        exercise(merged, 5);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&comm);
    }
    sides_free(&sides);
    check_say("of an intercommunicator\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    all_at_once();
    among_other_requests(world);
    while_waiting_in_messages(world);
    of_duplicates(world);
    beside_blocking_calls(world);
    if (world.size > 1) {
        of_an_intercommunicator(world);
    }
    return check_end();
}
