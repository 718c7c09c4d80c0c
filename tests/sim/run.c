/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a script; see run.h.
 *
 * The model. Every message gets a receive and every receive a message, since each kind of
 * receive has tags or a context of its own. Which one it gets is free only where a source is
 * not named. What must hold: the receive fits; the data are whole; and of two messages from one
 * process to another that both fit a receive, the earlier one goes to the earlier receive.
 */
#include "tests/sim/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/post.h"
#include "nic_threads/rules/reduce_ops.h"
#include "tests/sim/plan.h"
#include "tests/sim/world.h"

enum {
    CONTEXT_NAMED = 2, /* of the group of all */
    CONTEXT_ANY_TAG = 4,
    CONTEXT_ANY = 6,
    ANY_SOURCE_TAG = 10, /* from here on */
    UNUSED_TAG = 20,
    RACED_TAG = 30,
    /* Steps in a row in which no rank did anything, each chosen at random among a few dozen. */
    MANY_STEPS = 100000,
};

static const char *const action_names[] = {
    [SIM_POST_SEND] = "send by rank",
    [SIM_POST_RECEIVE] = "receive by rank",
    [SIM_TAKE_BACK] = "cancellation by rank",
    [SIM_JOIN] = "joining by rank",
};

/** One end of a unit. */
struct end {
    bool is_posted, is_done;
    uint64_t position; /* in the order of all posts */
    struct bcs_request request;
    uint8_t *data;
    uint32_t cell; /* of a collective */
};

struct run {
    const struct sim_script *script;
    struct sim_world world;
    struct bcs_group any_tag[JOB_MAX_RANKS], any[JOB_MAX_RANKS]; /* of each rank */
    struct sim_plan plan;
    uint32_t next_action[JOB_MAX_RANKS];
    struct end sends[SIM_MAX_UNITS], receives[SIM_MAX_UNITS];
    struct end members[SIM_MAX_UNITS][JOB_MAX_RANKS];
    uint32_t got[SIM_MAX_UNITS]; /* by receive: the unit of the message */
    bool is_joining[JOB_MAX_RANKS];
    uint32_t n_left; /* ends that are not done */
    uint64_t n_posts, n_steps, state, digest;
    bool traces;
    char problem[200];
};

/** Somebody has done something in this step. */
static void note(struct run *run, const char *what, uint32_t who, uint32_t unit)
{
    const uint64_t words[] = {run->n_steps, (uint8_t)what[0], who, unit};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        run->digest = (run->digest ^ words[i]) * UINT64_C(1099511628211);
    }
    if (run->traces) {
        printf("%8" PRIu64 "  %s %" PRIu32, run->n_steps, what, who);
        printf(unit != UINT32_MAX ? ": unit %" PRIu32 "\n" : "\n", unit);
    }
}

static void fail(struct run *run, const char *what, uint32_t unit)
{
    if (run->problem[0] == '\0') {
        snprintf(run->problem, sizeof(run->problem), "unit %u: %s", unit, what);
    }
}

/* ---- messages */

static uint8_t byte_of(uint32_t unit, uint32_t at)
{
    return (uint8_t)(unit * 37 + at * 7 + at / 251 + 1);
}

static const struct bcs_group *group_of(const struct run *run,
                                        const struct sim_unit *unit, uint32_t rank)
{
    switch (unit->kind) {
    case SIM_ANY_TAG:
        return &run->any_tag[rank];
    case SIM_ANY:
        return &run->any[rank];
    default:
        return &run->world.ranks[rank].world;
    }
}

static int32_t tag_of(const struct sim_unit *unit)
{
    switch (unit->kind) {
    case SIM_ANY_SOURCE:
        return ANY_SOURCE_TAG + unit->tag;
    case SIM_TAKEN_BACK:
        return UNUSED_TAG;
    case SIM_RACED:
        return RACED_TAG + unit->tag;
    default:
        return unit->tag;
    }
}

