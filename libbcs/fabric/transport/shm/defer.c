/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport "shm-defer": what <bcs/primitives.h> promises, and no more. A transfer is
 * kept back in the process that has started it, and carried out by transport shm in a
 * later call on the same handle; which one, a seed decides. So callers that take more
 * for granted than they are promised fail on one machine as they would on a network.
 * Only in builds with tests; used by any thread of the process.
 *
 * What may be late. Transfers of one handle take effect in the order of their calls,
 * and a Compare-And-Write after all before it, as there is one order of all primitives
 * that agrees with each handle's. Nothing else is promised, so that
 *   - a transfer takes effect at any later time, as seen from all other handles, those
 *     of the same process or node too: calls of several handles mix in every order;
 *   - the source of a long put is read only then, that of a short one is copied at
 *   once;
 *   - the local event follows the others after some further time;
 *   - if all slots are taken, a transfer is refused as busy. A later call carries out
 * some of what is kept, the more it waits the more of it: progress, and so Test-Event,
 * after a few calls at least one; a sleep, a flush and the end all. None needs another
 * process. What is kept when a process calls nothing more, stays.
 *
 * An error that is met late is returned by the call that meets it, and the transfer is
 * gone.
 */
#include "libbcs/fabric/transport/shm/defer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/shm/shm_memory.h"

enum {
    N_SLOTS = 16,
    MOST_IDLE_CALLS = 4, /* calls of progress that carry out nothing */
    SEEDS_APART = 512, /* nodes of a seed before they draw what those of the next do */
};

/** A transfer that is kept back; its set and a short block are copied. */
struct slot {
    struct bcs_xfer xfer;
    struct bcs_node_set dests;
    uint64_t *marks; /* of the set: words for all nodes */
    uint8_t bytes[BCS_XFER_COPIED_BYTES];
};

struct defer_transport {
    struct bcs_transport base; /* first */
    struct bcs_transport *shm;
    pthread_mutex_t mutex; /* of all below */
    uint64_t random;
    uint32_t node;
    uint32_t first, n_kept; /* slots in use: n_kept from first on, cyclic */
    uint32_t n_idle_calls;
    struct slot slots[N_SLOTS];
    uint64_t marks[]; /* of the slots */
};

_Static_assert(offsetof(struct defer_transport, base) == 0, "cast from bcs_transport");

static struct defer_transport *defer_of(struct bcs_transport *transport)
{
    return (struct defer_transport *)transport;
}

/** A random number below n, from the seed. */
static uint32_t random_below(struct defer_transport *defer, uint32_t n)
{
    defer->random =
        defer->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((defer->random >> 33) % n);
}

static int defer_open(struct bcs_memory *memory, uint32_t node,
                      struct bcs_transport **transport_out)
{
    size_t n_words = bcs_node_words(memory->n_nodes);
    struct defer_transport *defer =
        calloc(1, sizeof(*defer) + N_SLOTS * n_words * sizeof(defer->marks[0]));
    int rc;

    if (defer == NULL) {
        bcs_error("transport shm-defer: out of memory");
        return -ENOMEM;
    }
    rc = bcs_shm_ops.open(memory, node, &defer->shm);
    if (rc < 0) {
        free(defer);
        return rc;
    }
    pthread_mutex_init(&defer->mutex, NULL);
    defer->base.ops = &bcs_shm_defer_ops;
    for (uint32_t i = 0; i < N_SLOTS; i++) {
        defer->slots[i].marks = defer->marks + i * n_words;
    }
    defer->node = node;
    defer->random = memory->seed * SEEDS_APART + node;
    random_below(defer, 1); /* neighbouring seeds begin alike otherwise */
    *transport_out = &defer->base;
    return 0;
}

/** Leave of a transfer nothing but the signal of its local event. */
static void keep_local_event(const struct defer_transport *defer, struct slot *slot)
{
    slot->dests = bcs_node_set_one(defer->node);
    slot->xfer.n_bytes = 0;
    slot->xfer.remote_event_gva = slot->xfer.local_event_gva;
    slot->xfer.local_event_gva = 0;
}

/** Carry out the oldest transfer, or all of it but its local event. @return 0 or
 *  -errno: it is gone without any effect */
static int deliver_first(struct defer_transport *defer)
{
    struct slot *slot = &defer->slots[defer->first];
    struct bcs_xfer xfer = slot->xfer;
    bool is_whole = xfer.local_event_gva == 0 || random_below(defer, 4) != 0;
    int rc;

    if (!is_whole) {
        xfer.local_event_gva = 0;
    }
    rc = bcs_shm_ops.xfer(defer->shm, &xfer);
    if (is_whole || rc < 0) {
        defer->first = (defer->first + 1) % N_SLOTS;
        defer->n_kept--;
    } else {
        keep_local_event(defer, slot);
    }
    return rc;
}

