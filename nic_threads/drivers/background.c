/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Independent progress: long messages, and other operations that the engine must move on,
 * are carried out within one slice while no process waits. A thread of the job's first
 * process.
 *
 * `watch` in the machine's memory says when it looks next (enum bcs_watch): twice a slice
 * while a core is idle; now and then while all are busy, since each look then costs a rank
 * some of its time; not before somebody wakes it, once nothing has been left behind for a
 * while. Whoever leaves work publishes it first and then reads `watch`, and raises it if need
 * be (nic_engine_watch); the thread lowers it and then looks for work once more; all of it
 * seq_cst, so that no work is forgotten.
 *
 * Long messages. The engine notes each direct transfer that it opens (nic_opened). One
 * that has not moved between two looks has no endpoint at work: the thread holds the
 * receiver's cell (libbcs/ring/transfer.h), claims pieces as the endpoints do and copies
 * them, through a buffer of its own if neither end is in this process. Messages that go
 * through blocks need their endpoints: nobody else can reach their memory. Where this thread
 * is refused, it gives the message back, to go through blocks (libbcs/api/transfer.c), and
 * does without that process's from then on.
 */
#include "nic_threads/drivers/background.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/clock.h"
#include "libbcs/base/log.h"
#include "libbcs/ring/transfer.h"
#include "nic_threads/drivers/service_thread.h"
#include "nic_threads/drivers/turn.h"
#include "nic_threads/node/engine_lock.h"
#include "nic_threads/node/mover.h"
#include "nic_threads/node/waking.h"

enum {
    SLICES_A_LATE_LOOK = 20,
    LATE_LOOKS_BEFORE_SLEEP = 10, /* that find nothing */
};

/** A transfer that may need help. */
struct charge {
    struct nic_opened opened;
    uint64_t moved;      /* at the last look */
    uint64_t n_returned; /* of its node, with its last entry there */
};

struct nic_background {
    struct nic_engine *engine;
    pthread_t thread;
    _Atomic bool is_stopping; /* set before `watch` */
    uint64_t *n_seen; /* by node: entries of its nic_opened that have been read */
    bool is_late;     /* this look comes after a long pause */
    struct charge charges[BCS_OPENED_MOST];
    uint32_t n_charges;
    struct nic_mover *mover;
};

/** Copy a piece from the sender's memory to the receiver's. */
static enum nic_outcome copy_piece(const struct nic_background *background,
                                   uint32_t receiver, const struct bcs_cell *cell,
                                   const struct bcs_piece *piece)
{
    const struct nic_place from = {cell->peer_port, cell->address + piece->offset};
    const struct nic_place to = {receiver, cell->transfer.target + piece->offset};

    return nic_mover_copy(background->mover, &from, &to, piece->n_bytes);
}

/** Have the engine grant the next chunk, as an endpoint does by CHUNK_MOVED, or, without an
 *  item, learn of a refused copy, as by COPY_REFUSED. A rank that polls may keep the lock, so
 *  that this must do without. */
static void give_back(struct nic_engine *engine, struct charge *charge, uint32_t item)
{
    const struct nic_opened *opened = &charge->opened;
    const struct nic_view *view =
        &engine->views[nic_layout_node(&engine->layout, opened->port)];
    struct nic_node *node = view->node;
    uint64_t n = atomic_load_explicit(&node->n_returned, memory_order_relaxed);

    node->returned[n % nic_view_limits(view)->opened] =
        (struct nic_returned){item, opened->port, opened->cell};
    /* seq_cst: whoever holds the lock looks for work after unlocking */
    atomic_store_explicit(&node->n_returned, n + 1, memory_order_seq_cst);
    charge->n_returned = n + 1;
    nic_engine_turn(engine);
}

/** Look at a transfer. @return whether it is time to help */
static bool is_due(const struct nic_background *background, struct charge *charge,
                   uint64_t moved)
{
    bool is_at_rest = moved == charge->moved;

    charge->moved = moved;
    return is_at_rest &&
           (background->is_late || nic_engine_has_idle_core(background->engine));
}

/** Whether this thread may not copy for a transfer. */
static bool is_beyond_reach(const struct nic_engine *engine, uint32_t receiver,
                            const struct bcs_cell *cell)
{
    return cell->transfer.is_streamed || nic_port_is_closed(engine, receiver) ||
           nic_port_is_closed(engine, cell->peer_port);
}

