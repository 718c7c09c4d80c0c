/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine locks, turns, items and waking. Called by every process of the job, through the
 * driver.
 *
 * No work is lost. Work for a node is published (a ring entry, a wire entry, a strobe)
 * with a sequentially consistent or earlier store, and its publisher then tries the
 * node's lock. If it fails, it has marked the lock as missed, or found it marked. The
 * holder's unlocking exchange comes later in the one order of sequentially consistent
 * operations; it finds the mark, and the holder checks for work after it, also if its own
 * step found nothing to do. So it sees the work, or another process that locked in between
 * does, and a process that fails to lock may go away at once.
 */
#include "nic_threads/engine.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libbcs/base/log.h"
#include "libbcs/base/notice.h"
#include "nic_threads/mover.h"
#include "nic_threads/roles.h"

/** Count an item in or out if it holds a send. */
static void count_kept(struct nic_node *node, const struct nic_item *item, int32_t n)
{
    if (item->descriptor.kind == BCS_SEND) {
        __atomic_store_n(&node->n_sends_kept, node->n_sends_kept + (uint32_t)n,
                         __ATOMIC_RELAXED);
    }
}

uint32_t nic_item_new(struct nic_view *view, const struct bcs_descriptor *descriptor,
                      uint32_t port)
{
    struct nic_node *node = view->node;
    uint32_t id = node->free_item;

    if (id != NIC_ITEM_NONE) {
        node->free_item = view->items[id].next;
    } else if (node->items_touched < view->engine->layout.n_items) {
        id = node->items_touched++;
    } else {
        bcs_error(
            "more than %u operations are pending on a node; raise BCS_DESCRIPTORS",
            view->engine->layout.n_items);
        abort();
    }
    memcpy(&view->items[id].descriptor, descriptor, sizeof(*descriptor));
    view->items[id].port = port;
    count_kept(node, &view->items[id], 1);
    return id;
}

void nic_item_free(struct nic_view *view, uint32_t id)
{
    view->items[id].next = view->node->free_item;
    view->node->free_item = id;
    count_kept(view->node, &view->items[id], -1);
}

void nic_view_remind(struct nic_view *view, uint32_t port, uint32_t cell)
{
    struct bcs_port *owner = nic_view_port(view, port - view->first_port);
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t *orders = (uint32_t *)(nic_view_cell(view, port, 0) + n_cells);
    uint32_t n = atomic_load_explicit(&owner->n_orders, memory_order_relaxed);

    /* release: who reads this has read a count of n at least, and makes up for the entry that
     * is overwritten; see take_orders */
    __atomic_store_n(&orders[n % n_cells], cell, __ATOMIC_RELEASE);
    /* release: pairs with the acquire in take_orders */
    atomic_store_explicit(&owner->n_orders, n + 1, memory_order_release);
    nic_view_touch(view, port);
}

void nic_view_order(struct nic_view *view, uint32_t port, uint32_t cell,
                    enum bcs_cell_state state)
{
    bcs_cell_complete(nic_view_cell(view, port, cell), state);
    nic_view_remind(view, port, cell);
}

void nic_view_hold(const struct nic_view *view)
{
    bcs_notice(BCS_NOTICE_MESSAGES_KEPT,
               "node %u keeps %u messages that nobody has received, as many as it may",
               view->index, nic_send_limit(view));
}

void nic_view_defer(struct nic_view *view, uint32_t port, struct bcs_cell *cell,
                    enum bcs_cell_state state)
{
    struct nic_list *deferred = &view->node->deferred;
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t local = port - view->first_port;
    /* its number among all cells of the node: below 256 * 2^20 */
    uint32_t id = local * n_cells + (uint32_t)(cell - nic_view_cell(view, port, 0));

    cell->next_deferred = NIC_ITEM_NONE;
    cell->deferred_state = state;
    if (deferred->first == NIC_ITEM_NONE) {
        deferred->first = id;
    } else {
        nic_view_cell(view, view->first_port + deferred->last / n_cells,
                      deferred->last % n_cells)
            ->next_deferred = id;
    }
    deferred->last = id;
}

