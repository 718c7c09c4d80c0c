/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What grows with use. Usage: growth WHAT [N]
 *
 *   traffic      real traffic of all kinds and lengths, checked; run within little
 * address space receives N   so many receives are pending on each rank, and then get
 * their messages sends N      so many short messages, and a tenth as many of 600 and of
 * 3000 bytes, are sent before any is received exchanges N so many MPI_Sendrecv_replace,
 * one after the other: with few requests allowed, each gives its own back comms N so
 * many communicators at a time, each of which carries a message
 *
 * Rank 0 prints "ok" when all is right.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void expect(int is_true, const char *what, long i)
{
    if (!is_true) {
        printf("rank %d: wrong: %s, %ld\n", rank, what, i);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *allocate(size_t n_bytes)
{
    void *memory = malloc(n_bytes);

    expect(memory != NULL, "no memory for the test", (long)n_bytes);
    return memory;
}

/** Byte i of a message with a number. */
static uint8_t byte_of(long number, size_t i)
{
    return (uint8_t)((uint64_t)(number + 1) * 2654435761u + i * 97 + (i >> 8));
}

static void fill(uint8_t *data, size_t n_bytes, long number)
{
    for (size_t i = 0; i < n_bytes; i++) {
        data[i] = byte_of(number, i);
    }
}

static void check(const uint8_t *data, size_t n_bytes, long number, const char *what)
{
    for (size_t i = 0; i < n_bytes; i++) {
        expect(data[i] == byte_of(number, i), what, number);
    }
}

/** Messages of one length with both neighbours, so many at once. */
static void exchange(size_t n_bytes, int n)
{
    MPI_Request *requests = allocate((size_t)(2 * n) * sizeof(*requests));
    uint8_t *in = allocate(n_bytes * (size_t)n), *out = allocate(n_bytes * (size_t)n);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < n; i++) {
        fill(out + (size_t)i * n_bytes, n_bytes, rank * 1000 + i);
        MPI_Isend(out + (size_t)i * n_bytes, (int)n_bytes, MPI_BYTE, right, i,
                  MPI_COMM_WORLD, &requests[n + i]);
    }
    for (int i = 0; i < n; i++) {
        MPI_Irecv(in + (size_t)i * n_bytes, (int)n_bytes, MPI_BYTE, left, i,
                  MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        check(in + (size_t)i * n_bytes, n_bytes, left * 1000 + i, "a message");
    }
    free(in);
    free(out);
    free(requests);
}

static void collect(int n)
{
    int *in = allocate((size_t)n * sizeof(int)),
        *out = allocate((size_t)n * sizeof(int));

    for (int i = 0; i < n; i++) {
        in[i] = rank + i;
    }
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        expect(out[i] == size * i + size * (size - 1) / 2, "allreduce", i);
    }
    MPI_Bcast(in, n, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        expect(in[i] == size - 1 + i, "bcast", i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
}

static void traffic(void)
{
    static const size_t lengths[] = {0,    8,     80,    81,     1000,
                                     4000, 16384, 65536, 300000, 3000000};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        exchange(lengths[i], lengths[i] > 100000 ? 3 : 100);
    }
    collect(1);
    collect(1000);
    collect(100000);
}

static void receives(long n)
{
    MPI_Request *requests = allocate((size_t)n * sizeof(*requests));
    long *in = allocate((size_t)n * sizeof(long));
    int peer = size - 1 - rank;

    for (long i = 0; i < n; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_LONG, peer, (int)(i % 1000), MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < n; i++) {
        long number = i * size + rank;

        MPI_Send(&number, 1, MPI_LONG, peer, (int)(i % 1000), MPI_COMM_WORLD);
    }
    MPI_Waitall((int)n, requests, MPI_STATUSES_IGNORE);
    for (long i = 0; i < n; i++) {
        expect(in[i] == i * size + peer, "a receive", i);
    }
    free(requests);
    free(in);
}

enum { LONG_EVERY = 10, MIDDLE_BYTES = 600, LONGER_BYTES = 3000 };

static size_t length_of(long i)
{
    return i % LONG_EVERY == 3 ? MIDDLE_BYTES : i % LONG_EVERY == 7 ? LONGER_BYTES : 8;
}

static void sends(long n)
{
    uint8_t data[LONGER_BYTES];
    int peer = size - 1 - rank;

    for (long i = 0; i < n; i++) {
        fill(data, length_of(i), i + rank);
        MPI_Send(data, (int)length_of(i), MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < n; i++) {
        MPI_Status status;
        int n_bytes;

        MPI_Recv(data, sizeof(data), MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n_bytes);
        expect((size_t)n_bytes == length_of(i), "a length", i);
        check(data, length_of(i), i + peer, "a message that was kept");
    }
}

static void exchanges(long n)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (long i = 0; i < n; i++) {
        long value = i * size + rank;

        MPI_Sendrecv_replace(&value, 1, MPI_LONG, right, 1, left, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        expect(value == i * size + left, "an exchange", i);
    }
}

static void comms(long n)
{
    MPI_Comm *all = allocate((size_t)n * sizeof(MPI_Comm));
    int peer = size - 1 - rank;

    for (long i = 0; i < n; i++) {
        MPI_Comm_dup(i % 2 == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF, &all[i]);
    }
    for (long i = 0; i < n; i++) {
        int to = i % 2 == 0 ? peer : 0;
        long out = i + rank, in = -1;

        MPI_Sendrecv(&out, 1, MPI_LONG, to, 1, &in, 1, MPI_LONG, to, 1, all[i],
                     MPI_STATUS_IGNORE);
        expect(in == i + (i % 2 == 0 ? peer : rank), "a message", i);
    }
    for (long i = 0; i < n; i++) {
        MPI_Comm_free(&all[i]);
    }
    free(all);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "traffic") == 0) {
        traffic();
    } else if (strcmp(what, "receives") == 0) {
        receives(n);
    } else if (strcmp(what, "sends") == 0) {
        sends(n);
    } else if (strcmp(what, "exchanges") == 0) {
        exchanges(n);
    } else if (strcmp(what, "comms") == 0) {
        comms(n);
    } else {
        expect(0, "usage: growth WHAT [N]", 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        puts("ok");
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
