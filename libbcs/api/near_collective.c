/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives without anybody in the middle. Each member writes what it brings, and the terms of
 * what it means, into its own line, publishes the line by the collective's number, waits until
 * the lines of all others have that number, and computes the result by itself, as the reduce
 * helper would: the same operands on the same tree in every member. So a collective takes one
 * line from each member to each other one, and nobody writes what another one writes.
 *
 * Lines are used in turns, for even and odd numbers. Invariant: whoever writes a line of number n
 * has seen all lines of number n - 1, so that all members have ended the collective n - 2, whose
 * lines these were: nobody reads them any more. Numbers of a slot only grow, over all groups that
 * use it (bcs_group_open).
 *
 * No wake-up is lost. Who arrives publishes its line and then reads n_asleep, the lines and the
 * `park` of the others, all seq_cst; who waits announces itself (seq_cst) and then looks at the
 * lines once more. Of those who arrive, the last one in the one order of these operations sees
 * all lines. Either it sees the announcement and wakes the member, or the announcement comes
 * later, and that member's last look sees all lines, too.
 */
#include "libbcs/api/near_collective.h"

#include <string.h>

#include "libbcs/api/context.h"
#include "libbcs/api/disagreement.h"
#include "libbcs/api/wait.h"
#include "libbcs/base/clock.h"
#include "libbcs/ring/near_line.h"
#include "libbcs/ring/sleep.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/node/terms.h"
#include "nic_threads/rules/reduce_ops.h"

enum { LOOKS_AT_ONCE = 200 }; /* before a member looks after other work as well */

/** A member's part in a collective under way. */
struct part {
    struct bcs_near_line *lines; /* [n], by rank, of this collective's turn */
    uint64_t number;
    uint64_t terms;
    uint32_t n, rank;
    uint32_t n_seen; /* members, the first ones, that are known to have arrived */
};

bool bcs_group_is_near(const struct bcs_context *context, const struct bcs_group *group)
{
    return context->links != NULL && group->size <= BCS_NEAR_MOST &&
           !bcs_group_spans_nodes(group);
}

/** Write this member's line, unpublished. */
static void fill(const struct part *part, const struct bcs_engine_collective_args *args)
{
    struct bcs_near_line *mine = &part->lines[part->rank];

    mine->terms = part->terms;
    if (args->in != NULL) {
        memcpy(mine->payload, args->in, args->n_bytes);
    }
}

/** Whether all members have arrived. */
static bool have_all_arrived(struct part *part)
{
    /* seq_cst: see the top of this file; also pairs with the store in arrive */
    while (part->n_seen < part->n &&
           atomic_load_explicit(&part->lines[part->n_seen].number,
                                memory_order_seq_cst) == part->number) {
        part->n_seen++;
    }
    return part->n_seen == part->n;
}

static void wake_all(const struct bcs_context *context, const struct bcs_group *group)
{
    struct nic_engine *engine = context->engine;

    for (int32_t i = 0; i < group->size; i++) {
        if (group->ports[i] != context->rank) {
            bcs_sleep_wake(engine->machine, nic_engine_port(engine, group->ports[i]));
        }
    }
}

/** Publish this member's line. */
static void arrive(const struct bcs_context *context, const struct bcs_group *group,
                   struct part *part)
{
    const struct bcs_machine *machine = context->engine->machine;

    atomic_store_explicit(&part->lines[part->rank].number, part->number,
                          memory_order_seq_cst);
    if (atomic_load_explicit(&machine->n_asleep, memory_order_seq_cst) > 0 &&
        have_all_arrived(part)) {
        wake_all(context, group);
    }
}

/** Wait for all others. */
static void await_all(struct bcs_context *context, struct part *part)
{
    struct bcs_waiter waiter = {0};
    uint32_t n_looks = nic_engine_is_crowded(context->engine) ? LOOKS_AT_ONCE : 0;

    while (!have_all_arrived(part)) {
        if (n_looks < LOOKS_AT_ONCE) {
            n_looks++;
            bcs_clock_pause();
        } else {
            bcs_wait_turn(context, &waiter);
        }
    }
    bcs_wait_stop(context, &waiter);
}

/** What all mean together; else a word that says in what they differ. */
static uint64_t join_terms(const struct part *part)
{
    uint64_t terms = part->lines[0].terms;

    for (uint32_t i = 1; i < part->n; i++) {
        if (__builtin_expect(part->lines[i].terms != terms, 0)) {
            terms = nic_terms_join(terms, part->lines[i].terms);
        }
    }
    return terms;
}

/** The members differ: the first of them, and the first that differs from it. */
static int refuse(struct bcs_context *context, const struct bcs_group *group,
                  const struct part *part, uint64_t joined)
{
    struct nic_refusal refusal = {
        .sequence = part->number,
        .terms = part->lines[0].terms,
        .node = context->engine->home,
        .is_length_only = joined != NIC_TERMS_MIXED,
    };
    uint32_t other = 1;

    while (part->lines[other].terms == refusal.terms) {
        other++;
    }
    refusal.other_terms = part->lines[other].terms;
    refusal.other_rank = (int32_t)other;
    return bcs_disagreement(context, group, &refusal);
}

static void reduce(const struct part *part,
                   const struct bcs_engine_collective_args *args)
{
    _Alignas(BCS_CACHE_LINE) uint8_t operands[BCS_NEAR_MOST][BCS_INLINE_BYTES];

    for (uint32_t i = 0; i < part->n; i++) {
        memcpy(operands[i], part->lines[i].payload, args->n_bytes);
    }
    nic_reduce_tree(args->kernel, operands, part->n, args->count, sizeof(operands[0]));
    memcpy(args->out, operands[0], args->n_bytes);
}

/** This member's result. */
static void take_result(const struct part *part,
                        const struct bcs_engine_collective_args *args)
{
    bool is_root = args->root == (int)part->rank;

    switch (args->kind) {
    case BCS_ENGINE_BARRIER:
        break;
    case BCS_ENGINE_BCAST:
        if (!is_root) {
            memcpy(args->out, part->lines[args->root].payload, args->n_bytes);
        }
        break;
    default:
        if ((args->root < 0 || is_root) && args->n_bytes > 0) {
            reduce(part, args);
        }
        break;
    }
}

static struct part begin(const struct bcs_context *context, struct bcs_group *group,
                         const struct bcs_engine_collective_args *args)
{
    const struct nic_view *view = nic_engine_own(context->engine);
    struct bcs_near_lines *lines = nic_view_near_lines(view, group->slot);
    uint64_t number = ++group->n_near;
    const struct bcs_descriptor meant = {
        .operation = bcs_collective_operation(args),
        .tag = args->root,
        .n_bytes = args->n_bytes,
    };

    return (struct part){
        .lines = lines->turns[number % BCS_NEAR_TURNS],
        .number = number,
        .terms = nic_terms(&meant),
        .n = (uint32_t)group->size,
        .rank = (uint32_t)group->rank,
    };
}

int bcs_near_collective(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_engine_collective_args *args)
{
    struct part part = begin(context, group, args);
    uint64_t joined;

    fill(&part, args);
    arrive(context, group, &part);
    await_all(context, &part);
    joined = join_terms(&part);
    if (__builtin_expect(joined != part.terms, 0)) {
        return refuse(context, group, &part, joined);
    }
    take_result(&part, args);
    return 0;
}