/** Copy what is granted of a transfer whose cell is held. */
static void copy_granted(struct nic_background *background, struct charge *charge,
                         struct bcs_cell *cell)
{
    struct nic_engine *engine = background->engine;
    struct bcs_transfer *transfer = &cell->transfer;
    uint32_t sender = cell->peer_port;
    uint32_t item = transfer->item;
    enum nic_outcome outcome = NIC_DONE;
    struct bcs_piece piece;

    while (outcome == NIC_DONE && bcs_transfer_claim(transfer, &piece)) {
        outcome = copy_piece(background, charge->opened.port, cell, &piece);
        if (outcome == NIC_REFUSED && bcs_transfer_refuse(transfer)) {
            give_back(engine, charge, NIC_ITEM_NONE);
        }
        if (outcome != NIC_DONE) {
            return;
        }
        switch (bcs_transfer_moved(transfer, piece.n_bytes)) {
        case BCS_CHUNK_END:
            give_back(engine, charge, item);
            break;
        case BCS_MESSAGE_END:
            bcs_sleep_wake(engine->machine, nic_engine_port(engine, sender));
            break;
        default:
            break;
        }
    }
}

/** Help with a transfer if it is time to. @return whether it is worth another look */
static bool help(struct nic_background *background, struct charge *charge)
{
    const struct nic_opened *opened = &charge->opened;
    struct nic_engine *engine = background->engine;
    struct bcs_port *owner = nic_engine_port(engine, opened->port);
    struct bcs_cell *cell = bcs_port_cell(owner, opened->cell);
    struct bcs_transfer *transfer = &cell->transfer;
    bool is_over;

    if (!bcs_transfer_hold(cell, opened->generation)) {
        return false; /* it has ended */
    }
    is_over = is_beyond_reach(engine, opened->port, cell);
    if (!is_over &&
        is_due(background, charge,
               atomic_load_explicit(&transfer->moved, memory_order_relaxed))) {
        copy_granted(background, charge, cell);
    }
    is_over |= bcs_transfer_is_moved(transfer);
    if (bcs_transfer_let_go(cell, opened->generation)) {
        bcs_sleep_wake(engine->machine, owner);
    }
    return !is_over;
}

/** Take note of the transfers that have been opened since the last look. */
static void take_charge(struct nic_background *background)
{
    struct nic_engine *engine = background->engine;
    uint32_t n_most = engine->layout.shape.limits.opened;

    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        struct nic_view *view = &engine->views[i];
        struct nic_node *node = view->node;
        if (__atomic_load_n(&node->n_opened, __ATOMIC_RELAXED) ==
                background->n_seen[i] ||
            !nic_engine_try_lock(view)) {
            continue; /* who holds the lock is at work here */
        }
        if (node->n_opened - background->n_seen[i] > n_most) {
            background->n_seen[i] = node->n_opened - n_most;
        }
        while (background->n_seen[i] < node->n_opened &&
               background->n_charges < n_most) {
            background->charges[background->n_charges++] = (struct charge){
                .opened = node->opened[background->n_seen[i]++ % n_most],
                .moved = UINT64_MAX,
            };
        }
        if (nic_engine_unlock(view)) {
            nic_engine_turn(engine); /* who could not lock has gone away */
        }
    }
}

/** Whether the engine has not seen yet what was given back: so it never is more than there is
 *  room for. */
static bool is_unseen(const struct nic_engine *engine, const struct charge *charge)
{
    const struct nic_node *node =
        engine->views[nic_layout_node(&engine->layout, charge->opened.port)].node;

    return __atomic_load_n(&node->n_returned_seen, __ATOMIC_RELAXED) <
           charge->n_returned;
}

static void help_all(struct nic_background *background)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < background->n_charges; i++) {
        struct charge *charge = &background->charges[i];

        if (help(background, charge) || is_unseen(background->engine, charge)) {
            background->charges[n_kept++] = *charge;
        }
    }
    background->n_charges = n_kept;
}

static bool has_work(const struct nic_background *background)
{
    const struct nic_engine *engine = background->engine;

    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        const struct nic_view *view = &engine->views[i];
        if (nic_engine_has_work(view) ||
            __atomic_load_n(&view->node->n_opened, __ATOMIC_RELAXED) !=
                background->n_seen[i]) {
            return true;
        }
    }
    return background->n_charges > 0;
}

