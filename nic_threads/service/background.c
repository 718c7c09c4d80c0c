/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Independent progress: long messages, and other operations that the engine must move
 * on, are carried out within one slice while no process waits. A thread of the service.
 *
 * `watch` in the machine's memory says when it looks next (enum bcs_watch): twice a
 * slice while a core is idle; now and then while all are busy, since each look then
 * costs a rank some of its time; not before somebody wakes it, once nothing has been
 * left behind for a while. Whoever leaves work publishes it first and then reads
 * `watch`, and if need be raises it and ends the thread's parking (nic_engine_watch);
 * the thread lowers it and then looks for work once more, and reads it parked; all of
 * it seq_cst, so that no work is forgotten. Work is looked for with weaker loads, and
 * so behind a fence.
 *
 * Long messages. The engine lists each direct transfer that it opens
 * (open_transfers.h), and the thread takes charge of all of them, however many there
 * are. One that has not moved between two looks has no endpoint at work: the thread
 * holds the receiver's cell (libbcs/fabric/ring/pieces.h), claims pieces as the
 * endpoints do and copies them, through a buffer of its own if neither end is in this
 * process. Messages that go through blocks need their endpoints: nobody else can reach
 * their memory. Where this thread is refused, it gives the message back, to go through
 * blocks (libbcs/api/message/transfer.c), and does without that process's from then on.
 */
#include "nic_threads/service/background.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/pieces.h"
#include "nic_threads/machine/mover.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/open_transfers.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"

enum {
    SLICES_A_LATE_LOOK = 20,
    LATE_LOOKS_BEFORE_SLEEP = 10, /* that find nothing */
};

enum { CHARGES_AT_FIRST = 64 }; /* for which there is room */

/** A transfer that may need help. */
struct charge {
    struct nic_open_transfer opened;
    uint64_t moved; /* at the last look */
};

struct background {
    struct nic_engine *engine;
    uint32_t planned;   /* `watch` as it was when the next look was planned */
    uint64_t pause_ns;  /* from then to that look; 0: no such look */
    uint64_t until_ns;  /* when it is due */
    uint32_t n_in_vain; /* late looks in a row that found nothing */
    bool is_late;       /* this look comes after a long pause */
    struct charge *charges;
    size_t n_charges, n_charges_prepared; /* and for how many there is room */
    struct nic_mover *mover;
};

/** Copy a piece from the sender's memory to the receiver's. */
static enum nic_outcome copy_piece(const struct background *background,
                                   uint32_t receiver, const struct bcs_cell *cell,
                                   const struct bcs_piece *piece)
{
    const struct nic_place from = {cell->peer_port, cell->address + piece->offset};
    const struct nic_place to = {receiver, cell->transfer.target + piece->offset};

    return nic_mover_copy(background->mover, &from, &to, piece->n_bytes);
}

/** Whether a transfer can be given back. */
static bool has_room(const struct nic_engine *engine, const struct charge *charge)
{
    const struct nic_view *view = nic_engine_view(engine, charge->opened.port);
    const struct nic_desk *desk = view->desk;

    /* acquire: pairs with the release of the entry that has been read */
    return atomic_load_explicit(&desk->n_returned, memory_order_relaxed) -
               atomic_load_explicit(&desk->n_returned_seen, memory_order_acquire) <
           nic_view_limits(view)->returned;
}

/** Have the engine grant the next chunk, as an endpoint does by CHUNK_MOVED, or,
 *  without an item, learn of a refused copy, as by COPY_REFUSED. A rank that polls may
 *  keep the lock, so that this must do without. */
static void give_back(struct nic_engine *engine, const struct charge *charge,
                      uint32_t item)
{
    const struct nic_open_transfer *opened = &charge->opened;
    const struct nic_view *view = nic_engine_view(engine, opened->port);
    struct nic_desk *desk = view->desk;
    uint64_t n = atomic_load_explicit(&desk->n_returned, memory_order_relaxed);

    desk->returned[n % nic_view_limits(view)->returned] =
        (struct nic_returned){item, opened->port, opened->cell};
    /* seq_cst: whoever holds the lock looks for work after unlocking */
    atomic_store_explicit(&desk->n_returned, n + 1, memory_order_seq_cst);
    nic_engine_turn_all(engine);
}

