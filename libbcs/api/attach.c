/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching one process: agree on the layout, map the job's memory (meeting.c), start
 * the engine. Called once by each process, from the thread that initializes the
 * library.
 */
#include "libbcs/api/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/api/board_fill.h"
#include "libbcs/api/collective/near_collective.h"
#include "libbcs/api/collective/plan.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/forked_context.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/movers.h"
#include "libbcs/api/record/deadlock_tell.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/ring/board.h"
#include "libbcs/session/meeting.h"

/* How long a waiter polls as if nobody else needed its core; and all in all. */
#define SPIN_NS 50000u
#define STAY_NS 100000000u

static struct nic_engine_params engine_params(struct bcs_context *context)
{
    return (struct nic_engine_params){
        .memory = context->meeting.memory,
        .machine = context->meeting.machine.base,
        .own_slot = context->meeting.slot.own,
        .n_ports = context->map->n_ports,
        .map = context->map,
        .port = context->port,
        .config = &context->config,
        .is_direct = context->meeting.is_direct,
        .on_deadlock = bcs_on_deadlock,
        .on_doubt = bcs_on_doubt,
        .owner = context,
    };
}

/** Say what belongs to the machine, by the first process of it. */
static void describe_machine(const struct bcs_context *context,
                             struct bcs_clock_moment start)
{
    struct bcs_machine *machine = context->engine->machine;

    machine->n_cpus = context->meeting.n_cpus;
    machine->first_port = context->meeting.first;
    machine->n_ports = context->meeting.n_processes;
    machine->n_sharing = context->meeting.n_sharing;
    machine->began = bcs_clock_moment();
    machine->slice_ticks = bcs_clock_ticks_in(context->config.slice_ns, start);
}

/** start: some microseconds ago. */
static int start_engine(struct bcs_context *context,
                        const struct bcs_bootstrap *bootstrap,
                        struct bcs_clock_moment start)
{
    const struct nic_engine_params params = engine_params(context);
    int rc = nic_engine_create(&params, &context->engine);

    if (rc < 0) {
        return rc;
    }
    rc = bcs_post_init(context);
    if (rc < 0) {
        return rc;
    }
    context->poster.port->pid = getpid();
    context->poster.port->rank = bootstrap->rank;
    if (context->port == context->meeting.first) {
        describe_machine(context, start);
    }
    bcs_board_fill(context);
    context->driver = nic_driver_find(&context->config);
    return 0;
}

/** start: some microseconds ago. */
static void set_patience(struct nic_engine *engine, struct bcs_clock_moment start)
{
    uint64_t stay_ns = nic_config_spin_ns(engine->config, STAY_NS);

    engine->stay_ticks = bcs_clock_ticks_in(stay_ns, start);
    engine->spin_ticks =
        bcs_clock_ticks_in(stay_ns < SPIN_NS ? stay_ns : SPIN_NS, start);
}

/** Start what the driver needs in this process. All nodes must be set up. */
static int open_service(struct bcs_context *context)
{
    const struct nic_engine_params params = engine_params(context);

    return nic_service_open(&params, context->driver->serves, &context->service);
}

/** Meet the other processes, with heaps that are large enough for all of the layout. */
static int meet(struct bcs_context *context, const struct bcs_bootstrap *bootstrap)
{
    struct nic_layout layout = {.shape.node_ranks = 1};
    uint32_t n_mapped = bcs_ports_are_ranks(context) ? 0 : context->size;
    int error = nic_engine_layout(context->map->n_ports, &context->config, &layout);

    return bcs_meet(bootstrap,
                    &(struct bcs_meeting_params){
                        .n_machine_bytes = sizeof(struct bcs_machine) +
                                           bcs_board_bytes(layout.n_nodes, n_mapped),
                        .heap_bytes = layout.heap_bytes,
                        .window_bytes = context->config.limits.window,
                        .whole_bytes = layout.whole_bytes,
                        .node_ranks = layout.shape.node_ranks,
                        .map = context->map,
                        .error = error,
                        .config = &context->config,
                    },
                    &context->meeting);
}

int bcs_attach(const struct bcs_bootstrap *bootstrap, const struct nic_config *config,
               struct bcs_port_map *map, const struct bcs_hooks *hooks,
               struct bcs_context **context_out)
{
    struct bcs_context *context = calloc(1, sizeof(*context));
    struct bcs_clock_moment start = bcs_clock_moment();
    int rc;

    if (context == NULL) {
        bcs_error("no memory for the context of a rank");
        bcs_port_map_destroy(map);
        return -ENOMEM;
    }
    context->config = *config;
    context->map = map;
    context->rank = bootstrap->rank;
    context->port = bcs_port_of(map, bootstrap->rank);
    context->size = bootstrap->size;
    context->movers = bcs_movers;
    context->find_needs = bcs_plans_find_needs;
    context->hooks = *hooks;
    rc = bcs_stand_init(context);
    if (rc < 0) {
        goto fail;
    }
    rc = meet(context, bootstrap);
    if (rc < 0) {
        goto fail;
    }
    rc = bcs_meet_again(bootstrap, start_engine(context, bootstrap, start));
    if (rc < 0) {
        goto fail;
    }
    context->engine->is_threaded = hooks->turns != NULL;
    set_patience(context->engine, start);
    rc = bcs_meet_again(bootstrap, open_service(context));
    if (rc < 0) {
        goto fail;
    }
    context->forked =
        (struct bcs_forked){.in_child = bcs_context_take_away, .arg = context};
    bcs_forked_watch(&context->forked);
    *context_out = context;
    return 0;

fail:
    bcs_detach(context);
    return rc;
}