void nic_view_deliver(struct nic_view *view)
{
    uint32_t n_cells = view->engine->layout.shape.n_cells;
    uint32_t id = view->node->deferred.first;

    view->node->deferred.first = NIC_ITEM_NONE;
    while (id != NIC_ITEM_NONE) {
        uint32_t port = view->first_port + id / n_cells;
        struct bcs_cell *cell = nic_view_cell(view, port, id % n_cells);

        id = cell->next_deferred; /* the cell is its owner's from the next line on */
        nic_view_complete_now(view, port, cell,
                              (enum bcs_cell_state)cell->deferred_state);
    }
}

bool nic_engine_tell_holder(struct nic_view *view)
{
    _Atomic uint32_t *lock = &view->node->lock;
    uint32_t value = atomic_load_explicit(lock, memory_order_seq_cst);

    while (value != 0) {
        /* seq_cst: partner of the exchange in nic_engine_unlock, which comes later */
        if ((value & NIC_LOCK_IS_MISSED) != 0 ||
            atomic_compare_exchange_strong_explicit(
                lock, &value, value | NIC_LOCK_IS_MISSED, memory_order_seq_cst,
                memory_order_seq_cst)) {
            return true;
        }
    }
    return false;
}

bool nic_engine_try_lock(struct nic_view *view)
{
    struct nic_node *node = view->node;
    uint32_t free;

    do { /* look first: that spares the cache line of a holder that keeps polling */
        if (nic_engine_tell_holder(view)) {
            return false;
        }
        free = 0;
    } while (!atomic_compare_exchange_strong_explicit(
        &node->lock, &free, view->engine->port + 1, memory_order_seq_cst,
        memory_order_relaxed));
    if (!view->engine->is_background &&
        atomic_load_explicit(&node->last_holder, memory_order_relaxed) !=
            view->engine->port) {
        atomic_store_explicit(&node->last_holder, view->engine->port,
                              memory_order_relaxed);
    }
    return true;
}

void nic_engine_wake(struct nic_view *view)
{
    for (uint32_t word = 0; word < BCS_MAX_PORTS_A_NODE / 64; word++) {
        uint64_t bits = view->wake.words[word];
        view->wake.words[word] = 0;
        while (bits != 0) {
            uint32_t local = word * 64 + (uint32_t)__builtin_ctzll(bits);
            bits &= bits - 1;
            bcs_sleep_wake(view->engine->machine, nic_view_port(view, local));
        }
    }
}

bool nic_engine_unlock(struct nic_view *view)
{
    uint32_t value;

    nic_engine_flush(view); /* what the next holder puts comes behind it */
    value = atomic_exchange_explicit(&view->node->lock, 0, memory_order_seq_cst);
    nic_engine_wake(view);
    return (value & NIC_LOCK_IS_MISSED) != 0;
}

void nic_engine_watch(const struct nic_engine *engine)
{
    _Atomic uint32_t *watch = &engine->machine->watch;
    uint32_t wanted =
        nic_engine_has_idle_core(engine) ? BCS_WATCH_SOON : BCS_WATCH_LATE;
    /* seq_cst: see nic_threads/background.c */
    uint32_t present = atomic_load_explicit(watch, memory_order_seq_cst);

    while (present < wanted) {
        if (atomic_compare_exchange_strong_explicit(
                watch, &present, wanted, memory_order_seq_cst, memory_order_seq_cst)) {
            syscall(SYS_futex, watch, FUTEX_WAKE, 1, NULL, NULL, 0);
            return;
        }
    }
}

/** Processes of the job that may run at once without one having to stand in a queue. */
static uint32_t n_at_ease(const struct nic_engine *engine)
{
    const struct bcs_machine *machine = engine->machine;

    /* relaxed: a hint, which changes at any time */
    return machine->n_cpus +
           atomic_load_explicit(&machine->n_asleep, memory_order_relaxed);
}

bool nic_engine_has_idle_core(const struct nic_engine *engine)
{
    return engine->layout.shape.n_ports < n_at_ease(engine);
}

