/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives between the nodes of one machine. Whichever process calls a primitive
 * carries it out at once, on the heaps of all nodes of the set, which it has mapped,
 * also those that are far to its caller; no other process takes part.
 *
 * Atomicity. A transfer of data and a query both take the locks of all nodes of their
 * set before they touch any (in ascending order, so that nobody waits in a circle) and
 * give none back before they have touched the last: no other primitive sees or changes
 * any of these nodes in between. If a lock cannot be had because its holder died,
 * nothing was touched yet. If the caller itself dies in the middle, its locks stay
 * taken, and every later primitive on any of these nodes fails: nobody finds out
 * through the primitives that some nodes have the data and others have not. Events are
 * signalled after the data are on all nodes, so whoever is signalled finds the data
 * everywhere.
 *
 * Sequential consistency. All memory of the primitives is accessed under locks, each
 * given back with release and taken with acquire order. Order two calls as their
 * holding of a common node's lock, and the calls of one process as it made them: all of
 * these are happens-before edges, which have no cycle, so there is one order of all
 * calls that agrees with them all, and each call sees just what those before it wrote.
 *
 * Signals alone. A transfer without data to one node takes no lock, so that whoever is
 * stopped or dies with one holds up no wake-up. It does one thing to the node, an
 * atomic addition, so there is no half of it to be seen, and locks could not make it
 * more atomic. No other primitive reads or stores the count (<bcs/primitives.h>): a
 * signal may stand anywhere in the one order, as far as transfers and queries can tell.
 * Whoever has read the count knows its place, by an acquire load of what the addition
 * has released; that is one more happens-before edge beside those of the locks and of
 * each process's own calls, so they still have no cycle. And what the signaller put
 * before, under whatever locks, is there for who reads the count. A node that is known
 * to be broken is refused to signals, too; where nobody has found out yet, the signal
 * is counted.
 *
 * Readers by address take no lock. What they may rely on is the event: it is counted
 * with release order after the data, and read with acquire order
 * (libbcs/fabric/core/event.c). A word at the end of a block, if it is aligned, is
 * stored whole, last, and with release order, so that it can be polled as a flag for
 * the rest of its block and for whatever was put before it. Otherwise a reader that
 * does not wait for the event may see a block half written.
 *
 * Waking sleepers is a system call and comes after the locks are given back.
 */
#include "libbcs/fabric/transport/shm/shm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/transport/event_word.h"
#include "libbcs/fabric/transport/shm/node_lock.h"
#include "libbcs/fabric/transport/shm/shm_memory.h"

/* A sleeper looks after the other side this often; see bcs_event_sleep. */
#define SLEEP_NS 50000000

struct shm_transport {
    struct bcs_transport base; /* first */
    const struct bcs_memory *memory;
    const struct bcs_windows *reach; /* [n_nodes] the heaps */
    uint64_t self;                   /* our word in locks */
    uint32_t node;
};

_Static_assert(offsetof(struct shm_transport, base) == 0, "cast from bcs_transport");
_Static_assert(sizeof(struct shm_node_lock) <= BCS_HEAP_RESERVED_BYTES, "it fits");

static struct shm_transport *shm_of(struct bcs_transport *transport)
{
    return (struct shm_transport *)transport;
}

static void *address_on(const struct shm_transport *shm, uint32_t node, uint64_t gva)
{
    return bcs_windows_place(shm->memory, &shm->reach[node], node, gva);
}

static struct shm_node_lock *lock_of(const struct shm_transport *shm, uint32_t node)
{
    return address_on(shm, node, 0);
}

static int shm_open_as(struct bcs_memory *memory, uint32_t node,
                       struct bcs_transport **transport_out)
{
    struct shm_transport *shm = malloc(sizeof(*shm));

    if (shm == NULL) {
        bcs_error("transport shm: out of memory");
        return -ENOMEM;
    }
    *shm = (struct shm_transport){
        .base.ops = &bcs_shm_ops,
        .memory = memory,
        .reach = ((const struct shm_memory *)memory)->reach,
        .self = shm_memory_self(memory),
        .node = node,
    };
    *transport_out = &shm->base;
    return 0;
}

static void shm_close(struct bcs_transport *transport)
{
    free(shm_of(transport));
}

/** The nodes of a set, ascending. */
#define FOR_EACH_NODE(node, set)                                                       \
    for (uint32_t node = bcs_node_set_step(set, 0); node != BCS_NODE_NONE;             \
         node = bcs_node_set_step(set, node + 1))

