/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with one fault each, as run_mds_faults.py knows, or without: late: rank 1 is
 * late with what it sends to rank 0; serial: a value goes from rank to rank, each of
 * which works before it passes it on; even: all work for as long, and meet. Work is
 * sleep, which takes as long for all on cores that are shared.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_ROUNDS = 8, N_LATE_ROUNDS = 40 };

static int rank, size;

static void work(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void late(void)
{
    int value = 0;

    for (int i = 0; i < N_LATE_ROUNDS; i++) {
        work(rank == 1 ? 25 : 5);
        if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, /* rank 0 waits here */
                     MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD); /* for rank 1 */
        }
    }
}

static void serial(void)
{
    int value = 0;

    for (int i = 0; i < N_ROUNDS; i++) {
        if (rank > 0) {
            MPI_Recv(&value, 1, MPI_INT, rank - 1, 3,
                     MPI_COMM_WORLD, /* all wait here */
                     MPI_STATUS_IGNORE);
        }
        work(rank == size - 1 ? 15 : 20); /* so that the others wait longer for those */
        if (rank < size - 1) {
            MPI_Send(&value, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
        }
        MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    }
}

static void even(void)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        work(100);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } faults[] = {{"late", late}, {"serial", serial}, {"even", even}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (argc == 2 && strcmp(argv[1], faults[i].name) == 0) {
            double began = MPI_Wtime();

            faults[i].run();
            if (rank == 0) {
                printf("%.6f s\n", MPI_Wtime() - began);
            }
            MPI_Finalize();
            return EXIT_SUCCESS;
        }
    }
    fprintf(stderr, "known_faults: late, serial or even is expected\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return EXIT_FAILURE;
}
