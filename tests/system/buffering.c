/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When MPI's sends are done, as BCS_BUFFERING says: eager, standard sends return at
 * once; none, not before their receive. Collectives, freed communicators and buffered
 * sends do not depend on it. Ends with status 0 if all is well; run by run_modes.py, by
 * at least 2 ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/check.h"

enum { N_TESTS = 500, DATA = 1, GO = 2, NOTE = 3 };

static int is_buffered;

static void tell(int rank, int tag)
{
    MPI_Bsend(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

static void hear(int rank, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/** Test a started send of which rank 1 posts the receive only when it is told to. */
static void a_started_send(MPI_Request *request)
{
    int is_done = 0;

    MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(is_done, is_buffered);
    for (int i = 0; i < N_TESTS && !is_buffered; i++) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        CHECK(!is_done);
    }
    tell(1, GO);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void started_sends_of_all_kinds(struct world world)
{
    enum { N_KINDS = 3 };
    double value = 1.5;
    double in = 0;

    for (int kind = 0; kind < N_KINDS && world.rank == 1; kind++) {
        hear(0, GO);
        MPI_Recv(&in, 1, MPI_DOUBLE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == value);
    }
    for (int kind = 0; kind < N_KINDS && world.rank == 0; kind++) {
        MPI_Request request;
        MPI_Datatype spread;

        if (kind == 0) {
            MPI_Isend(&value, 1, MPI_DOUBLE, 1, DATA, MPI_COMM_WORLD, &request);
            a_started_send(&request);
        } else if (kind == 1) { /* 8 bytes with a gap between them */
            float halves[4];

            memcpy(&halves[0], &value, 4);
            memcpy(&halves[3], (char *)&value + 4, 4);
            MPI_Type_vector(2, 1, 3, MPI_FLOAT, &spread);
            MPI_Type_commit(&spread);
            MPI_Isend(halves, 1, spread, 1, DATA, MPI_COMM_WORLD, &request);
            MPI_Type_free(&spread);
            a_started_send(&request);
        } else {
            MPI_Send_init(&value, 1, MPI_DOUBLE, 1, DATA, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
            a_started_send(&request);
            MPI_Request_free(&request);
        }
    }
}

/** Rank 1 sends a note before it receives; a send that has waited finds the note. */
static void a_blocking_send(struct world world)
{
    double value = 2.5;
    int is_there;

    if (world.rank == 0) {
        MPI_Send(&value, 1, MPI_DOUBLE, 1, DATA, MPI_COMM_WORLD);
        MPI_Iprobe(1, NOTE, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        CHECK_EQUAL(is_there, !is_buffered);
        tell(1, GO);
        hear(1, NOTE);
    } else if (world.rank == 1) {
        MPI_Probe(0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (is_buffered) {
            hear(0, GO);
        }
        tell(0, NOTE);
        MPI_Recv(&value, 1, MPI_DOUBLE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_buffered) {
            hear(0, GO);
        }
    }
}

static void exchanges_do_not_deadlock(struct world world)
{
    int in = -1;
    int self = world.rank;

    MPI_Sendrecv(&world.rank, 1, MPI_INT, world.right, DATA, &in, 1, MPI_INT,
                 world.left, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.left);
    MPI_Sendrecv_replace(&in, 1, MPI_INT, world.left, DATA, world.right, DATA,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, world.rank);
    MPI_Sendrecv(&self, 1, MPI_INT, world.rank, DATA, &in, 1, MPI_INT, world.rank, DATA,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, self);
}

/** The root of a broadcast is done before the others have begun it. */
static void a_root_does_not_wait(struct world world)
{
    char data[1000];

    memset(data, world.rank == 0 ? 7 : 0, sizeof(data));
    if (world.rank != 0) {
        hear(0, GO);
    }
    MPI_Bcast(data, sizeof(data), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int rank = 1; world.rank == 0 && rank < world.size; rank++) {
        tell(rank, GO);
    }
    CHECK(check_is_all(data, sizeof(data), 7));
}

/** All members but rank 0 leave before rank 0 does anything about it. */
static void communicators_are_freed_alone(struct world world)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (world.rank == 0) {
        for (int rank = 1; rank < world.size; rank++) {
            hear(rank, NOTE);
        }
    }
    MPI_Comm_free(&comm);
    if (world.rank != 0) {
        tell(0, NOTE);
    }
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    const char *buffering = getenv("BCS_BUFFERING");
    int n_attached = 1000 * MPI_BSEND_OVERHEAD;
    void *attached = check_alloc(n_attached);

    is_buffered = buffering == NULL || strcmp(buffering, "none") != 0;
    MPI_Buffer_attach(attached, n_attached);
    started_sends_of_all_kinds(world);
    for (int i = 0; i < 20; i++) {
        a_blocking_send(world);
        exchanges_do_not_deadlock(world);
        a_root_does_not_wait(world);
        communicators_are_freed_alone(world);
    }
    MPI_Buffer_detach(&attached, &n_attached);
    free(attached);
    return check_end();
}
