/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that another implementation may pass to the MPI library below it mix with
 * messages of its own: non-blocking collectives, scans, neighbours and idup, while
 * sends, receives and mixed arrays of requests are pending across them.
 */
#include "tests/conformance/check.h"

enum { N = 250000 };

struct pending {
    char *out;
    char *in;
    MPI_Request requests[2];
};

static void pending_start(struct world world, struct pending *pending, int round)
{
    check_fill(pending->out, N, round + 100 * world.rank);
    MPI_Isend(pending->out, N, MPI_BYTE, world.right, round, MPI_COMM_WORLD,
              &pending->requests[0]);
    MPI_Irecv(pending->in, N, MPI_BYTE, world.left, round, MPI_COMM_WORLD,
              &pending->requests[1]);
}

static void pending_finish(struct world world, struct pending *pending, int round)
{
    MPI_Waitall(2, pending->requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(pending->in, N, round + 100 * world.left));
}

static void started_collectives(struct world world, struct pending *pending)
{
    MPI_Request requests[5];
    int sum = 0;
    int value = world.rank == 0 ? 31 : 0;
    int *all = check_alloc(world.size * sizeof(int));

    pending_start(world, pending, 1);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &requests[1]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallgather(&world.rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD,
                   &requests[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    requests[4] = pending->requests[1];
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    pending->requests[1] = MPI_REQUEST_NULL;
    pending_finish(world, pending, 1);
    CHECK_EQUAL(sum, world.size * (world.size - 1) / 2);
    CHECK_EQUAL(value, 31);
    CHECK_EQUAL(all[world.left], world.left);
    free(all);
    check_say("started collectives\n");
}

static void mixed_arrays_are_tested(struct world world)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int in[2] = {-1, -1};
    int sum = 0;
    int n_done;
    int indices[4];
    int total = 0;
    int index;
    int is_done = 0;

    MPI_Irecv(&in[0], 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Isend(&world.rank, 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, &requests[3]);
    while (total < 3) {
        MPI_Testsome(4, requests, &n_done, indices, statuses);
        total += n_done;
    }
    CHECK_EQUAL(in[0], world.left);
    MPI_Iallreduce(&world.rank, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                   &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&world.rank, 1, MPI_INT, world.right, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 2; i++) {
        MPI_Waitany(4, requests, &index, &statuses[0]);
        CHECK(requests[index] == MPI_REQUEST_NULL);
    }
    while (!is_done) {
        MPI_Testall(4, requests, &is_done, statuses);
    }
    CHECK_EQUAL(in[1], world.left);
    CHECK_EQUAL(sum, world.size - 1);
    check_say("mixed arrays are tested\n");
}

static void scans(struct world world, struct pending *pending)
{
    int sum = -1;
    int before = -1;
    int part = 0;
    int ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int *counts = check_alloc(world.size * sizeof(int));

    pending_start(world, pending, 2);
    MPI_Scan(&world.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(sum, world.rank * (world.rank + 1) / 2);
    MPI_Exscan(&world.rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(world.rank == 0 || before == sum - world.rank);
    for (int i = 0; i < world.size; i++) {
        counts[i] = 1;
    }
    if (world.size <= 8) {
        MPI_Reduce_scatter(ones, &part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(part, world.size);
        MPI_Reduce_scatter_block(ones, &part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(part, world.size);
    }
    pending_finish(world, pending, 2);
    free(counts);
    check_say("scans\n");
}

static void a_communicator_from_idup(struct world world, struct pending *pending)
{
    MPI_Comm comm;
    MPI_Request request;
    int in = -1;

    pending_start(world, pending, 3);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Allreduce(&world.rank, &in, 1, MPI_INT, MPI_MAX, comm);
    CHECK_EQUAL(in, world.size - 1);
    pending_finish(world, pending, 3);
    MPI_Comm_free(&comm);
    check_say("a communicator from idup\n");
}

/* Rank 0 waits in a message of ours for a rank that is inside a passed call, and back.
 */
static void waits_of_both_kinds_depend_on_each_other(struct world world)
{
    for (int round = 0; round < 20; round++) {
        MPI_Request request;
        int in = -1;

        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        if (world.rank == round % world.size) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Ssend(&round, 1, MPI_INT, world.right, 4, MPI_COMM_WORLD);
        } else if (world.left == round % world.size) {
            MPI_Recv(&in, 1, MPI_INT, world.left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQUAL(in, round);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Scan(&round, &in, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK_EQUAL(in, round);
    }
    check_say("waits of both kinds depend on each other\n");
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 2);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *state, int is_complete)
{
    (void)state;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void a_generalized_request(struct world world)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int in = -1;
    int count;

    MPI_Grequest_start(query, nothing, nothing_to_cancel, NULL, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, world.left, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&world.rank, 1, MPI_INT, world.right, 8, MPI_COMM_WORLD);
    MPI_Grequest_complete(requests[0]);
    MPI_Waitall(2, requests, statuses);
    CHECK_EQUAL(statuses[0].MPI_TAG, 6);
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(in, world.left);
    check_say("a generalized request\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct pending pending = {.out = check_alloc(N), .in = check_alloc(N)};

    started_collectives(world, &pending);
    mixed_arrays_are_tested(world);
    scans(world, &pending);
    a_communicator_from_idup(world, &pending);
    if (world.size > 1) {
        waits_of_both_kinds_depend_on_each_other(world);
    }
    a_generalized_request(world);
    free(pending.out);
    free(pending.in);
    return check_end();
}
