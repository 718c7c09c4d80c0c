/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of a plan that consist of messages between two, or from several to one.
 * Acts are placed at their operation or some operations before it, never after it: the
 * next one may free the communicator.
 */
#include "tests/random/plan.h"

#include <mpi.h>

static int64_t place_of(int op, int within)
{
    return 1000 * (int64_t)op + within;
}

/* A place up to some operations before this one, but after its communicator was
 * made. */
static int64_t early_place(const struct plan *plan, int op, int within,
                           struct draw *draw)
{
    static const int windows[] = {1, 2500, 9000, 25000};
    int window = windows[draw_below(draw, CHECK_N(windows))];
    int64_t place = place_of(op, within) - draw_below(draw, window);
    int64_t least = place_of(plan->comms[plan->ops[op].comm].op, 900);

    return place < least ? least : place;
}

static int single_tag(int op, int i)
{
    return TAG_SINGLE + 60 * op + i;
}

struct ends {
    int from;
    int to;
};

/* A sender and a receiver of the operation's communicator, ranks of the program. */
static struct ends draw_ends(const struct plan *plan, int op, struct draw *draw)
{
    const struct comm *comm = &plan->comms[plan->ops[op].comm];
    int side = draw_below(draw, 1 + comm->is_inter);
    const struct members *senders = &comm->side[side];
    struct ends ends;

    ends.from = senders->ranks[draw_below(draw, senders->n)];
    senders = plan_others(comm, ends.from);
    ends.to = senders->ranks[draw_below(draw, senders->n)];
    return ends;
}

static int rank_for(const struct plan *plan, int op, int of, int seen_by)
{
    return plan_rank_in(plan_others(&plan->comms[plan->ops[op].comm], seen_by), of);
}

/* Positions within a place are in the order in which the acts were added. */
static void set_place(struct act *act, int64_t place)
{
    act->position = plan_position_at(place, act->position);
    act->ready = act->position;
}

static struct act *add_send(struct plan *plan, int op, int message, int tag,
                            int64_t place)
{
    const struct message *sent = &plan->messages[message];
    struct act *act = plan_add_act(plan, ACT_SEND, op, sent->from);

    plan->messages[message].tag = tag;
    act->peer = rank_for(plan, op, sent->to, sent->from);
    act->message = message;
    act->tag = tag;
    set_place(act, place);
    return act;
}

/* A receive that takes what comes in the order of both sides. */
static struct act *add_receive(struct plan *plan, int op, struct ends ends,
                               int64_t place)
{
    struct act *act = plan_add_act(plan, ACT_RECEIVE, op, ends.to);

    act->peer = rank_for(plan, op, ends.from, ends.to);
    set_place(act, place);
    return act;
}

/* A receive that takes this message and no other, by its tag. */
static struct act *add_single(struct plan *plan, int op, int message, int tag,
                              int64_t place)
{
    const struct message *sent = &plan->messages[message];
    struct act *act = add_receive(plan, op, (struct ends){sent->from, sent->to}, place);

    act->message = message;
    act->tag = tag;
    act->is_single = true;
    return act;
}

static enum base draw_base(struct draw *draw)
{
    return (enum base)draw_below(draw, N_BASES);
}

static void messages(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int n = draw_chance(draw, 60) ? 1 : 2 + draw_below(draw, 4);
    bool is_uniform = draw_chance(draw, 60);
    enum base base = draw_base(draw);
    int n_bytes = draw_bytes(draw);
    int tag = draw_below(draw, TAGS);

    for (int i = 0; i < n; i++) {
        int64_t place = early_place(plan, op, 500, draw);
        bool is_joint = draw_chance(draw, 20) && ends.from != ends.to;
        int64_t position;

        if (!is_uniform) {
            base = draw_base(draw);
            n_bytes = draw_bytes(draw);
            tag = draw_below(draw, TAGS);
        }
        position = add_send(plan, op,
                            plan_add_message(plan, ends.from, ends.to, base, n_bytes),
                            tag, place)
                       ->position;
        place = early_place(plan, op, 500, draw);
        if (is_joint) {
            add_receive(plan, op, ends, place)->position = position;
        } else {
            add_receive(plan, op, ends, place);
        }
    }
}

/* Many messages from one to several, or from several to one, all pending at once; short
 * reductions follow (plan->storm). */
