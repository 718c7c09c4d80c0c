/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probe and Iprobe show the message that the next receive takes, and take nothing.
 */
#include "tests/conformance/check.h"

static void length_is_found_by_probe(struct world world)
{
    char *out = check_alloc(CHECK_MAX_LENGTH);
    uint64_t sum = 0;

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];
        int count;
        char *in;
        MPI_Request request;
        MPI_Status status;

        check_fill(out, n, n + world.rank);
        MPI_Isend(out, n, MPI_BYTE, world.right, 4, MPI_COMM_WORLD, &request);
        MPI_Probe(i % 2 ? world.left : MPI_ANY_SOURCE, i % 3 ? 4 : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status.MPI_SOURCE, world.left);
        CHECK_EQUAL(status.MPI_TAG, 4);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, n);
        in = check_alloc(count);
        MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(check_is_filled(in, n, n + world.left));
        sum = check_mix(sum, check_sum(in, n < 4096 ? n : 4096));
        free(in);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(out);
    check_say_sum("lengths", sum);
}

static void iprobe_turns_true(struct world world)
{
    int is_there;
    int value = world.rank;
    int got = -1;
    MPI_Request request;
    MPI_Status status;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    CHECK(!is_there);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&value, 1, MPI_INT, world.right, 6, MPI_COMM_WORLD, &request);
    do {
        MPI_Iprobe(world.left, 6, MPI_COMM_WORLD, &is_there, &status);
    } while (!is_there);
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    MPI_Iprobe(world.left, 5, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    CHECK(!is_there);
    MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    CHECK(is_there);
    MPI_Recv(&got, 1, MPI_INT, world.left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, world.left);
    MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    CHECK(!is_there);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("iprobe turns true\n");
}

/* A posted receive has the message first: a probe does not see what a receive took. */
static void a_posted_receive_comes_first(struct world world)
{
    int out[2] = {1, 2};
    int in[2] = {0, 0};
    int first = 0;
    MPI_Request requests[3];
    MPI_Status status;
    int count;

    MPI_Irecv(&first, 1, MPI_INT, world.left, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out[0], 1, MPI_INT, world.right, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 2, MPI_INT, world.right, 7, MPI_COMM_WORLD, &requests[2]);
    MPI_Probe(world.left, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 2);
    MPI_Recv(in, 2, MPI_INT, world.left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(first, 1);
    CHECK_EQUAL(in[1], 2);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("a posted receive comes first\n");
}

static void probes_in_any_order_of_tags(struct world world)
{
    enum { N = 20 };
    MPI_Request requests[N];
    int values[N];
    int in;

    for (int i = 0; i < N; i++) {
        values[i] = i * i;
        MPI_Isend(&values[i], 1, MPI_INT, world.right, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Status status;

        MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status.MPI_TAG, i);
        MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i * i);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    check_say("probes in any order of tags\n");
}

/* What a probe has waited for and found, the next one finds at once. */
static void what_is_found_stays_found(struct world world)
{
    enum { ROUNDS = 200 };
    int is_there;

    for (int i = 0; i < ROUNDS; i++) {
        int out = i, in = -1;
        MPI_Request request;

        MPI_Isend(&out, 1, MPI_INT, world.right, 8, MPI_COMM_WORLD, &request);
        MPI_Probe(world.left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        CHECK(is_there);
        MPI_Recv(&in, 1, MPI_INT, world.left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("what is found stays found\n");
}

/* What is known to be there is found, whatever this process has started since. */
static void what_is_known_is_found(struct world world)
{
    enum { ROUNDS = 200 };

    for (int i = 0; i < ROUNDS; i++) {
        int in, other, is_there;
        MPI_Request requests[4];

        for (int tag = 1; tag <= 2; tag++) {
            MPI_Isend(&i, 1, MPI_INT, world.right, tag, MPI_COMM_WORLD,
                      &requests[tag - 1]);
        }
        MPI_Recv(&in, 1, MPI_INT, world.left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Issend(&i, 1, MPI_INT, world.right, 4, MPI_COMM_WORLD, &requests[2]);
        MPI_Iprobe(world.left, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        CHECK(is_there);
        MPI_Irecv(&other, 1, MPI_INT, world.left, 4, MPI_COMM_WORLD, &requests[3]);
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        CHECK(is_there);
        MPI_Recv(&in, 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("what is known is found\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    length_is_found_by_probe(world);
    iprobe_turns_true(world);
    a_posted_receive_comes_first(world);
    probes_in_any_order_of_tags(world);
    what_is_found_stays_found(world);
    what_is_known_is_found(world);
    return check_end();
}
