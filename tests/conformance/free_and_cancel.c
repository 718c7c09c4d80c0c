/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A freed send still arrives; a cancelled receive takes no message, is shown as
 * cancelled, and leaves the receives around it as they were.
 */
#include "tests/conformance/check.h"

static void a_freed_send_arrives(struct world world, int n)
{
    static char out[300000];
    char *in = check_alloc(n);
    MPI_Request request;

    check_fill(out, n, n + world.rank);
    MPI_Isend(out, n, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Recv(in, n, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, n, n + world.left));
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    check_say("a freed send of %d bytes arrives\n", n);
}

static void many_freed_sends(struct world world)
{
    enum { N = 500 };
    static int out[N];
    int in;

    for (int i = 0; i < N; i++) {
        MPI_Request request;

        out[i] = i;
        MPI_Isend(&out[i], 1, MPI_INT, world.right, 2, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    for (int i = 0; i < N; i++) {
        MPI_Recv(&in, 1, MPI_INT, world.left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("many freed sends\n");
}

static void a_freed_receive_completes(struct world world)
{
    static volatile int in;
    MPI_Request request;
    MPI_Request send;
    int out = 77;
    int answer = 0;

    in = 0;
    MPI_Irecv((void *)&in, 1, MPI_INT, world.left, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(&out, 1, MPI_INT, world.right, 3, MPI_COMM_WORLD);
    /* The answer comes behind the message that the freed receive takes. */
    MPI_Isend(&out, 1, MPI_INT, world.right, 4, MPI_COMM_WORLD, &send);
    MPI_Recv(&answer, 1, MPI_INT, world.left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, 77);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("a freed receive completes\n");
}

static void a_cancelled_receive_takes_nothing(struct world world)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int in[3] = {-1, -1, -1};
    int out[2] = {5, 6};
    int is_cancelled;

    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : world.left, 5,
                  MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Cancel(&requests[1]);
    CHECK(requests[1] != MPI_REQUEST_NULL);
    MPI_Wait(&requests[1], &statuses[1]);
    MPI_Test_cancelled(&statuses[1], &is_cancelled);
    CHECK(is_cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Send(&out[i], 1, MPI_INT, world.right, 5, MPI_COMM_WORLD);
    }
    MPI_Waitall(3, requests, statuses);
    MPI_Test_cancelled(&statuses[0], &is_cancelled);
    CHECK(!is_cancelled);
    CHECK_EQUAL(in[0], 5);
    CHECK_EQUAL(in[1], -1);
    CHECK_EQUAL(in[2], 6);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("a cancelled receive takes nothing\n");
}

/* MPI says that tests succeed in the end; natively the first one does. */
static void a_cancelled_receive_is_tested_once(struct world world)
{
    MPI_Request request;
    MPI_Status status;
    int in, is_done, is_cancelled;

    for (int i = 0; i < 20; i++) {
        is_done = is_cancelled = 0;
        MPI_Irecv(&in, 1, MPI_INT, world.left, 77, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Test(&request, &is_done, &status);
        CHECK(is_done);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(is_cancelled);
    }
    check_say("a cancelled receive is tested once\n");
}

static void a_completed_receive_is_not_cancelled(struct world world)
{
    MPI_Request request;
    MPI_Status status;
    int in = -1;
    int is_cancelled = 1;
    int is_done = 0;

    MPI_Irecv(&in, 1, MPI_INT, world.left, 6, MPI_COMM_WORLD, &request);
    MPI_Send(&world.rank, 1, MPI_INT, world.right, 6, MPI_COMM_WORLD);
    while (!is_done) {
        MPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(!is_cancelled);
    CHECK_EQUAL(in, world.left);
    check_say("a completed receive is not cancelled\n");
}

/* The message of the second receive is sent only when that has been posted. */
static void a_late_cancellation_leaves_the_next_receive(struct world world)
{
    for (int i = 0; i < 100; i++) {
        MPI_Request requests[2];
        MPI_Status status;
        int in[2] = {-1, -1};
        int is_cancelled;

        MPI_Irecv(&in[0], 1, MPI_INT, world.left, 11, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(&i, 1, MPI_INT, world.right, 11, MPI_COMM_WORLD);
        MPI_Sendrecv(NULL, 0, MPI_INT, world.right, 12, NULL, 0, MPI_INT, world.left,
                     12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&requests[0]); /* it has been matched: the later message is here */
        MPI_Wait(&requests[0], &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(!is_cancelled);
        MPI_Irecv(&in[1], 1, MPI_INT, world.left, 13, MPI_COMM_WORLD, &requests[1]);
        MPI_Sendrecv(NULL, 0, MPI_INT, world.left, 14, NULL, 0, MPI_INT, world.right,
                     14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&i, 1, MPI_INT, world.right, 13, MPI_COMM_WORLD);
        MPI_Wait(&requests[1], &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(!is_cancelled);
        CHECK_EQUAL(in[0], i);
        CHECK_EQUAL(in[1], i);
    }
    check_say("a late cancellation leaves the next receive\n");
}

static void cancelled_then_freed(struct world world)
{
    MPI_Request request;
    int in = -1;
    int out = 8;

    MPI_Irecv(&in, 1, MPI_INT, world.left, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&out, 1, MPI_INT, world.right, 7, world.left, 7,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(out, 8);
    CHECK_EQUAL(in, -1);
    check_say("cancelled, then freed\n");
}

static void a_persistent_receive_is_cancelled(struct world world)
{
    MPI_Request request;
    MPI_Status status;
    int in = -1;
    int is_cancelled;

    MPI_Recv_init(&in, 1, MPI_INT, world.left, 8, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    MPI_Send(&world.rank, 1, MPI_INT, world.right, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(!is_cancelled);
    CHECK_EQUAL(in, world.left);
    MPI_Request_free(&request);
    check_say("a persistent receive is cancelled\n");
}

/* Whether a send can be cancelled is open; it either arrives or it is cancelled. Its
 * receive is posted before, for a send that cannot be cancelled may wait for it. */
static void a_cancelled_send_is_one_or_the_other(struct world world)
{
    MPI_Request request;
    MPI_Request receive;
    MPI_Status status;
    int is_cancelled;
    int left_is_cancelled;
    int in = -1;

    MPI_Irecv(&in, 1, MPI_INT, world.left, 9, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&world.rank, 1, MPI_INT, world.right, 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    MPI_Sendrecv(&is_cancelled, 1, MPI_INT, world.right, 10, &left_is_cancelled, 1,
                 MPI_INT, world.left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (left_is_cancelled) {
        MPI_Cancel(&receive);
    }
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, left_is_cancelled ? -1 : world.left);
    check_say("a cancelled send is one or the other\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    a_freed_send_arrives(world, 8);
    a_freed_send_arrives(world, 5000);
    a_freed_send_arrives(world, 300000);
    many_freed_sends(world);
    a_freed_receive_completes(world);
    a_cancelled_receive_takes_nothing(world);
    a_cancelled_receive_is_tested_once(world);
    a_completed_receive_is_not_cancelled(world);
    a_late_cancellation_leaves_the_next_receive(world);
    cancelled_then_freed(world);
    a_persistent_receive_is_cancelled(world);
    a_cancelled_send_is_one_or_the_other(world);
    return check_end();
}
