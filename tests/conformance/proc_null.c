/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every point-to-point call with MPI_PROC_NULL succeeds at once, leaves its buffer
 * alone and gives the status of the standard: MPI_PROC_NULL, MPI_ANY_TAG, nothing
 * received.
 */
#include "tests/conformance/check.h"

static void status_is_of_proc_null(MPI_Status *status)
{
    int count = -1;
    int is_cancelled = -1;

    CHECK_EQUAL(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(status->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK_EQUAL(count, 0);
    MPI_Test_cancelled(status, &is_cancelled);
    CHECK_EQUAL(is_cancelled, 0);
    status->MPI_SOURCE = -7; /* the next call has to set it */
}

static void sends(int *data)
{
    MPI_Send(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Rsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Bsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    check_say("sends\n");
}

static void started_sends(int *data)
{
    MPI_Request requests[4];

    MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Irsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Ibsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    check_say("started sends\n");
}

static void receives(int *data)
{
    MPI_Request request;
    MPI_Status status;
    int is_done = 0;

    MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &status);
    status_is_of_proc_null(&status);
    MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Irecv(data, 4, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    status_is_of_proc_null(&status);
    MPI_Irecv(data, 4, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &is_done, &status);
    CHECK(is_done);
    status_is_of_proc_null(&status);
    CHECK_EQUAL(data[0], 42);
    check_say("receives\n");
}

static void probes(int *data)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int is_there = 0;

    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    status_is_of_proc_null(&status);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &is_there, &status);
    CHECK(is_there);
    status_is_of_proc_null(&status);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    status_is_of_proc_null(&status);
    MPI_Mrecv(data, 4, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    status_is_of_proc_null(&status);
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &is_there, &message, &status);
    CHECK(is_there && message == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(data, 4, MPI_INT, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, &status);
    status_is_of_proc_null(&status);
    CHECK_EQUAL(data[3], 42);
    check_say("probes\n");
}

/* A chain without ends that wrap: the common use. */
static void a_chain_with_open_ends(struct world world)
{
    int up = world.rank + 1 < world.size ? world.rank + 1 : MPI_PROC_NULL;
    int down = world.rank > 0 ? world.rank - 1 : MPI_PROC_NULL;
    MPI_Status status;
    int in = -5;
    int out = world.rank;

    MPI_Sendrecv(&out, 1, MPI_INT, up, 1, &in, 1, MPI_INT, down, 1, MPI_COMM_WORLD,
                 &status);
    CHECK_EQUAL(in, world.rank > 0 ? world.rank - 1 : -5);
    CHECK_EQUAL(status.MPI_SOURCE, down);
    MPI_Sendrecv_replace(&out, 1, MPI_INT, down, 2, up, 2, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(out, up == MPI_PROC_NULL ? world.rank : world.rank + 1);
    CHECK_EQUAL(status.MPI_SOURCE, up);
    check_say("a chain with open ends\n");
}

static void persistent(int *data)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Send_init(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        status_is_of_proc_null(&statuses[1]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK_EQUAL(data[1], 42);
    check_say("persistent\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    int data[4] = {42, 42, 42, 42};

    sends(data);
    started_sends(data);
    receives(data);
    probes(data);
    a_chain_with_open_ends(world);
    persistent(data);
    return check_end();
}