/** Carry out so many steps. @return 0 or -errno */
static int deliver(struct defer_transport *defer, uint32_t n_steps)
{
    int rc = 0;

    for (; rc == 0 && defer->n_kept > 0 && n_steps > 0; n_steps--) {
        rc = deliver_first(defer);
    }
    return rc;
}

static int deliver_all(struct defer_transport *defer)
{
    return deliver(defer, UINT32_MAX);
}

static void keep(struct defer_transport *defer, const struct bcs_xfer *xfer)
{
    struct slot *slot = &defer->slots[(defer->first + defer->n_kept++) % N_SLOTS];

    slot->xfer = *xfer;
    slot->dests = *xfer->dests;
    slot->xfer.dests = &slot->dests;
    if (slot->dests.marks != NULL) {
        memcpy(slot->marks, slot->dests.marks,
               bcs_node_words(slot->dests.n_nodes) * sizeof(slot->marks[0]));
        slot->dests.marks = slot->marks;
    }
    if (xfer->n_bytes > 0 && xfer->n_bytes <= BCS_XFER_COPIED_BYTES) {
        memcpy(slot->bytes, xfer->src, xfer->n_bytes);
        slot->xfer.src = slot->bytes;
    }
}

static int defer_xfer(struct bcs_transport *transport, const struct bcs_xfer *xfer)
{
    struct defer_transport *defer = defer_of(transport);
    int rc = BCS_E_BUSY;

    pthread_mutex_lock(&defer->mutex);
    if (defer->n_kept < N_SLOTS) {
        uint32_t n_steps = random_below(defer, 2) * random_below(defer, N_SLOTS);

        rc = deliver(defer, n_steps); /* of those before it: this one is late */
        if (rc == 0) {
            keep(defer, xfer);
        }
    }
    pthread_mutex_unlock(&defer->mutex);
    return rc;
}

static int defer_flush(struct bcs_transport *transport)
{
    struct defer_transport *defer = defer_of(transport);
    int rc;

    pthread_mutex_lock(&defer->mutex);
    rc = deliver_all(defer);
    pthread_mutex_unlock(&defer->mutex);
    return rc;
}

static int defer_compare_and_write(struct bcs_transport *transport,
                                   const struct bcs_comparison *comparison,
                                   bool *is_true_out)
{
    struct defer_transport *defer = defer_of(transport);
    int rc;

    pthread_mutex_lock(&defer->mutex);
    rc = deliver_all(defer);
    if (rc == 0) {
        rc = bcs_shm_ops.compare_and_write(defer->shm, comparison, is_true_out);
    }
    pthread_mutex_unlock(&defer->mutex);
    return rc;
}

static int defer_progress(struct bcs_transport *transport, uint64_t first_gva,
                          uint64_t n_bytes)
{
    struct defer_transport *defer = defer_of(transport);
    uint32_t n_steps;
    int rc;

    (void)first_gva; /* it wakes all the same */
    (void)n_bytes;

    pthread_mutex_lock(&defer->mutex);
    n_steps = random_below(defer, defer->n_kept + 1);
    if (n_steps == 0 && ++defer->n_idle_calls >= MOST_IDLE_CALLS) {
        n_steps = 1;
    }
    if (n_steps > 0) {
        defer->n_idle_calls = 0;
    }
    rc = deliver(defer, n_steps);
    pthread_mutex_unlock(&defer->mutex);
    return rc;
}

static int defer_wait(struct bcs_transport *transport, struct bcs_event *event,
                      uint64_t seen)
{
    int rc = defer_flush(transport);

    return rc < 0 ? rc : bcs_shm_ops.wait(defer_of(transport)->shm, event, seen);
}

static void defer_close(struct bcs_transport *transport)
{
    struct defer_transport *defer = defer_of(transport);

    while (defer_flush(transport) < 0) { /* logged; the others go on */
    }
    bcs_shm_ops.close(defer->shm);
    pthread_mutex_destroy(&defer->mutex);
    free(defer);
}

const struct bcs_transport_ops bcs_shm_defer_ops = {
    .memory_size = shm_memory_size,
    .memory_create = shm_memory_create,
    .memory_address = shm_memory_address,
    .memory_connect = shm_memory_connect,
    .memory_seal = shm_memory_seal,
    .memory_map = shm_memory_map,
    .memory_fini = shm_memory_fini,
    .open = defer_open,
    .close = defer_close,
    .xfer = defer_xfer,
    .compare_and_write = defer_compare_and_write,
    .progress = defer_progress,
    .flush = defer_flush,
    .wait = defer_wait,
};
