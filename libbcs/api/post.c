/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where posting has to wait for room in the ring, or finds no cell. Called by the process
 * that owns the context.
 */
#include "libbcs/api/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/external.h"
#include "libbcs/base/log.h"
#include "libbcs/base/notice.h"

int bcs_post_init(struct bcs_context *context)
{
    struct nic_engine *engine = context->engine;

    bcs_poster_init(&context->poster, nic_engine_own(engine)->core, &engine->layout,
                    context->rank);
    if (nic_is_linked(engine)) {
        context->links = calloc(engine->layout.n_links, sizeof(*context->links));
        if (context->links == NULL) {
            bcs_error("no memory for the links to %" PRIu32 " ranks",
                      engine->layout.n_links);
            return -ENOMEM;
        }
    }
    return 0;
}

void bcs_post_fini(struct bcs_context *context)
{
    bcs_poster_fini(&context->poster);
    free(context->links);
}

void bcs_post_link(struct bcs_context *context, struct bcs_ring_writer *ring,
                   uint32_t port)
{
    const struct nic_view *view = nic_engine_view(context->engine, port);
    uint32_t local = context->rank - view->first_port;

    *ring = (struct bcs_ring_writer){
        .ring = nic_view_link(view, local),
        .mask = view->link_mask,
        .reader = port,
    };
    /* seq_cst: before the first entry; see struct nic_per_port */
    atomic_fetch_or_explicit(&view->per_port.writers[local / 64],
                             UINT64_C(1) << (local % 64), memory_order_seq_cst);
}

struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context,
                                               struct bcs_ring_writer *ring)
{
    struct bcs_waiter waiter = {0};
    struct bcs_descriptor *entry;

    while ((entry = bcs_ring_next(ring)) == NULL) {
        context->is_called = bcs_external_is_called(context);
        if (bcs_external_is_needed(context)) {
            context->hooks.move_external();
        }
        context->driver->wait_for_room(context->engine, &waiter, ring->reader);
    }
    context->driver->stop(context->engine, &waiter);
    return entry;
}

/** Make the tables by cell as large as the poster's. @return whether there is memory */
static bool grow(struct bcs_context *context)
{
    uint32_t n = context->poster.n_cells_prepared;
    struct bcs_pending *pending =
        realloc(context->pending, n * sizeof(*context->pending));
    uint32_t *ordered;

    if (pending == NULL) {
        return false;
    }
    context->pending = pending;
    ordered = realloc(context->ordered, n * sizeof(*context->ordered));
    if (ordered == NULL) {
        return false;
    }
    context->ordered = ordered;
    memset(&pending[context->n_pending], 0,
           (n - context->n_pending) * sizeof(*pending));
    context->n_pending = n;
    return true;
}

uint32_t bcs_post_fresh_cell(struct bcs_context *context, uint32_t id)
{
    if (id != BCS_CELL_NONE && !grow(context)) {
        bcs_poster_free_cell(&context->poster, id);
        id = BCS_CELL_NONE;
    }
    return id;
}

int bcs_post_no_cell(const struct bcs_context *context)
{
    if (bcs_poster_n_available(&context->poster) > 0) {
        bcs_error("no memory for more than %" PRIu32 " operations that are pending",
                  context->n_pending);
        return -ENOMEM;
    }
    bcs_notice(BCS_NOTICE_DESCRIPTORS_USED,
               "%" PRIu64 " operations of rank %u are pending, as many as may be",
               context->config.descriptors, context->rank);
    return -ENOMEM;
}