void shm_targets_unlock(struct bcs_transport *transport,
                        const struct bcs_node_set *targets, uint32_t end)
{
    const struct shm_transport *shm = shm_of(transport);

    FOR_EACH_NODE(node, targets)
    {
        if (node == end) {
            break;
        }
        shm_node_lock_release(lock_of(shm, node));
    }
}

void shm_targets_break(struct bcs_transport *transport,
                       const struct bcs_node_set *targets)
{
    FOR_EACH_NODE(node, targets)
    {
        shm_node_lock_break(lock_of(shm_of(transport), node));
    }
}

int shm_targets_lock(struct bcs_transport *transport,
                     const struct bcs_node_set *targets)
{
    const struct shm_transport *shm = shm_of(transport);

    FOR_EACH_NODE(node, targets)
    {
        int rc = shm_node_lock_acquire(lock_of(shm, node), shm->self, node);

        if (rc < 0) {
            shm_targets_unlock(transport, targets, node);
            return rc;
        }
    }
    return 0;
}

static void data_store(uint8_t *dest, const uint8_t *src, size_t n_bytes)
{
    size_t n_before = n_bytes - sizeof(uint64_t);
    uint64_t last;

    if (n_bytes == 1) {
        /* Pairs with the acquire load of whoever polls the byte by address. */
        __atomic_store_n(dest, *src, __ATOMIC_RELEASE);
        return;
    }
    if (n_bytes < sizeof(last) || (uintptr_t)(dest + n_before) % sizeof(last) != 0) {
        memmove(dest, src, n_bytes); /* src may be dest, on the caller's own node */
        return;
    }
    memcpy(&last, src + n_before, sizeof(last));
    memmove(dest, src, n_before);
    /* Pairs with the acquire load of whoever polls the word by address. */
    __atomic_store_n((uint64_t *)(void *)(dest + n_before), last, __ATOMIC_RELEASE);
}

void shm_events_signal(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    const struct shm_transport *shm = shm_of(transport);

    if (xfer->remote_event_gva != 0) {
        FOR_EACH_NODE(node, xfer->dests)
        {
            bcs_event_signal(address_on(shm, node, xfer->remote_event_gva));
        }
    }
    if (xfer->local_event_gva != 0) {
        bcs_event_signal(address_on(shm, shm->node, xfer->local_event_gva));
    }
}

void shm_events_wake(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    const struct shm_transport *shm = shm_of(transport);

    if (xfer->remote_event_gva != 0) {
        FOR_EACH_NODE(node, xfer->dests)
        {
            bcs_event_wake(address_on(shm, node, xfer->remote_event_gva));
        }
    }
    if (xfer->local_event_gva != 0) {
        bcs_event_wake(address_on(shm, shm->node, xfer->local_event_gva));
    }
}

/** Store a block on a node, window by window; the last word last. */
static void block_store(const struct shm_transport *shm, uint32_t node,
                        const struct bcs_xfer *xfer)
{
    uint64_t window_bytes = shm->memory->window_bytes;
    uint64_t gva = xfer->dest_gva, end = gva + xfer->n_bytes;
    const uint8_t *src = xfer->src;

    while (gva < end) {
        uint64_t n_bytes = window_bytes - (gva & (window_bytes - 1));

        n_bytes = n_bytes < end - gva ? n_bytes : end - gva;
        data_store(address_on(shm, node, gva), src, n_bytes);
        gva += n_bytes;
        src += n_bytes;
    }
}

void shm_store_on_all(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    if (xfer->n_bytes != 0) {
        FOR_EACH_NODE(node, xfer->dests)
        {
            block_store(shm_of(transport), node, xfer);
        }
    }
}

/** A transfer without events to one node, as most are. */
static int xfer_to_one(const struct shm_transport *shm, uint32_t node,
                       const struct bcs_xfer *xfer)
{
    int rc = shm_node_lock_acquire(lock_of(shm, node), shm->self, node);

    if (rc == 0) {
        block_store(shm, node, xfer);
        shm_node_lock_release(lock_of(shm, node));
    }
    return rc;
}