static void post_send(struct run *run, uint32_t id)
{
    const struct sim_unit *unit = &run->script->units[id];
    struct end *end = &run->sends[id];
    const struct bcs_message message = {
        .group = group_of(run, unit, unit->source),
        .data = end->data = malloc(unit->n_bytes + 1),
        .n_bytes = unit->n_bytes,
        .peer = (int32_t)unit->dest,
        .tag = tag_of(unit),
    };

    for (uint32_t i = 0; i < unit->n_bytes; i++) {
        end->data[i] = byte_of(id, i);
    }
    if (bcs_send(run->world.ranks[unit->source].context, &message, unit->mode,
                 &end->request) != 0) {
        fail(run, "cannot be sent", id);
    }
}

/** The longest message that a receive may get. */
static uint32_t room(const struct run *run)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < run->script->n_units; i++) {
        most =
            run->script->units[i].n_bytes > most ? run->script->units[i].n_bytes : most;
    }
    return most;
}

static void post_receive(struct run *run, uint32_t id)
{
    const struct sim_unit *unit = &run->script->units[id];
    struct end *end = &run->receives[id];
    bool names_source = unit->kind != SIM_ANY_SOURCE && unit->kind != SIM_ANY;
    bool names_tag = unit->kind != SIM_ANY_TAG && unit->kind != SIM_ANY;
    uint32_t n_bytes = room(run);
    const struct bcs_message message = {
        .group = group_of(run, unit, unit->dest),
        .data = end->data = calloc(n_bytes + 1, 1),
        .n_bytes = n_bytes,
        .peer = names_source ? (int32_t)unit->source : BCS_ANY_SOURCE,
        .tag = names_tag ? tag_of(unit) : BCS_ANY_TAG,
    };

    if (bcs_recv(run->world.ranks[unit->dest].context, &message, NULL, &end->request) !=
        0) {
        fail(run, "cannot be received", id);
    }
}

/** Whether a receive, if it had been the only one, could have got a message. */
static bool fits(const struct sim_unit *receive, const struct sim_unit *send)
{
    return receive->kind == send->kind && receive->dest == send->dest &&
           (receive->kind == SIM_ANY || receive->kind == SIM_ANY_SOURCE ||
            receive->source == send->source) &&
           (receive->kind == SIM_ANY || receive->kind == SIM_ANY_TAG ||
            receive->tag == send->tag);
}

/** Which message has come: of those that fit what the receive has been told, the earliest that
 *  no other receive has got; data tell the rest. */
static void find_message(struct run *run, uint32_t id)
{
    const struct sim_script *script = run->script;
    const struct bcs_result *result = &run->receives[id].request.result;
    const uint8_t *data = run->receives[id].data;

    for (uint32_t i = 0; i < script->n_units; i++) {
        const struct sim_unit *send = &script->units[i];
        bool is_whole = true;

        if (send->is_left_out || sim_is_collective(send) ||
            send->kind == SIM_TAKEN_BACK || !fits(&script->units[id], send) ||
            !run->sends[i].is_posted || (int32_t)send->source != result->source ||
            tag_of(send) != result->tag || send->n_bytes != result->n_bytes) {
            continue;
        }
        for (uint32_t other = 0; other < script->n_units; other++) {
            is_whole = is_whole && run->got[other] != i;
        }
        for (uint32_t at = 0; is_whole && at < send->n_bytes; at++) {
            is_whole = data[at] == byte_of(i, at);
        }
        /* An empty message tells nothing of itself: any that fits will do, the earliest. */
        if (is_whole && (run->got[id] == UINT32_MAX ||
                         run->sends[i].position < run->sends[run->got[id]].position)) {
            run->got[id] = i;
        }
    }
    if (run->got[id] == UINT32_MAX) {
        fail(run, "received what nobody has sent", id);
    }
}

/** @return whether the receive is over; else it has been posted again */
static bool finish_receive(struct run *run, uint32_t id)
{
    struct end *end = &run->receives[id];
    bool is_cancelled = end->request.result.error == BCS_E_CANCELLED;

    if (is_cancelled && run->script->units[id].kind == SIM_RACED) {
        free(end->data);
        end->position = run->n_posts++;
        post_receive(run, id);
        return false;
    }
    if (is_cancelled != (run->script->units[id].kind == SIM_TAKEN_BACK)) {
        fail(run, is_cancelled ? "was taken back by itself" : "got a message", id);
    } else if (!is_cancelled) {
        find_message(run, id);
    }
    return true;
}

