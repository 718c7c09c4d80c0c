/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks send each other many short messages before any of them receives: who sends
 * must not wait for room that only receives of the same processes make. Relies on
 * buffering. Few operations may be pending, so that a short flood is enough.
 */
#include "tests/conformance/check.h"

enum { N_ROUNDS = 6, N_MESSAGES = 1000 };

int main(int argc, char **argv)
{
    static int out[N_ROUNDS * N_MESSAGES], in[N_MESSAGES];
    static MPI_Request requests[N_MESSAGES];
    struct world world;

    setenv("BCS_DESCRIPTORS", "4096", 0);
    world = check_begin(&argc, &argv);
    for (int i = 0; i < N_ROUNDS * N_MESSAGES; i++) {
        MPI_Request request;

        out[i] = i ^ world.rank;
        MPI_Isend(&out[i], 1, MPI_INT, world.right, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < N_MESSAGES; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, world.left, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(N_MESSAGES, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N_MESSAGES; i++) {
            CHECK_EQUAL(in[i], (round * N_MESSAGES + i) ^ world.left);
        }
    }
    return check_end();
}
