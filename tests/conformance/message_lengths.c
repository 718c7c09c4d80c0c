/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of every length arrive whole, at any alignment, whether the receive or the
 * send came first, and into a buffer that is larger than the message.
 */
#include "tests/conformance/check.h"

enum { GUARD = 64 };

static void receive_first(struct world world, int n, char *out, char *in)
{
    MPI_Request request;
    MPI_Status status;
    int count;

    check_fill(out, n, n + world.rank);
    memset(in, 0x11, n + GUARD);
    MPI_Irecv(in, n + GUARD, MPI_BYTE, world.left, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, n, MPI_BYTE, world.right, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, n);
    CHECK(check_is_filled(in, n, n + world.left));
    CHECK(check_is_all(in + n, GUARD, 0x11));
}

static void send_first(struct world world, int n, char *out, char *in)
{
    MPI_Request request;
    MPI_Status status;
    int count;

    check_fill(out, n, 3 * n + world.rank);
    memset(in, 0x22, n + GUARD);
    MPI_Isend(out, n, MPI_BYTE, world.right, 2, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, n + GUARD, MPI_BYTE, world.left, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, n);
    CHECK(check_is_filled(in, n, 3 * n + world.left));
    CHECK(check_is_all(in + n, GUARD, 0x22));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char *out = check_alloc(CHECK_MAX_LENGTH + 2 * GUARD);
    char *in = check_alloc(CHECK_MAX_LENGTH + 2 * GUARD);

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        int n = check_lengths[i];
        uint64_t sum = 0;

        for (int shift = 0; shift < (n < 5000 ? 9 : 2); shift++) {
            receive_first(world, n, out + shift, in + 8 - shift);
            send_first(world, n, out + 8 - shift, in + shift);
            sum = check_mix(sum, check_sum(in + shift, n < 4096 ? n : 4096));
        }
        check_say("%d ", n);
        check_say_sum("bytes", sum);
    }
    free(out);
    free(in);
    return check_end();
}
