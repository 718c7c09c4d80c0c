/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cBSP and MPI in one program, in turns and around each other; with libbcs_mpi.so, too,
 * which holds a library of the same functions.
 */
#include <bcs/cbsp.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int n_wrong;

static void expect(int is_right, int line)
{
    if (!is_right) {
        n_wrong++;
        printf("line %d: wrong\n", line);
    }
}

#define EXPECT(condition) expect(condition, __LINE__)

static long sum;

static void add(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)nBytes;
    sum += *(long *)destAddr;
}

/** A message round the ring by each, at the same time. */
static void both(int me, int n, int round)
{
    int next = (me + 1) % n, before = (me + n - 1) % n;
    long mine = me + 10L * round, theirs = -1;
    MPI_Request request;

    sum = 0;
    EXPECT(MPI_Irecv(&theirs, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, &request) == 0);
    EXPECT(cBSP_send(next, NULL, &mine, sizeof(mine), add) == 0);
    EXPECT(MPI_Send(&mine, 1, MPI_LONG, next, 0, MPI_COMM_WORLD) == 0);
    if (round % 3 == 0) {
        EXPECT(cBSP_gsync() == 0);
    } else {
        EXPECT(cBSP_nsync(1) == 0);
    }
    EXPECT(sum == before + 10L * round);
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    EXPECT(theirs == sum);
    if (round % 10 == 0) {
        long total = 0;
        double number = (double)mine;

        EXPECT(MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) == 0);
        EXPECT(cBSP_reduce(&number, 1, sizeof(number), cBSP_add_double) == 0);
        EXPECT((double)total == number);
    }
}

int main(int argc, char **argv)
{
    int is_outside = argc > 1; /* cBSP around MPI, or MPI around cBSP */
    int rank, size;

    if (is_outside && cBSP_initialize() < 0) {
        return EXIT_FAILURE;
    }
    MPI_Init(&argc, &argv);
    if (!is_outside && cBSP_initialize() < 0) {
        return EXIT_FAILURE;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(rank == cBSP_pid() && size == cBSP_nprocs());
    for (int round = 0; round < 300; round++) {
        both(rank, size, round);
    }
    if (is_outside) {
        MPI_Finalize();
        EXPECT(cBSP_gsync() == 0);
        EXPECT(cBSP_finalize() == 0);
    } else {
        EXPECT(cBSP_finalize() == 0);
        MPI_Finalize();
    }
    printf("process %d of %d: %d wrong\n", rank, size, n_wrong);
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
