/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is rarely needed of a view. Called by the roles, under the lock of the view's
 * desk.
 */
#include "nic_threads/node/node.h"

#include <stdlib.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/base/notice.h"

void nic_view_queue_block(const struct nic_view *view, uint64_t *first, uint64_t *last,
                          uint64_t gva)
{
    nic_view_block(view, gva)->next = 0;
    if (*first == 0) {
        *first = gva;
    } else {
        nic_view_block(view, *last)->next = gva;
    }
    *last = gva;
}

struct bcs_cell *nic_view_later_cell(const struct nic_view *view, uint32_t port,
                                     uint32_t cell)
{
    return bcs_core_address(view->core,
                            nic_layout_cell_gva(&view->engine->layout, port, cell));
}

void nic_view_make_scratch(struct nic_view *view)
{
    size_t n_ports = view->engine->layout.shape.n_ports;
    size_t n_bytes = bcs_align_up(n_ports * BCS_INLINE_BYTES, BCS_CACHE_LINE);

    view->scratch = aligned_alloc(BCS_CACHE_LINE, n_bytes);
    if (view->scratch == NULL) {
        bcs_fatal("no memory for the operands of %zu ranks, %zu bytes", n_ports,
                  n_bytes);
    }
}

void nic_view_hold(const struct nic_view *view)
{
    bool is_own = view->engine->layout.shape.desk_ranks == 1;

    bcs_notice(BCS_NOTICE_MESSAGES_KEPT,
               "%s %u keeps %u messages that nobody has received, as many as it may",
               is_own ? "rank" : "node",
               is_own ? nic_view_served(view, 0) : view->index, nic_send_limit(view));
}
