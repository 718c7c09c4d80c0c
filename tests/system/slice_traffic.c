/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends so many short messages from each rank to the next one and makes so many
 * barriers, and nothing else: run_mds_slices.py knows what slices must have recorded of
 * it.
 *
 *     slice_traffic MESSAGES BARRIERS [WAIT_US]
 *
 * Between two barriers each rank computes for WAIT_US microseconds, 0 if it is not
 * given.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void send_on(char *out, char *in, int n_bytes)
{
    MPI_Request request;

    MPI_Irecv(in, n_bytes, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
              &request);
    MPI_Send(out, n_bytes, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end) {
    }
}

int main(int argc, char **argv)
{
    static char out[8], in[8];
    double wait_us = argc > 3 ? atof(argv[3]) : 0;

    MPI_Init(&argc, &argv);
    if (argc < 3) {
        fprintf(stderr, "slice_traffic: two numbers are expected\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < atoi(argv[1]); i++) {
        send_on(out, in, sizeof(out));
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        compute(wait_us * 1e-6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