void bcs_detach(struct bcs_context *context)
{
    if (context == NULL) {
        return;
    }
    bcs_forked_unwatch(&context->forked);
    nic_service_close(context->service);
    bcs_post_fini(context);
    nic_engine_destroy(context->engine);
    free(context->pending);
    free(context->ordered);
    bcs_plans_fini(context);
    bcs_stand_fini(context);
    bcs_part(&context->meeting);
    bcs_port_map_destroy(context->map);
    /* relaxed: the referee's thread has ended */
    free(atomic_load_explicit(&context->report_path, memory_order_relaxed));
    free(context);
}

int bcs_context_report_into(struct bcs_context *context, const char *path)
{
    char *copy = strdup(path);

    if (copy == NULL) {
        return -ENOMEM;
    }
    /* release: pairs with the acquire in bcs_on_deadlock */
    atomic_store_explicit(&context->report_path, copy, memory_order_release);
    return 0;
}

uint32_t bcs_context_rank(const struct bcs_context *context)
{
    return context->rank;
}

uint32_t bcs_context_size(const struct bcs_context *context)
{
    return context->size;
}

const uint32_t *bcs_context_ports(const struct bcs_context *context)
{
    return bcs_ports_are_ranks(context) ? NULL : context->map->ports;
}

uint32_t bcs_context_communicators(const struct bcs_context *context)
{
    return (uint32_t)context->config.communicators;
}

uint32_t bcs_context_requests(const struct bcs_context *context)
{
    return context->config.limits.requests;
}

bool bcs_context_is_oversubscribed(const struct bcs_context *context)
{
    return context->meeting.n_processes > context->meeting.n_cpus;
}

bool bcs_context_is_crowded(const struct bcs_context *context)
{
    return nic_engine_is_crowded(context->engine);
}

uint64_t bcs_context_slices(const struct bcs_context *context)
{
    return nic_engine_slice(context->engine);
}

const uint64_t *bcs_context_slice_number(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;

    return engine->is_timed ? &nic_engine_own(engine)->desk->slice : NULL;
}

struct bcs_stamps *bcs_context_stamps(struct bcs_context *context)
{
    return context->stamps.is_on ? &context->stamps : NULL;
}

const struct bcs_slice_begins *
bcs_context_slice_begins(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;

    return engine->is_timed ? &engine->machine->begins : NULL;
}

struct bcs_strobes bcs_context_strobes(const struct bcs_context *context)
{
    const struct nic_engine *engine = context->engine;
    const struct nic_strobe_counts *counts;
    uint64_t slice_ns = context->config.slice_ns;

    if (!engine->is_timed || !nic_engine_is_near(engine, 0)) {
        return (struct bcs_strobes){0};
    }
    counts = &nic_engine_node(engine, 0)->node->strobes;
    return (struct bcs_strobes){
        .slice_ns = slice_ns,
        .n_sent = __atomic_load_n(&counts->n_strobes, __ATOMIC_RELAXED),
        .n_left_out = __atomic_load_n(&counts->n_left_out, __ATOMIC_RELAXED),
        .n_idle = __atomic_load_n(&counts->n_idle, __ATOMIC_RELAXED),
        .late_ns = nic_strobe_counts_late_ns(counts, slice_ns, 0.99),
        .is_prompt = counts->is_prompt,
    };
}

uint64_t bcs_group_id(uint64_t number, uint32_t slot)
{
    return number << NIC_SLOT_BITS | slot;
}

/** The range of the nodes of a group, and its members on the own one. */
static void find_nodes(const struct bcs_context *context, const struct bcs_group *group,
                       struct nic_group_members *members)
{
    const struct nic_layout *layout = &context->engine->layout;
    uint32_t first = members->master, last = first;

    for (int32_t i = 0; i < group->size; i++) {
        uint32_t node = nic_layout_node(layout, group->ports[i]);

        first = node < first ? node : first;
        last = node > last ? node : last;
        members->n_local += node == context->engine->home;
    }
    members->first_node = first;
    members->n_nodes = last - first + 1;
}

/** Mark the nodes of a group that belong to a piece. */
static void mark_nodes(const struct nic_layout *layout, const struct bcs_group *group,
                       struct nic_group_piece *opening)
{
    uint32_t n_marks = NIC_PIECE_WORDS * 64;
    uint32_t first = opening->members.first_node + opening->piece * n_marks;

    memset(opening->marks, 0, sizeof(opening->marks));
    for (int32_t i = 0; i < group->size; i++) {
        uint32_t node = nic_layout_node(layout, group->ports[i]);

        if (node >= first && node - first < n_marks) {
            bcs_node_mark(opening->marks, node - first);
        }
    }
}

int bcs_group_open(struct bcs_context *context, struct bcs_group *group, uint64_t base)
{
    const struct nic_layout *layout = &context->engine->layout;
    struct nic_group_piece opening = {
        .members = {
            .base = base,
            .n_members = (uint32_t)group->size,
            .master = nic_layout_node(layout, group->ports[0]),
        }};
    struct bcs_ring_writer *ring;
    uint32_t n_words;

    find_nodes(context, group, &opening.members);
    n_words = (uint32_t)bcs_node_words(opening.members.n_nodes);
    group->n_local = opening.members.n_local;
    group->n_near = base;
    group->n_posted = base;
    group->near_first =
        bcs_near_first(&layout->shape.limits, context->engine->machine->n_sharing);
    if (bcs_group_is_near(context, group)) {
        return 0;
    }
    ring = bcs_post_to_node(context);
    for (; opening.piece * NIC_PIECE_WORDS < n_words; opening.piece++) {
        struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_GROUP_OPEN);

        mark_nodes(layout, group, &opening);
        entry->port = group->slot;
        memcpy(entry->payload, &opening, sizeof(opening));
        bcs_post_kick(context, ring, entry);
    }
    return 0;
}