bool nic_engine_is_crowded(const struct nic_engine *engine)
{
    return engine->layout.shape.n_ports > n_at_ease(engine);
}

bool nic_engine_has_work(const struct nic_view *view)
{
    return nic_strobe_receiver_has_work(view) ||
           (view->index == 0 && !nic_is_alone(view->engine) &&
            nic_strobe_sender_has_work(view));
}

bool nic_engine_step(struct nic_view *view)
{
    bool has_done;

    if (nic_is_alone(view->engine)) {
        return nic_strobe_receiver_run_alone(view);
    }
    has_done = nic_strobe_receiver_step(view);
    if (view->index == 0) {
        has_done |= nic_strobe_sender_step(view);
    }
    return has_done;
}

/** The turn of a node that is alone. */
static bool turn_alone(struct nic_view *view)
{
    bool has_done = false;
    bool looks_again = true;

    while (looks_again && nic_strobe_receiver_has_work(view) &&
           nic_engine_try_lock(view)) {
        bool has_stepped = nic_strobe_receiver_run_alone(view);
        /* without effect if another process had taken the work before it */
        looks_again = nic_engine_unlock(view) || has_stepped;
        has_done |= has_stepped;
    }
    return has_done;
}

/** The turn of several nodes. */
static bool turn_all(struct nic_engine *engine)
{
    bool has_done = false;
    bool goes_on;

    do {
        goes_on = false;
        for (uint32_t i = 0; i < engine->n_nodes; i++) {
            struct nic_view *view = &engine->views[i];
            bool looks_again = true;
            while (looks_again && nic_engine_has_work(view) &&
                   nic_engine_try_lock(view)) {
                bool has_stepped = nic_engine_step(view);
                /* without effect if another process had taken the work before it */
                looks_again = nic_engine_unlock(view) || has_stepped;
                goes_on |= has_stepped;
            }
        }
        has_done |= goes_on;
    } while (goes_on && engine->n_nodes > 1);
    return has_done;
}

bool nic_engine_turn(struct nic_engine *engine)
{
    return nic_is_alone(engine) ? turn_alone(&engine->views[0]) : turn_all(engine);
}

void nic_engine_run_slice(struct nic_engine *engine)
{
    struct nic_view *first = &engine->views[0];
    bool is_ours = nic_engine_try_lock(first);

    assert(is_ours); /* nobody else takes turns */
    (void)is_ours;
    nic_strobe_sender_open_slice(first);
    nic_engine_unlock(first);
    nic_engine_turn(engine);
}

int nic_engine_layout(uint32_t n_ports, const struct nic_config *config,
                      struct nic_layout *layout_out)
{
    uint64_t node_ranks = config->node_ranks > 0 && config->node_ranks < n_ports
                              ? config->node_ranks
                              : n_ports;
    const struct nic_shape shape = {
        .n_ports = n_ports,
        .node_ranks = (uint32_t)node_ranks,
        .n_cells = (uint32_t)config->descriptors,
        .n_groups = (uint32_t)config->communicators,
        .n_node_bytes = sizeof(struct nic_node) + sizeof(struct bcs_machine),
        .n_item_bytes = sizeof(struct nic_item),
        .n_wire_bytes = sizeof(struct bcs_descriptor),
        .n_slot_bytes = sizeof(struct nic_slot),
        .limits = config->limits,
    };
    int rc = nic_layout_init(layout_out, &shape);

    if (rc == -E2BIG) {
        bcs_error("%u ranks that may lead %u communicators each are too many for one "
                  "job; lower BCS_COMMUNICATORS",
                  n_ports, shape.n_groups);
    } else if (rc < 0) {
        bcs_error(
            "%u ranks in nodes of %u: a node has at most %u ranks, a job %u nodes; "
            "set BCS_NODE_RANKS",
            n_ports, shape.node_ranks, (unsigned)BCS_MAX_PORTS_A_NODE, BCS_MAX_NODES);
    }
    return rc;
}

