/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a rank to itself that disturb posts while it computes. No state but
 * the caller's.
 */
#include "apps/overhead/posts.h"

void posts_init(struct posts *posts, int rank)
{
    *posts = (struct posts){.rank = rank};
    for (int i = 0; i < POSTS_UNDER_WAY; i++) {
        posts->requests[i][0] = posts->requests[i][1] = MPI_REQUEST_NULL;
    }
}

static void place_end(struct posts *posts, int place)
{
    MPI_Waitall(2, posts->requests[place], MPI_STATUSES_IGNORE);
    if (posts->received[place] != posts->sent[place]) {
        posts->is_wrong = true;
    }
}

void posts_add(struct posts *posts)
{
    int place = (int)(posts->n_posted % POSTS_UNDER_WAY);

    place_end(posts, place);
    posts->sent[place] = ++posts->n_posted;
    MPI_Irecv(&posts->received[place], 1, MPI_LONG, posts->rank, 0, MPI_COMM_WORLD,
              &posts->requests[place][0]);
    MPI_Isend(&posts->sent[place], 1, MPI_LONG, posts->rank, 0, MPI_COMM_WORLD,
              &posts->requests[place][1]);
}

void posts_end(struct posts *posts)
{
    for (int place = 0; place < POSTS_UNDER_WAY; place++) {
        place_end(posts, place);
    }
}
