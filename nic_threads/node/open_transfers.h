/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct transfers that the engine has opened at a desk and the background thread
 * has not taken charge of: a list, last in, first out, through the receivers' cells, so
 * that it has room for all of them. Whoever holds the desk's lock adds, and the
 * background thread takes without it.
 *
 * A cell's link is 0 while the cell is in no list, and only who adds makes it something
 * else, only who takes makes it 0 again. So a cell may still be listed for a transfer
 * that is over when it serves the next one; that need not be added then. Who adds has
 * opened the transfer, then looks at the link; who takes clears the link, then looks at
 * the cell's state; with a fence (seq_cst) between the two on both sides, either the
 * first finds the link cleared and adds the cell once more, or the second finds the new
 * transfer.
 */
#ifndef NIC_THREADS_NODE_OPEN_TRANSFERS_H
#define NIC_THREADS_NODE_OPEN_TRANSFERS_H

#include "nic_threads/node/node.h"

/** A transfer that has been opened. */
struct nic_open_transfer {
    uint32_t port; /* of the receiver */
    uint32_t cell;
    uint32_t generation; /* of the cell */
};

/** Add the transfer in the cell of a local port, whose state says so already. seq_cst:
 *  what looks afterwards whether it has to tell anybody does so in time. Under the
 *  lock; not in a timed slice, where the cell's link is used otherwise. */
void nic_open_transfers_add(struct nic_view *view, uint32_t port, uint32_t cell);

/**
 * Take a transfer out of the list; for one thread. One that is over by now is left out,
 * and one may come twice.
 *
 * @return false: the list is empty
 */
bool nic_open_transfers_take(struct nic_view *view,
                             struct nic_open_transfer *opened_out);

/** Whether there is nothing to take. relaxed: who must not be wrong has a fence before
 *  it */
static inline bool nic_open_transfers_is_empty(const struct nic_view *view)
{
    return atomic_load_explicit(&view->desk->open_transfers, memory_order_relaxed) == 0;
}

#endif
