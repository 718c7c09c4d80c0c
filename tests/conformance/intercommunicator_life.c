/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators made from others: duplicated, split, of parts of both sides,
 * merged, freed with messages under way, hundreds one after the other; and what belongs
 * to each: groups, comparison, attributes, name, error handler.
 */
#include "tests/conformance/sides.h"

/** A message each way between the ranks that both sides have, and nobody else. */
static void exercise(MPI_Comm both, int expected_rank, int expected_remote)
{
    int rank, n_remote, in = -1, is_inter = 0;
    MPI_Status status;

    MPI_Comm_test_inter(both, &is_inter);
    CHECK(is_inter);
    MPI_Comm_rank(both, &rank);
    MPI_Comm_remote_size(both, &n_remote);
    CHECK_EQUAL(rank, expected_rank);
    CHECK_EQUAL(n_remote, expected_remote);
    if (rank < n_remote) {
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 60, &in, 1, MPI_INT, MPI_ANY_SOURCE,
                     MPI_ANY_TAG, both, &status);
        CHECK_EQUAL(in, rank);
        CHECK_EQUAL(status.MPI_SOURCE, rank);
    }
}

static void duplicates(const struct sides *sides)
{
    MPI_Comm comms[4];
    MPI_Info info;
    int result;

    MPI_Comm_dup(sides->both, &comms[0]);
    MPI_Comm_dup(comms[0], &comms[1]);
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(comms[1], info, &comms[2]);
    MPI_Info_free(&info);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_dup(comms[2], &comms[3]);
    for (int i = 3; i >= 0; i--) {
        if (i != 1) {
            MPI_Comm_compare(comms[i], sides->both, &result);
            CHECK_EQUAL(result, MPI_CONGRUENT);
            exercise(comms[i], sides->rank, sides->n_remote);
        }
    }
    MPI_Comm_compare(sides->both, sides->both, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Comm_compare(sides->both, sides->mine, &result);
    CHECK_EQUAL(result, MPI_UNEQUAL);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_disconnect(&comms[3]);
    MPI_Comm_free(&comms[2]);
    check_say("duplicates\n");
}

/** Even ranks of both sides, in reversed order, and odd ones if both sides have
 *  some. */
static void split(const struct sides *sides)
{
    int parity = sides->rank % 2;
    int n_mine = parity ? sides->size / 2 : (sides->size + 1) / 2;
    int n_others = parity ? sides->n_remote / 2 : (sides->n_remote + 1) / 2;
    MPI_Comm comm;

    MPI_Comm_split(sides->both, parity, -sides->rank, &comm);
    CHECK_EQUAL(comm == MPI_COMM_NULL, n_others == 0);
    if (comm != MPI_COMM_NULL) {
        exercise(comm, n_mine - 1 - sides->rank / 2, n_others);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(sides->both, sides->rank == 0 ? 4 : MPI_UNDEFINED, 0, &comm);
    CHECK_EQUAL(comm != MPI_COMM_NULL, sides->rank == 0);
    if (comm != MPI_COMM_NULL) {
        exercise(comm, 0, 1);
        MPI_Comm_free(&comm);
    }
    check_say("split\n");
}

/** All of the first side, and only the last rank of the second. */
static void of_parts(const struct sides *sides)
{
    MPI_Group group, part;
    MPI_Comm comm;
    int last = sides->size - 1;

    MPI_Comm_group(sides->both, &group);
    if (sides->which) {
        MPI_Group_incl(group, 1, &last, &part);
        MPI_Group_free(&group);
        group = part;
    }
    MPI_Comm_create(sides->both, group, &comm);
    MPI_Group_free(&group);
    CHECK_EQUAL(comm != MPI_COMM_NULL, sides->which == 0 || sides->rank == last);
    if (comm != MPI_COMM_NULL) {
        exercise(comm, sides->which ? 0 : sides->rank,
                 sides->which ? sides->n_first : 1);
        MPI_Comm_free(&comm);
    }
    check_say("of parts\n");
}

static void merged(struct world world, const struct sides *sides)
{
    for (int high = 0; high < 2; high++) {
        int is_low = sides->which == high; /* high of side 0 is not high, then is */
        int rank, in;
        MPI_Comm all;

        MPI_Intercomm_merge(sides->both, !is_low, &all);
        MPI_Comm_rank(all, &rank);
        CHECK_EQUAL(rank, sides->rank + (is_low ? 0 : sides->n_remote));
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % world.size, 1, &in, 1, MPI_INT,
                     MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, (rank + world.size - 1) % world.size);
        MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_MAX, all);
        CHECK_EQUAL(in, world.size - 1);
        MPI_Comm_free(&all);
    }
    check_say("merged\n");
}

/** Long messages, and receives that are served after the free. */
static void freed_with_messages_under_way(const struct sides *sides)
{
    enum { N = 100000 };
    char *out = check_alloc(N);
    char *in = check_alloc(N);

    for (int i = 0; i < 30; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int is_paired = sides->rank < sides->n_remote;
        MPI_Comm comm;

        MPI_Comm_dup(sides->both, &comm);
        check_fill(out, N, i + sides->rank);
        if (is_paired) {
            MPI_Irecv(in, N, MPI_BYTE, sides->rank, 1, comm, &requests[0]);
            MPI_Isend(out, N, MPI_BYTE, sides->rank, 1, comm, &requests[1]);
        }
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(!is_paired || check_is_filled(in, N, i + sides->rank));
    }
    free(out);
    free(in);
    check_say("freed with messages under way\n");
}

static void one_after_the_other(struct world world, const struct sides *sides)
{
    for (int i = 0; i < 300; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(sides->both, &comm);
        if (i % 10 == 0) {
            exercise(comm, sides->rank, sides->n_remote);
        }
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < 100; i++) {
        MPI_Comm comm;

        MPI_Intercomm_create(sides->mine, sides->size - 1, MPI_COMM_WORLD,
                             sides->which ? sides->n_first - 1 : world.size - 1, i,
                             &comm);
        exercise(comm, sides->rank, sides->n_remote);
        MPI_Comm_free(&comm);
    }
    check_say("one after the other\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    struct sides sides;

    if (world.size < 2) {
        check_say("two ranks are needed\n");
        return check_end();
    }
    for (int n_first = 1; n_first < world.size; n_first += n_first == 1 ? 1 : 2) {
        sides = sides_make(world, n_first);
        duplicates(&sides);
        split(&sides);
        of_parts(&sides);
        merged(world, &sides);
        freed_with_messages_under_way(&sides);
        sides_free(&sides);
    }
    sides = sides_make(world, (world.size + 1) / 2);
    one_after_the_other(world, &sides);
    sides_free(&sides);
    return check_end();
}
