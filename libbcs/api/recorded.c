/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was recorded of slices; see the header. Ticks become nanoseconds by the ratio of the two
 * clocks from the job's begin until now, as those of a process's own recording do.
 */
#include "libbcs/api/recorded.h"

#include "libbcs/api/context.h"
#include "libbcs/base/clock.h"

struct bcs_seat bcs_context_seat(const struct bcs_context *context)
{
    const struct nic_view *own = nic_engine_own(context->engine);

    return (struct bcs_seat){own->index, context->engine->n_nodes, own->first_port,
                             own->n_local};
}

static uint64_t in_ns(uint64_t ticks, double ns_per_tick)
{
    return (uint64_t)((double)ticks * ns_per_tick + 0.5);
}

static void convert(struct bcs_span *span, enum bcs_metric first, enum bcs_metric end,
                    double ns_per_tick)
{
    span->began = in_ns(span->began, ns_per_tick);
    for (enum bcs_metric metric = first; metric < end; metric++) {
        struct bcs_tally *tally = &span->tallies[metric - first];

        if (bcs_metric_is_time(metric)) {
            tally->total = in_ns(tally->total, ns_per_tick);
            tally->least = in_ns(tally->least, ns_per_tick);
            tally->most = in_ns(tally->most, ns_per_tick);
        }
    }
}

int bcs_context_recorded(const struct bcs_context *context, uint32_t node,
                         bool is_global, struct bcs_recorded *recorded_out)
{
    struct nic_engine *engine = context->engine;
    struct bcs_clock_moment began = engine->machine->began, now = bcs_clock_moment();
    double ns_per_tick =
        (double)(now.ns - began.ns) / (double)(now.ticks - began.ticks + 1);
    struct nic_recorded recorded;
    int rc = nic_engine_recorded(engine, node, is_global, &recorded);

    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < recorded.n; i++) {
        convert(&recorded.spans[i], bcs_metrics_first(is_global),
                bcs_metrics_end(is_global), ns_per_tick);
    }
    *recorded_out = (struct bcs_recorded){
        .spans = recorded.spans,
        .n = recorded.n,
        .shift = recorded.shift,
        .interval_ns =
            engine->is_timed ? 0 : in_ns(engine->machine->slice_ticks, ns_per_tick),
        .slice_ns = engine->config->slice_ns,
        .began_ns = began.ns,
        .run_ns = now.ns - began.ns,
    };
    return 0;
}