static void flood(struct plan *plan, int op, struct draw *draw)
{
    static const int limits[] = {60, 200, 1200, 5000, 20000, 200000};
    struct ends centre = draw_ends(plan, op, draw);
    bool is_out = draw_chance(draw, 60);
    const struct comm *comm = &plan->comms[plan->ops[op].comm];
    const struct members *others = plan_others(comm, is_out ? centre.from : centre.to);
    int n_bytes = draw_below(draw, limits[draw_below(draw, CHECK_N(limits))]);
    int n_most = n_bytes < 3000 ? 3000 : 8000000 / (n_bytes + 4000);
    int n = 2 + draw_below(draw, n_most) / others->n;
    bool is_at_once = draw_chance(draw, 70);
    bool is_together = is_at_once && draw_chance(draw, 70);
    int late = draw_below(draw, 3);

    plan->storm = draw_below(draw, 16);
    for (int i = 0; i < n * others->n; i++) {
        int other = others->ranks[is_at_once ? i / n : i % others->n];
        struct ends ends = {is_out ? centre.from : other, is_out ? other : centre.to};
        int message = plan_add_message(plan, ends.from, ends.to, BASE_BYTE, n_bytes);
        int64_t early =
            is_at_once ? place_of(op, 400) : early_place(plan, op, 400, draw);

        struct act *act = add_send(plan, op, message, i % TAGS,
                                   late == 1 ? place_of(op, 500) : early);

        act->must_not_block = is_at_once;
        act->is_hurried = is_at_once;
        act->is_together = is_together;
        act = add_receive(plan, op, ends, late == 0 ? place_of(op, 500) : early);
        act->must_not_block = is_at_once;
        act->is_hurried = is_at_once;
        act->is_together = is_together;
    }
}

/* A ready send, whose sender has been told that its receive is there. */
static void ready(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int message =
        plan_add_message(plan, ends.from, ends.to, draw_base(draw), draw_bytes(draw));
    int go =
        plan_add_message(plan, ends.to, ends.from, BASE_INT, draw_below(draw, 100));
    int tag = single_tag(op, 0);
    struct act *act;

    add_single(plan, op, message, tag, early_place(plan, op, 100, draw))
        ->must_not_block = true;
    add_send(plan, op, go, tag + 1, place_of(op, 200));
    add_single(plan, op, go, tag + 1, place_of(op, 300))->must_block = true;
    act = add_send(plan, op, message, tag, place_of(op, 400));
    act->mode = MODE_READY;
}

/* Sendrecv in a ring of some members, or in a chain, whose ends have nobody. */
static void exchange(struct plan *plan, int op, struct draw *draw)
{
    const struct comm *comm = &plan->comms[plan->ops[op].comm];
    struct members ring = comm->side[0];
    int64_t position = plan_position(plan, place_of(op, 500));
    bool is_chain = draw_chance(draw, 30);
    bool is_replace = draw_chance(draw, 40);
    enum base base = draw_base(draw);
    int n_bytes = draw_bytes(draw);
    int first;

    if (comm->is_inter) {
        messages(plan, op, draw);
        return;
    }
    draw_shuffle(draw, ring.ranks, ring.n);
    ring.n = 1 + draw_below(draw, ring.n);
    first = plan->n_messages;
    for (int i = 0; i < ring.n; i++) {
        base = is_replace ? base : draw_base(draw);
        n_bytes = is_replace ? n_bytes : draw_bytes(draw);
        plan_add_message(plan, ring.ranks[i], ring.ranks[(i + 1) % ring.n], base,
                         n_bytes);
    }
    for (int i = 0; i < ring.n; i++) {
        int from = (i + ring.n - 1) % ring.n;
        struct act *act = plan_add_act(plan, ACT_EXCHANGE, op, ring.ranks[i]);
        bool is_last = is_chain && i == ring.n - 1;
        bool is_first = is_chain && i == 0;

        act->position = position;
        act->ready = position;
        act->form = is_replace ? FORM_NONBLOCKING : FORM_BLOCKING;
        act->message = first + i;
        act->tag = single_tag(op, i);
        plan->messages[first + i].tag = act->tag;
        act->peer =
            is_last ? MPI_PROC_NULL
                    : rank_for(plan, op, ring.ranks[(i + 1) % ring.n], ring.ranks[i]);
        act->received = is_first ? -1 : first + from;
        act->source_tag = single_tag(op, from);
        act->source = is_first ? MPI_PROC_NULL
                               : rank_for(plan, op, ring.ranks[from], ring.ranks[i]);
    }
}

static struct act *add_cancel(struct plan *plan, int op, enum act_kind kind, int target,
                              int64_t place)
{
    struct act *act = plan_add_act(plan, kind, op, plan->acts[target].rank);

    act->target = target;
    set_place(act, place);
    act->is_held = true;
    return act;
}

/* A receive that has matched for certain, as a later message tells, is cancelled in
 * vain; what is posted next may take over its place in the engine. */