uint64_t nic_engine_memory_bytes(const struct nic_layout *layout)
{
    return layout->n_nodes * layout->heap_bytes;
}

/** Give a node its initial state; by the first process of the node. */
static void node_init(struct nic_view *view)
{
    const struct nic_config *config = view->engine->config;
    struct nic_node *node = view->node;

    node->free_item = NIC_ITEM_NONE;
    node->phase.phase = NIC_PHASE_IDLE;
    node->deferred.first = NIC_ITEM_NONE;
    node->active = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    node->last_holder = UINT32_MAX;
    nic_schedule_init(&node->schedule, nic_config_chunk_bytes(config),
                      nic_config_slice_bytes(config));
    for (uint32_t i = 0; i < view->n_local; i++) {
        nic_match_init(&node->match[i]);
    }
    for (uint32_t i = 0; i < view->engine->n_nodes; i++) {
        node->outbox[i].first = NIC_ITEM_NONE;
        node->outbox[i].last = NIC_ITEM_NONE;
    }
}

static int view_init(struct nic_engine *engine, uint32_t index)
{
    struct nic_view *view = &engine->views[index];
    const struct nic_layout *layout = &engine->layout;
    const struct bcs_core_params params = {
        .transport = nic_config_transport(engine->config),
        .base = engine->base,
        .n_nodes = engine->n_nodes,
        .node = index,
        .heap_bytes = layout->heap_bytes,
        .seed = engine->config->defer,
    };
    int rc;

    view->engine = engine;
    view->index = index;
    view->heap = engine->base + index * layout->heap_bytes;
    view->node = (struct nic_node *)(view->heap + layout->node_gva);
    view->items = (struct nic_item *)(view->heap + layout->item_gva);
    view->first_port = index * layout->shape.node_ranks;
    view->n_local = nic_layout_n_local(layout, index);
    view->ring_mask = layout->shape.limits.ring - 1;
    if (engine->port == view->first_port && !engine->is_background) {
        node_init(view);
    }
    rc = bcs_core_create(&params, &view->core);
    if (rc == 0) {
        view->is_late = bcs_core_is_late(view->core);
    }
    return rc;
}

int nic_engine_create(const struct nic_engine_params *params,
                      struct nic_engine **engine_out)
{
    struct nic_engine *engine = calloc(1, sizeof(*engine));
    int rc = -ENOMEM;

    if (engine == NULL) {
        return rc;
    }
    rc = nic_engine_layout(params->n_ports, params->config, &engine->layout);
    if (rc < 0) {
        goto fail;
    }
    rc = -ENOMEM;
    engine->base = params->base;
    engine->config = params->config;
    engine->port = params->port;
    engine->is_direct = params->is_direct;
    engine->is_background = params->is_background;
    engine->is_timed = params->config->strobe == NIC_STROBE_TIMED;
    engine->n_nodes = engine->layout.n_nodes;
    engine->home = nic_layout_node(&engine->layout, params->port);
    engine->machine = (struct bcs_machine *)(engine->base + engine->layout.node_gva +
                                             sizeof(struct nic_node));
    engine->scratch = aligned_alloc(
        BCS_CACHE_LINE, engine->n_nodes * nic_scratch_bytes(&engine->layout));
    engine->views = calloc(engine->n_nodes, sizeof(*engine->views));
    if (engine->scratch == NULL || engine->views == NULL) {
        goto fail;
    }
    if (params->is_mover) {
        rc = nic_mover_create(engine, &engine->mover);
        if (rc < 0) {
            goto fail;
        }
    }
    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        rc = view_init(engine, i);
        if (rc < 0) {
            goto fail;
        }
    }
    *engine_out = engine;
    return 0;

fail:
    nic_engine_destroy(engine);
    return rc;
}

void nic_engine_destroy(struct nic_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t i = 0; engine->views != NULL && i < engine->n_nodes; i++) {
        bcs_core_destroy(engine->views[i].core);
    }
    nic_mover_destroy(engine->mover);
    free(engine->views);
    free(engine->scratch);
    free(engine);
}