/** At the end: nobody was overtaken. (Empty messages cannot be told apart.) */
static void check_order(struct run *run)
{
    const struct sim_unit *units = run->script->units;
    uint32_t n = run->script->n_units;

    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            uint32_t first = run->got[a], second = run->got[b];

            if (first != UINT32_MAX && second != UINT32_MAX && a != b &&
                units[first].n_bytes > 0 && units[second].n_bytes > 0 &&
                units[first].source == units[second].source &&
                run->sends[first].position < run->sends[second].position &&
                run->receives[b].position < run->receives[a].position &&
                fits(&units[b], &units[first])) {
                fail(run, "overtook a message", a);
            }
        }
    }
}

/* ---- collectives */

static void join(struct run *run, uint32_t rank, uint32_t id)
{
    struct bcs_context *context = run->world.ranks[rank].context;
    struct bcs_group *group = &run->world.ranks[rank].world;
    struct bcs_ring_writer *ring = bcs_post_to_node(context);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_COLLECTIVE);
    int64_t mine = (int64_t)rank * 1000 + id;
    bool is_sum = run->script->units[id].kind == SIM_SUM;

    run->members[id][rank].cell = bcs_poster_cell(&context->poster);
    entry->flags = BCS_TO_ALL;
    entry->operation = is_sum ? bcs_operation(BCS_COLLECTIVE_REDUCE,
                                              (unsigned int)nic_reduce_kernel(
                                                  NIC_REDUCE_SUM, NIC_REDUCE_I64))
                              : bcs_operation(BCS_COLLECTIVE_BARRIER, 0);
    entry->context_id = group->context_id;
    entry->port = group->slot;
    entry->source = (int32_t)rank;
    entry->tag = -1;
    entry->cell = run->members[id][rank].cell;
    entry->n_bytes = is_sum ? sizeof(mine) : 0;
    memcpy(entry->payload, &mine, sizeof(mine));
    bcs_post_kick(context, ring, entry);
    run->is_joining[rank] = true;
}

static bool has_left(struct run *run, uint32_t rank, uint32_t id)
{
    struct bcs_poster *poster = &run->world.ranks[rank].context->poster;
    const struct bcs_cell *cell =
        bcs_poster_cell_at(poster, run->members[id][rank].cell);
    enum bcs_cell_state state = bcs_cell_state(cell);
    int64_t n = run->world.n_ranks, sum = n * (n - 1) / 2 * 1000 + n * id, got = 0;

    if (state == BCS_CELL_PENDING) {
        return false;
    }
    for (uint32_t i = 0; i < run->world.n_ranks; i++) {
        if (!run->members[id][i].is_posted) {
            fail(run, "a collective is over before all have begun", id);
        }
    }
    memcpy(&got, cell->payload, sizeof(got));
    if (run->script->units[id].kind == SIM_SUM &&
        (state != BCS_CELL_INLINE || got != sum)) {
        fail(run, "a wrong sum", id);
    }
    bcs_poster_free_cell(poster, run->members[id][rank].cell);
    run->is_joining[rank] = false;
    return true;
}

/* ---- steps */

/** A rank's next action. @return whether there was one that it could do now */
static bool act(struct run *run, uint32_t rank)
{
    struct bcs_context *context = run->world.ranks[rank].context;
    const struct sim_action *action = &run->plan.actions[rank][run->next_action[rank]];
    struct end *end;

    if (run->next_action[rank] == run->plan.n_actions[rank] ||
        bcs_ring_next(&context->poster.ring) == NULL ||
        (action->kind == SIM_JOIN && run->is_joining[rank])) {
        return false;
    }
    run->next_action[rank]++;
    note(run, action_names[action->kind], rank, action->unit);
    if (action->kind == SIM_TAKE_BACK) {
        bcs_cancel(context, &run->receives[action->unit].request);
        return true;
    }
    end = action->kind == SIM_POST_SEND      ? &run->sends[action->unit]
          : action->kind == SIM_POST_RECEIVE ? &run->receives[action->unit]
                                             : &run->members[action->unit][rank];
    end->position = run->n_posts++;
    end->is_posted = true;
    if (action->kind == SIM_POST_SEND) {
        post_send(run, action->unit);
    } else if (action->kind == SIM_POST_RECEIVE) {
        post_receive(run, action->unit);
    } else {
        join(run, rank, action->unit);
    }
    return true;
}

