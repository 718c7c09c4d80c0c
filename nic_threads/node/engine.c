/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and freeing engines. Called by every process of the job, and by the drivers for
 * threads of theirs.
 */
#include "nic_threads/node/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/base/log.h"
#include "nic_threads/node/mover.h"

int nic_engine_layout(uint32_t n_ports, const struct nic_config *config,
                      struct nic_layout *layout_out)
{
    uint64_t node_ranks = config->node_ranks > 0 && config->node_ranks < n_ports
                              ? config->node_ranks
                              : n_ports;
    const struct nic_shape shape = {
        .n_ports = n_ports,
        .node_ranks = (uint32_t)node_ranks,
        .n_cells = (uint32_t)config->descriptors,
        .n_groups = (uint32_t)config->communicators,
        .n_node_bytes = sizeof(struct nic_node),
        .n_item_bytes = sizeof(struct nic_item),
        .n_wire_bytes = sizeof(struct bcs_descriptor),
        .n_slot_bytes = sizeof(struct nic_slot),
        .limits = config->limits,
    };
    int rc = nic_layout_init(layout_out, &shape);

    if (rc == -E2BIG) {
        bcs_error("%u ranks that may lead %u communicators each are too many for one "
                  "job; lower BCS_COMMUNICATORS",
                  n_ports, shape.n_groups);
    } else if (rc < 0) {
        bcs_error(
            "%u ranks in nodes of %u: a node has at most %u ranks, a job %u nodes; "
            "set BCS_NODE_RANKS",
            n_ports, shape.node_ranks, (unsigned)BCS_MAX_PORTS_A_NODE, BCS_MAX_NODES);
    }
    return rc;
}

/** Give a node its initial state; by the first process of the node. */
static void node_init(struct nic_view *view)
{
    const struct nic_config *config = view->engine->config;
    struct nic_node *node = view->node;

    node->free_item = NIC_ITEM_NONE;
    node->phase.phase = NIC_PHASE_IDLE;
    node->deferred.first = NIC_ITEM_NONE;
    node->active = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    node->last_holder = UINT32_MAX;
    nic_schedule_init(&node->schedule, nic_config_chunk_bytes(config),
                      nic_config_slice_bytes(config));
    for (uint32_t i = 0; i < view->n_local; i++) {
        nic_match_init(&node->match[i]);
    }
    for (uint32_t i = 0; i < view->engine->n_nodes; i++) {
        node->outbox[i].first = NIC_ITEM_NONE;
        node->outbox[i].last = NIC_ITEM_NONE;
    }
}

static int view_init(struct nic_engine *engine, struct bcs_memory *memory,
                     uint32_t index)
{
    struct nic_view *view = &engine->views[index];
    const struct nic_layout *layout = &engine->layout;
    int rc = bcs_core_create(memory, index, &view->core);

    if (rc < 0) {
        return rc;
    }
    view->is_late = bcs_core_is_late(view->core);
    view->engine = engine;
    view->index = index;
    view->heap = bcs_memory_heap(memory, index);
    view->whole_bytes = layout->whole_bytes;
    view->node = (struct nic_node *)(view->heap + layout->node_gva);
    view->items = (struct nic_items){
        .first = (struct nic_item *)(view->heap + layout->items.first_gva),
        .n_first = layout->items.n_first,
        .region = layout->items,
        .core = view->core,
    };
    view->ports = view->heap + layout->port_gva;
    view->port_stride_bytes = layout->port_stride_bytes;
    view->n_first_cells = layout->cells.n_first;
    view->first_port = index * layout->shape.node_ranks;
    view->n_local = nic_layout_n_local(layout, index);
    view->ring_mask = layout->shape.limits.ring - 1;
    if (engine->port == view->first_port && !engine->is_background) {
        node_init(view);
    }
    return 0;
}

int nic_engine_create(const struct nic_engine_params *params,
                      struct nic_engine **engine_out)
{
    struct nic_engine *engine = calloc(1, sizeof(*engine));
    int rc = -ENOMEM;

    if (engine == NULL) {
        return rc;
    }
    rc = nic_engine_layout(params->n_ports, params->config, &engine->layout);
    if (rc < 0) {
        goto fail;
    }
    rc = -ENOMEM;
    engine->machine = params->machine;
    engine->config = params->config;
    engine->port = params->port;
    engine->is_direct = params->is_direct;
    engine->is_background = params->is_background;
    engine->crew = params->crew;
    engine->crew_ops = params->crew_ops;
    engine->is_timed = params->config->strobe == NIC_STROBE_TIMED;
    engine->n_nodes = engine->layout.n_nodes;
    engine->home = nic_layout_node(&engine->layout, params->port);
    engine->scratch = aligned_alloc(
        BCS_CACHE_LINE, engine->n_nodes * nic_scratch_bytes(&engine->layout));
    engine->views = calloc(engine->n_nodes, sizeof(*engine->views));
    if (engine->scratch == NULL || engine->views == NULL) {
        goto fail;
    }
    if (params->is_mover) {
        rc = nic_mover_create(engine, &engine->mover);
        if (rc < 0) {
            goto fail;
        }
    }
    for (uint32_t i = 0; i < engine->n_nodes; i++) {
        rc = view_init(engine, params->memory, i);
        if (rc < 0) {
            goto fail;
        }
    }
    *engine_out = engine;
    return 0;

fail:
    nic_engine_destroy(engine);
    return rc;
}

void nic_engine_destroy(struct nic_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t i = 0; engine->views != NULL && i < engine->n_nodes; i++) {
        bcs_core_destroy(engine->views[i].core);
    }
    nic_mover_destroy(engine->mover);
    free(engine->views);
    free(engine->scratch);
    free(engine);
}
