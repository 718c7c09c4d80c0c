/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resident memory of all ranks together before any communication, what processes
 * share counted once. A program of its own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* KB of this process that no other has, with its part of what they share; -1 if the
 * kernel does not tell. */
static long resident_kb(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long n_kb = -1;

    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "Pss: %ld", &n_kb);
    }
    if (file) {
        fclose(file);
    }
    return n_kb;
}

int main(int argc, char **argv)
{
    long mine[2];
    long all[2]; /* KB, and ranks that do not know theirs */
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine[0] = resident_kb();
    mine[1] = mine[0] < 0;
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all[1]) {
        fputs("bench_resident: /proc/self/smaps_rollup has no Pss\n", stderr);
    } else if (rank == 0) {
        printf("resident 0 %.1f MB\n", (double)all[0] / 1024);
    }
    MPI_Finalize();
    return all[1] ? EXIT_FAILURE : EXIT_SUCCESS;
}