static void done(struct run *run, struct end *end, const char *what, uint32_t rank,
                 uint32_t unit)
{
    end->is_done = true;
    run->n_left--;
    note(run, what, rank, unit);
}

/** A rank looks at one of its operations. @return whether that is over now */
static bool look(struct run *run, uint32_t id)
{
    const struct sim_unit *unit = &run->script->units[id];
    uint32_t rank = sim_random(&run->state, run->world.n_ranks);
    struct end *send = &run->sends[id], *receive = &run->receives[id];
    struct end *member = &run->members[id][rank];

    if (sim_is_collective(unit)) {
        if (!member->is_posted || member->is_done || !has_left(run, rank, id)) {
            return false;
        }
        done(run, member, "left by rank", rank, id);
        return true;
    }
    if (send->is_posted && !send->is_done &&
        bcs_look(run->world.ranks[unit->source].context, &send->request)) {
        memset(send->data, 0xee, unit->n_bytes); /* its source may be used again */
        done(run, send, "done for sender", unit->source, id);
        return true;
    }
    if (receive->is_posted && !receive->is_done &&
        bcs_look(run->world.ranks[unit->dest].context, &receive->request)) {
        if (finish_receive(run, id)) {
            done(run, receive, "done for receiver", unit->dest, id);
        }
        return true;
    }
    return false;
}

/** One step of anybody. @return whether a rank has done something */
static bool step(struct run *run)
{
    struct sim_world *world = &run->world;
    uint32_t node = sim_random(&run->state, world->n_nodes);
    uint32_t rank = sim_random(&run->state, world->n_ranks);

    switch (sim_random(&run->state, 8)) {
    case 0:
        return act(run, rank);
    case 1:
        if (sim_step_sender(world)) {
            note(run, "strobe of node", 0, UINT32_MAX);
        }
        return false;
    case 2:
        sim_land(world, node);
        return false;
    case 3:
    case 4:
        return look(run, sim_random(&run->state, run->script->n_units));
    case 5:
        bcs_progress(world->ranks[rank].context); /* orders */
        return false;
    default:
        if (sim_step_receiver(world, node)) {
            note(run, "work of node", node, UINT32_MAX);
        }
        return false;
    }
}

static void init(struct run *run, const struct sim_script *script)
{
    memset(run, 0, sizeof(*run));
    run->script = script;
    run->state = script->seed * 4 + 3 + (script->order << 32);
    run->digest = UINT64_C(14695981039346656037);
    memset(run->got, 0xff, sizeof(run->got));
    sim_world_init(&run->world, &script->shape);
    for (uint32_t i = 0; i < run->world.n_ranks; i++) {
        run->any_tag[i] = run->any[i] = run->world.ranks[i].world;
        run->any_tag[i].context_id = CONTEXT_ANY_TAG;
        run->any[i].context_id = CONTEXT_ANY;
    }
    run->n_left = sim_plan_make(&run->plan, script, run->world.n_ranks, &run->state);
}

static void fini(struct run *run)
{
    for (uint32_t i = 0; i < SIM_MAX_UNITS; i++) {
        free(run->sends[i].data);
        free(run->receives[i].data);
    }
    sim_world_fini(&run->world);
}

const char *sim_run(const struct sim_script *script, bool traces, uint64_t *digest_out)
{
    static struct run run;
    uint32_t n_idle = 0;

    init(&run, script);
    run.traces = traces;
    while (run.n_left > 0 && n_idle < MANY_STEPS && run.problem[0] == '\0') {
        n_idle = step(&run) ? 0 : n_idle + 1;
        run.n_steps++;
    }
    if (run.problem[0] == '\0' && run.n_left > 0) {
        snprintf(run.problem, sizeof(run.problem), "%u ends are never done",
                 run.n_left);
    }
    check_order(&run);
    *digest_out = run.digest;
    fini(&run);
    return run.problem[0] == '\0' ? NULL : run.problem;
}
