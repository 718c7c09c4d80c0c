/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of deadlocks.c about messages that stand in no queue: a matched probe has them,
 * or their sender has taken them back.
 */
#include "deadlocks.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 7, LONG = 300000, N_LOOPS = 500, WHILE_MS = 600, ROOM = 4 * LONG };

enum kind { STANDARD, READY, SYNCHRONOUS, BUFFERED, PERSISTENT, N_KINDS };

static char bytes[LONG];
static const int lengths[] = {0, 4, 100, 5000, 60000, LONG};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static int my_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void expect(bool is_so, const char *what, int kind, int n)
{
    if (!is_so) {
        fprintf(stderr, "rank %d, kind %d of %d bytes: %s\n", my_rank(), kind, n, what);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

void probed_and_not_received(void)
{
    MPI_Message message;
    int rank = my_rank();

    if (rank == 0) {
        MPI_Mprobe(1, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, 1, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Ssend(bytes, 4, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    }
}

void probed_and_finalized(void)
{
    MPI_Message message;
    int rank = my_rank(), is_there = 0;

    while (rank == 0 && !is_there) {
        MPI_Improbe(1, TAG, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
    }
    if (rank == 1) {
        MPI_Send(bytes, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    }
}

static void start(enum kind kind, int n, int to, MPI_Request *request_out)
{
    static int (*const starts[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                 MPI_Request *) = {
        [STANDARD] = MPI_Isend,        [READY] = MPI_Irsend,
        [SYNCHRONOUS] = MPI_Issend,    [BUFFERED] = MPI_Ibsend,
        [PERSISTENT] = MPI_Ssend_init,
    };

    starts[kind](bytes, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD, request_out);
    if (kind == PERSISTENT) {
        MPI_Start(request_out);
    }
}

/** Cancel a send, and wait for it. @return whether it was taken back */
static bool cancel(MPI_Request *request)
{
    MPI_Status status;
    int is_cancelled;

    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    if (*request != MPI_REQUEST_NULL) {
        MPI_Request_free(request);
    }
    return is_cancelled;
}

static void receive_one(int from, int kind, int n)
{
    MPI_Status status;
    int count;

    MPI_Recv(bytes, LONG, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    expect(count == 1, "another message came", kind, n);
}

/** Of three messages from rank 0 to a rank the one between is taken back. */
static void cancel_between(int kind, int n, int to)
{
    MPI_Request request, others[2];
    int rank = my_rank();

    for (int i = 0; rank == 0 && i < 2; i++) {
        MPI_Isend(bytes, 1, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &others[i]);
        if (i == 0) {
            start((enum kind)kind, n, to, &request);
        }
    }
    if (rank == 0) {
        expect(cancel(&request), "was not taken back", kind, n);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* nothing is received before */
    for (int i = 0; rank == to && i < 2; i++) {
        receive_one(0, kind, n);
    }
    if (rank == 0) {
        MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cancel_all(int to)
{
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int i = 0; i < N_LENGTHS; i++) {
            cancel_between(kind, lengths[i], to);
        }
    }
}

/** Of two buffered ones that are under way the first. */
static void cancel_first(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    int rank = my_rank(), count = 0;

    if (rank == 0) {
        start(BUFFERED, LONG, 1, &requests[0]);
        start(BUFFERED, LONG - 1, 1, &requests[1]);
        expect(cancel(&requests[0]), "was not taken back", BUFFERED, LONG);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(bytes, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        expect(count == LONG - 1, "another message came", BUFFERED, LONG - 1);
    }
}

void cancelled_sends(void)
{
    static char room[ROOM];
    void *detached;
    int n;

    MPI_Buffer_attach(room, ROOM);
    cancel_all(0);
    cancel_all(1);
    cancel_first();
    MPI_Buffer_detach(&detached, &n);
}

void cancelled_again_and_again(void)
{
    static char room[ROOM];
    MPI_Request request;
    void *detached;
    int rank = my_rank(), n;
    double end;

    MPI_Buffer_attach(room, ROOM);
    MPI_Barrier(MPI_COMM_WORLD);
    end = MPI_Wtime() + WHILE_MS / 2000.0; /* long before rank 1 receives */
    if (rank == 1) {
        compute(WHILE_MS);
        receive_one(0, -1, 0);
    }
    for (int i = 0; rank == 0 && i < N_LOOPS && MPI_Wtime() < end; i++) {
        start((enum kind)(i % N_KINDS), lengths[i % N_LENGTHS], 1, &request);
        expect(cancel(&request), "was not taken back", i % N_KINDS,
               lengths[i % N_LENGTHS]);
    }
    if (rank == 0) {
        MPI_Send(bytes, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&detached, &n);
}

/** The receiver has the message, by a receive that it has posted before, or by a
 *  matched probe. */
void cancelled_too_late(void)
{
    MPI_Message message;
    MPI_Request request;
    int rank = my_rank();

    for (int i = 0; rank < 2 && i < 2 * N_LENGTHS; i++) {
        int n = lengths[i / 2];
        bool is_probed = i % 2 != 0;

        if (rank == 0) {
            start(SYNCHRONOUS, n, 1, &request);
            if (!is_probed) { /* it stands behind the first one, so that has been read
                               */
                MPI_Send(NULL, 0, MPI_CHAR, 1, TAG + 2, MPI_COMM_WORLD);
            }
            MPI_Recv(NULL, 0, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect(!cancel(&request), "was taken back", is_probed, n);
        } else if (is_probed) {
            MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD);
            MPI_Mrecv(bytes, LONG, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(bytes, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request);
            MPI_Recv(NULL, 0, MPI_CHAR, 0, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}
