/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a node's heap is in this process. Its first part is there from the start, in
 * one piece; the rest comes in windows, of equal size and in any order, each when it is
 * first needed, and stays. So address space grows with use, and a heap may be larger
 * than any memory.
 *
 * An address leads to its place by a comparison, if it is in the first part, and else
 * by a table of two levels. Any thread may map a window: it stores the place with a
 * compare-and-swap, and who comes second gives its own mapping back. What one object's
 * users reach by one address must lie within one window, or in the first part.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_WINDOWS_H
#define LIBBCS_FABRIC_TRANSPORT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

enum { BCS_WINDOW_LEAF_BITS = 9, BCS_WINDOWS_A_LEAF = 1 << BCS_WINDOW_LEAF_BITS };

/** The places of some neighbouring windows; NULL: not mapped yet. */
struct bcs_window_leaf {
    uint8_t *_Atomic places[BCS_WINDOWS_A_LEAF];
};

/** One node's heap in this process. */
struct bcs_windows {
    uint8_t *whole; /* the first part; NULL: the heap is not mapped here */
    uint64_t whole_bytes;
    uint32_t shift; /* a window has 2^shift bytes */
    uint32_t n_leaves;
    struct bcs_window_leaf *_Atomic *leaves;
};

struct bcs_memory;

/**
 * Make the table of a heap, of which nothing is mapped.
 *
 * @return 0 or -ENOMEM, logged; end it with bcs_windows_fini
 */
int bcs_windows_init(struct bcs_windows *windows_out, uint64_t heap_bytes,
                     uint64_t whole_bytes, uint64_t window_bytes);

/** Unmap the windows, but not the first part; free the table. Accepts a zeroed one. */
void bcs_windows_fini(struct bcs_windows *windows);

/**
 * The place of an address beyond the first part of a node's heap; maps its window if
 * need be. If that fails, the process ends with status 1, and the transport has said
 * what to raise.
 */
void *bcs_windows_at(const struct bcs_memory *memory, const struct bcs_windows *windows,
                     uint32_t node, uint64_t gva);

/** Replace all that is mapped, the first part too, by empty memory of this process
 *  alone. */
void bcs_windows_take_away(struct bcs_windows *windows);

#endif
