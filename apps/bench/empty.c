/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and ends. What a job of it takes is what a launch takes. A program of its own.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
