/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and freeing engines. Called by every process of the job, and by the drivers
 * for threads of theirs.
 */
#include "nic_threads/machine/engine.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/sparse_table.h"
#include "nic_threads/machine/mover.h"
#include "nic_threads/node/views.h"

/** Bytes of a node's state, but for a monitor. */
static size_t node_bytes(uint32_t node_ranks, uint32_t n_nodes)
{
    struct nic_per_node tables;

    return sizeof(struct nic_node) +
           nic_per_node_place(NULL, node_ranks, n_nodes, &tables);
}

/** Bytes of a desk's state, but for a monitor. */
static size_t desk_bytes(const struct nic_shape *shape)
{
    struct nic_per_port tables;

    return sizeof(struct nic_desk) +
           nic_per_port_place(NULL, shape->desk_ranks, nic_shape_n_links(shape),
                              nic_shape_n_off_node(shape), &tables);
}

/** Bytes of the monitor behind such a state. */
static size_t monitor_bytes(const struct nic_config *config)
{
    return config->record.n_spans > 0 ? sizeof(struct nic_monitor) : 0;
}

/** Whether messages to each port are matched at a desk of its own: where no clock says
 *  when. */
static bool has_own_desks(const struct nic_config *config)
{
    return config->strobe == NIC_STROBE_DEMAND;
}

/** Bytes of a collective slot, in whole cache lines. */
static uint32_t slot_bytes(uint32_t n_nodes)
{
    size_t n_bytes =
        offsetof(struct nic_slot, marks) + bcs_node_words(n_nodes) * sizeof(uint64_t);

    return (uint32_t)bcs_align_up(n_bytes, BCS_CACHE_LINE);
}

uint32_t nic_engine_n_desks(uint32_t n_ports, const struct nic_config *config)
{
    uint32_t node_ranks = nic_config_node_ranks(config, n_ports);

    return has_own_desks(config) ? node_ranks + (n_ports > node_ranks) : 1;
}

int nic_engine_layout(uint32_t n_ports, const struct nic_config *config,
                      struct nic_layout *layout_out)
{
    uint32_t node_ranks = nic_config_node_ranks(config, n_ports);
    uint32_t n_nodes = nic_layout_n_nodes(n_ports, node_ranks);
    struct nic_shape shape = {
        .n_ports = n_ports,
        .node_ranks = node_ranks,
        .desk_ranks = has_own_desks(config) ? 1 : node_ranks,
        .has_links = has_own_desks(config) && n_ports > 1,
        .n_cells = (uint32_t)config->descriptors,
        .n_groups = (uint32_t)config->communicators,
        .n_node_bytes = node_bytes(node_ranks, n_nodes) + monitor_bytes(config),
        .n_item_bytes = sizeof(struct nic_item),
        .n_wire_bytes = sizeof(struct bcs_descriptor),
        .n_slot_bytes = slot_bytes(n_nodes),
        .n_partner_bytes = sizeof(struct nic_partner),
        .n_wire_end_bytes = sizeof(struct nic_wire_end),
        .n_spans = (uint32_t)config->record.n_spans,
        .limits = config->limits,
    };
    int rc;

    shape.n_desk_bytes = desk_bytes(&shape) + monitor_bytes(config);
    rc = nic_layout_init(layout_out, &shape);
    if (rc == -E2BIG) {
        bcs_error("%u ranks that may lead %u communicators each are too many for one "
                  "job; lower BCS_COMMUNICATORS",
                  n_ports, shape.n_groups);
    } else if (rc < 0) {
        bcs_error(
            "%u ranks in nodes of %u: a node has at most %d ranks, a job %d nodes; "
            "set BCS_NODE_RANKS",
            n_ports, shape.node_ranks, NIC_NODE_RANKS_MOST, NIC_NODES_MOST);
    }
    return rc;
}

/** Begin to record, if it is wanted: what a strobe sender does, or a strobe
 *  receiver. */
static void recorder_init(const struct nic_recorder *recorder, bool is_global,
                          const struct nic_config *config)
{
    enum bcs_metric first = bcs_metrics_first(is_global);
    uint64_t metrics = config->record.metrics >> first &
                       ((UINT64_C(1) << (bcs_metrics_end(is_global) - first)) - 1);

    if (recorder != NULL) {
        nic_monitor_init(recorder->monitor, metrics, config->record.first,
                         config->record.n_slices, config->record.n_spans);
    }
}

/** Give a node its initial state. */
static void node_init(struct nic_view *view)
{
    struct nic_node *node = view->node;

    node->phase.phase = NIC_PHASE_IDLE;
    node->active = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    if (view->index == 0) {
        recorder_init(nic_engine_sender_recorder(view->engine), true,
                      view->engine->config);
    }
}

/** The same for a desk. */
static void desk_init(struct nic_view *view)
{
    const struct nic_config *config = view->engine->config;
    struct nic_desk *desk = view->desk;

    desk->free_item = NIC_ITEM_NONE;
    nic_schedule_init(&desk->schedule, nic_config_chunk_bytes(config),
                      nic_config_slice_bytes(config));
    for (uint32_t i = 0; i < view->n_served; i++) {
        nic_match_init(&view->per_port.match[i]);
        view->per_port.deferred[i].first = BCS_CELL_NONE;
    }
    recorder_init(view->recorder, false, config);
}

