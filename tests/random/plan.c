/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the plan of a seed: which operations, in which order; leaves out what is not
 * kept; and sorts the acts by their positions.
 */
#include "tests/random/plan.h"

/* Usual shares of the kinds of operations; each seed has more of some, less of
 * others. */
static const int shares[N_OP_KINDS] = {
    [OP_MESSAGES] = 30,   [OP_FLOOD] = 3,       [OP_READY] = 4,
    [OP_EXCHANGE] = 6,    [OP_CANCEL_LATE] = 5, [OP_CANCEL_UNMATCHED] = 3,
    [OP_CANCEL_RACE] = 3, [OP_CANCEL_SEND] = 4, [OP_GROUP] = 6,
    [OP_STREAM] = 4,      [OP_TRUNCATE] = 2,    [OP_NOBODY] = 1,
    [OP_BAD_CALL] = 1,    [OP_COLLECTIVE] = 30, [OP_MAKE] = 6,
    [OP_FREE] = 4,
};

int plan_rank_in(const struct members *members, int rank)
{
    for (int i = 0; i < members->n; i++) {
        if (members->ranks[i] == rank) {
            return i;
        }
    }
    return -1;
}

int plan_side_of(const struct comm *comm, int rank)
{
    if (plan_rank_in(&comm->side[0], rank) >= 0) {
        return 0;
    }
    return comm->is_inter && plan_rank_in(&comm->side[1], rank) >= 0 ? 1 : -1;
}

const struct members *plan_others(const struct comm *comm, int rank)
{
    return &comm->side[comm->is_inter ? 1 - plan_side_of(comm, rank) : 0];
}

int plan_base_bytes(enum base base)
{
    static const int bytes[N_BASES] = {1, 2, 4, 8, 8, 16};

    return bytes[base];
}

/* A position is a place and, below it, the number of the act that drew it: so no two
 * positions are the same unless one act takes over the other's. */
int64_t plan_position(const struct plan *plan, int64_t place)
{
    return plan_position_at(place, plan->n_acts);
}

int64_t plan_position_at(int64_t place, int64_t position)
{
    return (place + 100000) << 20 | (position & 0xFFFFF);
}

struct act *plan_add_act(struct plan *plan, enum act_kind kind, int op, int rank)
{
    struct act *act;

    if (plan->n_acts % 256 == 0) {
        plan->acts =
            realloc(plan->acts, ((size_t)plan->n_acts + 256) * sizeof(*plan->acts));
        CHECK(plan->acts != NULL);
    }
    act = &plan->acts[plan->n_acts];
    *act = (struct act){
        .kind = kind,
        .op = op,
        .rank = rank,
        .comm = plan->ops[op].comm,
        .message = -1,
        .received = -1,
        .group = -1,
        .target = -1,
        .previous = -1,
        .position = plan_position(plan, 1000 * (int64_t)op + 500),
    };
    act->ready = act->position;
    plan->n_acts++;
    return act;
}

int plan_add_message(struct plan *plan, int from, int to, enum base base, int n_bytes)
{
    struct message *message;

    if (plan->n_messages % 256 == 0) {
        plan->messages = realloc(plan->messages, ((size_t)plan->n_messages + 256) *
                                                     sizeof(*plan->messages));
        CHECK(plan->messages != NULL);
    }
    if (n_bytes > plan->max_bytes) {
        n_bytes = plan->max_bytes;
    }
    message = &plan->messages[plan->n_messages];
    message->from = from;
    message->to = to;
    message->base = base;
    message->n = n_bytes / plan_base_bytes(base);
    message->key = check_mix(plan->seed, 7000 + (uint64_t)plan->n_messages);
    return plan->n_messages++;
}

/* Some kinds not at all, some three times as often: what never meets in the usual
 * mixture meets in some seed. */
