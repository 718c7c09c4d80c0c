/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A passive target that sends more than its receiver has taken: an implementation that
 * makes it wait for room must let others at its window meanwhile. The receiver takes
 * the messages after it has been there. Relies on buffering. Few operations may be
 * pending, so that a short flood is enough.
 */
#include "tests/conformance/check.h"

enum { N_MESSAGES = 1500 };

int main(int argc, char **argv)
{
    struct world world;
    MPI_Win window;
    long counter = 0, one = 1, before;
    int in;

    setenv("BCS_DESCRIPTORS", "64", 0);
    world = check_begin(&argc, &argv);
    if (world.size < 2) { /* Open MPI 4.1 has no such window on one process. */
        check_say("two ranks are needed\n");
        return check_end();
    }
    MPI_Win_create(&counter, sizeof(counter), sizeof(counter), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    for (int i = 0; world.rank == 0 && i < N_MESSAGES; i++) {
        MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    if (world.rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    }
    for (int i = 0; world.rank == 1 && i < N_MESSAGES; i++) {
        MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world.rank, 0, window);
    CHECK_EQUAL(counter, world.rank == 0);
    MPI_Win_unlock(world.rank, window);
    MPI_Win_free(&window);
    return check_end();
}
