/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages arrive although no rank makes an MPI call: each pair of ranks starts an
 * exchange and then looks at the last byte of its buffer until it has changed, first as
 * the receiver of one message, then with several at once. A program of its own; it ends
 * by itself if nothing comes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_BYTES = 3000000, N_MESSAGES = 3, N_ROUNDS = 3, SECONDS_TO_WAIT = 60 };

static void fill(char *data, int seed)
{
    for (int i = 0; i < N_BYTES; i++) {
        data[i] = (char)(1 + (i + seed) % 100);
    }
}

/* Compute, as it were, until a buffer's last byte is there. Returns whether it came. */
static int watch(const volatile char *data)
{
    time_t start = time(NULL);

    while (data[N_BYTES - 1] == 0) {
        if (time(NULL) - start > SECONDS_TO_WAIT) {
            return 0;
        }
    }
    return 1;
}

static void fail(int rank, int message, const char *problem)
{
    fprintf(stderr, "independent_progress: rank %d, message %d: %s\n", rank, message,
            problem);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* One round of n messages each way between this rank and its partner. */
static void exchange(int rank, int n, char *sent, char *expected, char **received)
{
    int partner = rank ^ 1;
    MPI_Request requests[2 * N_MESSAGES];

    fill(sent, rank);
    fill(expected, partner);
    for (int i = 0; i < n; i++) {
        memset(received[i], 0, N_BYTES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        MPI_Irecv(received[i], N_BYTES, MPI_CHAR, partner, i, MPI_COMM_WORLD,
                  &requests[2 * i]);
        MPI_Isend(sent, N_BYTES, MPI_CHAR, partner, i, MPI_COMM_WORLD,
                  &requests[2 * i + 1]);
    }
    for (int i = 0; i < n; i++) {
        if (!watch(received[i])) {
            fail(rank, i, "did not come while nobody called MPI");
        }
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        if (memcmp(received[i], expected, N_BYTES) != 0) {
            fail(rank, i, "has wrong bytes");
        }
    }
}

int main(int argc, char **argv)
{
    int rank;
    char *sent = malloc(N_BYTES), *expected = malloc(N_BYTES);
    char *received[N_MESSAGES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N_MESSAGES; i++) {
        received[i] = malloc(N_BYTES);
    }
    for (int round = 0; round < N_ROUNDS; round++) {
        exchange(rank, 1, sent, expected, received);
        exchange(rank, N_MESSAGES, sent, expected, received);
    }
    for (int i = 0; i < N_MESSAGES; i++) {
        free(received[i]);
    }
    free(sent);
    free(expected);
    MPI_Finalize();
    return 0;
}
