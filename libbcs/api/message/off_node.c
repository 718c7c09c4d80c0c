/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to other nodes; see the header. Transfers of one handle take effect in the order
 * of their calls, so the data are there when the entry is that names them.
 *
 * Where the transport keeps back what was put until its process makes another call, one
 * that has published an entry waits until it is there: it may go on computing and make
 * none for long.
 */
#include "libbcs/api/message/off_node.h"

#include <errno.h>
#include <stdatomic.h>

#include "libbcs/fabric/base/layout.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/sparse_table.h"
#include "libbcs/fabric/ring/landing.h"
#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/link.h"

/** What a process knows of its landing ring at a port. */
struct bcs_off_node_end {
    uint64_t landing_gva;
    uint32_t position; /* where its last block ended */
};

int bcs_off_node_init(struct bcs_context *context)
{
    uint32_t n_off_node = context->engine->layout.n_off_node;

    if (n_off_node == 0) {
        return 0;
    }
    context->off_node_ends =
        bcs_sparse_new(n_off_node, sizeof(*context->off_node_ends));
    if (context->off_node_ends == NULL) {
        bcs_error("no memory for what goes to %u ranks of other nodes", n_off_node);
        return -ENOMEM;
    }
    return 0;
}

void bcs_off_node_fini(struct bcs_context *context)
{
    if (context->engine != NULL) {
        bcs_sparse_free(context->off_node_ends, context->engine->layout.n_off_node,
                        sizeof(*context->off_node_ends));
    }
}

void bcs_off_node_link(struct bcs_context *context, struct bcs_ring_writer *ring,
                       uint32_t port)
{
    struct nic_view *own = nic_engine_own(context->engine);
    const struct nic_layout *layout = &context->engine->layout;
    uint32_t link = nic_layout_link_of(layout, context->port, false);
    uint64_t credit_gva = nic_layout_credit_gva(
        layout, context->port, nic_layout_link_of(layout, port, false));

    *ring = (struct bcs_ring_writer){
        .entries = &context->off_node_entry,
        .credit = bcs_core_address(own->core, credit_gva),
        .mask = own->link_mask,
        .reader = nic_layout_desk(layout, port),
        .put_to = 1 + port,
    };
    context->off_node_ends[port].landing_gva =
        nic_layout_landing_gva(layout, port, context->port);
    nic_link_announce(own, port, link);
}

void bcs_off_node_publish(struct bcs_context *context, struct bcs_ring_writer *ring,
                          struct bcs_descriptor *entry)
{
    struct nic_view *own = nic_engine_own(context->engine);
    uint32_t link = nic_layout_link_of(&context->engine->layout, context->port, false);
    bool owed = own->owes_flush;

    nic_link_put(own, ring->put_to - 1, link, ring->position, entry);
    ring->position++;
    own->owes_flush = owed || own->must_push; /* nobody else writes this link */
    nic_engine_push(own);
    /* seq_cst: see the parking argument in nic_threads/drivers/driver_inline.c */
    atomic_thread_fence(memory_order_seq_cst);
}

/** Put bytes that are used again on return. */
static void put(struct bcs_context *context, uint32_t port, uint64_t gva,
                const void *data, size_t n_bytes)
{
    struct nic_view *own = nic_engine_own(context->engine);
    const struct nic_layout *layout = &context->engine->layout;
    const struct bcs_node_set dests = bcs_node_set_one(nic_layout_node(layout, port));
    const struct bcs_xfer xfer = {
        .src = data, .n_bytes = n_bytes, .dest_gva = gva, .dests = &dests};

    nic_engine_put_own(own,
                       nic_layout_port_gva(layout, context->port) +
                           offsetof(struct bcs_port, long_puts),
                       &xfer);
}

void bcs_off_node_put(struct bcs_context *context, uint32_t port, uint64_t block_gva,
                      const struct bcs_off_node_data *data)
{
    uint64_t gva = block_gva + offsetof(struct bcs_block, data);
    uint8_t piece[BCS_XFER_COPIED_BYTES];
    size_t n_bytes;

    if (data->layout == NULL) {
        put(context, port, gva, (const char *)data->data + data->position,
            data->n_bytes);
        return;
    }
    for (size_t done = 0; done < data->n_bytes; done += n_bytes) {
        n_bytes = data->n_bytes - done;
        n_bytes = n_bytes < sizeof(piece) ? n_bytes : sizeof(piece);
        bcs_layout_pack(data->layout, data->data, data->position + done, n_bytes,
                        piece);
        put(context, port, gva + done, piece, n_bytes);
    }
}

uint64_t bcs_off_node_land(struct bcs_context *context,
                           const struct bcs_ring_writer *ring,
                           const struct bcs_off_node_data *data)
{
    uint32_t port = ring->put_to - 1, n_bytes = (uint32_t)data->n_bytes;
    uint32_t n_ring_bytes = context->config.limits.landing;
    struct bcs_off_node_end *end = &context->off_node_ends[port];
    uint32_t begin = bcs_landing_begin(end->position, n_bytes, n_ring_bytes);
    uint32_t after = begin + bcs_landing_bytes(n_bytes);
    uint64_t gva = end->landing_gva + (begin & (n_ring_bytes - 1));
    uint32_t freed;

    bcs_credit_read(ring->credit, &freed);
    if (bcs_landing_bytes(n_bytes) > n_ring_bytes || after - freed > n_ring_bytes) {
        return 0;
    }
    bcs_off_node_put(context, port, gva, data);
    end->position = after;
    return gva;
}
