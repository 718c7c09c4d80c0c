/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of one pair and one tag do not overtake each other, whatever their lengths
 * and modes; other tags may be taken in any order; wildcards see each pair's order.
 */
#include "tests/conformance/check.h"

enum { N_MESSAGES = 120, MAX_BYTES = 70000 };

static int length_of(int i)
{
    static const int lengths[] = {0, 8, 70000, 4, 5000, 100, 33000, 16, 4096, 64};

    return lengths[i % CHECK_N(lengths)];
}

static void send_all(struct world world, char *out, MPI_Request *requests, int tags)
{
    for (int i = 0; i < N_MESSAGES; i++) {
        char *data = out + (size_t)i * MAX_BYTES;
        int tag = i % tags;

        check_fill(data, length_of(i), i + 1000 * world.rank);
        if (i % 5 == 3) {
            MPI_Issend(data, length_of(i), MPI_BYTE, world.right, tag, MPI_COMM_WORLD,
                       &requests[i]);
        } else {
            MPI_Isend(data, length_of(i), MPI_BYTE, world.right, tag, MPI_COMM_WORLD,
                      &requests[i]);
        }
    }
}

static void receive_one(struct world world, int i, int source, int tag)
{
    static char in[MAX_BYTES];
    MPI_Status status;
    int count;

    MPI_Recv(in, MAX_BYTES, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, length_of(i));
    CHECK_EQUAL(status.MPI_SOURCE, world.left);
    CHECK(check_is_filled(in, count, i + 1000 * world.left));
}

static void one_tag_keeps_order(struct world world, char *out, MPI_Request *requests)
{
    send_all(world, out, requests, 1);
    for (int i = 0; i < N_MESSAGES; i++) {
        receive_one(world, i, i % 2 ? MPI_ANY_SOURCE : world.left, 0);
    }
    MPI_Waitall(N_MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("one tag keeps order\n");
}

static void any_tag_keeps_order(struct world world, char *out, MPI_Request *requests)
{
    send_all(world, out, requests, 7);
    for (int i = 0; i < N_MESSAGES; i++) {
        receive_one(world, i, i % 2 ? MPI_ANY_SOURCE : world.left, MPI_ANY_TAG);
    }
    MPI_Waitall(N_MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("any tag keeps order\n");
}

static void tags_are_taken_in_any_order(struct world world, char *out,
                                        MPI_Request *requests)
{
    send_all(world, out, requests, 6);
    for (int tag = 5; tag >= 0; tag--) {
        for (int i = tag; i < N_MESSAGES; i += 6) {
            receive_one(world, i, world.left, tag);
        }
    }
    MPI_Waitall(N_MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("tags are taken in any order\n");
}

/* A named and a wildcard receive both fit: the one that was posted first gets it. */
static void receives_match_in_posted_order(struct world world)
{
    MPI_Request requests[4];
    int in[4] = {-1, -1, -1, -1};

    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, world.left, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, world.left, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&in[3], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[3]);
    for (int i = 0; i < 4; i++) {
        int value = 10 * world.rank + i;

        MPI_Send(&value, 1, MPI_INT, world.right, 3, MPI_COMM_WORLD);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(in[i], 10 * world.left + i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("receives match in posted order\n");
}

static void a_wildcard_leaves_other_tags(struct world world)
{
    MPI_Request requests[3];
    int in[3] = {-1, -1, -1};
    int values[3] = {1, 2, 3};

    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, world.left, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[2]);
    MPI_Send(&values[2], 1, MPI_INT, world.right, 7, MPI_COMM_WORLD);
    MPI_Send(&values[1], 1, MPI_INT, world.right, 8, MPI_COMM_WORLD);
    MPI_Send(&values[0], 1, MPI_INT, world.right, 9, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(in[i], i + 1);
    }
    check_say("a wildcard leaves other tags\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char *out = check_alloc((size_t)N_MESSAGES * MAX_BYTES);
    MPI_Request requests[N_MESSAGES];

    one_tag_keeps_order(world, out, requests);
    any_tag_keeps_order(world, out, requests);
    tags_are_taken_in_any_order(world, out, requests);
    receives_match_in_posted_order(world);
    a_wildcard_leaves_other_tags(world);
    free(out);
    return check_end();
}
