/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages: many outstanding in both directions, head to head, short ones behind
 * long ones, long sends whose receives come late and in another order.
 */
#include "tests/conformance/check.h"

enum { MEGABYTE = 1 << 20 };

static void head_to_head(struct world world)
{
    enum { N = 4 * MEGABYTE };
    char *out = check_alloc(N);
    char *in = check_alloc(N);
    MPI_Request requests[2];

    for (int round = 0; round < 3; round++) {
        check_fill(out, N, round + world.rank);
        MPI_Isend(out, N, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in, N, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(check_is_filled(in, N, round + world.left));
    }
    free(out);
    free(in);
    check_say("head to head\n");
}

/* Every rank has 2 x 12 messages of 100 to 500 KB pending with each neighbour. */
static void many_outstanding(struct world world)
{
    enum { N = 12, LARGEST = 500000 };
    char *out = check_alloc((size_t)N * LARGEST);
    char *in = check_alloc((size_t)2 * N * LARGEST);
    MPI_Request requests[4 * N];
    uint64_t sum = 0;

    for (int i = 0; i < N; i++) {
        int n = 100000 + 33333 * i;

        check_fill(out + (size_t)i * LARGEST, n, i + 50 * world.rank);
        MPI_Isend(out + (size_t)i * LARGEST, n, MPI_BYTE, world.right, i,
                  MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(out + (size_t)i * LARGEST, n, MPI_BYTE, world.left, N + i,
                  MPI_COMM_WORLD, &requests[N + i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Irecv(in + (size_t)i * LARGEST, LARGEST, MPI_BYTE, world.left, i,
                  MPI_COMM_WORLD, &requests[2 * N + i]);
        MPI_Irecv(in + (size_t)(N + i) * LARGEST, LARGEST, MPI_BYTE, world.right, N + i,
                  MPI_COMM_WORLD, &requests[3 * N + i]);
    }
    MPI_Waitall(4 * N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        int n = 100000 + 33333 * i;

        CHECK(check_is_filled(in + (size_t)i * LARGEST, n, i + 50 * world.left));
        CHECK(check_is_filled(in + (size_t)(N + i) * LARGEST, n, i + 50 * world.right));
        sum = check_mix(sum, check_sum(in + (size_t)i * LARGEST, 1000));
    }
    free(out);
    free(in);
    check_say_sum("many outstanding", sum);
}

static void short_ones_behind_a_long_one(struct world world)
{
    enum { N_SHORT = 50 };
    char *out = check_alloc(MEGABYTE);
    char *in = check_alloc(MEGABYTE);
    int values[N_SHORT];
    MPI_Request requests[N_SHORT + 1];
    int value;

    check_fill(out, MEGABYTE, world.rank);
    MPI_Isend(out, MEGABYTE, MPI_BYTE, world.right, 1, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < N_SHORT; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, world.right, 2, MPI_COMM_WORLD,
                  &requests[i + 1]);
    }
    for (int i = 0; i < N_SHORT; i++) {
        MPI_Recv(&value, 1, MPI_INT, world.left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value, i);
    }
    MPI_Recv(in, MEGABYTE, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, MEGABYTE, world.left));
    MPI_Waitall(N_SHORT + 1, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
    check_say("short ones behind a long one\n");
}

/* All ranks send to rank 0 at once; rank 0 takes them in turn with blocking receives.
 */
static void everybody_to_one(struct world world)
{
    enum { N = 700001 };
    char *data = check_alloc(N);
    uint64_t sum = 0;

    check_fill(data, N, world.rank);
    if (world.rank > 0) {
        MPI_Send(data, N, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    } else {
        for (int rank = world.size - 1; rank > 0; rank--) {
            MPI_Recv(data, N, MPI_BYTE, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(check_is_filled(data, N, rank));
            sum = check_mix(sum, check_sum(data, 5000));
        }
    }
    free(data);
    check_say_sum("everybody to one", sum);
}

static void ping_pong_of_long_messages(struct world world)
{
    enum { N = 2 * MEGABYTE + 13 };
    char *data = check_alloc(N);

    check_fill(data, N, 99);
    if (world.size > 1 && world.rank < 2) {
        for (int round = 0; round < 6; round++) {
            if (round % 2 == world.rank) {
                MPI_Send(data, N, MPI_BYTE, 1 - world.rank, 5, MPI_COMM_WORLD);
            } else {
                memset(data, 0, N);
                MPI_Recv(data, N, MPI_BYTE, 1 - world.rank, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            }
        }
    }
    CHECK(check_is_filled(data, N, 99));
    free(data);
    check_say("ping-pong of long messages\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    head_to_head(world);
    many_outstanding(world);
    short_ones_behind_a_long_one(world);
    everybody_to_one(world);
    ping_pong_of_long_messages(world);
    return check_end();
}
