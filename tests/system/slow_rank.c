/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded above bcs, slows rank 1 of a program, whatever that is: it sleeps after
 * each message that it has got by MPI_Recv, as if it had more to compute than the
 * others.
 */
#include <mpi.h>
#include <time.h>

enum { SLOW_RANK = 1, SLEEP_NS = 3000000 };

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    int rank, rc = PMPI_Recv(data, n, type, from, tag, comm, status);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == SLOW_RANK) {
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    }
    return rc;
}