static void cancel_late(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int n = 1 + draw_below(draw, 4);
    int targets[4];

    for (int i = 0; i < n; i++) {
        int tag = single_tag(op, 3 * i);
        int message = plan_add_message(plan, ends.from, ends.to, draw_base(draw),
                                       draw_bytes(draw));
        struct act *act =
            add_single(plan, op, message, tag, early_place(plan, op, 100 + i, draw));

        targets[i] = plan->n_acts - 1;
        act->is_held = true;
        act = add_send(plan, op, message, tag, place_of(op, 200 + i));
        act->mode = draw_chance(draw, 30) ? MODE_SYNCHRONOUS : MODE_STANDARD;
    }
    for (int i = 0; i < n; i++) {
        int tag = single_tag(op, 3 * i + 1);
        int told = plan_add_message(plan, ends.from, ends.to, BASE_INT, 4);
        int after = plan_add_message(plan, ends.from, ends.to, draw_base(draw),
                                     draw_bytes(draw));

        add_send(plan, op, told, tag, place_of(op, 300 + i));
        add_single(plan, op, told, tag, place_of(op, 400 + 10 * i))->must_block = true;
        add_cancel(plan, op, ACT_CANCEL, targets[i], place_of(op, 401 + 10 * i));
        add_single(plan, op, after, tag + 1, place_of(op, 402 + 10 * i))
            ->must_not_block = draw_chance(draw, 70);
        add_send(plan, op, after, tag + 1,
                 place_of(op, draw_chance(draw, 50) ? 399 : 600));
    }
}

static void cancel_unmatched(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int n = 1 + draw_below(draw, 5);

    for (int i = 0; i < n; i++) {
        struct act *act =
            add_receive(plan, op, ends, early_place(plan, op, 100 + i, draw));
        int target = plan->n_acts - 1;

        act->tag = TAG_NEVER + draw_below(draw, 3);
        act->peer = draw_chance(draw, 40) ? MPI_ANY_SOURCE : act->peer;
        act->is_single = true;
        act->is_held = true;
        act->must_not_block = true;
        act->outcome = OUTCOME_CANCELLED;
        act->base = draw_base(draw);
        act->room = draw_below(draw, 5000);
        add_cancel(plan, op, ACT_CANCEL, target, place_of(op, 500 + i));
    }
}

/* A cancellation while the message is on its way: if it succeeds, another receive gets
 * the message. */
static void cancel_race(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int n = 1 + draw_below(draw, 4);

    for (int i = 0; i < n; i++) {
        int tag = single_tag(op, i);
        int message = plan_add_message(plan, ends.from, ends.to, draw_base(draw),
                                       draw_bytes(draw));
        struct act *act = add_single(plan, op, message, tag,
                                     early_place(plan, op, 300 + 50 * i, draw));
        int target = plan->n_acts - 1;
        int64_t position;

        act->is_held = true;
        act->must_not_block = true;
        position =
            add_cancel(plan, op, ACT_CANCEL_RACE, target, place_of(op, 310 + 50 * i))
                ->position;
        act = add_send(plan, op, message, tag,
                       draw_chance(draw, 50) ? place_of(op, 301 + 50 * i)
                                             : early_place(plan, op, 300, draw));
        act->must_not_block = true;
        act->ready = position;
    }
}

/* A send is cancelled while its message is on its way, or before anybody has asked for
 * it; if that succeeds, it is sent again. */
static void cancel_send(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int n = 1 + draw_below(draw, 4);

    for (int i = 0; i < n; i++) {
        int tag = single_tag(op, i);
        int message = plan_add_message(plan, ends.from, ends.to, draw_base(draw),
                                       draw_bytes(draw));
        int place = 300 + 50 * i, target = plan->n_acts;
        struct act *act = add_send(plan, op, message, tag, place_of(op, place));
        int64_t position;

        act->mode = draw_chance(draw, 30) ? MODE_SYNCHRONOUS : MODE_STANDARD;
        act->is_held = act->must_not_block = true;
        act = add_cancel(plan, op, ACT_CANCEL_SEND, target, place_of(op, place + 10));
        position = act->position;
        act = add_single(plan, op, message, tag,
                         draw_chance(draw, 50) ? place_of(op, place + 1)
                                               : early_place(plan, op, place, draw));
        act->must_not_block = true;
        act->ready = position;
    }
}

static int add_group(struct plan *plan, int op, int to, enum base base)
{
    struct group *group = &plan->groups[plan->n_groups];

    *group = (struct group){.op = op, .to = to, .base = base};
    return plan->n_groups++;
}

