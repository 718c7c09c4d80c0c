/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a rank to itself, posted now and then while it computes, so that there is
 * always something to carry out, and never a wait for another rank.
 */
#ifndef OVERHEAD_POSTS_H
#define OVERHEAD_POSTS_H

#include <mpi.h>
#include <stdbool.h>

/* Messages under way: what is posted every 0.2 ms has 3 ms to arrive. */
enum { POSTS_UNDER_WAY = 16 };

struct posts {
    int rank;
    bool is_wrong; /* a message held something else */
    long n_posted;
    long sent[POSTS_UNDER_WAY], received[POSTS_UNDER_WAY];
    MPI_Request requests[POSTS_UNDER_WAY][2];
};

/** Nothing is under way. */
void posts_init(struct posts *posts, int rank);

/** Post a message without waiting for it; waits for the one POSTS_UNDER_WAY before. */
void posts_add(struct posts *posts);

/** Wait for all. */
void posts_end(struct posts *posts);

#endif
