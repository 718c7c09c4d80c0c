/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of windows; see windows.h. Any process and thread.
 */
#include "libbcs/fabric/transport/windows.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/sparse_table.h"
#include "libbcs/fabric/transport/transport.h"

int bcs_windows_init(struct bcs_windows *windows_out, uint64_t heap_bytes,
                     uint64_t whole_bytes, uint64_t window_bytes)
{
    struct bcs_windows windows = {.whole_bytes = whole_bytes};

    if (whole_bytes < heap_bytes) {
        windows.shift = (uint32_t)__builtin_ctzll(window_bytes);
        windows.n_leaves =
            (uint32_t)((heap_bytes - 1) >> windows.shift >> BCS_WINDOW_LEAF_BITS) + 1;
        windows.leaves = bcs_sparse_new(windows.n_leaves, sizeof(*windows.leaves));
        if (windows.leaves == NULL) {
            bcs_error("no memory for the table of a heap of %u windows",
                      windows.n_leaves * BCS_WINDOWS_A_LEAF);
            return -ENOMEM;
        }
    }
    *windows_out = windows;
    return 0;
}

/** Call a function for each window that is mapped. */
static void for_each(struct bcs_windows *windows,
                     void (*call)(void *place, size_t n_bytes))
{
    for (uint32_t i = 0; i < windows->n_leaves; i++) {
        struct bcs_window_leaf *leaf = windows->leaves[i];

        for (uint32_t j = 0; leaf != NULL && j < BCS_WINDOWS_A_LEAF; j++) {
            if (leaf->places[j] != NULL) {
                call(leaf->places[j], (size_t)1 << windows->shift);
            }
        }
    }
}

static void unmap(void *place, size_t n_bytes)
{
    munmap(place, n_bytes);
}

void bcs_windows_fini(struct bcs_windows *windows)
{
    for_each(windows, unmap);
    for (uint32_t i = 0; i < windows->n_leaves; i++) {
        free(windows->leaves[i]);
    }
    bcs_sparse_free((void *)windows->leaves, windows->n_leaves,
                    sizeof(*windows->leaves));
    windows->leaves = NULL;
    windows->n_leaves = 0;
}

void bcs_windows_take_away(struct bcs_windows *windows)
{
    bcs_forked_take_away(windows->whole, windows->whole_bytes);
    for_each(windows, bcs_forked_take_away);
}

static struct bcs_window_leaf *make_leaf(struct bcs_window_leaf *_Atomic *place)
{
    struct bcs_window_leaf *leaf = calloc(1, sizeof(*leaf));
    struct bcs_window_leaf *other = NULL;

    if (leaf == NULL) {
        bcs_fatal("no memory for the table of a heap");
    }
    /* acq_rel: pairs with the acquire in bcs_windows_at, and with itself */
    if (!atomic_compare_exchange_strong_explicit(
            place, &other, leaf, memory_order_acq_rel, memory_order_acquire)) {
        free(leaf);
        return other;
    }
    return leaf;
}

/** What stands for a window in a child that must not touch it. */
static uint8_t *map_nothing(uint64_t n_bytes)
{
    void *place = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (place == MAP_FAILED) {
        bcs_fatal("no memory for a forked child");
    }
    return place;
}

static uint8_t *map_window(const struct bcs_memory *memory, uint32_t shift,
                           uint32_t node, uint64_t number, uint8_t *_Atomic *entry)
{
    uint64_t n_bytes = UINT64_C(1) << shift;
    uint8_t *other = NULL;
    void *place;

    if (memory->is_taken_away) {
        place = map_nothing(n_bytes);
    } else if (memory->ops->memory_map(memory, node, number << shift, n_bytes, &place) <
               0) {
        bcs_end_process(1); /* logged */
    }
    /* acq_rel: pairs with the acquire in bcs_windows_at, and with itself */
    if (!atomic_compare_exchange_strong_explicit(
            entry, &other, place, memory_order_acq_rel, memory_order_acquire)) {
        munmap(place, n_bytes);
        return other;
    }
    return place;
}

void *bcs_windows_at(const struct bcs_memory *memory, const struct bcs_windows *windows,
                     uint32_t node, uint64_t gva)
{
    uint64_t number = gva >> windows->shift;
    struct bcs_window_leaf *_Atomic *leaf_place;
    struct bcs_window_leaf *leaf;
    uint8_t *_Atomic *entry;
    uint8_t *place;

    if (number >> BCS_WINDOW_LEAF_BITS >= windows->n_leaves) {
        return windows->whole +
               gva; /* not in the heap: its caller is refused elsewhere */
    }
    leaf_place = &windows->leaves[number >> BCS_WINDOW_LEAF_BITS];
    /* acquire, twice: pair with the exchanges of those who have made the leaf and the
     * window */
    leaf = atomic_load_explicit(leaf_place, memory_order_acquire);
    if (__builtin_expect(leaf == NULL, 0)) {
        leaf = make_leaf(leaf_place);
    }
    entry = &leaf->places[number % BCS_WINDOWS_A_LEAF];
    place = atomic_load_explicit(entry, memory_order_acquire);
    if (__builtin_expect(place == NULL, 0)) {
        place = map_window(memory, windows->shift, node, number, entry);
    }
    return place + (gva & ((UINT64_C(1) << windows->shift) - 1));
}