static void draw_weights(struct plan *plan)
{
    static const int times[] = {0, 1, 1, 1, 2, 4};
    static const int sizes[] = {300000, 300000, 70000, 5000, 90};
    struct draw draw = draw_from(plan->seed, 1, 1);

    for (int kind = 0; kind < N_OP_KINDS; kind++) {
        plan->weights[kind] = shares[kind] * times[draw_below(&draw, CHECK_N(times))];
    }
    plan->weights[OP_MESSAGES] += plan->weights[OP_COLLECTIVE] == 0;
    plan->max_bytes = sizes[draw_below(&draw, CHECK_N(sizes))];
    plan->n_ops = 10 + draw_below(&draw, draw_chance(&draw, 70) ? 50 : 130);
}

static enum op_kind draw_kind(const struct plan *plan, struct draw *draw)
{
    int total = 0;
    int at;
    int kind = 0;

    for (int i = 0; i < N_OP_KINDS; i++) {
        total += plan->weights[i];
    }
    at = draw_below(draw, total);
    while (at >= plan->weights[kind]) {
        at -= plan->weights[kind++];
    }
    return (enum op_kind)kind;
}

static void add_op(struct plan *plan, int i)
{
    struct draw draw = draw_from(plan->seed, 2, (uint64_t)i);
    struct op *op = &plan->ops[i];

    op->kind = plan->storm > 0 ? OP_COLLECTIVE : draw_kind(plan, &draw);
    op->comm = plan->storm > 0 ? COMM_ALL : plan_draw_comm(plan, i, &draw);
    switch (op->kind) {
    case OP_COLLECTIVE:
        plan_collective(plan, i, &draw);
        break;
    case OP_MAKE:
        plan_make_comm(plan, i, &draw);
        break;
    case OP_FREE:
        plan_free_comm(plan, i, &draw);
        break;
    default:
        plan_messages(plan, i, &draw);
        break;
    }
}

/* What is not kept goes, and with a communicator all that is done on it. */
static void leave_out(struct plan *plan, const struct keep *keep)
{
    for (int i = 0; i < plan->n_ops; i++) {
        int maker = plan->comms[plan->ops[i].comm].op;

        plan->ops[i].is_kept = keep->is_all || keep->ops[i];
        if (maker >= 0 && !plan->ops[maker].is_kept) {
            plan->ops[i].is_kept = false;
        }
    }
    for (int i = 0; i < plan->n_comms; i++) {
        struct comm *comm = &plan->comms[i];

        if (comm->freed_by >= 0 && !plan->ops[comm->freed_by].is_kept) {
            comm->freed_by = -1;
        }
    }
}

static int compare_positions(const void *left, const void *right, void *plan)
{
    const struct act *acts = ((struct plan *)plan)->acts;
    const struct act *a = &acts[*(const int *)left];
    const struct act *b = &acts[*(const int *)right];

    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return a->rank - b->rank;
}

static void sort_acts(struct plan *plan)
{
    plan->order = check_alloc((size_t)plan->n_acts * sizeof(int));
    for (int i = 0; i < plan->n_acts; i++) {
        if (plan->ops[plan->acts[i].op].is_kept) {
            plan->order[plan->n_order++] = i;
        }
    }
    qsort_r(plan->order, (size_t)plan->n_order, sizeof(int), compare_positions, plan);
}

struct plan *plan_make(uint64_t seed, int n_ranks, const struct keep *keep)
{
    struct plan *plan = check_alloc(sizeof(*plan));

    plan->seed = seed;
    plan->n_ranks = n_ranks;
    for (int i = 0; i < MAX_RANKS; i++) {
        plan->stream_of[i] = -1;
    }
    draw_weights(plan);
    plan_first_comms(plan);
    for (int i = 0; i < plan->n_ops; i++) {
        add_op(plan, i);
    }
    leave_out(plan, keep);
    sort_acts(plan);
    plan_match(plan);
    return plan;
}

void plan_free(struct plan *plan)
{
    free(plan->messages);
    free(plan->acts);
    free(plan->order);
    free(plan);
}
