/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport is: an operations table. libbcs/core checks every argument and then
 * calls through this table; a transport adds a folder, one ops object and one line in
 * transport.c. All operations may be called by several threads of a process at once.
 */
#ifndef BCS_TRANSPORT_TRANSPORT_H
#define BCS_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcs/primitives.h>

struct bcs_transport_ops;

/** The heaps of the nodes. Each transport has a struct that begins with it. */
struct bcs_memory {
    const struct bcs_transport_ops *ops;
    uint32_t n_nodes;
    uint64_t heap_bytes;
    uint64_t seed;
};

/** An open transport, as one node. Each transport has a struct that begins with it. */
struct bcs_transport {
    const struct bcs_transport_ops *ops;
    uint8_t *heap; /* this node's own heap, in this process */
};

/**
 * One transport. Arguments are valid: addresses lie within the heap and are aligned,
 * sets are not empty and name existing nodes. Results are those of the function of
 * <bcs/primitives.h> that the operation carries out; a negative one has been logged.
 */
struct bcs_transport_ops {
    /** bcs_memory_create; on success memory_out->ops is this table. */
    int (*memory_create)(const struct bcs_memory_params *params,
                         struct bcs_memory **memory_out);

    /** bcs_memory_address. */
    struct bcs_memory_address (*memory_address)(const struct bcs_memory *memory,
                                                uint32_t node);

    /** bcs_memory_connect. */
    int (*memory_connect)(struct bcs_memory *memory,
                          const struct bcs_memory_address addresses[]);

    /** bcs_memory_seal. */
    void (*memory_seal)(struct bcs_memory *memory);

    /** bcs_memory_heap. */
    void *(*memory_heap)(const struct bcs_memory *memory, uint32_t node);

    /** bcs_memory_destroy. Never NULL. */
    void (*memory_destroy)(struct bcs_memory *memory);

    /** Open as a node whose heap is mapped; on success transport_out is closed with close. */
    int (*open)(struct bcs_memory *memory, uint32_t node,
                struct bcs_transport **transport_out);

    /** Close and free. Never NULL. */
    void (*close)(struct bcs_transport *transport);

    /** bcs_xfer_and_signal. */
    int (*xfer)(struct bcs_transport *transport, const struct bcs_xfer *xfer);

    /** bcs_compare_and_write. */
    int (*compare_and_write)(struct bcs_transport *transport,
                             const struct bcs_comparison *comparison,
                             bool *is_true_out);

    /** bcs_core_progress. */
    int (*progress)(struct bcs_transport *transport);

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
