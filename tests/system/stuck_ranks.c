/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that never come to an end, each at a place that run_mds.py knows: rank 0 waits
 * for a message that nobody sends, rank 3 does something else, the others are in a
 * barrier.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Request requests[3];
    MPI_Comm comm;
    int rank, word = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "the grid");
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    if (rank == 0) {
        MPI_Isend(&word, 1, MPI_INT, 0, 6, comm, &requests[0]); /* is over at once */
        MPI_Recv(&word, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
        MPI_Irecv(&word, 1, MPI_INT, 2, 7, comm, &requests[1]);
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[2]);
        if (argc > 1) {
            MPI_Wait(&requests[2], MPI_STATUS_IGNORE); /* anybody's */
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* rank 2's */
    } else if (rank == 3) {
        for (;;) {
            pause();
        }
    }
    MPI_Barrier(comm); /* all but two */
    MPI_Finalize();
    return 0;
}
