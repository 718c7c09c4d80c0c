/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain ring of words between two ranks, as one writes it without any library: what
 * streaming through a channel is measured against. One rank writes, one reads; the two
 * cores and their caches do the same work as for two threads.
 */
#ifndef CHANNEL_PLAIN_RING_H
#define CHANNEL_PLAIN_RING_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { PLAIN_RING_WORDS = 1024 };

/** What both share: each index on a line of its own, away from the words. */
struct plain_ring_place {
    _Alignas(128) uint64_t n_written; /* by the writer, after the words */
    _Alignas(128) uint64_t n_read;    /* by the reader, after it has them */
    _Alignas(128) uint64_t words[PLAIN_RING_WORDS];
    _Alignas(128) uint64_t there; /* of a ping-pong; by rank 0 */
    _Alignas(128) uint64_t back;  /* by rank 1 */
};

/** A rank's end. Each keeps what it last knew of the other's index. */
struct plain_ring {
    struct plain_ring_place *place;
    uint64_t n_mine, n_theirs;
    MPI_Win window;
};

/** Share a ring among the ranks of MPI_COMM_WORLD, on one machine. Collective. Errors
 *  are MPI's. */
void plain_ring_init(struct plain_ring *ring, int rank);

/** Give it back. Collective. */
void plain_ring_fini(struct plain_ring *ring);

/** Write n words, telling the reader after each n_at_once; they are start, start + 1,
 *  ... */
void plain_ring_write(struct plain_ring *ring, uint64_t start, size_t n,
                      size_t n_at_once);

/** Read n words, telling the writer after each n_at_once at most. @return their sum */
uint64_t plain_ring_read(struct plain_ring *ring, size_t n, size_t n_at_once);

/** A word there and back n times, each way on a line of its own, as whatever goes one
 *  way only must have it. @param start n of all calls before. Both ranks call it */
void plain_ring_ping_pong(struct plain_ring *ring, int rank, uint64_t start,
                          uint64_t n);

#endif
