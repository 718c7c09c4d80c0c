/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bcast, Reduce, Allreduce, Gather, Scatter, Allgather and Alltoall of every length
 * from 0 to 4 MB, every root, called directly one after the other.
 */
#include <string.h>

#include "tests/conformance/check.h"

struct buffers {
    char *mine;
    char *all;
};

static void bcast(struct world world, int n, struct buffers *buffers)
{
    for (int root = 0; root < world.size; root++) {
        memset(buffers->mine, 0, n);
        if (world.rank == root) {
            check_fill(buffers->mine, n, n + root);
        }
        MPI_Bcast(buffers->mine, n, MPI_BYTE, root, MPI_COMM_WORLD);
        CHECK(check_is_filled(buffers->mine, n, n + root));
    }
}

/* Sums modulo 2^64 of mixed numbers: exact in any order. */
static void reductions(struct world world, int n_bytes, struct buffers *buffers)
{
    uint64_t *mine = (uint64_t *)(void *)buffers->mine;
    uint64_t *all = (uint64_t *)(void *)buffers->all;
    int n = n_bytes / 8;

    for (int i = 0; i < n; i++) {
        mine[i] = check_mix(world.rank, i);
    }
    MPI_Allreduce(mine, all, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i += i < 100 ? 1 : 97) {
        uint64_t sum = 0;

        for (int rank = 0; rank < world.size; rank++) {
            sum += check_mix(rank, i);
        }
        CHECK(all[i] == sum);
        CHECK(mine[i] == check_mix(world.rank, i));
    }
    for (int root = 0; root < world.size; root++) {
        memset(all, 0, n_bytes);
        MPI_Reduce(mine, all, n, MPI_UINT64_T, MPI_BXOR, root, MPI_COMM_WORLD);
        for (int i = 0; world.rank == root && i < n; i += i < 100 ? 1 : 97) {
            uint64_t sum = 0;

            for (int rank = 0; rank < world.size; rank++) {
                sum ^= check_mix(rank, i);
            }
            CHECK(all[i] == sum);
        }
    }
}

static void gather_and_scatter(struct world world, int n, struct buffers *buffers)
{
    for (int root = 0; root < world.size; root++) {
        check_fill(buffers->mine, n, n + world.rank);
        MPI_Gather(buffers->mine, n, MPI_BYTE, buffers->all, n, MPI_BYTE, root,
                   MPI_COMM_WORLD);
        for (int rank = 0; world.rank == root && rank < world.size; rank++) {
            CHECK(check_is_filled(buffers->all + (size_t)rank * n, n, n + rank));
            check_fill(buffers->all + (size_t)rank * n, n, 2 * n + rank);
        }
        MPI_Scatter(buffers->all, n, MPI_BYTE, buffers->mine, n, MPI_BYTE, root,
                    MPI_COMM_WORLD);
        CHECK(check_is_filled(buffers->mine, n, 2 * n + world.rank));
    }
}

static void allgather(struct world world, int n, struct buffers *buffers)
{
    check_fill(buffers->mine, n, 3 * n + world.rank);
    MPI_Allgather(buffers->mine, n, MPI_BYTE, buffers->all, n, MPI_BYTE,
                  MPI_COMM_WORLD);
    for (int rank = 0; rank < world.size; rank++) {
        CHECK(check_is_filled(buffers->all + (size_t)rank * n, n, 3 * n + rank));
    }
}

/** There, and in place back to where it came from. */
static void alltoall(struct world world, int n, struct buffers *buffers)
{
    char *out = check_alloc((size_t)n * world.size);
    MPI_Request request;

    for (int rank = 0; rank < world.size; rank++) {
        check_fill(out + (size_t)rank * n, n, n + 100 * world.rank + rank);
    }
    MPI_Alltoall(out, n, MPI_BYTE, buffers->all, n, MPI_BYTE, MPI_COMM_WORLD);
    for (int rank = 0; rank < world.size; rank++) {
        CHECK(check_is_filled(buffers->all + (size_t)rank * n, n,
                              n + 100 * rank + world.rank));
    }
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, buffers->all, n, MPI_BYTE, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(memcmp(buffers->all, out, (size_t)n * world.size) == 0);
    free(out);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct buffers buffers = {
        .mine = check_alloc(CHECK_MAX_LENGTH),
        .all = check_alloc((size_t)CHECK_MAX_LENGTH * (world.size < 3 ? 2 : 1) +
                           (size_t)262144 * world.size),
    };

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];

        bcast(world, n, &buffers);
        reductions(world, n, &buffers);
        if (n <= 262144) {
            gather_and_scatter(world, n, &buffers);
            allgather(world, n, &buffers);
            alltoall(world, n, &buffers);
        }
        check_say("%d\n", n);
    }
    if (world.size <= 4) {
        alltoall(world, 1 << 20, &buffers);
    }
    if (world.size <= 2) {
        gather_and_scatter(world, CHECK_MAX_LENGTH, &buffers);
        allgather(world, CHECK_MAX_LENGTH, &buffers);
        alltoall(world, CHECK_MAX_LENGTH, &buffers);
    }
    free(buffers.mine);
    free(buffers.all);
    return check_end();
}