/** Sleep until the next look, or until `watch` is raised. */
static void sleep_until_look(struct nic_background *background, uint32_t watch)
{
    _Atomic uint32_t *word = &background->engine->machine->watch;
    uint64_t slice_ns = background->engine->config->slice_ns;
    uint64_t ns =
        watch == BCS_WATCH_LATE ? slice_ns * SLICES_A_LATE_LOOK : slice_ns / 2;
    bool is_over = bcs_word_sleep(
        word, watch, watch == BCS_WATCH_NONE ? 0 : bcs_clock_now_ns() + ns);

    background->is_late = watch == BCS_WATCH_LATE && is_over;
    if (is_over) {
        /* relaxed: nothing is ordered by it */
        atomic_fetch_add_explicit(&background->engine->machine->watched_ns, ns,
                                  memory_order_relaxed);
    }
}

/** Look less often from now on, unless there is work after all. */
static void lower(struct nic_background *background, uint32_t from, uint32_t to)
{
    _Atomic uint32_t *word = &background->engine->machine->watch;

    /* seq_cst: see the top of this file */
    if (atomic_compare_exchange_strong_explicit(word, &from, to, memory_order_seq_cst,
                                                memory_order_seq_cst) &&
        has_work(background)) {
        nic_engine_watch(background->engine);
    }
}

/** Decide when to look next. @return late looks in a row that found nothing */
static uint32_t plan_next(struct nic_background *background, uint32_t watch,
                          uint32_t n_in_vain)
{
    if (has_work(background)) {
        if (watch == BCS_WATCH_SOON && !nic_engine_has_idle_core(background->engine)) {
            lower(background, BCS_WATCH_SOON, BCS_WATCH_LATE);
        } else {
            nic_engine_watch(background->engine);
        }
        return 0;
    }
    if (watch == BCS_WATCH_SOON) {
        lower(background, BCS_WATCH_SOON, BCS_WATCH_LATE);
        return 0;
    }
    if (n_in_vain >= LATE_LOOKS_BEFORE_SLEEP) {
        lower(background, BCS_WATCH_LATE, BCS_WATCH_NONE);
    }
    return n_in_vain + 1;
}

static void *run(void *argument)
{
    struct nic_background *background = argument;
    struct bcs_machine *machine = background->engine->machine;
    uint32_t n_in_vain = 0;

    while (!atomic_load_explicit(&background->is_stopping, memory_order_seq_cst)) {
        uint32_t watch = atomic_load_explicit(&machine->watch, memory_order_seq_cst);

        sleep_until_look(background, watch);
        nic_engine_turn(background->engine);
        take_charge(background);
        help_all(background);
        n_in_vain = plan_next(background, watch, n_in_vain);
    }
    return NULL;
}

static void destroy(struct nic_background *background)
{
    nic_engine_destroy(background->engine);
    free(background->n_seen);
    nic_mover_destroy(background->mover);
    free(background);
}

int nic_background_start(const struct nic_engine_params *params,
                         struct nic_background **background_out)
{
    struct nic_background *background = calloc(1, sizeof(*background));
    struct nic_engine_params own = *params;
    int rc = -ENOMEM;

    if (background == NULL) {
        return rc;
    }
    own.is_background = true;
    rc = nic_engine_create(&own, &background->engine);
    if (rc == 0) {
        rc = nic_mover_create(background->engine, &background->mover);
    }
    if (rc == 0) {
        background->n_seen =
            calloc(background->engine->n_nodes, sizeof(*background->n_seen));
        rc = background->n_seen == NULL
                 ? -ENOMEM
                 : nic_service_thread_start(&background->thread, run, background,
                                            "bcs-background");
    }
    if (rc < 0) {
        bcs_error("no background thread: %s", strerror(-rc));
        destroy(background);
        return rc;
    }
    *background_out = background;
    return 0;
}

void nic_background_stop(struct nic_background *background)
{
    if (background == NULL) {
        return;
    }
    /* seq_cst: as other work that is left behind */
    atomic_store_explicit(&background->is_stopping, true, memory_order_seq_cst);
    atomic_store_explicit(&background->engine->machine->watch, BCS_WATCH_SOON,
                          memory_order_seq_cst);
    bcs_word_wake(&background->engine->machine->watch);
    pthread_join(background->thread, NULL);
    destroy(background);
}
