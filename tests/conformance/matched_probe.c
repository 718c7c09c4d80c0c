/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mprobe and Improbe take a message out of the matching; Mrecv and Imrecv get its data
 * later, in any order, while other receives see the messages behind it.
 */
#include "tests/conformance/check.h"

static void all_lengths(struct world world)
{
    char *out = check_alloc(CHECK_MAX_LENGTH);
    char *in = check_alloc(CHECK_MAX_LENGTH);
    uint64_t sum = 0;

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];
        int count;
        MPI_Request requests[2];
        MPI_Status status;
        MPI_Message message;

        check_fill(out, n, n + world.rank);
        MPI_Isend(out, n, MPI_BYTE, world.right, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Mprobe(i % 2 ? world.left : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                   &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, n);
        requests[1] = MPI_REQUEST_NULL;
        if (i % 2) {
            MPI_Mrecv(in, count, MPI_BYTE, &message, &status);
            CHECK_EQUAL(status.MPI_SOURCE, world.left);
        } else {
            MPI_Imrecv(in, count, MPI_BYTE, &message, &requests[1]);
        }
        CHECK(message == MPI_MESSAGE_NULL);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(in, n, n + world.left));
        sum = check_mix(sum, check_sum(in, n < 4096 ? n : 4096));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_say_sum("lengths", sum);
    free(out);
    free(in);
}

static void messages_are_received_in_reverse(struct world world)
{
    enum { N = 12 };
    MPI_Message messages[N];
    MPI_Request requests[N];
    int values[N];
    int in;

    for (int i = 0; i < N; i++) {
        values[i] = 3 * i + world.rank;
        MPI_Isend(&values[i], 1, MPI_INT, world.right, 5, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Mprobe(world.left, 5, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Mrecv(&in, 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, 3 * i + world.left);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("messages are received in reverse\n");
}

static void a_taken_message_is_gone(struct world world)
{
    int out[2] = {10, 20};
    int in = 0;
    int is_there;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Message second;

    MPI_Isend(&out[0], 1, MPI_INT, world.right, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(world.left, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Improbe(world.left, 6, MPI_COMM_WORLD, &is_there, &second, MPI_STATUS_IGNORE);
    CHECK(!is_there);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out[1], 1, MPI_INT, world.right, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&in, 1, MPI_INT, world.left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 20);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 10);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("a taken message is gone\n");
}

static void improbe_turns_true(struct world world)
{
    int value = world.rank + 50;
    int got = -1;
    int is_there = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &is_there, &message, &status);
    CHECK(!is_there);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Issend(&value, 1, MPI_INT, world.right, 9, MPI_COMM_WORLD, &request);
    while (!is_there) {
        MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &is_there, &message, &status);
    }
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    CHECK_EQUAL(got, world.left + 50);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_say("improbe turns true\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    all_lengths(world);
    messages_are_received_in_reverse(world);
    a_taken_message_is_gone(world);
    improbe_turns_true(world);
    return check_end();
}
