/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making views: where everything of a desk and its node is. Called while an engine is
 * made, and when it first looks at a desk.
 */
#include "nic_threads/node/views.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/fatal.h"

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
    view->n_post_links = layout->n_links - layout->n_off_node;
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
    view->partners = nic_layout_partners(layout, desk);
    find_links(view, desk);
    nic_per_port_place(view->desk + 1, layout->shape.desk_ranks, layout->n_links,
                       layout->n_off_node, &view->per_port);
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

/** What is known of a desk's node. */
static void find_node(struct nic_view *view, uint32_t index)
{
    const struct nic_engine *engine = view->engine;
    const struct nic_layout *layout = &engine->layout;

    view->index = index;
    view->is_late = bcs_core_is_late(view->core);
    view->must_push = !bcs_core_delivers(view->core);
    view->n_copied_bytes = bcs_core_copied_bytes(view->core);
    view->heap = bcs_memory_heap(engine->memory, index);
    view->whole_bytes = layout->whole_bytes;
    view->node = (struct nic_node *)(view->heap + layout->node_gva);
    view->ports = view->heap + layout->port_gva;
    view->port_stride_bytes = layout->port_stride_bytes;
    view->n_first_cells = layout->cells.n_first;
    view->first_port = index * layout->shape.node_ranks;
    view->n_local = engine->map == NULL ? nic_layout_n_local(layout, index)
                                        : engine->map->n_local[index];
    view->n_words = nic_port_words(layout->shape.node_ranks);
    view->wake = engine->wake_words + (index - engine->first_near) * view->n_words;
    view->ring_mask = layout->shape.limits.ring - 1;
    view->link_mask = layout->shape.limits.link - 1;
    nic_per_node_place(view->node + 1, layout->shape.node_ranks, layout->n_nodes,
                       &view->per_node);
}

/** Set up a view, by its number. @param core  of its node */
static void fill(struct nic_view *view, struct nic_engine *engine, uint32_t number,
                 struct bcs_core *core)
{
    const struct nic_layout *layout = &engine->layout;
    uint32_t desk = number % layout->n_desks;

    *view = (struct nic_view){.engine = engine, .core = core};
    find_node(view, (engine->first_desk + number) / layout->n_desks);
    find_desk(view, desk);
    find_recorders(view, engine->first_desk + number);
    view->is_alone =
        !engine->is_timed && (engine->n_nodes == 1 ||
                              (nic_is_linked(engine) && !is_node_desk(layout, desk)));
    view->is_at_once = view->is_alone && engine->n_nodes == 1 &&
                       nic_is_linked(engine) && view->n_served == 1 &&
                       view->recorder == NULL &&
                       engine->config->driver == NIC_DRIVER_INLINE;
}

/** Open the node of a view. @return NULL: no memory, logged */
static struct bcs_core *open_node(const struct nic_engine *engine, uint32_t number)
{
    uint32_t node = (engine->first_desk + number) / engine->layout.n_desks;
    struct bcs_core *core;

    if (bcs_core_create(engine->memory, node, &core) < 0) {
        return NULL;
    }
    bcs_core_order_by_node(core); /* the engine relies on no order of several */
    return core;
}

int nic_engine_try_view(struct nic_engine *engine, uint32_t number)
{
    /* the desks of a node act as it, by the first one's handle */
    uint32_t first = number - number % engine->layout.n_desks;
    struct nic_view *view = &engine->views[number];
    struct bcs_core *core;

    if (first != number && engine->views[first].engine == NULL &&
        nic_engine_try_view(engine, first) < 0) {
        return -ENOMEM;
    }
    core = first != number ? engine->views[first].core : open_node(engine, number);
    if (core == NULL) {
        return -ENOMEM;
    }
    fill(view, engine, number, core);
    view->next_made = engine->first_made;
    engine->first_made = view;
    return 0;
}

void nic_engine_make_view(const struct nic_engine *engine, uint32_t number)
{
    /* By another name than that of those who only look, as their table grows. */
    if (nic_engine_try_view((struct nic_engine *)(uintptr_t)engine, number) < 0) {
        bcs_end_process(1); /* logged */
    }
}

static void free_guest(struct nic_engine *engine)
{
    bcs_core_destroy(engine->guest.core);
    free(engine->guest.scratch);
    engine->guest.core = NULL;
    engine->guest.scratch = NULL;
}

struct nic_view *nic_view_for_turn(struct nic_engine *engine, uint32_t number)
{
    struct nic_view *view = &engine->views[number];
    struct bcs_core *core;

    if (view->engine != NULL) {
        return view;
    }
    if (engine->n_views <= engine->layout.shape.limits.views ||
        engine->recorders != NULL) {
        nic_engine_make_view(engine, number);
        return view;
    }
    free_guest(engine);
    core = open_node(engine, number);
    if (core == NULL) {
        bcs_end_process(1); /* logged */
    }
    fill(&engine->guest, engine, number, core);
    return &engine->guest;
}

void nic_views_free(struct nic_engine *engine)
{
    free_guest(engine);
    for (struct nic_view *view = engine->first_made; view != NULL;
         view = view->next_made) {
        if ((view - engine->views) % engine->layout.n_desks == 0) {
            bcs_core_destroy(view->core);
        }
        free(view->scratch);
    }
    engine->first_made = NULL;
}

struct bcs_stands *nic_engine_stands(const struct nic_engine *engine, uint32_t port)
{
    return nic_view_at(nic_engine_view(engine, port),
                       nic_layout_stands_gva(&engine->layout, port));
}

struct bcs_stands *nic_engine_far_stands(const struct nic_engine *engine, uint32_t port)
{
    return bcs_far_stands(nic_view_at(nic_engine_own(engine),
                                      nic_layout_far_stand_gva(&engine->layout, port)));
}
