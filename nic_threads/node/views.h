/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The views of an engine: by desk, by port, by node. A view is made when it is first
 * asked for, so that a process has those of the desks that it deals with, however many
 * there are on its machine. Called by one thread of the engine at a time.
 */
#ifndef NIC_THREADS_NODE_VIEWS_H
#define NIC_THREADS_NODE_VIEWS_H

#include "nic_threads/node/node.h"

/**
 * Make a view, by its number, and that of its node's first desk. Nothing in the heaps
 * is touched.
 *
 * @return 0 or -ENOMEM, logged
 */
int nic_engine_try_view(struct nic_engine *engine, uint32_t number);

/** The same; if there is no memory for it the process ends. */
__attribute__((cold)) void nic_engine_make_view(const struct nic_engine *engine,
                                                uint32_t number);

/** A view, by its number. */
static inline struct nic_view *nic_engine_view_at(const struct nic_engine *engine,
                                                  uint32_t number)
{
    struct nic_view *view = &engine->views[number];

    assert(number < engine->n_views);
    if (__builtin_expect(view->engine == NULL, 0)) {
        nic_engine_make_view(engine, number);
    }
    return view;
}

/** The view of a desk of a near node, by its number in the job. */
static inline struct nic_view *nic_engine_desk(const struct nic_engine *engine,
                                               uint32_t desk)
{
    assert(nic_engine_is_near_desk(engine, desk));
    return nic_engine_view_at(engine, desk - engine->first_desk);
}

/** The view of this process's own desk. */
static inline struct nic_view *nic_engine_own(const struct nic_engine *engine)
{
    return engine->own_view;
}

/** The number of the slice that runs or ran last at the desk of this process; a
 *  hint. */
static inline uint64_t nic_engine_slice(const struct nic_engine *engine)
{
    return __atomic_load_n(&nic_engine_own(engine)->desk->slice, __ATOMIC_RELAXED);
}

/** The view of the desk of a near port, by its number in the job. */
static inline struct nic_view *nic_engine_view(const struct nic_engine *engine,
                                               uint32_t port)
{
    return nic_engine_desk(engine, nic_layout_desk(&engine->layout, port));
}

/** The view of the desk where the collectives of a near node are counted. */
static inline struct nic_view *nic_engine_node(const struct nic_engine *engine,
                                               uint32_t node)
{
    return nic_engine_desk(engine, nic_layout_node_desk(&engine->layout, node));
}

/** A near port, by its number in the job. */
static inline struct bcs_port *nic_engine_port(const struct nic_engine *engine,
                                               uint32_t port)
{
    const struct nic_view *view = nic_engine_view(engine, port);

    return nic_view_port(view, port - view->first_port);
}

/** Where a near port stands; see libbcs/fabric/ring/stand.h. */
struct bcs_stands *nic_engine_stands(const struct nic_engine *engine, uint32_t port);

/** What this process's node knows of where a port of another machine stands. */
struct bcs_stands *nic_engine_far_stands(const struct nic_engine *engine,
                                         uint32_t port);

/** A cell of a near port. */
static inline struct bcs_cell *nic_engine_cell(const struct nic_engine *engine,
                                               uint32_t port, uint32_t cell)
{
    return nic_view_cell(nic_engine_view(engine, port), port, cell);
}

/**
 * A view, by its number, for one turn of its desk. Where there are more views than
 * limits.views it is that of a guest, unless it has been made: one that stands until
 * the next call. So a process can look after the nodes of a large job that it has no
 * part in. If there is no memory the process ends (logged).
 */
struct nic_view *nic_view_for_turn(struct nic_engine *engine, uint32_t number);

/** Free what belongs to the views that have been made, but not their table. */
void nic_views_free(struct nic_engine *engine);

#endif
