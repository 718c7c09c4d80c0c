/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes calls that go to the MPI library: one-sided ones at all ranks, and of files at
 * rank 1. run_mds.py knows how many.
 */
#include <mpi.h>

enum { N_PUTS = 3 };

int main(int argc, char **argv)
{
    int word = 0, rank;
    MPI_File file;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&word, sizeof(word), sizeof(word), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N_PUTS; i++) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    if (rank == 1) {
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL,
                      &file);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
