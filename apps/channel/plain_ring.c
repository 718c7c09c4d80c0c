/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain ring. Indices only grow. The writer looks at the reader's index only when
 * it is out of room by what it knows, and the reader at the writer's when it has read
 * all that it knows of.
 */
#include "apps/channel/plain_ring.h"

#include <string.h>

void plain_ring_init(struct plain_ring *ring, int rank)
{
    MPI_Aint n_bytes = rank == 0 ? (MPI_Aint)sizeof(struct plain_ring_place) + 128 : 0;
    int unit;
    void *base;

    *ring = (struct plain_ring){0};
    MPI_Win_allocate_shared(n_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &ring->window);
    MPI_Win_shared_query(ring->window, 0, &n_bytes, &unit, &base);
    /* Pages are alike in all processes, so this is the same place in each. */
    base = (char *)base + (-(uintptr_t)base & 127);
    ring->place = base;
    if (rank == 0) {
        memset(ring->place, 0, sizeof(*ring->place));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void plain_ring_fini(struct plain_ring *ring)
{
    MPI_Win_free(&ring->window);
}

/** Wait until another n words have room. */
static void await_room(struct plain_ring *ring, size_t n)
{
    while (ring->n_mine + n - ring->n_theirs > PLAIN_RING_WORDS) {
        /* Pairs with the store of plain_ring_read. */
        ring->n_theirs = __atomic_load_n(&ring->place->n_read, __ATOMIC_ACQUIRE);
    }
}

void plain_ring_write(struct plain_ring *ring, uint64_t start, size_t n,
                      size_t n_at_once)
{
    struct plain_ring_place *place = ring->place;

    for (size_t done = 0; done < n;) {
        size_t n_now = n_at_once < n - done ? n_at_once : n - done;

        await_room(ring, n_now);
        for (size_t i = 0; i < n_now; i++) {
            place->words[(ring->n_mine + i) % PLAIN_RING_WORDS] = start + done + i;
        }
        ring->n_mine += n_now;
        done += n_now;
        /* Pairs with the load of plain_ring_read. */
        __atomic_store_n(&place->n_written, ring->n_mine, __ATOMIC_RELEASE);
    }
}

uint64_t plain_ring_read(struct plain_ring *ring, size_t n, size_t n_at_once)
{
    struct plain_ring_place *place = ring->place;
    uint64_t sum = 0;

    for (size_t done = 0; done < n;) {
        size_t n_now;

        while (ring->n_theirs == ring->n_mine) {
            /* Pairs with the store of plain_ring_write. */
            ring->n_theirs = __atomic_load_n(&place->n_written, __ATOMIC_ACQUIRE);
        }
        n_now = ring->n_theirs - ring->n_mine;
        n_now = n_now < n_at_once ? n_now : n_at_once;
        for (size_t i = 0; i < n_now; i++) {
            sum += place->words[(ring->n_mine + i) % PLAIN_RING_WORDS];
        }
        ring->n_mine += n_now;
        done += n_now;
        /* Pairs with the load of await_room. */
        __atomic_store_n(&place->n_read, ring->n_mine, __ATOMIC_RELEASE);
    }
    return sum;
}

/** Wait for a word. */
static void await_word(const uint64_t *word, uint64_t value)
{
    /* Pairs with the stores of plain_ring_ping_pong. */
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    }
}

void plain_ring_ping_pong(struct plain_ring *ring, int rank, uint64_t start, uint64_t n)
{
    struct plain_ring_place *place = ring->place;

    for (uint64_t i = start + 1; i <= start + n; i++) {
        /* Both stores pair with the load of await_word. */
        if (rank == 0) {
            __atomic_store_n(&place->there, i, __ATOMIC_RELEASE);
            await_word(&place->back, i);
        } else {
            await_word(&place->there, i);
            __atomic_store_n(&place->back, i, __ATOMIC_RELEASE);
        }
    }
}
