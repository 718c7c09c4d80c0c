/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses of communicators that MPI allows, or forgives, and that Open MPI 4.1 alone does
 * not survive. Ends with status 0 if all is well; run by run_modes.py, by at least 2
 * ranks.
 *
 * Messages that nobody has received when their communicator is freed are never met
 * again on a later one, however many follow, and stop nobody. (Open MPI gives a later
 * communicator the same number, finds them there, and crashes.)
 *
 * Communicators may be made from one of which a duplication is under way, even if not
 * all ranks come to that at the same time. (Open MPI mixes up the steps of both and
 * hangs.)
 */
#include <unistd.h>

#include "tests/conformance/sides.h"

enum { N_ROUNDS = 200 };

/** Duplicate, send to a rank of the duplicate, free, again and again. */
static void send_and_free(MPI_Comm comm, int rank)
{
    static char data[400];
    MPI_Comm copy;

    for (int i = 0; i < N_ROUNDS; i++) {
        MPI_Comm_dup(comm, &copy);
        MPI_Bsend(data, i % (int)sizeof(data), MPI_BYTE, rank, 1, copy);
        MPI_Comm_free(&copy);
    }
}

/** A message to a rank of a new duplicate is the only one there. */
static void find_nothing(MPI_Comm comm, int to, int from)
{
    MPI_Comm copy;
    int value = 4711, in = -1, flag = -1, n;
    MPI_Status status;

    MPI_Comm_dup(comm, &copy);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, to, 2, &in, 1, MPI_INT,
                 from == MPI_PROC_NULL ? from : MPI_ANY_SOURCE, MPI_ANY_TAG, copy,
                 &status);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK_EQUAL(status.MPI_SOURCE, from);
    CHECK_EQUAL(n, from != MPI_PROC_NULL);
    CHECK_EQUAL(in, from == MPI_PROC_NULL ? -1 : value);
    MPI_Comm_free(&copy);
}

static void made_during_a_duplication(struct world world)
{
    for (int i = 0; i < 30; i++) {
        MPI_Comm copy, half;
        MPI_Request request;
        int sum, n_even = (world.size + 1) / 2;

        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
        if (world.rank == i % world.size) {
            usleep(300);
        }
        MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, -world.rank, &half);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_MAX, copy);
        CHECK_EQUAL(sum, world.size - 1);
        MPI_Allreduce((int[]){1}, &sum, 1, MPI_INT, MPI_SUM, half);
        CHECK_EQUAL(sum, world.rank % 2 ? world.size / 2 : n_even);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&half);
    }
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct sides sides = sides_make(world, 1);
    char space[4096];
    int n_space = sizeof(space);
    int peer = sides.rank == 0 ? 0 : MPI_PROC_NULL;

    MPI_Buffer_attach(space, n_space);
    send_and_free(MPI_COMM_WORLD, world.right);
    send_and_free(MPI_COMM_SELF, 0);
    send_and_free(sides.both, 0);
    find_nothing(MPI_COMM_WORLD, world.right, world.left);
    find_nothing(MPI_COMM_SELF, 0, 0);
    find_nothing(sides.both, peer, peer);
    MPI_Buffer_detach(space, &n_space);
    made_during_a_duplication(world);
    sides_free(&sides);
    return check_end();
}
