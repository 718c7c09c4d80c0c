/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completing cells of local ports: at once, at the next strobe, or as an order to the
 * owner. Called by the roles, under the lock of the view's desk.
 */
#ifndef NIC_THREADS_NODE_COMPLETING_H
#define NIC_THREADS_NODE_COMPLETING_H

#include "nic_threads/node/node.h"

/** Remember to wake the owner of a local port. */
static inline void nic_view_touch(struct nic_view *view, uint32_t port)
{
    uint32_t local = port - view->first_port;

    nic_mark(view->wake, local);
}

/** Complete a local port's cell at once, also in a timed slice, and remember to wake
 *  its owner. */
static inline void nic_view_complete_now(struct nic_view *view, uint32_t port,
                                         struct bcs_cell *cell,
                                         enum bcs_cell_state state)
{
    bcs_cell_complete(cell, state);
    nic_view_touch(view, port);
}

/** Have the owner of a local port look at one of its cells, whatever it waits for. */
void nic_view_remind(struct nic_view *view, uint32_t port, uint32_t cell);

/** Complete a local port's cell with an order, which its owner finds in its order table
 *  even while it waits for something else. */
void nic_view_order(struct nic_view *view, uint32_t port, uint32_t cell,
                    enum bcs_cell_state state);

/** Have cell `id` completed at the next strobe. */
void nic_view_defer(struct nic_view *view, uint32_t port, uint32_t id,
                    enum bcs_cell_state state);

/** Complete the cells that the last slice has deferred. */
void nic_view_deliver(struct nic_view *view);

/** Complete a local port's cell, number `id`: at once, or, in a timed slice, at the
 *  next strobe. [BCS-MPI section 3, Figures 3.1 and 3.2] */
static inline void nic_view_complete(struct nic_view *view, uint32_t port, uint32_t id,
                                     struct bcs_cell *cell, enum bcs_cell_state state)
{
    if (__builtin_expect(view->engine->is_timed, 0)) {
        nic_view_defer(view, port, id, state);
    } else {
        nic_view_complete_now(view, port, cell, state);
    }
}

#endif
