/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three core primitives of section 2 of the BCS-MPI paper, and what they work on:
 * sets of nodes, the symmetric heap, events. Any process may call them; a struct
 * bcs_core belongs to the process that made it and may be shared by its threads.
 *
 * Global memory. Every node has a heap of the same size, and an object has the same
 * offset in all of them: its *global virtual address*, a uint64_t whose name ends in
 * _gva. 0 is no address. Heaps start out zeroed. The layout is computed, not
 * negotiated: whoever reserves the same objects in the same order gets the same
 * addresses (struct bcs_heap).
 *
 * Consistency. Xfer-And-Signal and Compare-And-Write are atomic and sequentially
 * consistent with each other: all of them, from all nodes, take effect in one order
 * that agrees with the order of the calls on each handle. When a transfer takes effect
 * is not said: calls on several handles, of one node or process too, mix in any order,
 * unless an event, a Compare-And-Write or bcs_core_flush has put one behind the other.
 * Data that are put before an event is signalled are visible to whoever has seen that
 * event by bcs_test_event. A process that looks at its node's copy of the data by
 * address, without waiting for the event, may see a block half written, but never a
 * torn word where an aligned 8-byte put or a Compare-And-Write wrote it. If a block
 * ends at a multiple of 8 bytes, its last word is written last and whole: who has read
 * it with acquire order sees the rest of the block.
 *
 * Costs are given for a set of k nodes and n bytes. A *put* is what reaches one node, a
 * *query* what goes to one and comes back. What is not mentioned is local: constant,
 * without any transfer, and without memory of its own. What a transport adds, and what
 * its puts and queries take, is told with it (docs/primitives.md).
 *
 * Versions. As <bcs/bcs.h>: parameters that are seldom given have reserved members, to
 * be cleared; those of transfers and queries have none to spare, and do not grow.
 *
 * Threads. Node sets, heaps' layouts and parameters are plain data of the caller. A
 * struct bcs_memory is made, connected, sealed and destroyed by one thread, and read by
 * any.
 *
 * Return values. 0 is success, positive ones are of <bcs/status.h>, negative ones
 * -errno.
 */
#ifndef BCS_PRIMITIVES_H
#define BCS_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcs/public.h>
#include <bcs/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ sets of nodes */

/** Not a node. */
#define BCS_NODE_NONE UINT32_MAX

/**
 * A set of nodes: those of a range, or those of it that are marked. Plain data, but
 * that the marks, if there are any, are the caller's, and stay as they are while a call
 * uses the set. All zero is empty. However many nodes a job has, the whole and a single
 * node cost the same.
 */
struct bcs_node_set {
    uint32_t first; /* the range: first to first + n_nodes - 1 */
    uint32_t n_nodes;
    const uint64_t
        *marks; /* NULL: all of the range; else bit i % 64 of word i / 64 says
                              whether node first + i is in the set */
};

/** The set of one node. */
static inline struct bcs_node_set bcs_node_set_one(uint32_t node)
{
    struct bcs_node_set set = {node, 1, NULL};

    return set;
}

/** The set of the nodes from first on; first + n_nodes is at most BCS_NODE_NONE. */
static inline struct bcs_node_set bcs_node_set_range(uint32_t first, uint32_t n_nodes)
{
    struct bcs_node_set set = {first, n_nodes, NULL};

    return set;
}

/** The set of those of the nodes 0 to n_nodes - 1 that are marked. */
static inline struct bcs_node_set bcs_node_set_marked(const uint64_t marks[],
                                                      uint32_t n_nodes)
{
    struct bcs_node_set set = {0, n_nodes, marks};

    return set;
}

/** Words that the marks of n_nodes nodes take; clear them before use. */
static inline size_t bcs_node_words(uint32_t n_nodes)
{
    return ((size_t)n_nodes + 63) / 64;
}

/** Mark node i of a range. */
static inline void bcs_node_mark(uint64_t marks[], uint32_t i)
{
    marks[i / 64] |= UINT64_C(1) << (i % 64);
}

