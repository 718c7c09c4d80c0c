/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each receive with a named source gets, and in which form each act is called.
 *
 * Between two ranks on one communicator, an earlier send goes to the earliest receive
 * that fits, and a receive takes the earliest send that fits: both sides prefer what
 * was posted first, so there is one outcome, whatever comes when. Going through the
 * receives in their order, each is given a tag under which there is a send for it.
 */
#include "tests/random/plan.h"

#include <mpi.h>

/* One end of a message with named ends. */
struct half {
    int act;
    int comm;
    int from;
    int to;
    bool is_receive;
    bool is_taken;
    int64_t position;
};

static int compare_halves(const void *left, const void *right)
{
    const struct half *a = left;
    const struct half *b = right;
    int by_pair = a->comm != b->comm   ? a->comm - b->comm
                  : a->from != b->from ? a->from - b->from
                  : a->to != b->to     ? a->to - b->to
                                       : a->is_receive - b->is_receive;

    if (by_pair || a->position == b->position) {
        return by_pair;
    }
    return a->position < b->position ? -1 : 1;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Both ends of a message know each other; each is ready when both have been posted. */
static void join(struct plan *plan, struct act *send, struct act *receive)
{
    receive->message = send->message;
    receive->base = plan->messages[send->message].base;
    send->ready = later(send->ready, receive->position);
    receive->ready = later(receive->ready, send->position);
}

/* Receives that a tag of their own gives their message. */
static void join_singles(struct plan *plan)
{
    int *sends = check_alloc(((size_t)plan->n_messages + 1) * sizeof(int));

    for (int i = 0; i < plan->n_order; i++) {
        if (plan->acts[plan->order[i]].kind == ACT_SEND) {
            sends[plan->acts[plan->order[i]].message] = plan->order[i];
        }
    }
    for (int i = 0; i < plan->n_order; i++) {
        struct act *act = &plan->acts[plan->order[i]];

        if (act->kind == ACT_RECEIVE && act->is_single && act->message >= 0) {
            join(plan, &plan->acts[sends[act->message]], act);
        }
    }
    free(sends);
}

/* Where a message with a tag of its own, which is sent before, may still lie. */
static bool may_be_in_the_way(const struct plan *plan, const struct half *send,
                              const struct half *receive)
{
    const struct act *act = &plan->acts[send->act];

    /* Its own receive is there already, then act.ready is not later than that. */
    return act->tag >= TAGS && (act->kind == ACT_EXCHANGE || act->group >= 0 ||
                                act->ready > receive->position);
}

/* The send that a receive with any tag gets, or -1 if it might get one that is not
 * its. */
static int first_of_any_tag(const struct plan *plan, const struct half *sends, int n,
                            const struct half *receive)
{
    for (int i = 0; i < n; i++) {
        if (may_be_in_the_way(plan, &sends[i], receive)) {
            return -1;
        }
        if (!sends[i].is_taken && plan->acts[sends[i].act].tag < TAGS) {
            return i;
        }
    }
    return -1;
}

static int first_of_tag(const struct plan *plan, const struct half *sends, int n,
                        int tag)
{
    for (int i = 0; i < n; i++) {
        if (!sends[i].is_taken && plan->acts[sends[i].act].tag == tag) {
            return i;
        }
    }
    return -1;
}

/* Sends are there for all receives; the tags of those that are left are the choice. */
static int draw_tag(const struct plan *plan, const struct half *sends, int n,
                    struct draw *draw)
{
    int left[TAGS];
    int n_left = 0;

    for (int tag = 0; tag < TAGS; tag++) {
        if (first_of_tag(plan, sends, n, tag) >= 0) {
            left[n_left++] = tag;
        }
    }
    CHECK(n_left > 0);
    return left[draw_below(draw, n_left)];
}

static void match_pair(struct plan *plan, struct half *halves, int n)
{
    int n_sends = 0;
    int last_op = -1;
    int last_tag = 0;

    while (n_sends < n && !halves[n_sends].is_receive) {
        n_sends++;
    }
    for (int i = n_sends; i < n; i++) {
        struct act *act = &plan->acts[halves[i].act];
        struct draw draw = draw_from(plan->seed, 3, (uint64_t)halves[i].act);
        bool is_like_last = act->op == last_op && draw_chance(&draw, 80);
        bool is_any = is_like_last ? last_tag == MPI_ANY_TAG : draw_chance(&draw, 30);
        int send = is_any ? first_of_any_tag(plan, halves, n_sends, &halves[i]) : -1;

        act->tag = MPI_ANY_TAG;
        if (send < 0) {
            act->tag = is_like_last && !is_any ? last_tag : -2;
            send = first_of_tag(plan, halves, n_sends, act->tag);
        }
        if (send < 0) {
            act->tag = draw_tag(plan, halves, n_sends, &draw);
            send = first_of_tag(plan, halves, n_sends, act->tag);
        }
        halves[send].is_taken = true;
        join(plan, &plan->acts[halves[send].act], act);
        last_op = act->op;
        last_tag = act->tag;
    }
}

/* Sends of all kinds, and the receives whose message is not known yet. */
static int collect_halves(const struct plan *plan, struct half *halves)
{
    int n = 0;

    for (int i = 0; i < plan->n_order; i++) {
        const struct act *act = &plan->acts[plan->order[i]];
        bool is_receive = act->kind == ACT_RECEIVE;
        bool is_send = act->kind == ACT_SEND || act->kind == ACT_EXCHANGE;
        const struct comm *comm = &plan->comms[act->comm];
        int peer;

        if (!(is_receive || is_send) || act->peer < 0 ||
            (is_receive && (act->is_single || act->group >= 0))) {
            continue;
        }
        peer = plan_others(comm, act->rank)->ranks[act->peer];
        halves[n++] = (struct half){
            .act = plan->order[i],
            .comm = act->comm,
            .from = is_receive ? peer : act->rank,
            .to = is_receive ? act->rank : peer,
            .is_receive = is_receive,
            .position = act->position,
        };
    }
    return n;
}

static enum send_mode draw_mode(const struct plan *plan, const struct act *act,
                                struct draw *draw)
{
    const struct message *message = &plan->messages[act->message];
    int way = draw_below(draw, 100);

    if (act->mode != MODE_STANDARD) {
        return act->mode;
    }
    if (way < 15 && !act->is_hurried &&
        message->n * plan_base_bytes(message->base) < 100000) {
        return MODE_BUFFERED;
    }
    return way < 35 ? MODE_SYNCHRONOUS : MODE_STANDARD;
}

/* Whether a call that waits for the other end may be used. */
static bool may_block(const struct act *act)
{
    return act->ready <= act->position && !act->must_not_block;
}

static void draw_form(struct plan *plan, struct act *act, struct draw *draw)
{
    bool is_send = act->kind == ACT_SEND;
    int way = draw_below(draw, 100);

    if (is_send) {
        act->mode = draw_mode(plan, act, draw);
    }
    if (act->must_block ||
        ((may_block(act) || (act->mode == MODE_BUFFERED && !act->is_held)) &&
         draw_chance(draw, 50))) {
        bool is_plain = is_send || act->outcome == OUTCOME_TRUNCATED;

        act->form = is_plain ? FORM_BLOCKING
                             : (enum form)(FORM_BLOCKING +
                                           draw_below(draw, N_FORMS - FORM_BLOCKING));
    } else if (act->is_together || (way < 30 && act->outcome != OUTCOME_TRUNCATED)) {
        act->form = FORM_PERSISTENT;
    } else if (way < 40 && is_send && !act->is_held) {
        act->form = FORM_FREED;
    } else {
        act->form = FORM_NONBLOCKING;
    }
}

static void draw_forms(struct plan *plan)
{
    for (int i = 0; i < plan->n_order; i++) {
        struct act *act = &plan->acts[plan->order[i]];
        struct draw draw = draw_from(plan->seed, 4, (uint64_t)plan->order[i]);

        if (act->kind != ACT_SEND && act->kind != ACT_RECEIVE) {
            continue;
        }
        if (act->kind == ACT_RECEIVE && act->outcome == OUTCOME_DATA) {
            int slack = draw_chance(&draw, 50) ? 0 : draw_below(&draw, 40);

            act->room = slack + (act->group < 0 ? plan->messages[act->message].n
                                                : plan->groups[act->group].room);
        }
        draw_form(plan, act, &draw);
    }
}

/* Whether the persistent request of one act of an operation can serve a later one. That
 * of a buffered send cannot: Open MPI 4.1 sends the data of its first start again. */
static bool can_serve(const struct plan *plan, const struct act *first,
                      const struct act *next)
{
    const struct message *message = &plan->messages[next->message];

    if (next->is_together || next->mode == MODE_BUFFERED || first->kind != next->kind ||
        first->op != next->op || first->tag != next->tag || first->mode != next->mode ||
        first->base != message->base || first->ready > next->position ||
        first->peer != next->peer || first->is_held || next->is_held) {
        return false;
    }
    return first->room >= message->n &&
           (first->kind == ACT_RECEIVE ||
            (plan->messages[first->message].n == message->n));
}

/* What an operation starts together on a rank: nothing else stands between its acts. */
static void find_last(struct plan *plan)
{
    int last[MAX_RANKS];

    memset(last, -1, sizeof(last));
    for (int i = 0; i < plan->n_order; i++) {
        struct act *act = &plan->acts[plan->order[i]];
        struct act *before = last[act->rank] < 0 ? NULL : &plan->acts[last[act->rank]];

        if (before && before->is_together) {
            before->is_last = !act->is_together || act->op != before->op;
        }
        last[act->rank] = plan->order[i];
    }
    for (int rank = 0; rank < plan->n_ranks; rank++) {
        if (last[rank] >= 0) {
            plan->acts[last[rank]].is_last = true;
        }
    }
}

static void use_again(struct plan *plan)
{
    int last[MAX_RANKS][2];

    memset(last, -1, sizeof(last));
    for (int i = 0; i < plan->n_order; i++) {
        struct act *act = &plan->acts[plan->order[i]];
        int *before = &last[act->rank][act->kind == ACT_SEND];

        if ((act->kind != ACT_SEND && act->kind != ACT_RECEIVE) ||
            act->form != FORM_PERSISTENT || act->message < 0) {
            continue;
        }
        if (act->kind == ACT_SEND) {
            act->base = plan->messages[act->message].base;
            act->room = plan->messages[act->message].n;
        }
        if (*before >= 0 && can_serve(plan, &plan->acts[*before], act)) {
            act->previous = *before;
            act->room = plan->acts[*before].room;
        }
        *before = plan->order[i];
    }
}

void plan_match(struct plan *plan)
{
    struct half *halves = check_alloc((size_t)plan->n_order * sizeof(*halves));
    int n = collect_halves(plan, halves);

    join_singles(plan);
    qsort(halves, (size_t)n, sizeof(*halves), compare_halves);
    for (int first = 0, i = 1; i <= n; i++) {
        if (i == n || halves[i].comm != halves[first].comm ||
            halves[i].from != halves[first].from || halves[i].to != halves[first].to) {
            match_pair(plan, &halves[first], i - first);
            first = i;
        }
    }
    free(halves);
    plan_match_groups(plan);
    draw_forms(plan);
    find_last(plan);
    use_again(plan);
}
