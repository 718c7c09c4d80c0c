/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages arrive although no rank makes an MPI call: each pair of ranks starts an
 * exchange and then looks at the last byte of its buffer until it has changed, first as
 * the receiver of one message, then with several at once. With the argument "gaps",
 * messages are sent that have gaps in memory, and, in a second exchange, received so;
 * since such a receive shows only when the receiver calls MPI, it sees the message that
 * its partner sends when the first one is over. With the argument "collectives", rank 0
 * starts one and does not call MPI until the others have told it in this way that they
 * have its result. A program of its own; it ends by itself if nothing comes.
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

/* How the bytes of a message lie in the sender's memory: all, or every other one. */
static MPI_Datatype bytes_type(int has_gaps)
{
    MPI_Datatype type;

    MPI_Type_vector(N_BYTES, 1, has_gaps ? 2 : 1, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Spread the bytes of a message over the places of its type. */
static void spread(char *data, int stride)
{
    for (int i = N_BYTES - 1; i > 0; i--) {
        data[(size_t)i * (size_t)stride] = data[i];
    }
}

/* One round of n messages each way between this rank and its partner. */
static void exchange(int rank, int n, char *sent, char *expected, char **received,
                     int has_gaps)
{
    int partner = rank ^ 1;
    MPI_Datatype type = bytes_type(has_gaps);
    MPI_Request requests[2 * N_MESSAGES];

    fill(sent, rank);
    spread(sent, has_gaps ? 2 : 1);
    fill(expected, partner);
    for (int i = 0; i < n; i++) {
        memset(received[i], 0, N_BYTES);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        MPI_Irecv(received[i], N_BYTES, MPI_CHAR, partner, i, MPI_COMM_WORLD,
                  &requests[2 * i]);
        MPI_Isend(sent, 1, type, partner, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
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
    MPI_Type_free(&type);
}

/* Receive a message with gaps, and after it one without, which shows that the first one
 * has been carried out. */
static void receive_with_gaps(int rank, const char *expected, char *spread_out,
                              char *received)
{
    MPI_Datatype type = bytes_type(1);
    MPI_Request requests[2];

    memset(spread_out, 0, 2 * N_BYTES);
    memset(received, 0, N_BYTES);
    MPI_Irecv(spread_out, 1, type, rank ^ 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received, N_BYTES, MPI_CHAR, rank ^ 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!watch(received)) {
        fail(rank, 0, "was not taken while its receiver did not call MPI");
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N_BYTES; i++) {
        if (spread_out[2 * i] != expected[i] || spread_out[2 * i + 1] != 0) {
            fail(rank, 0, "has wrong bytes");
        }
    }
    MPI_Type_free(&type);
}

/* One of two partners receives with gaps; the other waits for its sends. */
static void send_to_gaps(int rank, int is_receiver, char *data, char *spread_out,
                         char *received)
{
    fill(data, 0);
    if (is_receiver) {
        receive_with_gaps(rank, data, spread_out, received);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ssend(data, N_BYTES, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD);
        MPI_Ssend(data, N_BYTES, MPI_CHAR, rank ^ 1, 1, MPI_COMM_WORLD);
    }
}

enum { N_COLLECTIVES = 5, N_ELEMENTS = 100 };

static void start_collective(int which, const int *in, int *out, MPI_Request *request)
{
    switch (which) {
    case 0:
        MPI_Iallreduce(in, out, N_ELEMENTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
        break;
    case 1:
        MPI_Iallgather(in, N_ELEMENTS, MPI_INT, out, N_ELEMENTS, MPI_INT,
                       MPI_COMM_WORLD, request);
        break;
    case 2:
        MPI_Iscan(in, out, N_ELEMENTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
        break;
    case 3:
        MPI_Iexscan(in, out, N_ELEMENTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
        break;
    default:
        MPI_Ibarrier(MPI_COMM_WORLD, request);
    }
}

/* Element i of a sum over the first n ranks. */
static int sum_of(int n, int i)
{
    return n * (n - 1) / 2 + n * i;
}

static void check_result(int which, int rank, int size, const int *out)
{
    int n_summed[] = {size, 0, rank + 1, rank, 0};

    for (int i = 0; n_summed[which] > 0 && i < N_ELEMENTS; i++) {
        if (out[i] != sum_of(n_summed[which], i)) {
            fail(rank, which, "has a wrong sum");
        }
    }
    for (int i = 0; which == 1 && i < size * N_ELEMENTS; i++) {
        if (out[i] != i / N_ELEMENTS + i % N_ELEMENTS) {
            fail(rank, which, "has wrong elements");
        }
    }
}

/* Up to N_MESSAGES + 1 ranks. */
static void leave_collective(int which, int rank, int size, char *sent, char **received)
{
    int in[N_ELEMENTS], out[(N_MESSAGES + 1) * N_ELEMENTS];
    MPI_Request collective, messages[N_MESSAGES];

    for (int i = 0; i < N_ELEMENTS; i++) {
        in[i] = rank + i;
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        memset(received[i - 1], 0, N_BYTES);
        MPI_Irecv(received[i - 1], N_BYTES, MPI_CHAR, i, which, MPI_COMM_WORLD,
                  &messages[i - 1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start_collective(which, in, out, &collective);
    for (int i = 1; rank == 0 && i < size; i++) {
        if (!watch(received[i - 1])) {
            fail(i, which, "has no result while rank 0 does not call MPI");
        }
    }
    MPI_Wait(&collective, MPI_STATUS_IGNORE);
    check_result(which, rank, size, out);
    if (rank == 0) {
        MPI_Waitall(size - 1, messages, MPI_STATUSES_IGNORE);
    } else {
        fill(sent, rank);
        MPI_Send(sent, N_BYTES, MPI_CHAR, 0, which, MPI_COMM_WORLD);
    }
}

/* Whether the first argument is a word. */
static int has_argument(int argc, char **argv, const char *word)
{
    return argc > 1 && strcmp(argv[1], word) == 0;
}

int main(int argc, char **argv)
{
    int rank, size;
    int has_gaps = has_argument(argc, argv, "gaps");
    int has_collectives = has_argument(argc, argv, "collectives");
    char *sent = malloc(2 * N_BYTES), *expected = malloc(N_BYTES);
    char *received[N_MESSAGES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N_MESSAGES; i++) {
        received[i] = malloc(N_BYTES);
    }
    for (int i = 0; has_collectives && i < N_COLLECTIVES * N_ROUNDS; i++) {
        leave_collective(i % N_COLLECTIVES, rank, size, sent, received);
    }
    for (int round = 0; !has_collectives && round < N_ROUNDS; round++) {
        exchange(rank, 1, sent, expected, received, has_gaps);
        exchange(rank, N_MESSAGES, sent, expected, received, has_gaps);
        for (int i = 0; has_gaps && i < 2; i++) {
            send_to_gaps(rank, rank % 2 == i, expected, sent, received[0]);
        }
    }
    for (int i = 0; i < N_MESSAGES; i++) {
        free(received[i]);
    }
    free(sent);
    free(expected);
    MPI_Finalize();
    return 0;
}
