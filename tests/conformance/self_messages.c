/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank sends to itself, on MPI_COMM_SELF and on MPI_COMM_WORLD: any length, the send
 * or the receive first, probed, by wildcard and with Sendrecv.
 */
#include "tests/conformance/check.h"

static void receive_then_send(MPI_Comm comm, int self, int n, char *out, char *in)
{
    MPI_Request request;
    MPI_Status status;

    check_fill(out, n, n + 1);
    MPI_Irecv(in, n, MPI_BYTE, self, 4, comm, &request);
    MPI_Ssend(out, n, MPI_BYTE, self, 4, comm);
    MPI_Wait(&request, &status);
    CHECK_EQUAL(status.MPI_SOURCE, self);
    CHECK(check_is_filled(in, n, n + 1));
}

static void send_then_receive(MPI_Comm comm, int self, int n, char *out, char *in)
{
    MPI_Request request;
    MPI_Status status;
    int count;

    check_fill(out, n, n + 2);
    MPI_Isend(out, n, MPI_BYTE, self, 5, comm, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, n);
    CHECK_EQUAL(status.MPI_TAG, 5);
    MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK_EQUAL(status.MPI_SOURCE, self);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, n, n + 2));
}

static void exchange_with_self(MPI_Comm comm, int self, int n, char *out, char *in)
{
    check_fill(out, n, n + 3);
    MPI_Sendrecv(out, n, MPI_BYTE, self, 6, in, n, MPI_BYTE, self, 6, comm,
                 MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, n, n + 3));
    MPI_Sendrecv_replace(in, n, MPI_BYTE, self, 6, self, 6, comm, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, n, n + 3));
}

static void all_lengths(const char *name, MPI_Comm comm)
{
    char *out = check_alloc(CHECK_MAX_LENGTH);
    char *in = check_alloc(CHECK_MAX_LENGTH);
    int self;
    uint64_t sum = 0;

    MPI_Comm_rank(comm, &self);
    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];

        receive_then_send(comm, self, n, out, in);
        send_then_receive(comm, self, n, out, in);
        exchange_with_self(comm, self, n, out, in);
        sum = check_mix(sum, check_sum(in, n < 4096 ? n : 4096));
    }
    check_say_sum(name, sum);
    free(out);
    free(in);
}

static void many_to_self(void)
{
    enum { N = 300 };
    MPI_Request requests[2 * N];
    int out[N];
    int in[N];

    for (int i = 0; i < N; i++) {
        out[i] = 7 * i;
        MPI_Isend(&out[i], 1, MPI_INT, 0, i % 3, MPI_COMM_SELF, &requests[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i % 3, MPI_COMM_SELF, &requests[N + i]);
    }
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK_EQUAL(in[i], 7 * i);
    }
    check_say("many to self\n");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    all_lengths("self", MPI_COMM_SELF);
    all_lengths("world", MPI_COMM_WORLD);
    many_to_self();
    return check_end();
}