/** Words of bits for the ports of all near nodes. */
static size_t n_wake_words(const struct nic_engine *engine)
{
    return (size_t)engine->n_near * nic_port_words(engine->layout.shape.node_ranks);
}

/** Find the near nodes: those whose heaps the transport has mapped. */
static void find_near(struct nic_engine *engine, const struct bcs_memory *memory)
{
    uint32_t first = nic_layout_node(&engine->layout, engine->port), end = first + 1;

    assert(bcs_memory_heap(memory, first) != NULL);
    while (first > 0 && bcs_memory_heap(memory, first - 1) != NULL) {
        first--;
    }
    while (end < engine->n_nodes && bcs_memory_heap(memory, end) != NULL) {
        end++;
    }
    engine->first_near = first;
    engine->n_near = end - first;
    engine->first_desk = first * engine->layout.n_desks;
    engine->n_views = engine->n_near * engine->layout.n_desks;
}

/** Set up what is this process's to set up: its desk, if it is the first one that the
 *  desk serves, and its node, if it is the first one there. */
static void heap_init(struct nic_engine *engine)
{
    struct nic_view *own = engine->own_view;
    uint32_t local = engine->port - own->first_port;
    uint32_t first_desk = engine->home * engine->layout.n_desks;
    bool is_linked = nic_is_linked(engine);

    if (local == own->first_served) {
        desk_init(own);
    }
    if (local == 0) {
        node_init(own);
        /* those that serve nobody */
        for (uint32_t i = own->n_local; is_linked && i < engine->layout.n_desks; i++) {
            desk_init(nic_engine_desk(engine, first_desk + i));
        }
    }
}

/** Make the tables by desk and by node. @return whether there is memory */
static bool make_tables(struct nic_engine *engine)
{
    size_t n_words = nic_port_words(engine->n_views);

    engine->wake_words = bcs_sparse_new(n_wake_words(engine), sizeof(uint64_t));
    engine->pending_desks = calloc(n_words, sizeof(engine->pending_desks[0]));
    engine->visits = calloc(n_words, sizeof(engine->visits[0]));
    engine->views = bcs_sparse_new(engine->n_views, sizeof(*engine->views));
    if (engine->config->record.n_spans > 0) {
        engine->recorders =
            bcs_sparse_new((size_t)engine->n_views + 1, sizeof(*engine->recorders));
    }
    return engine->wake_words != NULL && engine->pending_desks != NULL &&
           engine->visits != NULL && engine->views != NULL &&
           (engine->config->record.n_spans == 0 || engine->recorders != NULL);
}

/** @return -ENOMEM, logged */
static int no_memory(void)
{
    bcs_error("no memory for the engine of a rank");
    return -ENOMEM;
}

int nic_engine_create(const struct nic_engine_params *params,
                      struct nic_engine **engine_out)
{
    struct nic_engine *engine = calloc(1, sizeof(*engine));
    int rc;

    if (engine == NULL) {
        return no_memory();
    }
    rc = nic_engine_layout(params->n_ports, params->config, &engine->layout);
    if (rc < 0) {
        goto fail;
    }
    engine->memory = params->memory;
    engine->machine = params->machine;
    engine->own_slot = params->own_slot;
    engine->config = params->config;
    engine->map = params->map;
    engine->port = params->port;
    engine->is_direct = params->is_direct;
    engine->is_background = params->is_background;
    engine->crew = params->crew;
    engine->crew_ops = params->crew_ops;
    engine->is_timed = params->config->strobe == NIC_STROBE_TIMED;
    assert(engine->layout.n_desks ==
           nic_engine_n_desks(params->n_ports, params->config));
    engine->n_nodes = engine->layout.n_nodes;
    find_near(engine, params->memory);
    engine->home = nic_layout_node(&engine->layout, params->port);
    engine->own = nic_layout_desk(&engine->layout, params->port);
    if (!make_tables(engine) ||
        (params->is_mover && nic_mover_create(engine, &engine->mover) < 0)) {
        rc = no_memory();
        goto fail;
    }
    rc = nic_engine_try_view(engine, engine->own - engine->first_desk);
    if (rc < 0) {
        goto fail;
    }
    engine->own_view = nic_engine_desk(engine, engine->own);
    if (!engine->is_background) {
        heap_init(engine);
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
    nic_views_free(engine);
    nic_mover_destroy(engine->mover);
    bcs_sparse_free(engine->views, engine->n_views, sizeof(*engine->views));
    bcs_sparse_free(engine->wake_words, n_wake_words(engine), sizeof(uint64_t));
    free(engine->pending_desks);
    free(engine->visits);
    bcs_sparse_free(engine->recorders, (size_t)engine->n_views + 1,
                    sizeof(*engine->recorders));
    free(engine);
}
