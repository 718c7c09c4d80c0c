/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bugs that programs have, in C; for run_planted_hangs.py, with 4 ranks. The argument
 * names one. Where ranks wait at the end, the line in which the call begins has a
 * comment: HANG, the bug, and the ranks.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_WORK = 1, TAG_RESULT = 2, N_HALO = 200000, N_PARTS = 5 };

static int rank, size, left, right;

/** Results come with another tag than the one that rank 0 expects. */
static void wrong_tag(void)
{
    double result = rank;

    if (rank > 0) {
        MPI_Send(&result, 1, MPI_DOUBLE, 0, TAG_RESULT, MPI_COMM_WORLD);
        MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* HANG wrong_tag 1-3 */
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Recv(/* HANG wrong_tag 0 */ &result, 1, MPI_DOUBLE, i, TAG_WORK,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/** Ranks do not agree on who has the parameters. */
static void wrong_root(void)
{
    static int parameters[2000];
    int owner = rank % 2 == 0 ? 1 : 2;

    MPI_Bcast(/* HANG wrong_root 0-3 */ parameters, 2000, MPI_INT, owner,
              MPI_COMM_WORLD);
}

/** A rank without cells leaves a sum out. */
static void skipped_collective(void)
{
    double residual = 1, sum = 0;
    int n_cells = rank == size - 1 ? 0 : 10;

    if (n_cells > 0) {
        MPI_Allreduce(/* HANG skipped_collective 0-2 */ &residual, &sum, 1, MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* HANG skipped_collective 3 */
}

/** All send before they receive; that goes well as long as the halo is small. */
static void large_halo(void)
{
    double *out = calloc(2 * N_HALO, sizeof(*out)), *in = out + N_HALO;

    MPI_Send(/* HANG large_halo 0-3 */ out, N_HALO, MPI_DOUBLE, right, 0,
             MPI_COMM_WORLD);
    MPI_Recv(in, N_HALO, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
}

/** A rank that needs no group of its own does not split. */
static void missing_in_split(void)
{
    MPI_Comm half;
    int total;

    if (rank == size - 1) {
        MPI_Recv(/* HANG missing_in_split 3 */ &total, 1, MPI_INT, 0, TAG_RESULT,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Comm_split(/* HANG missing_in_split 0-2 */ MPI_COMM_WORLD, rank % 2, rank,
                   &half);
    MPI_Comm_free(&half);
    MPI_Send(&rank, 1, MPI_INT, size - 1, TAG_RESULT, MPI_COMM_WORLD);
}

/** A message is in fewer parts than its receiver waits for. */
static void one_part_too_many(void)
{
    int out[N_PARTS] = {0}, in[N_PARTS];
    MPI_Request requests[2 * N_PARTS];
    int n = 0;

    for (int i = 0; i < N_PARTS; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int i = 1; i < N_PARTS; i++) {
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE); /* HANG one_part_too_many 0-3 */
}

static const struct {
    const char *name;
    void (*run)(void);
} bugs[] = {
    {"wrong_tag", wrong_tag},
    {"wrong_root", wrong_root},
    {"skipped_collective", skipped_collective},
    {"large_halo", large_halo},
    {"missing_in_split", missing_in_split},
    {"one_part_too_many", one_part_too_many},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (size_t i = 0; argc > 1 && i < sizeof(bugs) / sizeof(bugs[0]); i++) {
        if (strcmp(bugs[i].name, argv[1]) == 0) {
            bugs[i].run();
        }
    }
    MPI_Finalize();
    return 0;
}
