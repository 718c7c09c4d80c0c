/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message that is longer than its receive gives MPI_ERR_TRUNCATE to the receiver
 * alone, in every way to receive and to complete, and damages nothing behind the
 * buffer.
 */
#include "tests/conformance/check.h"

enum { LONGEST = 200000 };

static const int long_lengths[] = {9, 100, 5000, LONGEST};

static int class_of(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

static MPI_Request send_long(struct world world, char *out, int n, int tag)
{
    MPI_Request request;

    MPI_Isend(out, n, MPI_BYTE, world.right, tag, MPI_COMM_WORLD, &request);
    return request;
}

/* Open MPI 4.1 writes more than 8 bytes of messages from 4 KB: there is room for all.
 */
static void by_receive(struct world world, char *out)
{
    char *in = check_alloc(LONGEST);
    MPI_Status status;

    for (int i = 0; i < CHECK_N(long_lengths); i++) {
        MPI_Request request = send_long(world, out, long_lengths[i], 1);

        memset(in, 0x77, LONGEST);
        CHECK_EQUAL(
            class_of(MPI_Recv(in, 8, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &status)),
            MPI_ERR_TRUNCATE);
        CHECK_EQUAL(status.MPI_SOURCE, world.left);
        CHECK(long_lengths[i] > 4000 || check_is_all(in + 8, LONGEST - 8, 0x77));
        CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    free(in);
    check_say("by receive\n");
}

static void by_wait(struct world world, char *out)
{
    char *in = check_alloc(LONGEST);
    MPI_Status status;
    MPI_Request request;

    for (int i = 0; i < CHECK_N(long_lengths); i++) {
        MPI_Request send;
        int is_done = 0;
        int code = MPI_SUCCESS;

        MPI_Irecv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        send = send_long(world, out, long_lengths[i], 2);
        if (i % 2) {
            code = MPI_Wait(&request, &status);
        }
        while (i % 2 == 0 && !is_done) {
            code = MPI_Test(&request, &is_done, &status);
        }
        CHECK_EQUAL(class_of(code), MPI_ERR_TRUNCATE);
        CHECK(request == MPI_REQUEST_NULL);
        CHECK_EQUAL(status.MPI_TAG, 2);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    free(in);
    check_say("by wait\n");
}

/* Of three receives the middle one is too short: Waitall says where. Its message comes
 * last, so that no other request can still be pending then. */
static void by_waitall(struct world world, char *out)
{
    char in[3][300];
    MPI_Status statuses[4];
    MPI_Request requests[4];
    int code;

    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in[i], i == 1 ? 8 : 300, MPI_BYTE, world.left, 3 + i, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 200, MPI_BYTE, world.right, 3, MPI_COMM_WORLD);
    MPI_Send(out, 200, MPI_BYTE, world.right, 5, MPI_COMM_WORLD);
    MPI_Send(out, 200, MPI_BYTE, world.right, 4, MPI_COMM_WORLD);
    requests[3] = MPI_REQUEST_NULL;
    code = MPI_Waitall(4, requests, statuses);
    CHECK_EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    CHECK_EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(statuses[2].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(statuses[3].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQUAL(statuses[2].MPI_TAG, 5);
    check_say("by waitall\n");
}

static void by_waitany_and_waitsome(struct world world, char *out)
{
    char in[8];
    MPI_Status status;
    MPI_Request request;
    int index = -1;
    int n_done = 0;

    MPI_Irecv(in, 8, MPI_BYTE, world.left, 6, MPI_COMM_WORLD, &request);
    MPI_Send(out, 50, MPI_BYTE, world.right, 6, MPI_COMM_WORLD);
    CHECK_EQUAL(class_of(MPI_Waitany(1, &request, &index, &status)), MPI_ERR_TRUNCATE);
    CHECK_EQUAL(index, 0);
    MPI_Irecv(in, 8, MPI_BYTE, world.left, 7, MPI_COMM_WORLD, &request);
    MPI_Send(out, 50, MPI_BYTE, world.right, 7, MPI_COMM_WORLD);
    CHECK_EQUAL(class_of(MPI_Waitsome(1, &request, &n_done, &index, &status)),
                MPI_ERR_IN_STATUS);
    CHECK_EQUAL(n_done, 1);
    CHECK_EQUAL(class_of(status.MPI_ERROR), MPI_ERR_TRUNCATE);
    check_say("by waitany and waitsome\n");
}

static void by_other_receives(struct world world, char *out)
{
    char in[8];
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;

    CHECK_EQUAL(
        class_of(MPI_Sendrecv(out, 60, MPI_BYTE, world.right, 8, in, 8, MPI_BYTE,
                              world.left, 8, MPI_COMM_WORLD, &status)),
        MPI_ERR_TRUNCATE);
    request = send_long(world, out, 60, 9);
    MPI_Mprobe(world.left, 9, MPI_COMM_WORLD, &message, &status);
    CHECK_EQUAL(class_of(MPI_Mrecv(in, 8, MPI_BYTE, &message, &status)),
                MPI_ERR_TRUNCATE);
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    check_say("by other receives\n");
}

static void all_goes_on(struct world world)
{
    int in = -1;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    check_say("all goes on\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char *out = check_alloc(LONGEST);

    if (world.size < 2) { /* Open MPI 4.1 does not notice it in messages to self. */
        check_say("two ranks are needed\n");
        return check_end();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    by_receive(world, out);
    by_wait(world, out);
    by_waitall(world, out);
    by_waitany_and_waitsome(world, out);
    by_other_receives(world, out);
    all_goes_on(world);
    free(out);
    return check_end();
}
