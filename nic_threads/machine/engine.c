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
#include "nic_threads/machine/mover.h"

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
                              nic_shape_n_far(shape), &tables);
}

/** Bytes of the monitor behind such a state. */
static size_t monitor_bytes(const struct nic_config *config)
{
    return config->record.n_spans > 0 ? sizeof(struct nic_monitor) : 0;
}

/** Whether each process matches its own messages, at a desk of its own: where processes
 *  run the engine, and no clock says when. */
static bool has_own_desks(const struct nic_config *config)
{
    return config->driver == NIC_DRIVER_INLINE && config->strobe == NIC_STROBE_DEMAND;
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

/** Give a node its initial state; by the first process of the node. */
static void node_init(struct nic_view *view)
{
    struct nic_node *node = view->node;

    node->phase.phase = NIC_PHASE_IDLE;
    node->active = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    for (uint32_t i = 0; i < view->engine->n_nodes; i++) {
        view->per_node.ends[i].outbox = (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    }
    if (view->index == 0) {
        recorder_init(nic_engine_sender_recorder(view->engine), true,
                      view->engine->config);
    }
}

/** The same for a desk; by the first process that it serves. */
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
    for (uint32_t i = 0; i < view->engine->layout.n_far; i++) {
        view->per_port.link_ends[i].outbox =
            (struct nic_list){NIC_ITEM_NONE, NIC_ITEM_NONE};
    }
    recorder_init(view->recorder, false, config);
}

/** Whether a desk is its node's own, which serves no port. */
static bool is_node_desk(const struct nic_layout *layout, uint32_t desk)
{
    return nic_layout_has_node_desks(layout) && desk == layout->n_desks - 1;
}

/** Find the links to a view's desk. */
static void find_links(struct nic_view *view, uint32_t desk)
{
    const struct nic_layout *layout = &view->engine->layout;

    if (is_node_desk(layout, desk)) {
        view->links = layout->node_links;
        view->n_links = layout->shape.node_ranks;
        view->n_post_links = view->n_links;
        view->first_writer = view->first_port;
        return;
    }
    view->links = nic_layout_of_port(layout, &layout->links,
                                     view->first_port + view->first_served);
    view->n_links = layout->n_links;
    view->n_post_links = layout->n_links - layout->n_far;
    view->first_writer = 0;
}

/** Find the state of a view's desk: number `desk` of its node. */
static void find_desk(struct nic_view *view, uint32_t desk)
{
    const struct nic_layout *layout = &view->engine->layout;
    const struct nic_region items = nic_layout_items(layout, desk);
    uint32_t first = desk * layout->shape.desk_ranks;
    uint32_t n_rest = view->n_local > first ? view->n_local - first : 0;

    view->desk = (struct nic_desk *)(view->heap + layout->desk_gva +
                                     desk * layout->desk_stride_bytes);
    view->items = (struct nic_items){
        .first = (struct nic_item *)(view->heap + items.first_gva),
        .n_first = items.n_first,
        .region = items,
        .core = view->core,
    };
    view->first_served = first;
    view->n_served =
        n_rest < layout->shape.desk_ranks ? n_rest : layout->shape.desk_ranks;
    find_links(view, desk);
    nic_per_port_place(view->desk + 1, layout->shape.desk_ranks, layout->n_links,
                       layout->n_far, &view->per_port);
}

/** What is in a place that was given: number `series` of those there. */
static struct nic_recorder recorder_at(const struct nic_engine *engine, char *place,
                                       uint32_t series)
{
    size_t n_bytes = nic_monitor_bytes(engine->layout.shape.n_spans);
    struct nic_monitor *monitor = (struct nic_monitor *)(place + series * n_bytes);

    return (struct nic_recorder){
        .monitor = monitor,
        .spans = {.whole = nic_monitor_spans(monitor)},
        .machine = engine->machine,
        .is_by_time = !engine->is_timed,
    };
}

/** The place that was given for what records a node, or, as number n_nodes, the strobe
 *  sender; NULL: there is none. */
static char *place_of(const struct nic_engine *engine, uint32_t number)
{
    char *const *places = engine->config->record.places;

    return places == NULL ? NULL : places[number];
}

/** Find what records in NIC memory: number `series` of a node's, its monitor behind a
 *  state of so many bytes. */
static struct nic_recorder recorder_of(const struct nic_view *view, void *state,
                                       size_t n_bytes, uint32_t series)
{
    const struct nic_engine *engine = view->engine;
    const struct nic_layout *layout = &engine->layout;

    return (struct nic_recorder){
        .monitor = (struct nic_monitor *)((char *)state + n_bytes -
                                          sizeof(struct nic_monitor)),
        .spans = {.region = layout->spans,
                  .core = view->core,
                  .first = UINT64_C(2) * layout->shape.n_spans * series},
        .machine = engine->machine,
        .is_by_time = !engine->is_timed,
    };
}

/** Find what records the slices of a view's desk, number `number` in the job, and those
 *  of the strobe sender, which has a place behind the desks of node 0. */
static void find_recorders(struct nic_view *view, uint32_t number)
{
    struct nic_engine *engine = view->engine;
    const struct nic_layout *layout = &engine->layout;
    uint32_t desk = number % layout->n_desks;
    char *place, *sender;

    if (engine->recorders == NULL) {
        return;
    }
    place = place_of(engine, view->index);
    view->recorder = &engine->recorders[number - engine->first_desk];
    *view->recorder =
        place != NULL ? recorder_at(engine, place, desk)
                      : recorder_of(view, view->desk, layout->shape.n_desk_bytes, desk);
    if (number == 0) {
        sender = place_of(engine, engine->n_nodes);
        engine->recorders[engine->n_views] =
            sender != NULL ? recorder_at(engine, sender, 0)
                           : recorder_of(view, view->node, layout->shape.n_node_bytes,
                                         layout->n_desks);
    }
}

/** Make the view of a desk, by its number in the job. */
static int view_init(struct nic_engine *engine, struct bcs_memory *memory,
                     uint32_t number)
{
    struct nic_view *view = nic_engine_desk(engine, number);
    const struct nic_layout *layout = &engine->layout;
    uint32_t index = number / layout->n_desks, desk = number % layout->n_desks;
    int rc;

    view->core = view[-(ptrdiff_t)desk].core; /* the desks of a node act as it */
    rc = desk == 0 ? bcs_core_create(memory, index, &view->core) : 0;
    if (rc < 0) {
        return rc;
    }
    view->is_late = bcs_core_is_late(view->core);
    view->engine = engine;
    view->index = index;
    view->heap = bcs_memory_heap(memory, index);
    view->whole_bytes = layout->whole_bytes;
    view->node = (struct nic_node *)(view->heap + layout->node_gva);
    view->ports = view->heap + layout->port_gva;
    view->port_stride_bytes = layout->port_stride_bytes;
    view->n_first_cells = layout->cells.n_first;
    view->first_port = index * layout->shape.node_ranks;
    view->n_local = nic_layout_n_local(layout, index);
    view->n_words = nic_port_words(layout->shape.node_ranks);
    view->wake = engine->wake_words + (index - engine->first_near) * view->n_words;
    view->ring_mask = layout->shape.limits.ring - 1;
    view->link_mask = layout->shape.limits.link - 1;
    nic_per_node_place(view->node + 1, layout->shape.node_ranks, layout->n_nodes,
                       &view->per_node);
    find_desk(view, desk);
    find_recorders(view, number);
    view->is_alone =
        !engine->is_timed && (engine->n_nodes == 1 ||
                              (nic_is_linked(engine) && !is_node_desk(layout, desk)));
    view->is_at_once = view->is_alone && engine->n_nodes == 1 &&
                       nic_is_linked(engine) && view->n_served == 1 &&
                       view->recorder == NULL;
    if (engine->port == view->first_port && desk == 0 && !engine->is_background) {
        node_init(view);
    }
    /* a desk that serves nobody by the first process of the node */
    if (engine->port ==
            view->first_port + (view->n_served > 0 ? view->first_served : 0) &&
        !engine->is_background) {
        desk_init(view);
    }
    return 0;
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
    uint32_t n_words;
    int rc;

    if (engine == NULL) {
        return no_memory();
    }
    rc = nic_engine_layout(params->n_ports, params->config, &engine->layout);
    if (rc < 0) {
        goto fail;
    }
    engine->machine = params->machine;
    engine->own_slot = params->own_slot;
    engine->config = params->config;
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
    n_words = nic_port_words(engine->layout.shape.node_ranks);
    engine->wake_words =
        calloc((size_t)engine->n_near * n_words, sizeof(engine->wake_words[0]));
    engine->pending_desks =
        calloc(nic_port_words(engine->n_views), sizeof(engine->pending_desks[0]));
    engine->visits = calloc(nic_port_words(engine->n_views), sizeof(engine->visits[0]));
    engine->views = calloc(engine->n_views, sizeof(*engine->views));
    if (params->config->record.n_spans > 0) {
        engine->recorders = calloc(engine->n_views + 1, sizeof(*engine->recorders));
    }
    if ((params->config->record.n_spans > 0 && engine->recorders == NULL) ||
        engine->wake_words == NULL || engine->pending_desks == NULL ||
        engine->visits == NULL || engine->views == NULL ||
        (params->is_mover && nic_mover_create(engine, &engine->mover) < 0)) {
        rc = no_memory();
        goto fail;
    }
    engine->own_view = nic_engine_desk(engine, engine->own);
    for (uint32_t i = 0; i < engine->n_views; i++) {
        rc = view_init(engine, params->memory, engine->first_desk + i);
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
    for (uint32_t i = 0; engine->views != NULL && i < engine->n_views; i++) {
        if (i % engine->layout.n_desks == 0) {
            bcs_core_destroy(engine->views[i].core);
        }
        free(engine->views[i].scratch);
    }
    nic_mover_destroy(engine->mover);
    free(engine->views);
    free(engine->wake_words);
    free(engine->pending_desks);
    free(engine->visits);
    free(engine->recorders);
    free(engine);
}
