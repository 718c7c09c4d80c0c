/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goes to another folder between MPI_Init and MPI_Finalize, as some programs do. Run by
 * run_mds.py.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (chdir("/") != 0) {
        perror("chdir");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
