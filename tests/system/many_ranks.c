/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of many ranks: all talk to their neighbours and to rank 0, each to each, and
 * take part in collectives of all, of halves, and of those whose numbers are far apart,
 * which are on nodes far apart. Each value is compared with the formula. Rank 0 prints
 * "ok" when all is right.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void expect(long is, long should_be, const char *what)
{
    if (is != should_be) {
        printf("rank %d of %d: %s is %ld instead of %ld\n", rank, size, what, is,
               should_be);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/** The sum of 1 + the ranks of MPI_COMM_WORLD from first on, each `step` after the
 *  last. */
static long sum(int first, int step)
{
    long total = 0;

    for (int i = first; i < size; i += step) {
        total += i + 1;
    }
    return total;
}

/** Collectives of the ranks first, first + step, and so on. */
static void collectives(MPI_Comm comm, int first, int step)
{
    long mine = rank + 1, all = 0, from_last = -1;
    int n, me;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    MPI_Barrier(comm);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm);
    expect(all, sum(first, step), "a sum");
    if (me == n - 1) {
        from_last = mine;
    }
    MPI_Bcast(&from_last, 1, MPI_LONG, n - 1, comm);
    expect(from_last, first + (long)(n - 1) * step + 1, "the last one's");
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_MAX, n / 2, comm);
    if (me == n / 2) {
        expect(all, from_last, "the largest");
    }
}

/** A message to the next rank, and from the one before. */
static void ring(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;

    MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(got, from, "the neighbour's");
}

/** All to rank 0 at once, which takes them as they come. */
static void many_to_one(void)
{
    long total = 0;

    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Status status;
        int got;

        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
        expect(got, status.MPI_SOURCE, "a source");
        total += got;
    }
    expect(total, (long)size * (size - 1) / 2, "the sum of what has come");
}

/** A number from each to each. */
static void all_to_all(void)
{
    int *out = calloc((size_t)size, sizeof(*out)),
        *in = calloc((size_t)size, sizeof(*in));

    for (int i = 0; i < size; i++) {
        out[i] = rank * size + i;
        in[i] = -1;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        expect(in[i], (long)i * size + rank, "what each has for this one");
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int steps[] = {1, 2, 7, 300};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, rank % steps[i], rank, &comm);
        collectives(comm, rank % steps[i], steps[i]);
        MPI_Comm_free(&comm);
    }
    ring();
    many_to_one();
    all_to_all();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ok\n");
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
