/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport is: an operations table. libbcs/fabric/core checks every argument
 * and then calls through this table; a transport adds a folder, one ops object and one
 * line in transport.c. All operations may be called by several threads of a process at
 * once.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_TRANSPORT_H
#define LIBBCS_FABRIC_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcs/primitives.h>

#include "libbcs/fabric/transport/windows.h"

struct bcs_transport_ops;

/** The heaps of the nodes. Each transport has a struct that begins with it. */
struct bcs_memory {
    const struct bcs_transport_ops *ops;
    uint32_t n_nodes;
    bool is_taken_away; /* a forked child must not touch it */
    uint64_t heap_bytes;
    uint64_t whole_bytes;  /* the part of a heap that is mapped in one piece */
    uint64_t window_bytes; /* of the pieces of the rest */
    uint64_t seed;
    struct bcs_node_set near;
    /* [n_nodes], set up before memory_create is called; what is far is not mapped in
     * them */
    struct bcs_windows *windows;
};

/** An open transport, as one node. Each transport has a struct that begins with it. */
struct bcs_transport {
    const struct bcs_transport_ops *ops;
};

/** The place of an address of a node's heap, by a table of this process; windows.h. */
static inline void *bcs_windows_place(const struct bcs_memory *memory,
                                      const struct bcs_windows *windows, uint32_t node,
                                      uint64_t gva)
{
    return __builtin_expect(gva < windows->whole_bytes, 1)
               ? windows->whole + gva
               : bcs_windows_at(memory, windows, node, gva);
}

/** The place of an address of a near node's heap. */
static inline void *bcs_memory_at(const struct bcs_memory *memory, uint32_t node,
                                  uint64_t gva)
{
    return bcs_windows_place(memory, &memory->windows[node], node, gva);
}

/**
 * One transport. Arguments are valid: addresses lie within the heap and are aligned,
 * sets are not empty and name existing nodes. Results are those of the function of
 * <bcs/primitives.h> that the operation carries out; a negative one has been logged.
 */
struct bcs_transport_ops {
    bool delivers;       /* bcs_core_delivers */
    size_t copied_bytes; /* bcs_core_copied_bytes, if it is more than the least */

    /** How large this transport's struct of a memory of so many nodes is. */
    size_t (*memory_size)(uint32_t n_nodes);

    /** The transport's part of bcs_memory_create, of a zeroed struct whose base is set:
     *  make the heaps of the nodes `makes`, which are near, and map the first part of
     *  each. */
    int (*memory_create)(struct bcs_memory *memory, const struct bcs_node_set *makes);

    /** bcs_memory_address. */
    struct bcs_memory_address (*memory_address)(const struct bcs_memory *memory,
                                                uint32_t node);

    /** bcs_memory_connect: map the first parts of the other near nodes' heaps, and find
     *  a way to the far ones. */
    int (*memory_connect)(struct bcs_memory *memory,
                          const struct bcs_memory_address addresses[]);

    /** bcs_memory_seal. */
    void (*memory_seal)(struct bcs_memory *memory);

    /**
     * Map (and register, where that is needed) a window of a heap; any thread. It is
     * given back with munmap.
     *
     * @return 0 or -errno, logged with what to raise
     */
    int (*memory_map)(const struct bcs_memory *memory, uint32_t node, uint64_t gva,
                      uint64_t n_bytes, void **place_out);

    /** The transport's part of bcs_memory_destroy: unmap the first parts. Also of one
     *  that memory_create has failed to make. */
    void (*memory_fini)(struct bcs_memory *memory);

    /** Open as a node whose heap is mapped; on success transport_out is closed with
     *  close. */
    int (*open)(struct bcs_memory *memory, uint32_t node,
                struct bcs_transport **transport_out);

    /** bcs_core_order_by_node; NULL: nothing becomes quicker by it. */
    void (*order_by_node)(struct bcs_transport *transport);

    /** Close and free. Never NULL. */
    void (*close)(struct bcs_transport *transport);

    /** bcs_xfer_and_signal. */
    int (*xfer)(struct bcs_transport *transport, const struct bcs_xfer *xfer);

    /** bcs_compare_and_write. */
    int (*compare_and_write)(struct bcs_transport *transport,
                             const struct bcs_comparison *comparison,
                             bool *is_true_out);

    /** bcs_core_progress_and_look. */
    int (*progress)(struct bcs_transport *transport, uint64_t first_gva,
                    uint64_t n_bytes);

    /** bcs_core_leave; NULL: there is nothing to be done. */
    void (*leave)(struct bcs_transport *transport);

    /** bcs_core_flush; NULL: every transfer is over when it is started. */
    int (*flush)(struct bcs_transport *transport);

    /**
     * Sleep until the event of this node may have left the count `seen`; returns 0 also
     * without a signal (the caller looks again), <0 if no signal may come any more.
     */
    int (*wait)(struct bcs_transport *transport, struct bcs_event *event,
                uint64_t seen);
};

/**
 * The operations of the transport of that name.
 *
 * @return the table, static; NULL if there is none
 */
const struct bcs_transport_ops *bcs_transport_find(const char *name);

#endif
