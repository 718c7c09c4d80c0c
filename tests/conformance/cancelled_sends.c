/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cancelled send either arrives or is cancelled, and whatever its mode, the sends
 * beside it arrive in their order. Open MPI never cancels one, so the receiver is told
 * what has come of it; and one that is not over at once is received.
 */
#include "tests/conformance/check.h"

enum { TAG = 5, ANSWER = 6, BEFORE = 101, AFTER = 102, MOST = 300000 };

static char out[MOST], in[MOST];

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, PERSISTENT, N_MODES };

static void start(enum mode mode, int n, int to, MPI_Request *request_out)
{
    static int (*const starts[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                 MPI_Request *) = {
        [STANDARD] = MPI_Isend,
        [SYNCHRONOUS] = MPI_Issend,
        [BUFFERED] = MPI_Ibsend,
        [PERSISTENT] = MPI_Send_init,
    };

    starts[mode](out, n, MPI_BYTE, to, TAG, MPI_COMM_WORLD, request_out);
    if (mode == PERSISTENT) {
        MPI_Start(request_out);
    }
}

/** What has come of a send that was cancelled, as its receiver is told. */
enum outcome { ARRIVES, IS_CANCELLED };

static void free_persistent(enum mode mode, MPI_Request *request)
{
    if (mode == PERSISTENT) {
        MPI_Request_free(request);
    }
    CHECK(*request == MPI_REQUEST_NULL);
}

/** Cancel a send between two others, and tell the receiver what has come of it. */
static void send_three(enum mode mode, int n, int to)
{
    int before = BEFORE, after = AFTER, is_done, is_cancelled = 0, outcome;
    MPI_Request requests[2], request, told;
    MPI_Status status;

    MPI_Isend(&before, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &requests[0]);
    start(mode, n, to, &request);
    MPI_Isend(&after, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&request);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Request_get_status(request, &is_done, &status);
    if (is_done) {
        MPI_Test_cancelled(&status, &is_cancelled);
    }
    outcome = is_cancelled ? IS_CANCELLED : ARRIVES;
    MPI_Isend(&outcome, 1, MPI_INT, to, ANSWER, MPI_COMM_WORLD, &told);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK_EQUAL(is_cancelled, outcome == IS_CANCELLED);
    free_persistent(mode, &request);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&told, MPI_STATUS_IGNORE);
}

static void receive_three(int n, int from)
{
    int word = 0, outcome = -1, count;
    MPI_Status status;

    MPI_Recv(&outcome, 1, MPI_INT, from, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(word, BEFORE);
    if (outcome == ARRIVES) {
        memset(in, 0, (size_t)n);
        MPI_Recv(in, MOST, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, n);
        CHECK(memcmp(in, out, (size_t)n) == 0);
    }
    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(word, AFTER);
}

/** Rank by rank, so that nobody sends and receives at once. */
static void cancelled_between_others(struct world world, enum mode mode, int n)
{
    for (int i = 0; i < world.size; i++) {
        if (world.rank == i) {
            send_three(mode, n, world.right);
        } else if (world.left == i) {
            receive_three(n, i);
        }
    }
    check_say("mode %d, %d bytes: arrives or is cancelled\n", (int)mode, n);
}

/** The receive is there before, so that the message has it, sooner or later. */
static void cancelled_when_awaited(struct world world, int n)
{
    MPI_Request receive, request;
    MPI_Status status;
    int is_cancelled, left_is_cancelled;

    MPI_Irecv(in, MOST, MPI_BYTE, world.left, TAG, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Issend(out, n, MPI_BYTE, world.right, TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    MPI_Sendrecv(&is_cancelled, 1, MPI_INT, world.right, ANSWER, &left_is_cancelled, 1,
                 MPI_INT, world.left, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (left_is_cancelled) {
        MPI_Cancel(&receive);
    }
    MPI_Wait(&receive, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK_EQUAL(!is_cancelled, !left_is_cancelled);
    MPI_Barrier(MPI_COMM_WORLD); /* nothing else comes for the receive */
    check_say("%d bytes: arrives or is cancelled, with a receive\n", n);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 8, 300, 3000, 20000, MOST};
    static char room[2 * MOST];
    struct world world = check_begin(&argc, &argv);
    void *detached;
    int n;

    check_fill(out, MOST, 1);
    MPI_Buffer_attach(room, sizeof(room));
    for (int i = 0; i < CHECK_N(lengths); i++) {
        for (int mode = 0; world.size > 1 && mode < N_MODES; mode++) {
            cancelled_between_others(world, (enum mode)mode, lengths[i]);
        }
        cancelled_when_awaited(world, lengths[i]);
    }
    MPI_Buffer_detach(&detached, &n);
    return check_end();
}