/** Take a mark away, whether it is there or not. */
static inline void bcs_node_unmark(uint64_t marks[], uint32_t i)
{
    marks[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/** Whether the node is in the set. */
static inline bool bcs_node_set_has(const struct bcs_node_set *set, uint32_t node)
{
    uint32_t i = node - set->first; /* a large one, if it is before the range */

    return i < set->n_nodes &&
           (set->marks == NULL || (set->marks[i / 64] >> (i % 64) & 1) != 0);
}

/** How many nodes are in the set. This and all that follow look at each word of the
 *  marks at most once, and at nothing if there are none. */
BCS_PUBLIC uint32_t bcs_node_set_count(const struct bcs_node_set *set);

/** Whether no node is in the set. */
BCS_PUBLIC bool bcs_node_set_is_empty(const struct bcs_node_set *set);

/** Whether both sets have the same nodes, however each names them. */
BCS_PUBLIC bool bcs_node_set_is_equal(const struct bcs_node_set *a,
                                      const struct bcs_node_set *b);

/**
 * The smallest node of the set that is at least `from`. To visit all, ascending: start
 * with from = 0, go on with the last node + 1, end at BCS_NODE_NONE.
 *
 * @return the node; BCS_NODE_NONE if there is none
 */
BCS_PUBLIC uint32_t bcs_node_set_next(const struct bcs_node_set *set, uint32_t from);

/* -------------------------------------------------------------- the symmetric heap */

/** The first bytes of every heap are the transport's. */
#define BCS_HEAP_RESERVED_BYTES 512

/** Base and size of a heap are multiples of it; also the largest alignment. */
#define BCS_HEAP_ALIGN 4096

/** The layout of the heap so far. Plain data: each process keeps its own. Programs may
 *  read it; only the two functions below change it. */
struct bcs_heap {
    uint64_t next;  /* first byte that is not reserved: so many are needed up to now */
    uint64_t limit; /* bytes of the heap */
};

/** Start an empty layout of a heap of heap_bytes. */
BCS_PUBLIC void bcs_heap_init(struct bcs_heap *heap, uint64_t heap_bytes);

/**
 * Reserve the next object. Depends on nothing but the calls before it, so that every
 * process that makes the same calls gets the same addresses.
 *
 * @param align  a power of two up to BCS_HEAP_ALIGN
 * @return the object's global address
 * @return 0        it does not fit, or align is bad; the layout is as it was
 */
BCS_PUBLIC uint64_t bcs_heap_reserve(struct bcs_heap *heap, size_t n_bytes,
                                     size_t align);

/**
 * An event, in global memory. A signal adds one to count, and it is never reset: a
 * waiter waits for a value. Reserve sizeof(struct bcs_event) aligned to that; the
 * address of the whole is the event's _gva. A program may read count, with acquire
 * order, of its own node's events; it never stores to it, and names no part of an event
 * as the destination of data or in a comparison.
 */
struct bcs_event {
    uint64_t count;
    uint32_t reserved[2];
};

/* --------------------------------------------------------------------- the memory */

/** The heaps of all nodes, as one process sees them. The transport has made them. */
struct bcs_memory;

/** What bcs_memory_create needs. */
struct bcs_memory_params {
    const char *transport; /* "shm", or another of bcs_transport_names */
    uint32_t n_nodes;      /* at least 1 */
    uint64_t heap_bytes;   /* of one node; a multiple of BCS_HEAP_ALIGN */
    uint64_t seed;         /* of transports for tests, which are late; others: unused */
    /* 0: a heap is mapped in one piece. Else only its first whole_bytes are, and the
     * rest in windows of so many bytes, a power of two, each when a process first uses
     * an address in it: what a program reaches by one address must lie within a
     * window. */
    uint64_t window_bytes;
    uint64_t whole_bytes;
    /* The nodes whose heaps this process makes; each is made by one process of its
     * node. */
    struct bcs_node_set makes;
    /* The near nodes: those whose heaps this process uses by address. The heaps of
     * others, which are far, are reached by the primitives alone. A range; of no nodes:
     * all are near. */
    struct bcs_node_set near;
    uint64_t reserved[2]; /* clear */
};

/** How others find a heap: plain data, to be carried to them in any way. */
struct bcs_memory_address {
    uint64_t words[64];
};

/**
 * Make heaps, all zero. Pages cost memory only once touched. A process that makes them
 * all is done, and so are those that it forks later, and its threads. In a job of
 * processes each calls it; then they exchange bcs_memory_address of each node, and
 * connect. Cost: no transfer; memory for each node's name, and the heaps that are made.
 *
 * @return 0         memory_out is open; end it with bcs_memory_destroy
 * @return -EINVAL   a parameter is out of range, or a reserved member not clear; logged
 * @return -ENOENT   no such transport; logged with those that exist
 * @return -ENOMEM   logged
 * @return <0        -errno of the transport; logged
 */
BCS_PUBLIC int bcs_memory_create(const struct bcs_memory_params *params,
                                 struct bcs_memory **memory_out);

/** The address of a heap that this process has made. It is good as long as the process
 *  lives and has not called bcs_memory_seal. */
BCS_PUBLIC struct bcs_memory_address bcs_memory_address(const struct bcs_memory *memory,
                                                        uint32_t node);

/**
 * Reach the heaps that others have made. Cost: each node's heap is mapped or registered
 * once.
 *
 * @param addresses  [n_nodes], by node
 * @return 0         connected; tell those who made them, so that they may seal
 * @return <0        -errno of the transport; logged
 */
BCS_PUBLIC int bcs_memory_connect(struct bcs_memory *memory,
                                  const struct bcs_memory_address addresses[]);

/** All have connected: nobody can any more. */
BCS_PUBLIC void bcs_memory_seal(struct bcs_memory *memory);

/** Where a near node's heap is in this process, or the first part of one with windows;
 *  NULL if the node is far. */
BCS_PUBLIC void *bcs_memory_heap(const struct bcs_memory *memory, uint32_t node);

/** In a forked child that must not touch the heaps: put empty memory of its own in the
 *  place of all that is mapped, and of whatever would be. */
BCS_PUBLIC void bcs_memory_take_away(struct bcs_memory *memory);

/** Let go of the heaps, which live on with those who have connected. All handles must
 *  have been closed. Accepts NULL. */
BCS_PUBLIC void bcs_memory_destroy(struct bcs_memory *memory);

/* --------------------------------------------------------------------- the handle */

/** One process's access to global memory as one node. */
struct bcs_core;

/**
 * Act as one of the nodes. Small and quick: a process that may act as several nodes
 * makes one handle for each. After fork the child makes its own.
 *
 * @param memory     connected; must outlive the handle
 * @param node       whose heap and events the caller sees; mapped here
 * @return 0         core_out is open; end it with bcs_core_destroy
 * @return -EINVAL   no such node, or not mapped; logged
 * @return -ENOMEM   logged
 * @return <0        -errno of the transport; logged
 */
BCS_PUBLIC int bcs_core_create(struct bcs_memory *memory, uint32_t node,
                               struct bcs_core **core_out);

/**
 * From now on transfers of a handle to one node each need not take effect in the order
 * of its calls, if they are to different nodes: those to the same node do, and what
 * concerns several nodes, a query, and bcs_core_flush come behind all before them, and
 * before all behind them. For who sends to many nodes, where a change of the node takes
 * a round trip.
 */
BCS_PUBLIC void bcs_core_order_by_node(struct bcs_core *core);

/** Close a handle, which no other thread may be using. Accepts NULL. */
BCS_PUBLIC void bcs_core_destroy(struct bcs_core *core);

/**
 * Where this node's own copy of an object is in this process. If its window cannot be
 * mapped, the process ends, with a line that says what to raise.
 *
 * The caller may read it, and may store to it with release order what other nodes only
 * compare (bcs_compare_and_write reads with acquire order). Stores by address are not
 * part of the one order of the primitives.
 *
 * @return the address; meaningless unless gva lies within the heap
 */
BCS_PUBLIC void *bcs_core_address(const struct bcs_core *core, uint64_t gva);

/**
 * Let the network move on. bcs_test_event and the others do it themselves; a process
 * that waits for something else calls this in its loop: what it has started may stay
 * here until it does. Cost: what it finds to do.
 *
 * @return 0   done, whether or not there was something to do
 * @return <0  -errno; the network is unusable, logged
 */
BCS_PUBLIC int bcs_core_progress(struct bcs_core *core);

/**
 * bcs_core_progress by a thread that looks next at some of its node's memory itself:
 * what a transfer puts there is counted by its remote event as ever, but wakes nobody
 * who sleeps on it.
 *
 * @param first_gva  of n_bytes that the caller looks at, whatever comes of this call
 */
BCS_PUBLIC int bcs_core_progress_and_look(struct bcs_core *core, uint64_t first_gva,
                                          uint64_t n_bytes);

/**
 * Say that this thread, which has called bcs_core_progress, sleeps now, or computes for
 * long: somebody else is to let the network move on. Without it that may take some
 * milliseconds to begin. bcs_test_event and bcs_await_event say it themselves. Cost:
 * nothing, or one call of the system.
 */
BCS_PUBLIC void bcs_core_leave(struct bcs_core *core);

/**
 * Wait until all transfers of this handle have taken effect on all of their nodes. For
 * who tells others by another way than the primitives that something was put, hands the
 * node on to another process that acts as it, or goes away for long. Cost: about one
 * round trip to the farthest node with a transfer under way; nothing if there is none,
 * or if the transport is never late.
 *
 * @return 0   they have; all their local events are signalled, too
 * @return <0  as bcs_xfer_and_signal, for any of them
 */
BCS_PUBLIC int bcs_core_flush(struct bcs_core *core);

/**
 * Whether the transport is ever late: if not, bcs_core_flush has nothing to wait for,
 * and need not be called. The same for all handles of the transport.
 */
BCS_PUBLIC bool bcs_core_is_late(const struct bcs_core *core);

/**
 * How long a block may be that is copied before bcs_xfer_and_signal returns: at least
 * BCS_XFER_COPIED_BYTES. The same for all handles of the transport.
 */
BCS_PUBLIC size_t bcs_core_copied_bytes(const struct bcs_core *core);

/**
 * Whether a transfer takes effect in time though its process makes no further call: if
 * not, and the process goes away for long, it flushes before. The same for all handles
 * of the transport.
 */
BCS_PUBLIC bool bcs_core_delivers(const struct bcs_core *core);

/**
 * The names of the transports of this build, NULL-terminated, best first. Static.
 */
BCS_PUBLIC const char *const *bcs_transport_names(void);

/* ----------------------------------------------------------------- the primitives */

/**
 * A block of up to so many bytes is copied before bcs_xfer_and_signal returns. Enough
 * for a descriptor with its payload; about what an adapter takes within a command.
 */
#define BCS_XFER_COPIED_BYTES 512

/** A transfer: n_bytes from src to the same address on every node of dests. */
struct bcs_xfer {
    const void *src;                  /* local memory; unused if n_bytes is 0 */
    size_t n_bytes;                   /* 0: only signal */
    uint64_t dest_gva;                /* unused if n_bytes is 0 */
    const struct bcs_node_set *dests; /* not empty; may include the caller's node */
    uint64_t local_event_gva;         /* signalled on the caller's node; 0: none */
    uint64_t remote_event_gva;        /* signalled on every node of dests; 0: none */
};

/**
 * Xfer-And-Signal: start copying a local block to every node of a set, then signal.
 *
 * Never waits for the network. *xfer and the set may be reused at once, and so may the
 * bytes behind src, if they are no more than BCS_XFER_COPIED_BYTES. Those of a longer
 * block are read at any time before the local event is signalled, and must stay as they
 * are until then. Either every node of the set gets the data or, after an error, none
 * does; no node's event is signalled before all nodes have the data. src may be the
 * caller's own copy of the destination. An error that is met later is returned by a
 * later call on the handle; the transfer then signals no event. [BCS-MPI section 2]
 *
 * Cost: one put of n bytes to each of the k nodes, with its event; no round trip is
 * waited for. A put is made by the caller, or copied for whoever makes it: up to n * k
 * bytes of local work.
 *
 * @return 0            started
 * @return BCS_E_BUSY   no free slot, nothing started; retry after progress
 * @return -EINVAL      empty set, unknown node, or an address outside of the heap or
 *                      unaligned; logged with the range
 * @return -EOWNERDEAD  a process died while it was writing to a node of the set, whose
 *                      memory can no longer be trusted; logged once
 * @return <0           -errno; no node has the data
 */
BCS_PUBLIC int bcs_xfer_and_signal(struct bcs_core *core, const struct bcs_xfer *xfer);

/**
 * Xfer-And-Signal that waits for a free slot: bcs_xfer_and_signal, with
 * bcs_core_progress between tries. As there, it returns before the transfer has taken
 * effect.
 *
 * @return 0    started
 * @return <0   as bcs_xfer_and_signal or bcs_core_progress; never BCS_E_BUSY
 */
BCS_PUBLIC int bcs_xfer_and_signal_blocking(struct bcs_core *core,
                                            const struct bcs_xfer *xfer);

/**
 * Test-Event: whether an event of the caller's node has been signalled `target` times
 * in all; with `wait`, block (spin, yield, then sleep) until it is. [BCS-MPI section 2]
 *
 * Once it returns 0, all data of the transfers whose signals were counted are visible.
 * Cost: a look at one word of the own memory, and bcs_core_progress if it is not there
 * yet; waiting for about a microsecond it polls, then yields its core 16 times, then
 * sleeps.
 *
 * @return 0              signalled
 * @return BCS_E_PENDING  not yet; never with wait
 * @return -EINVAL        event_gva is outside of the heap or unaligned; logged
 * @return -EOWNERDEAD    only while waiting: a process died while it was writing to
 *                        this node, so that the signal may never come; logged once
 * @return <0             -errno of the network; logged
 */
BCS_PUBLIC int bcs_test_event(struct bcs_core *core, uint64_t event_gva,
                              uint64_t target, bool wait);

/**
 * Sleep until an event of the caller's node may have left the count `seen`, but not for
 * long: at most some tens of milliseconds. For a process that waits for several things
 * at once: it reads the event's count (bcs_core_address, acquire order), looks for all
 * of them, and then sleeps on that count. Neither spins nor yields before. Cost: one
 * call of the system, and another one for whoever signals meanwhile.
 *
 * @return 0            look again, whether there was a signal or not
 * @return -EINVAL      as bcs_test_event
 * @return -EOWNERDEAD  as bcs_test_event
 * @return <0           -errno of the network; logged
 */
BCS_PUBLIC int bcs_await_event(struct bcs_core *core, uint64_t event_gva,
                               uint64_t seen);

/**
 * Signal an event of the caller's own node, for what this process has stored there by
 * address: at once, and not as part of the one order of the primitives. Cost: one
 * atomic addition; one call of the system if somebody sleeps on it.
 *
 * @return 0        signalled
 * @return -EINVAL  as bcs_test_event
 */
BCS_PUBLIC int bcs_signal_event(struct bcs_core *core, uint64_t event_gva);

/** How a global variable is compared with a value; both are unsigned. */
enum bcs_compare { BCS_COMPARE_GE, BCS_COMPARE_LT, BCS_COMPARE_EQ, BCS_COMPARE_NE };

/** A query of a set of nodes: variable OP value on each. Addresses are 8-aligned. */
struct bcs_comparison {
    uint64_t variable_gva; /* of a uint64_t */
    enum bcs_compare op;
    uint32_t reserved; /* clear */
    uint64_t value;
    const struct bcs_node_set *dests; /* not empty; may include the caller's node */
    uint64_t write_gva;               /* of a uint64_t; may be variable_gva; 0: none */
    uint64_t write_value;             /* stored on all of dests if all compare true */
};

/**
 * Compare-And-Write: whether a comparison is true on all nodes of a set; if it is, and
 * write_gva is given, also write a value on all of them. Blocks until the answer is
 * known and the value is written. [BCS-MPI section 2]
 *
 * Comparing and writing are one step: nothing that the primitives write to the set
 * comes in between, and callers with overlapping sets leave the same value on all
 * common nodes.
 *
 * Cost: a query of each of the k nodes, and, if it writes, a put of 8 bytes to each;
 * the caller waits for one round trip, or two if it writes.
 *
 * @return 0            is_true_out is the answer
 * @return -EINVAL empty set, unknown node, bad op, reserved member not clear, or an
 *                      address outside of the heap or unaligned; logged with the range
 * @return -EOWNERDEAD  as bcs_xfer_and_signal; nothing was written
 * @return <0           -errno; nothing was written
 */
BCS_PUBLIC int bcs_compare_and_write(struct bcs_core *core,
                                     const struct bcs_comparison *comparison,
                                     bool *is_true_out);

#ifdef __cplusplus
}
#endif

#endif
