/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The windowed exchange behind bandwidth, message_rate and pairs. Each message of a
 * window has its own slot at both ends, so that every one of them can be verified. Runs
 * on whatever ranks those programs let communicate.
 */
#include "apps/bench/window.h"

#include <string.h>

#define MAX_WINDOW_BYTES (16L << 20)
#define TAG_DATA 1
#define TAG_ANSWER 2

long window_n_slots(const struct bench *bench, size_t n_bytes)
{
    long n_fitting = n_bytes ? MAX_WINDOW_BYTES / (long)n_bytes : bench->n_window;

    if (n_fitting < 2) {
        n_fitting = 2;
    }
    return bench->n_window < n_fitting ? bench->n_window : n_fitting;
}

static void window_send(struct bench *bench, size_t n_bytes, long n_slots, int partner)
{
    unsigned char answer;

    for (long slot = 0; slot < n_slots; slot++) {
        MPI_Isend(bench->send + (size_t)slot * n_bytes, (int)n_bytes, MPI_BYTE, partner,
                  TAG_DATA, MPI_COMM_WORLD, &bench->requests[slot]);
    }
    MPI_Waitall((int)n_slots, bench->requests, MPI_STATUSES_IGNORE);
    MPI_Recv(&answer, 1, MPI_BYTE, partner, TAG_ANSWER, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void window_receive(struct bench *bench, size_t n_bytes, long n_slots,
                           int partner)
{
    unsigned char answer = 1;

    for (long slot = 0; slot < n_slots; slot++) {
        MPI_Irecv(bench->receive + (size_t)slot * n_bytes, (int)n_bytes, MPI_BYTE,
                  partner, TAG_DATA, MPI_COMM_WORLD, &bench->requests[slot]);
    }
    MPI_Waitall((int)n_slots, bench->requests, MPI_STATUSES_IGNORE);
    MPI_Send(&answer, 1, MPI_BYTE, partner, TAG_ANSWER, MPI_COMM_WORLD);
}

void window_exchange(struct bench *bench, size_t n_bytes, long n_iterations)
{
    long n_slots = window_n_slots(bench, n_bytes);
    int partner = bench_partner(bench);

    for (long i = 0; i < n_iterations; i++) {
        if (bench->rank < partner) {
            window_send(bench, n_bytes, n_slots, partner);
        } else {
            window_receive(bench, n_bytes, n_slots, partner);
        }
    }
}

/* The pattern of a sender's slot. */
static long slot_key(long slot, int sender)
{
    return slot + 13L * sender;
}

long window_verify(struct bench *bench, size_t n_bytes)
{
    long n_slots = window_n_slots(bench, n_bytes);
    int partner = bench_partner(bench);
    long n_errors = 0;

    if (!bench_is_timed(bench) || partner == MPI_PROC_NULL) {
        return 0;
    }
    for (long slot = 0; slot < n_slots; slot++) {
        bench_fill(bench->send + (size_t)slot * n_bytes, n_bytes,
                   slot_key(slot, bench->rank));
    }
    memset(bench->receive, 0, (size_t)n_slots * n_bytes);
    window_exchange(bench, n_bytes, 1);
    if (bench->rank < partner) {
        return 0;
    }
    for (long slot = 0; slot < n_slots && n_errors == 0; slot++) {
        n_errors = bench_check(bench, bench->receive + (size_t)slot * n_bytes, n_bytes,
                               slot_key(slot, partner));
    }
    return n_errors;
}
