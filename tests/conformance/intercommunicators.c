/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: messages to the other side by its ranks, wildcards, collectives
 * through it, merged into one, while both sides' own communicators are in use.
 */
#include "tests/conformance/check.h"

struct sides {
    MPI_Comm mine;
    MPI_Comm both; /* the intercommunicator */
    int which;
    int rank;
    int n_remote;
};

static struct sides sides_make(struct world world)
{
    struct sides sides = {.which = world.rank % 2};

    MPI_Comm_split(MPI_COMM_WORLD, sides.which, world.rank, &sides.mine);
    MPI_Intercomm_create(sides.mine, 0, MPI_COMM_WORLD, 1 - sides.which, 12,
                         &sides.both);
    MPI_Comm_rank(sides.both, &sides.rank);
    MPI_Comm_remote_size(sides.both, &sides.n_remote);
    return sides;
}

static void messages_cross_over(struct world world, const struct sides *sides)
{
    int values[2] = {world.rank, -1};
    int is_inter;
    MPI_Status status;
    MPI_Request requests[16];

    MPI_Comm_test_inter(sides->both, &is_inter);
    CHECK(is_inter);
    if (sides->rank < sides->n_remote && sides->rank < world.size / 2) {
        MPI_Sendrecv(&values[0], 1, MPI_INT, sides->rank, 1, &values[1], 1, MPI_INT,
                     MPI_ANY_SOURCE, MPI_ANY_TAG, sides->both, &status);
        CHECK_EQUAL(status.MPI_SOURCE, sides->rank);
        CHECK_EQUAL(values[1], sides->which ? world.rank - 1 : world.rank + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < sides->n_remote; i++) {
        MPI_Isend(&values[0], 1, MPI_INT, i, 2, sides->both, &requests[i]);
    }
    for (int i = sides->n_remote - 1; i >= 0; i--) {
        MPI_Recv(&values[1], 1, MPI_INT, i, 2, sides->both, &status);
        CHECK_EQUAL(values[1], 2 * i + 1 - sides->which);
    }
    MPI_Waitall(sides->n_remote, requests, MPI_STATUSES_IGNORE);
    check_say("messages cross over\n");
}

static void long_messages_cross_over(struct world world, const struct sides *sides)
{
    enum { N = 400000 };
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    check_fill(out, N, world.rank);
    if (sides->rank == 0) {
        MPI_Isend(out, N, MPI_BYTE, 0, 3, sides->both, &requests[0]);
        MPI_Irecv(in, N, MPI_BYTE, 0, 3, sides->both, &requests[1]);
    }
    MPI_Allreduce(MPI_IN_PLACE, (int[]){1}, 1, MPI_INT, MPI_SUM, sides->mine);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(sides->rank != 0 || check_is_filled(in, N, 1 - world.rank));
    free(out);
    free(in);
    check_say("long messages cross over\n");
}

static void collectives_cross_over(struct world world, const struct sides *sides)
{
    int value = world.rank == 0 ? 4242 : 0;
    int sum = 0;
    int root = sides->which == 1 ? 0 : world.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    MPI_Barrier(sides->both);
    MPI_Bcast(&value, 1, MPI_INT, root, sides->both);
    CHECK_EQUAL(value, sides->which || world.rank == 0 ? 4242 : 0);
    MPI_Allreduce(&world.rank, &sum, 1, MPI_INT, MPI_SUM, sides->both);
    for (int rank = 1 - sides->which; rank < world.size; rank += 2) {
        sum -= rank;
    }
    CHECK_EQUAL(sum, 0);
    check_say("collectives cross over\n");
}

static void both_become_one(struct world world, const struct sides *sides)
{
    MPI_Comm merged;
    MPI_Comm copy;
    int rank;
    int in = -1;
    int n_first = (world.size + 1) / 2;

    MPI_Comm_dup(sides->both, &copy);
    MPI_Intercomm_merge(copy, sides->which, &merged);
    MPI_Comm_free(&copy);
    MPI_Comm_rank(merged, &rank);
    CHECK_EQUAL(rank, sides->which ? n_first + world.rank / 2 : world.rank / 2);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % world.size, 1, &in, 1, MPI_INT,
                 (rank + world.size - 1) % world.size, 1, merged, MPI_STATUS_IGNORE);
    CHECK_EQUAL(in, (rank + world.size - 1) % world.size);
    MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQUAL(in, world.size * (world.size - 1) / 2);
    MPI_Comm_free(&merged);
    check_say("both become one\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct sides sides;

    if (world.size < 2) {
        check_say("two ranks are needed\n");
        return check_end();
    }
    sides = sides_make(world);
    messages_cross_over(world, &sides);
    long_messages_cross_over(world, &sides);
    collectives_cross_over(world, &sides);
    both_become_one(world, &sides);
    MPI_Comm_free(&sides.both);
    MPI_Comm_free(&sides.mine);
    return check_end();
}
