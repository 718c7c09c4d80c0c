/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where posting has to wait for room in the ring, or finds no cell. Called by the
 * process that owns the context.
 */
#include "libbcs/api/message/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/external.h"
#include "libbcs/api/message/off_node.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/notice.h"
#include "libbcs/fabric/base/sparse_table.h"

/** Make the link to a desk of this process's node. */
static void link_near(struct bcs_context *context, struct bcs_ring_writer *ring,
                      uint32_t desk)
{
    const struct nic_view *view = nic_engine_desk(context->engine, desk);
    uint32_t link = context->port - view->first_writer;

    *ring = bcs_ring_writer_of(nic_view_link(view, link), view->link_mask, desk);
    /* before the first entry; see struct nic_per_port */
    nic_marks_set(&view->per_port.writers, link);
}

int bcs_post_init(struct bcs_context *context)
{
    struct nic_engine *engine = context->engine;
    bool has_stamps = context->config.record.has_stamps != 0;

    context->stamps = (struct bcs_stamps){.is_on = has_stamps, .rank = context->rank};
    context->n_inline_near = has_stamps ? 0 : BCS_INLINE_BYTES + 1;
    context->n_inline_off_node = has_stamps ? 0 : BCS_PUT_INLINE_BYTES + 1;
    context->n_long = has_stamps ? 0 : context->config.eager_limit_bytes + 1;
    bcs_poster_init(&context->poster, nic_engine_own(engine)->core, &engine->layout,
                    context->port);
    if (nic_is_linked(engine)) {
        uint32_t n_ports = engine->layout.shape.n_ports;

        context->links = bcs_sparse_new(n_ports, sizeof(*context->links));
        if (context->links == NULL) {
            bcs_error("no memory for the links to %" PRIu32 " ports", n_ports);
            return -ENOMEM;
        }
    }
    if (nic_layout_has_node_desks(&engine->layout)) {
        link_near(context, &context->node_link,
                  nic_layout_node_desk(&engine->layout, engine->home));
    }
    return bcs_off_node_init(context);
}

void bcs_post_fini(struct bcs_context *context)
{
    bcs_poster_fini(&context->poster);
    bcs_off_node_fini(context);
    if (context->engine != NULL) {
        bcs_sparse_free(context->links, context->engine->layout.shape.n_ports,
                        sizeof(*context->links));
    }
}

void bcs_post_link(struct bcs_context *context, struct bcs_ring_writer *ring,
                   uint32_t port)
{
    const struct nic_engine *engine = context->engine;

    if (nic_layout_node(&engine->layout, port) == engine->home) {
        link_near(context, ring, nic_layout_desk(&engine->layout, port));
    } else {
        bcs_off_node_link(context, ring, port);
    }
}

struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context,
                                               struct bcs_ring_writer *ring)
{
    struct bcs_waiter waiter = {0};
    struct bcs_descriptor *entry;

    while ((entry = bcs_ring_next(ring)) == NULL) {
        bcs_external_listen(context);
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
