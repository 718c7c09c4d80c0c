/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sides of MPI_COMM_WORLD with an intercommunicator between them, for the programs
 * intercommunicator*.c.
 */
#ifndef TESTS_CONFORMANCE_SIDES_H
#define TESTS_CONFORMANCE_SIDES_H

#include "tests/conformance/check.h"

struct sides {
    MPI_Comm mine;
    MPI_Comm both;     /* the intercommunicator */
    int n_first;       /* world's ranks below it are side 0 */
    int which;         /* 0 or 1 */
    int rank;          /* in this side */
    int size;          /* of this side */
    int n_remote;      /* of the other side */
    int remote_origin; /* world's rank of the other side's rank 0 */
};

/** Cut the world in two after n_first ranks. Collective; there are at least two
 *  ranks. */
static inline struct sides sides_make(struct world world, int n_first)
{
    struct sides sides = {.n_first = n_first, .which = world.rank >= n_first};

    sides.remote_origin = sides.which ? 0 : n_first;
    MPI_Comm_split(MPI_COMM_WORLD, sides.which, world.rank, &sides.mine);
    MPI_Intercomm_create(sides.mine, 0, MPI_COMM_WORLD, sides.remote_origin, 12,
                         &sides.both);
    MPI_Comm_rank(sides.both, &sides.rank);
    MPI_Comm_size(sides.both, &sides.size);
    MPI_Comm_remote_size(sides.both, &sides.n_remote);
    CHECK_EQUAL(sides.rank, sides.which ? world.rank - n_first : world.rank);
    CHECK_EQUAL(sides.n_remote, sides.which ? n_first : world.size - n_first);
    return sides;
}

static inline void sides_free(struct sides *sides)
{
    MPI_Comm_free(&sides->both);
    MPI_Comm_free(&sides->mine);
}

#endif
