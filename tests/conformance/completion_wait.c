/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait, Waitall, Waitany and Waitsome: each request completes once, null and inactive
 * requests are passed over, statuses belong to their requests and may be ignored.
 */
#include "tests/conformance/check.h"

enum { N = 40 };

struct ring_traffic {
    MPI_Request requests[2 * N]; /* receives, then sends */
    int in[N];
    int out[N];
};

static void start(struct world world, struct ring_traffic *traffic)
{
    for (int i = 0; i < N; i++) {
        traffic->in[i] = -1;
        traffic->out[i] = 100 * world.rank + i;
        MPI_Irecv(&traffic->in[i], 1, MPI_INT, world.left, i, MPI_COMM_WORLD,
                  &traffic->requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Isend(&traffic->out[i], 1, MPI_INT, world.right, i, MPI_COMM_WORLD,
                  &traffic->requests[N + i]);
    }
}

static void finish(struct world world, const struct ring_traffic *traffic)
{
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(traffic->in[i], 100 * world.left + i);
    }
    for (int i = 0; i < 2 * N; i++) {
        CHECK(traffic->requests[i] == MPI_REQUEST_NULL);
    }
}

static void one_by_one_backwards(struct world world)
{
    struct ring_traffic traffic;
    MPI_Status status;

    start(world, &traffic);
    for (int i = 2 * N - 1; i >= 0; i--) {
        MPI_Wait(&traffic.requests[i], &status);
        if (i < N) {
            CHECK_EQUAL(status.MPI_TAG, i);
            CHECK_EQUAL(status.MPI_SOURCE, world.left);
        }
        MPI_Wait(&traffic.requests[i], MPI_STATUS_IGNORE);
    }
    finish(world, &traffic);
    check_say("one by one backwards\n");
}

static void all_at_once(struct world world)
{
    struct ring_traffic traffic;
    MPI_Status statuses[2 * N];

    start(world, &traffic);
    MPI_Waitall(2 * N, traffic.requests, statuses);
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(statuses[i].MPI_TAG, i);
        CHECK_EQUAL(statuses[i].MPI_SOURCE, world.left);
    }
    finish(world, &traffic);
    start(world, &traffic);
    MPI_Waitall(2 * N, traffic.requests, MPI_STATUSES_IGNORE);
    finish(world, &traffic);
    MPI_Waitall(2 * N, traffic.requests, statuses);
    CHECK_EQUAL(statuses[3].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(statuses[3].MPI_TAG, MPI_ANY_TAG);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    check_say("all at once\n");
}

static void any_of_them(struct world world)
{
    struct ring_traffic traffic;
    MPI_Status status;
    int seen[2 * N] = {0};
    int index;

    start(world, &traffic);
    for (int i = 0; i < 2 * N; i++) {
        MPI_Waitany(2 * N, traffic.requests, &index,
                    i % 2 ? &status : MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < 2 * N);
        CHECK(!seen[index]);
        seen[index] = 1;
        CHECK(traffic.requests[index] == MPI_REQUEST_NULL);
        if (i % 2 && index < N) {
            CHECK_EQUAL(status.MPI_TAG, index);
        }
    }
    finish(world, &traffic);
    MPI_Waitany(2 * N, traffic.requests, &index, &status);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    check_say("any of them\n");
}

static void some_of_them(struct world world)
{
    struct ring_traffic traffic;
    MPI_Status statuses[2 * N];
    int seen[2 * N] = {0};
    int indices[2 * N];
    int n_done;
    int total = 0;

    start(world, &traffic);
    for (;;) {
        MPI_Waitsome(2 * N, traffic.requests, &n_done, indices,
                     total % 2 ? statuses : MPI_STATUSES_IGNORE);
        if (n_done == MPI_UNDEFINED) {
            break;
        }
        CHECK(n_done >= 1);
        for (int i = 0; i < n_done; i++) {
            CHECK(!seen[indices[i]]);
            seen[indices[i]] = 1;
            if (total % 2 && indices[i] < N) {
                CHECK_EQUAL(statuses[i].MPI_TAG, indices[i]);
            }
        }
        total += n_done;
    }
    CHECK_EQUAL(total, 2 * N);
    finish(world, &traffic);
    check_say("some of them\n");
}

/* Of five requests only the middle one can complete; the others are null or wait. */
static void only_one_can_complete(struct world world)
{
    MPI_Request requests[5];
    MPI_Request send;
    MPI_Status status;
    MPI_Status statuses[5];
    int in[5] = {0};
    int out = 9;
    int index = -1;
    int n_done;
    int indices[5];

    for (int i = 0; i < 5; i++) {
        requests[i] = MPI_REQUEST_NULL;
    }
    MPI_Irecv(&in[1], 1, MPI_INT, world.left, 101, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, world.left, 102, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&in[3], 1, MPI_INT, world.left, 103, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(&out, 1, MPI_INT, world.right, 102, MPI_COMM_WORLD);
    MPI_Waitany(5, requests, &index, &status);
    CHECK_EQUAL(index, 2);
    CHECK_EQUAL(status.MPI_TAG, 102);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out, 1, MPI_INT, world.right, 103, MPI_COMM_WORLD, &send);
    statuses[0].MPI_TAG = -1;
    MPI_Waitsome(5, requests, &n_done, indices, statuses);
    CHECK_EQUAL(n_done, 1);
    CHECK_EQUAL(indices[0], 3);
    CHECK_EQUAL(statuses[0].MPI_TAG, 103);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, world.right, 101, MPI_COMM_WORLD);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in[1] + in[2] + in[3], 27);
    check_say("only one can complete\n");
}

static void inactive_requests_are_passed_over(struct world world)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int in = -1;
    int out = world.rank;
    int index;

    MPI_Recv_init(&in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Waitany(3, requests, &index, &statuses[0]);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    MPI_Waitall(3, requests, statuses);
    CHECK_EQUAL(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Startall(2, requests);
    MPI_Waitall(3, requests, statuses);
    CHECK_EQUAL(in, world.left);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    check_say("inactive requests are passed over\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    one_by_one_backwards(world);
    all_at_once(world);
    any_of_them(world);
    some_of_them(world);
    only_one_can_complete(world);
    inactive_requests_are_passed_over(world);
    return check_end();
}
