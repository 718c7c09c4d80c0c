/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MPI standard leaves open and programs rely on: a short standard send does
 * not wait for its receive. With BCS_BUFFERING=none this program hangs, as it should.
 */
#include "tests/conformance/check.h"

enum { LONGEST = 4000, N_FLOOD = 1500 };

/* All ranks send before any of them receives. */
static void head_to_head(struct world world, int n, char *out, char *in)
{
    check_fill(out, n, 5 * n + world.rank);
    MPI_Send(out, n, MPI_BYTE, world.right, 3, MPI_COMM_WORLD);
    MPI_Recv(in, n, MPI_BYTE, world.left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(in, n, 5 * n + world.left));
}

static void all_lengths_head_to_head(struct world world)
{
    char out[LONGEST];
    char in[LONGEST];

    for (int i = 0; i < CHECK_N_LENGTHS; i++) {
        if (check_lengths[i] <= LONGEST) {
            head_to_head(world, check_lengths[i], out, in);
            check_say("%d bytes head to head\n", check_lengths[i]);
        }
    }
}

static void a_flood_is_over_before_the_first_receive(struct world world)
{
    int n_each = N_FLOOD / (world.size - 1);
    uint64_t value;

    for (int i = 0; world.rank > 0 && i < n_each; i++) {
        value = check_mix(world.rank, i);
        MPI_Send(&value, 1, MPI_UINT64_T, 0, i % 16, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = world.size - 1; world.rank == 0 && rank > 0; rank--) {
        for (int i = 0; i < n_each; i++) {
            MPI_Recv(&value, 1, MPI_UINT64_T, rank, i % 16, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            CHECK(value == check_mix(rank, i));
        }
    }
    check_say("a flood is over before the first receive\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    if (world.size < 2) { /* natively a send to self may wait for its receive */
        check_say("two ranks are needed\n");
        return check_end();
    }
    all_lengths_head_to_head(world);
    a_flood_is_over_before_the_first_receive(world);
    return check_end();
}
