/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that others wait for, as run_mds.py knows: rank 2 comes late to each barrier,
 * rank 1 sends late to rank 0, rank 3 receives late from rank 2, and a value goes from
 * rank to rank, each of which works before it passes it on.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#ifdef LATER_LINES /* as if much had been written above */
#line 1001
#endif

enum { N_ROUNDS = 5, N_LONG = 4000000, MOST_MESSAGES = 2 };

static int rank, size;
static char *data;

static void work(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void late_to_a_barrier(void)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        if (rank == 2) {
            work();
        }
        MPI_Barrier(MPI_COMM_WORLD); /* the others wait here */
    }
}

static void late_sender(void)
{
    MPI_Request requests[MOST_MESSAGES];
    int in[MOST_MESSAGES], out = 1;

    for (int i = 0; i < N_ROUNDS; i++) {
        if (rank == 0) {
            MPI_Irecv(&in[0], 1, MPI_INT, 3, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(&in[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* rank 0 waits here */
        } else if (rank == 1) {
            work();
            MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); /* for rank 1 */
        } else if (rank ==
                   3) { /* not the same call: the compiler would make them one */
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void late_receiver(void)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        if (rank == 2) {
            MPI_Send(data, N_LONG, MPI_BYTE, 3, 2,
                     MPI_COMM_WORLD); /* rank 2 waits here */
        } else if (rank == 3) {
            work();
            MPI_Recv(data, N_LONG, MPI_BYTE, 2, 2, MPI_COMM_WORLD, /* for rank 3 */
                     MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void pipeline(void)
{
    int value = 0;

    for (int i = 0; i < N_ROUNDS; i++) {
        if (rank > 0) {
            MPI_Recv(&value, 1, MPI_INT, rank - 1, 3,
                     MPI_COMM_WORLD, /* all wait here */
                     MPI_STATUS_IGNORE);
        }
        work();
        if (rank < size - 1) {
            MPI_Send(&value, 1, MPI_INT, rank + 1, 3,
                     MPI_COMM_WORLD); /* for the last */
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    data = calloc(1, N_LONG);
    late_to_a_barrier();
    late_sender();
    late_receiver();
    pipeline();
    free(data);
    MPI_Finalize();
    return 0;
}
