/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is and was recorded of slices; see the header. Ticks become nanoseconds by the
 * ratio of the two clocks from the job's begin until now, as those of a process's own
 * recording do.
 */
#include "libbcs/api/recorded.h"

#include <stdlib.h>

#include "libbcs/api/attach.h"
#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/clock.h"
#include "mds/emds.h"
#include "mds/mds_config.h"
#include "mds/recorder.h"

struct bcs_seat bcs_context_seat(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;
    const struct nic_view *own = nic_engine_own(engine);

    return (struct bcs_seat){
        .node = own->index,
        .n_nodes = engine->n_nodes,
        .first_rank = nic_engine_rank_of(engine, own->first_port),
        .n_ranks = own->n_local,
    };
}

void bcs_record_set_up(const struct mds_config *mds, const struct bcs_port_map *map,
                       uint32_t rank, struct nic_config *config)
{
    struct mds_slices slices = mds_slices_of(mds, bcs_node_of_rank(map, rank));

    config->record = (struct nic_record_config){
        .n_spans = slices.n_spans,
        .first = slices.first,
        .n_slices = slices.n_slices,
        .metrics = slices.metrics,
        .has_stamps = mds_records_calls(mds) && map->n_ranks <= BCS_STAMP_RANKS_MOST,
    };
}

uint32_t bcs_recorders_of_node(const struct nic_config *config,
                               const struct bcs_port_map *map)
{
    return nic_engine_n_desks(map->n_ports, config);
}

struct bcs_recording_begin
bcs_context_recording_begin(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;

    return (struct bcs_recording_begin){
        .began = engine->machine->began,
        .interval_ticks = engine->is_timed ? 0 : engine->machine->slice_ticks,
    };
}

void bcs_context_end_slices(const struct bcs_context *context)
{
    nic_engine_end_slices(context->engine);
}

int bcs_context_recorded(const struct bcs_context *context, uint32_t node,
                         bool is_global, struct bcs_recorded *recorded_out)
{
    struct nic_engine *engine = context->engine;
    struct bcs_clock_moment began = engine->machine->began, now = bcs_clock_moment();
    double ns_per_tick =
        (double)(now.ns - began.ns) / (double)(now.ticks - began.ticks + 1);
    struct bcs_spans recorded;
    int rc = nic_engine_recorded(engine, node, is_global, &recorded);

    if (rc < 0) {
        return rc;
    }
    bcs_spans_scale(&recorded, is_global, ns_per_tick);
    *recorded_out = (struct bcs_recorded){
        .spans = recorded.spans,
        .n = recorded.n,
        .shift = recorded.shift,
        .interval_ns = engine->is_timed
                           ? 0
                           : bcs_clock_in_ns(engine->machine->slice_ticks, ns_per_tick),
        .slice_ns = engine->config->slice_ns,
        .began_ns = began.ns,
        .run_ns = now.ns - began.ns,
    };
    return 0;
}

static void add_recorded(const struct bcs_context *context, uint32_t node,
                         bool is_global, struct emds_summary *summary)
{
    struct bcs_recorded recorded;

    if (bcs_context_recorded(context, node, is_global, &recorded) == 0) {
        emds_add(summary, is_global, recorded.spans, recorded.n);
        free(recorded.spans);
    }
}

void bcs_context_sum_slices(const struct bcs_context *context,
                            struct emds_summary *summary)
{
    const struct nic_engine *engine = context->engine;

    for (uint32_t i = 0; i < engine->n_near; i++) {
        add_recorded(context, engine->first_near + i, false, summary);
    }
    if (nic_engine_is_near(engine, 0)) {
        add_recorded(context, 0, true, summary);
    }
}

struct mmds_strobes bcs_context_recorded_strobes(const struct bcs_context *context)
{
    const struct bcs_strobes strobes = bcs_context_strobes(context);

    return (struct mmds_strobes){strobes.slice_ns, strobes.n_sent,  strobes.n_left_out,
                                 strobes.n_idle,   strobes.late_ns, strobes.is_prompt};
}
