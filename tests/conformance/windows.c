/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication beside messages: fences, locks, atomics and shared windows
 * work while sends and receives are pending.
 */
#include "tests/conformance/check.h"

enum { N = 150000 };

static void fences(struct world world)
{
    int *cells;
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Win window;
    MPI_Request requests[2];

    MPI_Win_allocate(world.size * sizeof(int), sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &cells, &window);
    for (int i = 0; i < world.size; i++) {
        cells[i] = -1;
    }
    check_fill(out, N, world.rank);
    MPI_Irecv(in, N, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Win_fence(0, window);
    MPI_Isend(out, N, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &requests[1]);
    for (int to = 0; to < world.size; to++) {
        MPI_Put(&world.rank, 1, MPI_INT, to, world.rank, 1, MPI_INT, window);
    }
    MPI_Win_fence(0, window);
    for (int i = 0; i < world.size; i++) {
        CHECK_EQUAL(cells[i], i);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(in, N, world.left));
    MPI_Win_free(&window);
    free(out);
    free(in);
    check_say("fences\n");
}

/* The target waits in a message meanwhile: it must still serve the lock. */
static void locks_on_a_waiting_target(struct world world)
{
    long counter = 0;
    long one = 1;
    long before;
    int in;
    MPI_Win window;

    MPI_Win_create(&counter, sizeof(counter), sizeof(counter), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    if (world.rank > 0) {
        for (int i = 0; i < 10; i++) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
            MPI_Win_unlock(0, window);
        }
        MPI_Send(&world.rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    for (int i = 1; world.rank == 0 && i < world.size; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&before, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(world.rank != 0 || counter == 10 * (world.size - 1));
    MPI_Win_free(&window);
    check_say("locks on a waiting target\n");
}

static void a_shared_window(struct world world)
{
    MPI_Comm node;
    MPI_Win window;
    MPI_Aint size;
    int unit;
    int *mine;
    int *first;
    int rank;
    int n;

    (void)world;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &n);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine,
                            &window);
    MPI_Win_lock_all(0, window);
    *mine = 5 * rank;
    MPI_Win_sync(window);
    MPI_Barrier(node);
    MPI_Win_sync(window);
    MPI_Win_shared_query(window, 0, &size, &unit, &first);
    for (int i = 0; i < n; i++) {
        CHECK_EQUAL(first[i], 5 * i);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    check_say("a shared window\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    fences(world);
    if (world.size > 1) { /* Open MPI 4.1 has no such window on one process. */
        locks_on_a_waiting_target(world);
    }
    a_shared_window(world);
    return check_end();
}