/** Look at a transfer. @return whether it is time to help */
static bool is_due(const struct background *background, struct charge *charge,
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

/** Copy what is granted of a transfer whose cell is held, as long as it can be given
 *  back. */
static void copy_granted(struct background *background, const struct charge *charge,
                         struct bcs_cell *cell)
{
    struct nic_engine *engine = background->engine;
    struct bcs_transfer *transfer = &cell->transfer;
    uint32_t sender = cell->peer_port;
    uint32_t item = transfer->item;
    enum nic_outcome outcome = NIC_DONE;
    struct bcs_piece piece;

    while (outcome == NIC_DONE && has_room(engine, charge) &&
           bcs_transfer_claim(transfer, &piece)) {
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
static bool help(struct background *background, struct charge *charge)
{
    const struct nic_open_transfer *opened = &charge->opened;
    struct nic_engine *engine = background->engine;
    struct bcs_port *owner = nic_engine_port(engine, opened->port);
    struct bcs_cell *cell = nic_engine_cell(engine, opened->port, opened->cell);
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

/** Make room for one more charge. @return whether there is */
static bool prepare_charge(struct background *background)
{
    size_t n = 2 * background->n_charges_prepared;
    struct charge *charges;

    if (background->n_charges < background->n_charges_prepared) {
        return true;
    }
    n = n < CHARGES_AT_FIRST ? CHARGES_AT_FIRST : n;
    charges = realloc(background->charges, n * sizeof(*charges));
    if (charges == NULL) {
        return false;
    }
    background->charges = charges;
    background->n_charges_prepared = n;
    return true;
}

/** Take charge of the transfers that have been opened since the last look. If there is
 *  no memory for it the others stay where they are until some of these are over. */
static void take_charge(struct background *background)
{
    struct nic_engine *engine = background->engine;

    for (uint32_t i = 0; i < engine->n_views; i++) {
        struct nic_open_transfer opened;

        while (prepare_charge(background) &&
               nic_open_transfers_take(nic_engine_view_at(engine, i), &opened)) {
            background->charges[background->n_charges++] =
                (struct charge){.opened = opened, .moved = UINT64_MAX};
        }
    }
}

static void help_all(struct background *background)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < background->n_charges; i++) {
        struct charge *charge = &background->charges[i];

        if (help(background, charge)) {
            background->charges[n_kept++] = *charge;
        }
    }
    background->n_charges = n_kept;
}

static bool has_work(const struct background *background)
{
    const struct nic_engine *engine = background->engine;

    for (uint32_t i = 0; i < engine->n_views; i++) {
        const struct nic_view *view = nic_engine_view_at(engine, i);
        if (nic_engine_has_work(view) || !nic_open_transfers_is_empty(view)) {
            return true;
        }
    }
    return background->n_charges > 0;
}

/** Look less often from now on, unless there is work after all. */
static void lower(struct background *background, uint32_t from, uint32_t to)
{
    _Atomic uint32_t *word = &background->engine->machine->watch;

    /* seq_cst: see the top of this file */
    if (!atomic_compare_exchange_strong_explicit(word, &from, to, memory_order_seq_cst,
                                                 memory_order_seq_cst)) {
        return;
    }
    /* The loads of has_work must not be carried out before the store above is seen. */
    atomic_thread_fence(memory_order_seq_cst);
    if (has_work(background)) {
        nic_engine_watch(background->engine);
    }
}

/** Find how often to look from now on. */
static void set_watch(struct background *background)
{
    uint32_t watch = background->planned;

    if (has_work(background)) {
        background->n_in_vain = 0;
        if (watch == BCS_WATCH_SOON && !nic_engine_has_idle_core(background->engine)) {
            lower(background, BCS_WATCH_SOON, BCS_WATCH_LATE);
        } else {
            nic_engine_watch(background->engine);
        }
        return;
    }
    if (watch == BCS_WATCH_SOON) {
        background->n_in_vain = 0;
        lower(background, BCS_WATCH_SOON, BCS_WATCH_LATE);
        return;
    }
    if (background->n_in_vain++ >= LATE_LOOKS_BEFORE_SLEEP) {
        lower(background, BCS_WATCH_LATE, BCS_WATCH_NONE);
    }
}

static uint32_t read_watch(const struct background *background)
{
    /* seq_cst: see the top of this file */
    return atomic_load_explicit(&background->engine->machine->watch,
                                memory_order_seq_cst);
}

static void plan_next(struct background *background)
{
    uint64_t slice_ns = background->engine->config->slice_ns;

    background->planned = read_watch(background);
    background->pause_ns = background->planned == BCS_WATCH_NONE ? 0
                           : background->planned == BCS_WATCH_LATE
                               ? slice_ns * SLICES_A_LATE_LOOK
                               : slice_ns / 2;
    background->until_ns = bcs_clock_now_ns() + background->pause_ns;
}

/** Whether a look is due: the pause is over, or somebody has raised `watch`. */
static bool is_time(struct background *background)
{
    bool is_over =
        background->pause_ns > 0 && bcs_clock_now_ns() >= background->until_ns;

    background->is_late = false;
    if (read_watch(background) != background->planned) {
        return true;
    }
    if (is_over) {
        background->is_late = background->planned == BCS_WATCH_LATE;
        /* relaxed: nothing is ordered by it */
        atomic_fetch_add_explicit(&background->engine->machine->watched_ns,
                                  background->pause_ns, memory_order_relaxed);
    }
    return is_over;
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct background *background = state;

    (void)part;
    if (!is_time(background)) {
        return (struct nic_rest){NIC_REST_PARK,
                                 background->pause_ns > 0 ? background->until_ns : 0};
    }
    nic_engine_turn_all(background->engine);
    take_charge(background);
    help_all(background);
    set_watch(background);
    plan_next(background);
    return (struct nic_rest){NIC_REST_NOT, 0};
}

static void destroy(void *state)
{
    struct background *background = state;

    nic_engine_destroy(background->engine);
    free(background->charges);
    nic_mover_destroy(background->mover);
    free(background);
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct background *background = calloc(1, sizeof(*background));
    int rc;

    if (background == NULL) {
        return -ENOMEM;
    }
    rc = nic_engine_create(params, &background->engine);
    if (rc == 0) {
        rc = nic_mover_create(background->engine, &background->mover);
    }
    if (rc < 0) {
        destroy(background);
        return rc;
    }
    *state_out = background;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct background *background = state;

    (void)part;
    return (struct nic_wakers){.park = &background->engine->machine->background_park};
}

const struct nic_worker_ops nic_background_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .look = look,
};
