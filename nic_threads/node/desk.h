/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A desk: where the messages of some ports of a node are matched, or the collectives of
 * a node are counted, and what that needs. Whoever holds its lock (engine_lock.h) may
 * read and write everything here that is not atomic; atomic words are read by others,
 * each as it says.
 */
#ifndef NIC_THREADS_NODE_DESK_H
#define NIC_THREADS_NODE_DESK_H

#include <bcs/primitives.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libbcs/fabric/ring/descriptor.h"
#include "nic_threads/rules/schedule.h"

/** One posted descriptor and who posted it. */
struct nic_posted {
    uint64_t gva;  /* of the descriptor in the node's heap: ring, wire or item */
    uint32_t port; /* number in the job */
    uint32_t item; /* the item that holds it, or NIC_ITEM_NONE */
};

/** A send and a receive that go together. */
struct nic_pair {
    struct nic_posted send;
    struct nic_posted receive;
};

/**
 * What the roles hand to each other within one slice. The ports give at most
 * limits.batch descriptors of all kinds together; the wires give nothing more once
 * there are limits.arrivals sends or control descriptors, and so do the links of other
 * desks.
 */
struct nic_batch {
    uint32_t n_collected; /* ring entries of this slice */
    uint32_t n_sends, n_receives, n_controls, n_probes, n_pairs, n_shares, n_ready;
    struct nic_posted sends[2 * BCS_BATCH_MOST];
    struct nic_posted
        receives[BCS_BATCH_MOST]; /* and cancellations, as they were posted */
    struct nic_posted probes[BCS_BATCH_MOST];
    struct nic_posted controls[2 * BCS_BATCH_MOST]; /* all other kinds */
    struct nic_pair pairs[3 * BCS_BATCH_MOST];
    struct nic_share shares[BCS_BATCH_MOST]; /* chunks of long messages */
    uint32_t ready[BCS_BATCH_MOST]; /* slots of the collectives of this slice */
    bool is_matched; /* sends, receives and probes have been carried out */
};

/** A transfer that the background thread gives back to the engine. */
struct nic_returned {
    uint32_t
        item; /* wants its next chunk; NIC_ITEM_NONE: a copy was refused, see below */
    uint32_t port; /* of the receiver, and its cell */
    uint32_t cell;
};

#define NIC_LOCK_IS_MISSED (UINT32_C(1) << 31)

/** A desk's own state; what it keeps for each port stands in tables (tables.h). */
struct nic_desk {
    /* The engine lock: 0, or 1 + number of the port whose process holds it, and
     * NIC_LOCK_IS_MISSED once somebody has work and could not have it. */
    _Alignas(BCS_CACHE_LINE) _Atomic uint32_t lock;

    /* number of the slice that runs or ran last */
    _Alignas(BCS_CACHE_LINE) uint64_t slice;
    uint32_t free_item; /* list of items that were used before */
    uint32_t items_touched;
    uint32_t n_sends_kept; /* items that hold a send; read without the lock */
    bool is_stalled;       /* no stage block was free: wait for a chunk to be stored */
    struct nic_schedule schedule;
    struct nic_batch batch;
    uint32_t n_links_touched; /* links with entries in the batch: */
    uint32_t links_touched[2 * BCS_BATCH_MOST];

    /* Between nodes. */
    /* global: links that writers on other nodes have begun to use */
    _Alignas(16) struct bcs_event announcements;
    uint64_t n_announcements_seen;
    uint32_t n_outbox; /* control descriptors that found no room, to all desks */
    _Alignas(16) struct bcs_event long_put_event; /* local one of all long puts */
    uint64_t n_long_puts;

    _Atomic uint64_t
        open_transfers; /* the first of a list, or 0; see open_transfers.h */
    /* Transfers that want their next chunk, from the background thread; cyclic, of
     * limits.returned. Before it copies it sees that there is room. */
    struct nic_returned returned[BCS_RETURNED_MOST];
    _Atomic uint64_t n_returned; /* entries of returned that have ever been written, */
    _Atomic uint64_t n_returned_seen; /* and read */
};

#endif
