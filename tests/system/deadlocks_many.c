/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of deadlocks.c in which ranks wait for more operations, or have more
 * collectives under way, than a record has room for.
 */
#include "deadlocks.h"

#include <mpi.h>
#include <stddef.h>

enum {
    TAG = 7,
    MANY = 1000,
    VERY_MANY = 100000,
    N_SENT = 300, /* of VERY_MANY */
    N_COLLECTIVES = 40,
    N_IN_TURNS = 100, /* more than go on at a time */
    LATE_ONE = 900,   /* of MANY */
    WHILE_MS = 300,
};

static MPI_Request requests[VERY_MANY];
static int words[VERY_MANY];

static int my_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int last_rank(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size - 1;
}

static void receive(int from)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void post_receive(int i, int from)
{
    MPI_Irecv(&words[i], 1, MPI_INT, from, TAG + 1, MPI_COMM_WORLD, &requests[i]);
}

void any_of_very_many(void)
{
    int number;

    if (my_rank() != 0) {
        receive(0);
        return;
    }
    for (int i = 0; i < MANY; i++) {
        int other = 1 + i % last_rank();

        if (i % 3 == 0) {
            MPI_Issend(&words[i], 1, MPI_INT, other, TAG + 1, MPI_COMM_WORLD,
                       &requests[i]);
        } else {
            post_receive(i, other);
        }
    }
    MPI_Waitany(MANY, requests, &number, MPI_STATUS_IGNORE);
}

void late_one_of_very_many(void)
{
    int rank = my_rank(), last = last_rank(), number, word = 0;

    if (rank == last) {
        compute(WHILE_MS);
        MPI_Send(&word, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD);
        return;
    }
    if (rank != 0) {
        receive(0);
        return;
    }
    for (int i = 0; i < MANY; i++) {
        post_receive(i, i == LATE_ONE ? last : 1 + i % (last - 1));
    }
    MPI_Waitany(MANY, requests, &number, MPI_STATUS_IGNORE);
    for (int i = 1; i < last; i++) {
        MPI_Send(&word, 1, MPI_INT, i, TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MANY; i++) {
        if (i != LATE_ONE) {
            MPI_Cancel(&requests[i]);
        }
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

void all_of_very_many(void)
{
    int rank = my_rank();

    for (int i = 0; rank == 0 && i < VERY_MANY; i++) {
        post_receive(i, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Waitall(VERY_MANY, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; rank == 1 && i < N_SENT; i++) {
        MPI_Send(&words[i], 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        receive(0);
    }
}

/** All begin some collectives and wait for them. */
static void collectives(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Iallreduce(MPI_IN_PLACE, &words[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

void one_is_not_in_many_collectives(void)
{
    if (my_rank() == last_rank()) {
        receive(0);
    } else {
        collectives(N_COLLECTIVES);
    }
}

void one_is_not_in_collectives_by_turns(void)
{
    if (my_rank() == last_rank()) {
        receive(0);
    } else {
        collectives(N_IN_TURNS);
    }
}

void receives_beside_many_collectives(void)
{
    int rank = my_rank(), last = last_rank();

    for (int i = 0; rank != last && i < N_COLLECTIVES; i++) {
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]);
    }
    receive(rank == last ? 0 : rank + 1);
}

void late_to_many_collectives(void)
{
    if (my_rank() == last_rank()) {
        compute(WHILE_MS);
    }
    collectives(N_COLLECTIVES);
    collectives(N_IN_TURNS);
}
