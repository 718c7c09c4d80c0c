/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that may be received from any source. Which of them a receive gets is not
 * known; but a receive is ready once as many have been sent as receives have been
 * posted before it and with it. Of a group the first receives may name their source:
 * each gets that sender's next message, since nothing was posted before that could take
 * it.
 */
#include "tests/random/plan.h"

#include <mpi.h>

struct parts {
    int n_sends;
    int n_receives;
    int *sends; /* acts, by position */
    int *receives;
    int n_from[MAX_RANKS];  /* sends of each rank of the program */
    int n_named[MAX_RANKS]; /* receives that name this sender */
};

static void collect(const struct plan *plan, int group, struct parts *parts)
{
    for (int i = 0; i < plan->n_order; i++) {
        const struct act *act = &plan->acts[plan->order[i]];

        if (act->group != group) {
            continue;
        }
        if (act->kind == ACT_SEND) {
            parts->sends[parts->n_sends++] = plan->order[i];
            parts->n_from[act->rank]++;
        } else {
            parts->receives[parts->n_receives++] = plan->order[i];
        }
    }
}

/* The i-th send of a rank in the group. */
static struct act *send_of(struct plan *plan, const struct parts *parts, int rank,
                           int i)
{
    for (int k = 0; k < parts->n_sends; k++) {
        struct act *act = &plan->acts[parts->sends[k]];

        if (act->rank == rank && i-- == 0) {
            return act;
        }
    }
    return NULL;
}

/* Give the first receives a named source. @return how many */
static int name_sources(struct plan *plan, struct parts *parts, struct draw *draw)
{
    int n_named = draw_chance(draw, 50) ? 0 : draw_below(draw, parts->n_receives + 1);

    for (int i = 0; i < n_named; i++) {
        struct act *act = &plan->acts[parts->receives[i]];
        int rank = plan->acts[parts->sends[draw_below(draw, parts->n_sends)]].rank;
        const struct act *send;

        if (parts->n_named[rank] == parts->n_from[rank]) {
            return i;
        }
        send = send_of(plan, parts, rank, parts->n_named[rank]++);
        act->peer = plan_rank_in(plan_others(&plan->comms[act->comm], act->rank), rank);
        act->ready = act->ready > send->position ? act->ready : send->position;
    }
    return n_named;
}

static void match_group(struct plan *plan, int group)
{
    struct draw draw = draw_from(plan->seed, 5, (uint64_t)group);
    struct parts parts = {0};
    int n_named = 0;
    int64_t end = 0;
    int any;

    parts.sends = check_alloc((size_t)plan->n_order * sizeof(int));
    parts.receives = check_alloc((size_t)plan->n_order * sizeof(int));
    collect(plan, group, &parts);
    if (!plan->groups[group].is_stream && parts.n_sends > 0) {
        n_named = name_sources(plan, &parts, &draw);
    }
    any = n_named;
    for (int i = 0, from[MAX_RANKS] = {0}; i < parts.n_sends; i++) {
        struct act *send = &plan->acts[parts.sends[i]];

        if (from[send->rank]++ >= parts.n_named[send->rank]) {
            struct act *receive = &plan->acts[parts.receives[any++]];

            if (receive->ready < send->position) {
                receive->ready = send->position;
            }
            receive->peer = MPI_ANY_SOURCE;
            receive->tag = plan->groups[group].is_stream ? MPI_ANY_TAG : receive->tag;
        }
    }
    for (int i = 0; i < parts.n_receives; i++) {
        struct act *receive = &plan->acts[parts.receives[i]];

        receive->base = plan->groups[group].base;
        end = end > receive->position ? end : receive->position;
    }
    for (int i = 0; i < parts.n_sends; i++) {
        struct act *send = &plan->acts[parts.sends[i]];

        send->ready = send->position > end ? send->position : end;
    }
    free(parts.sends);
    free(parts.receives);
}

void plan_match_groups(struct plan *plan)
{
    for (int group = 0; group < plan->n_groups; group++) {
        match_group(plan, group);
    }
}
