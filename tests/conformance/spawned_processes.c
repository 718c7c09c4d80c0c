/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that the program spawns: messages and collectives between parents and
 * children, over the intercommunicator and over one merged from it, and over a part of
 * the merged one that has parents only.
 */
#include "tests/conformance/check.h"

enum { N_CHILDREN = 2 };

static void talk_across(MPI_Comm across, int is_child)
{
    int rank, value = -1;

    MPI_Comm_rank(across, &rank);
    if (rank != 0) {
        return;
    }
    MPI_Sendrecv(&is_child, 1, MPI_INT, 0, 7, &value, 1, MPI_INT, 0, 7, across,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, !is_child);
}

static void work_together(MPI_Comm all, int n_parents)
{
    int rank, size, sum, left, token;

    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_EQUAL(size, n_parents + N_CHILDREN);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    left = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &token, 1, MPI_INT, left, 1,
                 all, MPI_STATUS_IGNORE);
    CHECK_EQUAL(token, left);
    MPI_Barrier(all);
}

static void work_apart(MPI_Comm all, int is_child, int n_own)
{
    MPI_Comm own;
    int one = 1, sum;

    MPI_Comm_split(all, is_child, 0, &own);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);
    CHECK_EQUAL(sum, n_own);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, across, all;
    int n_world, n_parents, is_child;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_world);
    MPI_Comm_get_parent(&parent);
    is_child = parent != MPI_COMM_NULL;
    across = parent;
    if (!is_child) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, N_CHILDREN, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &across, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_remote_size(across, &n_parents);
    n_parents = is_child ? n_parents : n_world;
    talk_across(across, is_child);
    MPI_Intercomm_merge(across, is_child, &all);
    work_together(all, n_parents);
    work_apart(all, is_child, n_world);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&across);
    if (is_child) { /* the parents speak */
        MPI_Finalize();
        return 0;
    }
    check_say("parents and children\n");
    return check_end();
}
