/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of opened transfers; see the header. Called by the DMA helper and by the
 * background thread.
 */
#include "nic_threads/node/open_transfers.h"

/* The link of the last cell; a reference otherwise. */
#define LAST UINT64_MAX

/** A cell of any port as one number, never 0. */
static uint64_t reference(uint32_t port, uint32_t cell)
{
    return ((uint64_t)port << 32 | cell) + 1;
}

static struct nic_open_transfer referred(uint64_t reference)
{
    return (struct nic_open_transfer){
        .port = (uint32_t)((reference - 1) >> 32),
        .cell = (uint32_t)(reference - 1),
    };
}

void nic_open_transfers_add(struct nic_view *view, uint32_t port, uint32_t cell)
{
    _Atomic uint64_t *first = &view->desk->open_transfers;
    _Atomic uint64_t *link = &nic_view_cell(view, port, cell)->next_opened;
    uint64_t next;

    atomic_thread_fence(memory_order_seq_cst); /* partner of the one in take_first */
    if (atomic_load_explicit(link, memory_order_relaxed) != 0) {
        return;
    }
    next = atomic_load_explicit(first, memory_order_relaxed);
    do {
        atomic_store_explicit(link, next == 0 ? LAST : next, memory_order_relaxed);
        /* seq_cst: see nic_threads/service/background.c; releases the link */
    } while (!atomic_compare_exchange_weak_explicit(first, &next, reference(port, cell),
                                                    memory_order_seq_cst,
                                                    memory_order_relaxed));
}

/** Take the first cell out of the list. Nobody else does, so it stays the first one but
 *  for those that are added. @return NULL: the list is empty */
static struct bcs_cell *take_first(struct nic_view *view,
                                   struct nic_open_transfer *opened_out)
{
    _Atomic uint64_t *first = &view->desk->open_transfers;
    /* acquire: pairs with the release of the link */
    uint64_t taken = atomic_load_explicit(first, memory_order_acquire);
    struct bcs_cell *cell;
    uint64_t next;

    do {
        if (taken == 0) {
            return NULL;
        }
        *opened_out = referred(taken);
        cell = nic_view_cell(view, opened_out->port, opened_out->cell);
        next = atomic_load_explicit(&cell->next_opened, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(
        first, &taken, next == LAST ? 0 : next, memory_order_acquire,
        memory_order_acquire));
    atomic_store_explicit(&cell->next_opened, 0, memory_order_relaxed);
    atomic_thread_fence(
        memory_order_seq_cst); /* partner of the one in nic_open_transfers_add */
    return cell;
}

bool nic_open_transfers_take(struct nic_view *view,
                             struct nic_open_transfer *opened_out)
{
    struct bcs_cell *cell;
    uint32_t state;

    while ((cell = take_first(view, opened_out)) != NULL) {
        state = atomic_load_explicit(&cell->state, memory_order_acquire);
        if ((state & BCS_CELL_STATE_MASK) == BCS_CELL_TRANSFER) {
            opened_out->generation = state >> BCS_CELL_STATE_BITS;
            return true;
        }
    }
    return false;
}
