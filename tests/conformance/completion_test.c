/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test, Testall, Testany, Testsome and Request_get_status: false leaves everything as
 * it is, true comes in the end by polling alone, null and inactive requests count as
 * done.
 */
#include "tests/conformance/check.h"

enum { N = 24, N_BYTES = 20000 };

struct ring_traffic {
    MPI_Request requests[2 * N];
    char *in;
    char *out;
};

static void start(struct world world, struct ring_traffic *traffic)
{
    for (int i = 0; i < N; i++) {
        check_fill(traffic->out + i * N_BYTES, N_BYTES, i + 100 * world.rank);
        MPI_Irecv(traffic->in + i * N_BYTES, N_BYTES, MPI_BYTE, world.left, i,
                  MPI_COMM_WORLD, &traffic->requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Isend(traffic->out + i * N_BYTES, i % 2 ? N_BYTES : 40, MPI_BYTE,
                  world.right, i, MPI_COMM_WORLD, &traffic->requests[N + i]);
    }
}

static void finish(struct world world, const struct ring_traffic *traffic)
{
    for (int i = 0; i < N; i++) {
        CHECK(check_is_filled(traffic->in + i * N_BYTES, i % 2 ? N_BYTES : 40,
                              i + 100 * world.left));
    }
    for (int i = 0; i < 2 * N; i++) {
        CHECK(traffic->requests[i] == MPI_REQUEST_NULL);
    }
}

static void poll_one_by_one(struct world world, struct ring_traffic *traffic)
{
    MPI_Status status;

    start(world, traffic);
    for (int i = 2 * N - 1; i >= 0; i--) {
        int is_done = 0;

        while (!is_done) {
            MPI_Test(&traffic->requests[i], &is_done, &status);
        }
        if (i < N) {
            CHECK_EQUAL(status.MPI_TAG, i);
        }
        MPI_Test(&traffic->requests[i], &is_done, MPI_STATUS_IGNORE);
        CHECK(is_done);
    }
    finish(world, traffic);
    check_say("poll one by one\n");
}

static void poll_all(struct world world, struct ring_traffic *traffic)
{
    MPI_Status statuses[2 * N];
    int is_done = 0;

    start(world, traffic);
    while (!is_done) {
        MPI_Testall(2 * N, traffic->requests, &is_done, statuses);
        if (!is_done) {
            CHECK(traffic->requests[0] != MPI_REQUEST_NULL);
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(statuses[i].MPI_TAG, i);
    }
    finish(world, traffic);
    MPI_Testall(2 * N, traffic->requests, &is_done, MPI_STATUSES_IGNORE);
    CHECK(is_done);
    check_say("poll all\n");
}

static void poll_any(struct world world, struct ring_traffic *traffic)
{
    MPI_Status status;
    int seen[2 * N] = {0};
    int index;
    int is_done;

    start(world, traffic);
    for (int n = 0; n < 2 * N;) {
        MPI_Testany(2 * N, traffic->requests, &index, &is_done, &status);
        if (is_done) {
            CHECK(index >= 0 && index < 2 * N && !seen[index]);
            seen[index] = 1;
            n++;
        } else {
            CHECK_EQUAL(index, MPI_UNDEFINED);
        }
    }
    finish(world, traffic);
    MPI_Testany(2 * N, traffic->requests, &index, &is_done, MPI_STATUS_IGNORE);
    CHECK(is_done && index == MPI_UNDEFINED);
    check_say("poll any\n");
}

static void poll_some(struct world world, struct ring_traffic *traffic)
{
    MPI_Status statuses[2 * N];
    int indices[2 * N];
    int n_done = 0;
    int total = 0;

    start(world, traffic);
    while (n_done != MPI_UNDEFINED) {
        MPI_Testsome(2 * N, traffic->requests, &n_done, indices, statuses);
        for (int i = 0; i < n_done; i++) {
            CHECK(traffic->requests[indices[i]] == MPI_REQUEST_NULL);
            if (indices[i] < N) {
                CHECK_EQUAL(statuses[i].MPI_TAG, indices[i]);
            }
        }
        total += n_done > 0 ? n_done : 0;
    }
    CHECK_EQUAL(total, 2 * N);
    finish(world, traffic);
    check_say("poll some\n");
}

static void false_changes_nothing(struct world world)
{
    MPI_Request requests[2];
    MPI_Request send;
    int in[2] = {-1, -1};
    int out = 3;
    int is_done = 1;
    int index = 0;
    int indices[2];
    int n_done = -1;

    for (int i = 0; i < 2; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, world.left, 50, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
    CHECK(!is_done && requests[0] != MPI_REQUEST_NULL);
    MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    CHECK(!is_done);
    MPI_Testany(2, requests, &index, &is_done, MPI_STATUS_IGNORE);
    CHECK(!is_done && index == MPI_UNDEFINED);
    MPI_Testsome(2, requests, &n_done, indices, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(n_done, 0);
    MPI_Request_get_status(requests[0], &is_done, MPI_STATUS_IGNORE);
    CHECK(!is_done);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Isend(&out, 1, MPI_INT, world.right, 50, MPI_COMM_WORLD, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in[0] + in[1], 6);
    check_say("false changes nothing\n");
}

static void get_status_keeps_the_request(struct world world)
{
    MPI_Request request;
    MPI_Request send;
    MPI_Status status;
    int in = -1;
    int is_done = 0;
    int count;

    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &request);
    MPI_Isend(&world.rank, 1, MPI_INT, world.right, 51, MPI_COMM_WORLD, &send);
    while (!is_done) {
        MPI_Request_get_status(request, &is_done, &status);
    }
    CHECK(request != MPI_REQUEST_NULL);
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    CHECK_EQUAL(in, world.left);
    MPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
    CHECK(is_done);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 1);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_get_status(MPI_REQUEST_NULL, &is_done, &status);
    CHECK(is_done);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    check_say("get_status keeps the request\n");
}

static void inactive_counts_as_done(struct world world)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int in;
    int is_done = 0;
    int index;
    int n_done;
    int indices[2];

    MPI_Recv_init(&in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
    CHECK(is_done && requests[0] != MPI_REQUEST_NULL);
    MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
    CHECK(is_done);
    MPI_Testany(2, requests, &index, &is_done, MPI_STATUS_IGNORE);
    CHECK(is_done && index == MPI_UNDEFINED);
    MPI_Testsome(2, requests, &n_done, indices, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(n_done, MPI_UNDEFINED);
    MPI_Request_free(&requests[0]);
    check_say("inactive counts as done\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct ring_traffic traffic = {
        .in = check_alloc(N * N_BYTES),
        .out = check_alloc(N * N_BYTES),
    };

    poll_one_by_one(world, &traffic);
    poll_all(world, &traffic);
    poll_any(world, &traffic);
    poll_some(world, &traffic);
    false_changes_nothing(world);
    get_status_keeps_the_request(world);
    inactive_counts_as_done(world);
    free(traffic.in);
    free(traffic.out);
    return check_end();
}
