/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nobody leaves a barrier before all have come; collectives do not disturb pending
 * messages, nor each other when ranks run ahead; a late root delays the others only.
 */
#include "tests/conformance/check.h"

#include <time.h>

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void nobody_leaves_before_all_have_come(struct world world)
{
    double *came = check_alloc(world.size * sizeof(double));
    double *left = check_alloc(world.size * sizeof(double));

    for (int round = 0; round < 30; round++) {
        double mine[2];

        for (double until = now() + (round % world.size == world.rank ? 1e-3 : 0);
             now() < until;) {
        }
        mine[0] = now();
        MPI_Barrier(MPI_COMM_WORLD);
        mine[1] = now();
        MPI_Allgather(&mine[0], 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Allgather(&mine[1], 1, MPI_DOUBLE, left, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int i = 0; i < world.size; i++) {
            for (int j = 0; j < world.size; j++) {
                CHECK(came[i] <= left[j]);
            }
        }
    }
    free(came);
    free(left);
    check_say("nobody leaves before all have come\n");
}

static void messages_stay_pending_across_collectives(struct world world)
{
    enum { N = 300000 };
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Request requests[4];
    int value = world.rank;
    int small = -1;

    check_fill(out, N, world.rank);
    MPI_Irecv(&small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(small, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&world.rank, 1, MPI_INT, world.right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(out, N, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(&value, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Irecv(in, N, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Reduce(&world.rank, &value, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(3, requests + 1, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(small, world.left);
    CHECK(check_is_filled(in, N, world.left));
    free(out);
    free(in);
    check_say("messages stay pending across collectives\n");
}

/* Roots of broadcasts and leaves of reductions need not wait: they run ahead here. */
static void ranks_run_ahead(struct world world)
{
    enum { N = 200 };
    int sum = 0;

    for (int i = 0; i < N; i++) {
        int root = i / 20 % world.size;
        int value = world.rank == root ? i : -1;
        int total = 0;

        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK_EQUAL(value, i);
        MPI_Reduce(&value, &total, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(world.rank != root || total == i * world.size);
        sum += value;
    }
    check_say("ranks run ahead: %d\n", sum);
}

static void unlike_collectives_alternate(struct world world)
{
    int *all = check_alloc(world.size * sizeof(int));
    int *back = check_alloc(world.size * sizeof(int));
    long sum = 0;

    for (int i = 0; i < 50; i++) {
        int mine = world.rank + i;
        int one;

        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Alltoall(all, 1, MPI_INT, back, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK_EQUAL(back[world.left], mine);
        MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, i % world.size, MPI_COMM_WORLD);
        CHECK_EQUAL(one, mine);
        MPI_Gather(&one, 1, MPI_INT, back, 1, MPI_INT, (i + 1) % world.size,
                   MPI_COMM_WORLD);
        MPI_Allreduce(&one, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += mine;
        if (i % 10 == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    free(all);
    free(back);
    check_say("unlike collectives alternate: %ld\n", sum);
}

static void messages_between_collectives(struct world world)
{
    int token = world.rank;

    for (int i = 0; i < 80; i++) {
        int smallest;

        MPI_Sendrecv_replace(&token, 1, MPI_INT, world.right, i, world.left, i,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&token, &smallest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK_EQUAL(smallest, 0);
    }
    check_say("messages between collectives\n");
}

/* So many that wires and batches between nodes are full of them. */
static void collectives_among_many_messages(struct world world, int n_bytes)
{
    enum { N = 400, N_COLLECTIVES = 20 };
    MPI_Request *requests = check_alloc((long)N * world.size * sizeof(*requests));
    char *data = check_alloc((size_t)N * (size_t)n_bytes);
    int n_requests = 0;

    for (int i = 0; i < N; i++) {
        char *message = data + (size_t)i * (size_t)n_bytes;

        if (world.rank == 0) {
            check_fill(message, (size_t)n_bytes, (uint64_t)i);
        }
        for (int to = 1; world.rank == 0 && to < world.size; to++) {
            MPI_Isend(message, n_bytes, MPI_BYTE, to, i, MPI_COMM_WORLD,
                      &requests[n_requests++]);
        }
        if (world.rank != 0) {
            MPI_Irecv(message, n_bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD,
                      &requests[n_requests++]);
        }
    }
    for (long i = 0; i < N_COLLECTIVES; i++) {
        long sum = 0, mine = 1000 * i + world.rank;

        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQUAL(sum, 1000 * i * world.size + world.size * (world.size - 1) / 2);
    }
    for (long i = 0; i < N_COLLECTIVES; i++) {
        long word = 1000 * i + world.rank, root = i % world.size;

        MPI_Bcast(&word, 1, MPI_LONG, (int)root, MPI_COMM_WORLD);
        CHECK_EQUAL(word, 1000 * i + root);
    }
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK(check_is_filled(data + (size_t)i * (size_t)n_bytes, (size_t)n_bytes,
                              (uint64_t)i));
    }
    free(requests);
    free(data);
    check_say("collectives among many messages of %d bytes\n", n_bytes);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    nobody_leaves_before_all_have_come(world);
    messages_stay_pending_across_collectives(world);
    ranks_run_ahead(world);
    unlike_collectives_alternate(world);
    messages_between_collectives(world);
    collectives_among_many_messages(world, 1000);
    collectives_among_many_messages(world, 100000);
    return check_end();
}