/** A transfer of nothing to one node: its events. See the top of the file. */
static int signal_one(struct bcs_transport *transport, uint32_t node,
                      const struct bcs_xfer *xfer)
{
    if (shm_node_lock_is_marked(lock_of(shm_of(transport), node))) {
        return -EOWNERDEAD;
    }
    shm_events_signal(transport, xfer);
    shm_events_wake(transport, xfer);
    return 0;
}

int shm_xfer_quietly(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    int rc = shm_targets_lock(transport, xfer->dests);

    if (rc == 0) {
        shm_store_on_all(transport, xfer);
        shm_events_signal(transport, xfer);
        shm_targets_unlock(transport, xfer->dests, BCS_NODE_NONE);
    }
    return rc;
}

static int shm_xfer(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    int rc;

    if (xfer->dests->n_nodes == 1 && xfer->dests->marks == NULL) {
        if (xfer->n_bytes == 0) {
            return signal_one(transport, xfer->dests->first, xfer);
        }
        if ((xfer->remote_event_gva | xfer->local_event_gva) == 0) {
            return xfer_to_one(shm_of(transport), xfer->dests->first, xfer);
        }
    }
    rc = shm_xfer_quietly(transport, xfer);
    if (rc == 0) {
        shm_events_wake(transport, xfer);
    }
    return rc;
}

static bool is_true(uint64_t variable, enum bcs_compare op, uint64_t value)
{
    switch (op) {
    case BCS_COMPARE_GE:
        return variable >= value;
    case BCS_COMPARE_LT:
        return variable < value;
    case BCS_COMPARE_EQ:
        return variable == value;
    case BCS_COMPARE_NE:
        return variable != value;
    }
    return false;
}

bool shm_is_true_on_all(struct bcs_transport *transport,
                        const struct bcs_comparison *comparison)
{
    const struct shm_transport *shm = shm_of(transport);

    FOR_EACH_NODE(node, comparison->dests)
    {
        const uint64_t *variable = address_on(shm, node, comparison->variable_gva);

        /* Pairs with the release store of a process that sets its own node's variable
         * by address; what the primitives wrote is ordered by the lock. */
        if (!is_true(__atomic_load_n(variable, __ATOMIC_ACQUIRE), comparison->op,
                     comparison->value)) {
            return false;
        }
    }
    return true;
}

void shm_write_to_all(struct bcs_transport *transport,
                      const struct bcs_comparison *comparison)
{
    const struct shm_transport *shm = shm_of(transport);

    FOR_EACH_NODE(node, comparison->dests)
    {
        uint64_t *variable = address_on(shm, node, comparison->write_gva);

        /* Pairs with the acquire load of whoever polls the variable by address. */
        __atomic_store_n(variable, comparison->write_value, __ATOMIC_RELEASE);
    }
}

static int shm_compare_and_write(struct bcs_transport *transport,
                                 const struct bcs_comparison *comparison,
                                 bool *is_true_out)
{
    int rc = shm_targets_lock(transport, comparison->dests);

    if (rc < 0) {
        return rc;
    }
    *is_true_out = shm_is_true_on_all(transport, comparison);
    if (*is_true_out && comparison->write_gva != 0) {
        shm_write_to_all(transport, comparison);
    }
    shm_targets_unlock(transport, comparison->dests, BCS_NODE_NONE);
    return 0;
}

static int shm_progress(struct bcs_transport *transport, uint64_t first_gva,
                        uint64_t n_bytes)
{
    (void)transport; /* every operation is done when it returns */
    (void)first_gva;
    (void)n_bytes;
    return 0;
}

static int shm_wait(struct bcs_transport *transport, struct bcs_event *event,
                    uint64_t seen)
{
    const struct shm_transport *shm = shm_of(transport);

    if (bcs_event_sleep(event, seen, SLEEP_NS) &&
        shm_node_lock_is_broken(lock_of(shm, shm->node), shm->node)) {
        return -EOWNERDEAD;
    }
    return 0;
}

const struct bcs_transport_ops bcs_shm_ops = {
    .delivers = true,
    .memory_size = shm_memory_size,
    .memory_create = shm_memory_create,
    .memory_address = shm_memory_address,
    .memory_connect = shm_memory_connect,
    .memory_seal = shm_memory_seal,
    .memory_map = shm_memory_map,
    .memory_fini = shm_memory_fini,
    .open = shm_open_as,
    .close = shm_close,
    .xfer = shm_xfer,
    .compare_and_write = shm_compare_and_write,
    .progress = shm_progress,
    .wait = shm_wait,
};
