/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking receives back. The engine does it in the order in which it was asked, and completes
 * the receive as cancelled, if no message has matched it before. Called by the process that
 * owns the context, one thread at a time.
 */
#include "libbcs/api/completion.h"
#include "libbcs/api/p2p.h"
#include "libbcs/api/post.h"
#include "libbcs/api/wait.h"
#include "libbcs/base/clock.h"

/* How long to wait for it: others may have the cores for some time. */
#define CANCEL_NS 1000000000u

void bcs_cancel(struct bcs_context *context, const struct bcs_request *request)
{
    const struct bcs_inside *inside = bcs_inside(request);
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *entry;

    if (!inside->is_pending || inside->is_send) {
        return;
    }
    entry = bcs_post_begin(context, ring, BCS_CANCEL);
    entry->cell = inside->cell;
    bcs_post_kick(context, ring, entry);
}

void bcs_cancel_wait(struct bcs_context *context, struct bcs_request *request)
{
    struct bcs_waiter waiter = {.has_short_sleeps = true};
    uint64_t end_ns = bcs_clock_now_ns() + CANCEL_NS;

    while (!bcs_inside(request)->is_send && !bcs_look(context, request) &&
           bcs_clock_now_ns() < end_ns) {
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
}
