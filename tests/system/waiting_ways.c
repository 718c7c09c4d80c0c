/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 to 5 that wait for ever, each in a call of its own, all of them for rank 6,
 * which does nothing; for run_top_calls.py, which finds the lines by the words behind
 * them. Two threads of rank 5 wait.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { IDLE = 6, LONG_BYTES = 1 << 20 };

static char data[LONG_BYTES];
static int word;
static MPI_Comm grid;

static void wait_for_some(int rank)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index, n_done, indexes[2];

    MPI_Irecv(&word, 1, MPI_INT, IDLE, 10 + rank, grid, &requests[0]);
    MPI_Irecv(data, 8, MPI_CHAR, IDLE, 20 + rank, grid, &requests[1]);
    if (rank == 0) {
        MPI_Waitany(2, requests, &index, statuses); /* any of two */
    } else {
        MPI_Waitsome(2, requests, &n_done, indexes, statuses); /* some of two */
    }
}

static void *send_in_a_thread(void *arg)
{
    MPI_Ssend(&word, 1, MPI_INT, IDLE, 51, MPI_COMM_WORLD); /* one thread */
    return arg;
}

static void wait_in_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, send_in_a_thread, NULL);
    MPI_Recv(&word, 1, MPI_INT, IDLE, 52, grid, MPI_STATUS_IGNORE); /* the other */
    pthread_join(thread, NULL);
}

static void wait_in_a_way(int rank)
{
    MPI_Message message;
    MPI_Status status;

    switch (rank) {
    case 0:
    case 1:
        wait_for_some(rank);
        break;
    case 2:
        MPI_Probe(IDLE, 12, grid, &status); /* to look */
        break;
    case 3:
        MPI_Mprobe(IDLE, MPI_ANY_TAG, grid, &message, &status); /* to take */
        break;
    case 4:
        MPI_Send(data, LONG_BYTES, MPI_CHAR, IDLE, 14, grid); /* too long to buffer */
        break;
    case 5:
        wait_in_threads();
        break;
    default:
        for (;;) {
            pause();
        }
    }
}

int main(int argc, char **argv)
{
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        printf("no threads\n");
        return EXIT_FAILURE;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &grid);
    MPI_Comm_set_name(grid, "the grid");
    wait_in_a_way(rank);
    MPI_Finalize();
    return 0;
}
