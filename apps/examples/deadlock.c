/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain MPI program with a mistake that is often made: rank 0 sends with another tag
 * than rank 1 expects. Natively it hangs. Under BCS the ranks, their calls and the two
 * tags are named, and the job ends.
 */
#include <mpi.h>

enum { HALO = 7, FLUX = 8 };

static void exchange(int rank, double *flux)
{
    if (rank == 0) {
        MPI_Send(flux, 1, MPI_DOUBLE, 1, FLUX, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(flux, 1, MPI_DOUBLE, 0, HALO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    double flux = 0, sum;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(rank, &flux);
    MPI_Allreduce(&flux, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
