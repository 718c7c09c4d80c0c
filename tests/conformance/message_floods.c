/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues grow without loss: thousands of messages before the first receive, a thousand
 * receives posted in reverse order of tags, and many senders against one slow receiver.
 */
#include "tests/conformance/check.h"

enum { N_FLOOD = 1000, N_REVERSE = 500 };

static void unexpected_messages_wait(struct world world)
{
    int n_senders = world.size > 1 ? world.size - 1 : 1;
    int n_each = N_FLOOD / n_senders;
    int n_sent = world.rank > 0 ? n_each : 0;
    uint64_t *out = check_alloc(n_each * sizeof(*out));
    MPI_Request *requests = check_alloc(n_each * sizeof(MPI_Request));
    uint64_t sum = 0;
    uint64_t value;

    for (int i = 0; i < n_sent; i++) {
        out[i] = check_mix(world.rank, i);
        MPI_Isend(&out[i], 1, MPI_UINT64_T, 0, i % 16, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0) {
        for (int rank = world.size - 1; rank > 0; rank--) {
            for (int i = 0; i < n_each; i++) {
                MPI_Recv(&value, 1, MPI_UINT64_T, rank, i % 16, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                CHECK(value == check_mix(rank, i));
                sum = check_mix(sum, value);
            }
        }
    }
    MPI_Waitall(n_sent, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(requests);
    check_say_sum("unexpected messages wait", sum);
}

static void receives_in_reverse_order_of_tags(struct world world)
{
    int *in = check_alloc(N_REVERSE * sizeof(int));
    int *out = check_alloc(N_REVERSE * sizeof(int));
    MPI_Request *requests = check_alloc(2 * N_REVERSE * sizeof(MPI_Request));

    for (int i = 0; i < N_REVERSE; i++) {
        int tag = N_REVERSE - 1 - i;

        MPI_Irecv(&in[tag], 1, MPI_INT, world.left, tag, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N_REVERSE; i++) {
        out[i] = i ^ world.rank;
        MPI_Isend(&out[i], 1, MPI_INT, world.right, i, MPI_COMM_WORLD,
                  &requests[N_REVERSE + i]);
    }
    MPI_Waitall(2 * N_REVERSE, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N_REVERSE; i++) {
        CHECK_EQUAL(in[i], i ^ world.left);
    }
    free(in);
    free(out);
    free(requests);
    check_say("receives in reverse order of tags\n");
}

/* More bytes of short messages than any pool may hold: senders must wait, not fail. */
static void short_messages_fill_every_pool(struct world world)
{
    enum { N = 1000, N_BYTES = 4000 };
    char *data = check_alloc(N_BYTES);
    uint64_t sum = 0;

    if (world.rank > 0) {
        for (int i = 0; i < N / world.size; i++) {
            check_fill(data, N_BYTES, i + 7 * world.rank);
            MPI_Send(data, N_BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    } else {
        for (int rank = world.size - 1; rank > 0; rank--) {
            for (int i = 0; i < N / world.size; i++) {
                MPI_Recv(data, N_BYTES, MPI_BYTE, rank, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
                CHECK(check_is_filled(data, N_BYTES, i + 7 * rank));
            }
            sum = check_mix(sum, check_sum(data, N_BYTES));
        }
    }
    free(data);
    check_say_sum("short messages fill every pool", sum);
}

static void zero_bytes_by_the_thousand(struct world world)
{
    enum { N = 1000 };
    MPI_Request *requests = check_alloc(N * sizeof(MPI_Request));
    MPI_Status status;

    for (int i = 0; i < N; i++) {
        MPI_Isend(NULL, 0, MPI_BYTE, world.right, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Recv(NULL, 0, MPI_BYTE, world.left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQUAL(status.MPI_TAG, i);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    free(requests);
    check_say("zero bytes by the thousand\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    unexpected_messages_wait(world);
    receives_in_reverse_order_of_tags(world);
    short_messages_fill_every_pool(world);
    zero_bytes_by_the_thousand(world);
    return check_end();
}