static void add_to_group(struct plan *plan, int op, int group, int tag,
                         struct draw *draw)
{
    const struct comm *comm = &plan->comms[plan->ops[op].comm];
    int to = plan->groups[group].to;
    const struct members *senders = plan_others(comm, to);
    int from = senders->ranks[draw_below(draw, senders->n)];
    int message =
        plan_add_message(plan, from, to, plan->groups[group].base, draw_bytes(draw));
    struct act *act =
        add_send(plan, op, message, tag, early_place(plan, op, 500, draw));

    act->group = group;
    if (plan->groups[group].room < plan->messages[message].n) {
        plan->groups[group].room = plan->messages[message].n;
    }
    act = add_receive(plan, op, (struct ends){from, to},
                      early_place(plan, op, 500, draw));
    act->group = group;
    act->tag = tag;
}

static void any_source(struct plan *plan, int op, struct draw *draw)
{
    int n = 2 + draw_below(draw, draw_chance(draw, 80) ? 12 : 80);
    int group;

    if (plan->n_groups == MAX_GROUPS - MAX_RANKS) {
        messages(plan, op, draw);
        return;
    }
    group = add_group(plan, op, draw_ends(plan, op, draw).to, draw_base(draw));
    for (int i = 0; i < n; i++) {
        add_to_group(plan, op, group, single_tag(op, 0), draw);
    }
}

static void stream(struct plan *plan, int op, struct draw *draw)
{
    int n = 1 + draw_below(draw, 8);
    int to;

    plan->ops[op].comm = COMM_STREAM;
    to = draw_ends(plan, op, draw).to;
    if (plan->stream_of[to] < 0) {
        plan->stream_of[to] = add_group(plan, op, to, BASE_BYTE);
        plan->groups[plan->stream_of[to]].is_stream = true;
    }
    for (int i = 0; i < n; i++) {
        add_to_group(plan, op, plan->stream_of[to], draw_below(draw, 50), draw);
    }
}

/* Open MPI 4.1 does not notice that a message to oneself is too long. */
static void truncated(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int message = plan_add_message(plan, ends.from, ends.to, draw_base(draw),
                                   17 + draw_bytes(draw));
    int tag = single_tag(op, 0);
    bool is_early = draw_chance(draw, 50);
    struct act *act;
    int target;

    if (ends.from == ends.to) {
        messages(plan, op, draw);
        return;
    }
    act = add_single(plan, op, message, tag,
                     is_early ? early_place(plan, op, 100, draw) : place_of(op, 300));
    target = plan->n_acts - 1;
    act->outcome = OUTCOME_TRUNCATED;
    act->room = draw_below(draw, plan->messages[message].n);
    act->base = plan->messages[message].base;
    act->is_held = true;
    act->must_block = !is_early;
    act->must_not_block = is_early;
    add_send(plan, op, message, tag, place_of(op, 200));
    if (is_early) {
        add_cancel(plan, op, ACT_FINISH, target, place_of(op, 400));
    }
}

/* To and from MPI_PROC_NULL. */
static void nobody(struct plan *plan, int op, struct draw *draw)
{
    struct ends ends = draw_ends(plan, op, draw);
    int message =
        plan_add_message(plan, ends.from, ends.from, draw_base(draw), draw_bytes(draw));
    struct act *act = add_send(plan, op, message, 1, early_place(plan, op, 500, draw));

    act->peer = MPI_PROC_NULL;
    act->is_single = true;
    act = add_receive(plan, op, ends, early_place(plan, op, 500, draw));
    act->peer = MPI_PROC_NULL;
    act->tag = draw_chance(draw, 50) ? MPI_ANY_TAG : 1;
    act->is_single = true;
    act->outcome = OUTCOME_NOTHING;
    act->base = plan->messages[message].base;
    act->room = plan->messages[message].n;
}

void plan_messages(struct plan *plan, int op, struct draw *draw)
{
    static void (*const makers[N_OP_KINDS])(struct plan *, int, struct draw *) = {
        [OP_MESSAGES] = messages,
        [OP_FLOOD] = flood,
        [OP_READY] = ready,
        [OP_EXCHANGE] = exchange,
        [OP_CANCEL_LATE] = cancel_late,
        [OP_CANCEL_UNMATCHED] = cancel_unmatched,
        [OP_CANCEL_RACE] = cancel_race,
        [OP_CANCEL_SEND] = cancel_send,
        [OP_GROUP] = any_source,
        [OP_STREAM] = stream,
        [OP_TRUNCATE] = truncated,
        [OP_NOBODY] = nobody,
    };
    struct ends ends = draw_ends(plan, op, draw);

    if (plan->ops[op].kind == OP_BAD_CALL) {
        plan_add_act(plan, ACT_BAD_CALL, op, ends.from)->tag = draw_below(draw, 100);
        return;
    }
    makers[plan->ops[op].kind](plan, op, draw);
}
