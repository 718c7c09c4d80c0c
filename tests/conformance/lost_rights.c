/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes lose the right to copy each other's memory while long messages are under
 * way: one makes itself undumpable, one installs a filter that refuses the system
 * calls, one changes its user (only root can; otherwise it goes without), and in the
 * end the first one, in which the library may have threads, filters itself, too. All
 * data arrive all the same, with and without gaps, in both directions, among
 * collectives.
 *
 * A library may only do without such copies if it can notice in time; Open MPI cannot,
 * and is told to do without them from the beginning.
 */
#include "check.h"
#include "tests/system/lose_rights.h"

enum {
    N_BYTES = 800000,
    N_BLOCKS = 5000, /* of a message with gaps */
    BLOCK = 97,
    STRIDE = 128,
    N_GAPPED = N_BLOCKS * STRIDE,
    N_WORDS = 40000, /* of a collective, to each */
};

static struct world world;

static unsigned char byte_of(int from, int to, int round, size_t i)
{
    return (unsigned char)(i * 31 + i / 253 + (size_t)(from * 5 + to * 11 + round));
}

/** Two long messages to and from one other rank, the second with gaps. */
struct pair {
    unsigned char *out, *in, *gapped_out, *gapped_in;
    MPI_Request requests[4];
};

static unsigned char *filled(size_t n_bytes, int to, int round)
{
    unsigned char *data = malloc(n_bytes);

    for (size_t i = 0; i < n_bytes; i++) {
        data[i] = byte_of(world.rank, to, round, i);
    }
    return data;
}

static void pair_start(struct pair *pair, int peer, int round, MPI_Datatype gapped)
{
    pair->out = filled(N_BYTES, peer, round);
    pair->gapped_out = filled(N_GAPPED, peer, round);
    pair->in = calloc(1, N_BYTES);
    pair->gapped_in = calloc(1, N_GAPPED);
    MPI_Irecv(pair->in, N_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &pair->requests[0]);
    MPI_Irecv(pair->gapped_in, 1, gapped, peer, 2, MPI_COMM_WORLD, &pair->requests[1]);
    MPI_Isend(pair->out, N_BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
              &pair->requests[2]);
    MPI_Isend(pair->gapped_out, 1, gapped, peer, 2, MPI_COMM_WORLD, &pair->requests[3]);
}

static void pair_check(struct pair *pair, int peer, int round)
{
    size_t n_wrong = 0;

    for (size_t i = 0; i < N_BYTES; i++) {
        n_wrong += pair->in[i] != byte_of(peer, world.rank, round, i);
    }
    CHECK_EQUAL(n_wrong, 0);
    for (size_t i = 0; i < N_GAPPED; i++) {
        n_wrong += pair->gapped_in[i] !=
                   (i % STRIDE < BLOCK ? byte_of(peer, world.rank, round, i) : 0);
    }
    CHECK_EQUAL(n_wrong, 0);
    free(pair->out);
    free(pair->in);
    free(pair->gapped_out);
    free(pair->gapped_in);
}

/** Long collectives, while other messages are under way. */
static void collectives(int round)
{
    int *out = malloc(sizeof(int) * N_WORDS * (size_t)world.size);
    int *in = malloc(sizeof(int) * N_WORDS * (size_t)world.size);

    for (int i = 0; i < N_WORDS * world.size; i++) {
        out[i] = i + world.rank + round;
    }
    MPI_Alltoall(out, N_WORDS, MPI_INT, in, N_WORDS, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < N_WORDS * world.size; i++) {
        CHECK(in[i] == world.rank * N_WORDS + i % N_WORDS + i / N_WORDS + round);
    }
    MPI_Bcast(out, N_WORDS, MPI_INT, round % world.size, MPI_COMM_WORLD);
    CHECK_EQUAL(out[N_WORDS - 1], N_WORDS - 1 + round % world.size + round);
    MPI_Allreduce(out, in, N_WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(in[N_WORDS - 1], out[N_WORDS - 1] * world.size);
    free(out);
    free(in);
}

static void run_round(int round, MPI_Datatype gapped)
{
    struct pair *pairs = calloc((size_t)world.size, sizeof(*pairs));
    int flag;

    for (int i = 0; i < world.size; i++) {
        pair_start(&pairs[i], (world.rank + i) % world.size, round, gapped);
    }
    for (int i = 0; i < world.size; i++) {
        MPI_Test(&pairs[i].requests[0], &flag, MPI_STATUS_IGNORE);
    }
    rights_lose(world.rank, round);
    collectives(round);
    for (int i = 0; i < world.size; i++) {
        MPI_Waitall(4, pairs[i].requests, MPI_STATUSES_IGNORE);
        pair_check(&pairs[i], (world.rank + i) % world.size, round);
    }
    free(pairs);
}

/** To and fro with blocking calls, when all is lost. */
static void run_ring(void)
{
    unsigned char *out = filled(N_BYTES, world.right, RIGHTS_ROUNDS);
    unsigned char *in = calloc(1, N_BYTES);

    MPI_Sendrecv(out, N_BYTES, MPI_BYTE, world.right, 3, in, N_BYTES, MPI_BYTE,
                 world.left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < N_BYTES; i++) {
        CHECK(in[i] == byte_of(world.left, world.rank, RIGHTS_ROUNDS, i));
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Datatype gapped;

    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    /* The rank with another user cannot remove its file at the end and says so to
     * mpirun, where two threads of Open MPI 4.1 then use the message after one of them
     * has freed it. */
    setenv("OMPI_MCA_orte_execute_quiet", "1", 1);
    rights_begin();
    world = check_begin(&argc, &argv);
    MPI_Type_vector(N_BLOCKS, BLOCK, STRIDE, MPI_BYTE, &gapped);
    MPI_Type_commit(&gapped);
    for (int round = 0; round < RIGHTS_ROUNDS; round++) {
        run_round(round, gapped);
    }
    run_ring();
    MPI_Type_free(&gapped);
    return check_end();
}
