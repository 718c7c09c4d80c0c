/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives without anybody in the middle. Each member writes what it brings, and the
 * signature of what it means, into its own line, and publishes the line by the
 * collective's number. Few members, limits.near at most, wait until the lines of all
 * others have that number, and each computes the result by itself: a collective takes
 * one line from each member to each other one. More are in blocks of so many. The first
 * member of a block waits for the others and says for all of them, in a line of the
 * next level, what they mean and what their operands give together; so do the first
 * ones, up to a level that is one block, whose members look at each other. Then each of
 * them tells the members of the blocks that it is the first of, by a line of the block.
 * Nobody writes what another one writes.
 *
 * Operands are combined as the reduce helper does it: blocks have a power of two of
 * members, so that each is a subtree of its tree, and the bits of the result are the
 * same.
 *
 * Lines are used in turns, for even and odd numbers. Invariant: whoever writes a line
 * of number n has seen that all members have come to n - 1, by their lines or those
 * that speak for them, so that all have ended the collective n - 2, whose lines these
 * were: nobody reads them any more. Numbers of a slot only grow, over all groups that
 * use it (bcs_group_open).
 *
 * No wake-up is lost. Who arrives publishes its line and then reads n_asleep, the
 * block's lines and the `park` of those who may wait for them, all seq_cst; who waits
 * announces itself (seq_cst) and then looks at the lines once more. Of those who
 * arrive, the last one in the one order of these operations sees all lines. Either it
 * sees the announcement and wakes the member, or the announcement comes later, and that
 * member's last look sees all lines, too. With the one line that a block's first member
 * writes for the others it is the same.
 */
#include "libbcs/api/collective/near_collective.h"

#include <string.h>

#include "libbcs/api/collective/disagreement.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/near_line.h"
#include "libbcs/fabric/ring/sleep.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/node/signature.h"
#include "nic_threads/rules/reduce_ops.h"

enum {
    LOOKS_AT_ONCE = 200, /* before a member looks after other work as well */
    MOST_LEVELS = 17     /* of NIC_NODE_RANKS_MOST members in blocks of two */
};

/** A member's part in a collective under way. */
struct part {
    struct bcs_context *context;
    const struct bcs_group *group;
    const struct bcs_engine_collective_args *args;
    uint64_t number;
    uint32_t turn;
};

/** Where a member is in the tree, on one level of it. */
struct place {
    uint32_t index; /* of it among those of the level, */
    uint32_t n;     /* which are so many, */
    uint32_t step;  /* each the first of so many ranks, */
    uint32_t near;  /* in blocks of so many */
    uint32_t first,
        n_may_blocks; /* first block of the level, and how many there may be */
};

/** A block of a level, in which the member has a line. */
struct block {
    struct bcs_near_block *lines;
    uint32_t n;   /* lines in use, */
    uint32_t own; /* of which one is this member's */
    uint32_t first,
        step; /* rank of who writes the first one, and from each to the next */
};

/** Lines that a member waits for. */
struct awaited {
    const struct bcs_near_line *lines;
    uint32_t n;
    uint32_t n_seen; /* the first ones, that are known to be published */
};

bool bcs_group_is_near(const struct bcs_context *context, const struct bcs_group *group)
{
    return context->links != NULL && !bcs_group_spans_nodes(group);
}

static struct block block_of(const struct part *part, const struct place *place)
{
    uint32_t number = place->index / place->near, before = number * place->near;
    uint32_t n = place->n - before;

    return (struct block){
        .lines = nic_view_near_block(nic_engine_own(part->context->engine),
                                     part->group->slot, place->first + number),
        .n = n < place->near ? n : place->near,
        .own = place->index - before,
        .first = before * place->step,
        .step = place->step,
    };
}

/** Where the first member of a block is on the next level. */
static void rise(struct place *place, uint32_t near)
{
    place->index /= place->near;
    place->n = bcs_near_n_blocks(place->n, place->near);
    place->step *= place->near;
    place->near = near;
    place->first += place->n_may_blocks;
    place->n_may_blocks = bcs_near_n_blocks(place->n_may_blocks, near);
}

/** Whether all lines are there. */
static bool have_come(const struct part *part, struct awaited *awaited)
{
    /* seq_cst: see the top of this file; also pairs with the store in publish */
    while (awaited->n_seen < awaited->n &&
           atomic_load_explicit(&awaited->lines[awaited->n_seen].number,
                                memory_order_seq_cst) == part->number) {
        awaited->n_seen++;
    }
    return awaited->n_seen == awaited->n;
}

/** Whether a member has come, by the line of itself. */
static bool has_come(const void *arg, int32_t member)
{
    const struct part *part = arg;
    uint32_t near = part->group->near_first;
    const struct bcs_near_block *block =
        nic_view_near_block(nic_engine_own(part->context->engine), part->group->slot,
                            (uint32_t)member / near);

    /* acquire: pairs with the store in publish */
    return atomic_load_explicit(
               &block->arrivals[part->turn][(uint32_t)member % near].number,
               memory_order_acquire) == part->number;
}

/** Tell who has not come. */
static void tell(const struct part *part, struct bcs_waiter *waiter)
{
    bcs_stand_at(
        part->context, waiter,
        &(struct bcs_stand_about){
            .kind = BCS_STAND_COLLECTIVE,
            .group = part->group,
            .peer = -1,
            .tag = -1,
            .n_bytes = part->args->n_bytes,
            .collective = bcs_collective_words(part->args),
            .number = part->number,
            .agreed = &(struct bcs_stand_agreed){part->args->root,
                                                 bcs_collective_kernel(part->args)},
            .has_come = has_come,
            .arg = part,
        });
}

static void await(const struct part *part, const struct bcs_near_line *lines,
                  uint32_t n)
{
    struct awaited awaited = {.lines = lines, .n = n};
    struct bcs_waiter waiter = {0};
    uint32_t n_looks = nic_engine_is_crowded(part->context->engine) ? LOOKS_AT_ONCE : 0;

    while (!have_come(part, &awaited)) {
        if (n_looks < LOOKS_AT_ONCE) {
            n_looks++;
            bcs_clock_pause();
        } else if (bcs_wait_turn(part->context, &waiter)) {
            tell(part, &waiter);
        }
    }
    bcs_wait_stop(part->context, &waiter);
}

/** @return whether somebody sleeps that may wait for the line */
static bool publish(const struct part *part, struct bcs_near_line *line)
{
    const struct bcs_machine *machine = part->context->engine->machine;

    atomic_store_explicit(&line->number, part->number, memory_order_seq_cst);
    return atomic_load_explicit(&machine->n_asleep, memory_order_seq_cst) > 0;
}

/** Wake n members of a block, the first ones, but for this one. */
static void wake(const struct part *part, const struct block *block, uint32_t n)
{
    struct nic_engine *engine = part->context->engine;

    for (uint32_t i = 0; i < n; i++) {
        if (i != block->own) {
            uint32_t port = part->group->ports[block->first + i * block->step];

            bcs_sleep_wake(engine->machine, nic_engine_port(engine, port));
        }
    }
}

/** Publish this member's line in a block. @param n_waiting members that wait for all
 *  lines */
static void arrive(const struct part *part, const struct block *block,
                   uint32_t n_waiting)
{
    struct bcs_near_line *lines = block->lines->arrivals[part->turn];
    struct awaited all = {.lines = lines, .n = block->n};

    if (publish(part, &lines[block->own]) && have_come(part, &all)) {
        wake(part, block, n_waiting);
    }
}

static inline bool has_stamps(const struct part *part)
{
    return __builtin_expect(part->context->stamps.is_on, 0);
}

/** Write what this member brings. */
static void say_own(const struct part *part, struct bcs_near_said *said_out)
{
    const struct bcs_engine_collective_args *args = part->args;
    const struct bcs_descriptor meant = {
        .operation = bcs_collective_operation(args),
        .tag = args->root,
        .n_bytes = args->n_bytes,
    };

    said_out->signature = nic_signature(&meant);
    if (has_stamps(part)) {
        said_out->stamp = bcs_stamps_onward(&part->context->stamps);
    }
    if (args->in != NULL) {
        memcpy(said_out->payload, args->in, args->n_bytes);
    }
}

static void copy(const struct part *part, const struct bcs_near_said *said,
                 struct bcs_near_said *said_out)
{
    said_out->signature = said->signature;
    if (has_stamps(part)) {
        said_out->stamp = said->stamp;
    }
    memcpy(said_out->payload, said->payload,
           nic_signature_is_mixed(said->signature) ? sizeof(struct nic_refusal)
                                                   : part->args->n_bytes);
}

/** Whether a line says other than the first of its block, and who is the first that
 *  does.
 *  @param refusal  names the first of the block; gets the other one */
static bool differs(const struct bcs_near_said *said, uint32_t rank,
                    struct nic_refusal *refusal)
{
    struct nic_refusal within = {.signature = said->signature, .rank = (int32_t)rank};

    if (nic_signature_is_mixed(said->signature)) {
        memcpy(&within, said->payload, sizeof(within));
    }
    if (within.signature == refusal->signature) {
        within.signature = within.other_signature;
        within.rank = within.other_rank;
    }
    refusal->other_signature = within.signature;
    refusal->other_rank = within.rank;
    return said->signature != refusal->signature;
}

/** Say of a block's members that they differ: the first one, and the first that
 *  differs. */
static void say_difference(const struct part *part, const struct block *block,
                           struct bcs_near_said *said_out)
{
    const struct bcs_near_line *lines = block->lines->arrivals[part->turn];
    struct nic_refusal refusal = {
        .signature = lines[0].said.signature,
        .rank = (int32_t)block->first,
    };

    if (nic_signature_is_mixed(refusal.signature)) {
        memcpy(&refusal, lines[0].said.payload, sizeof(refusal));
    } else {
        for (uint32_t i = 1;
             !differs(&lines[i].said, block->first + i * block->step, &refusal); i++) {
        }
    }
    memcpy(said_out->payload, &refusal, sizeof(refusal));
}

/** What all lines mean together; else a word that says in what they differ. */
static uint64_t join_signatures(const struct bcs_near_line *lines, uint32_t n)
{
    uint64_t signature = lines[0].said.signature;

    for (uint32_t i = 1; i < n; i++) {
        if (__builtin_expect(lines[i].said.signature != signature, 0)) {
            signature = nic_signature_join(signature, lines[i].said.signature);
        }
    }
    return signature;
}

/** When the last one came, and who that was. */
static uint64_t join_stamps(const struct bcs_near_line *lines, uint32_t n)
{
    uint64_t latest = BCS_STAMP_NONE;

    for (uint32_t i = 0; i < n; i++) {
        latest = bcs_stamp_later(latest, lines[i].said.stamp);
    }
    return latest;
}

static void reduce(const struct part *part, const struct bcs_near_line *lines,
                   uint32_t n, uint8_t *out)
{
    const struct bcs_engine_collective_args *args = part->args;
    _Alignas(BCS_CACHE_LINE) uint8_t operands[BCS_NEAR_MOST][BCS_INLINE_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        memcpy(operands[i], lines[i].said.payload, args->n_bytes);
    }
    nic_reduce_tree(args->kernel, operands, n, args->count, sizeof(operands[0]));
    memcpy(out, operands[0], args->n_bytes);
}

/** Whether this member gets a result. */
static bool has_result(const struct part *part)
{
    const struct bcs_engine_collective_args *args = part->args;
    bool is_root = args->root == part->group->rank;

    return args->n_bytes > 0 &&
           (args->kind == BCS_ENGINE_BCAST ? !is_root : args->root < 0 || is_root);
}

/** What a block says together, all lines of which are there. */
static void join(const struct part *part, const struct block *block,
                 struct bcs_near_said *said_out)
{
    const struct bcs_engine_collective_args *args = part->args;
    const struct bcs_near_line *lines = block->lines->arrivals[part->turn];
    uint32_t root = ((uint32_t)args->root - block->first) / block->step;

    said_out->signature = join_signatures(lines, block->n);
    if (has_stamps(part)) {
        said_out->stamp = join_stamps(lines, block->n);
    }
    if (__builtin_expect(nic_signature_is_mixed(said_out->signature), 0)) {
        say_difference(part, block, said_out);
    } else if (args->n_bytes == 0 ||
               (block->n == (uint32_t)part->group->size && !has_result(part))) {
        return; /* nobody asks */
    } else if (args->kind != BCS_ENGINE_BCAST) {
        reduce(part, lines, block->n, said_out->payload);
    } else if ((uint32_t)args->root >= block->first && root < block->n) {
        memcpy(said_out->payload, lines[root].said.payload, args->n_bytes);
    }
}

/** Tell the members of a block, of which this one is the first. */
static void release(const struct part *part, const struct block *block,
                    const struct bcs_near_said *said)
{
    struct bcs_near_line *line = &block->lines->release[part->turn];

    copy(part, said, &line->said);
    if (publish(part, line)) {
        wake(part, block, block->n);
    }
}

/** Come together with all others. @param said_out  what all say */
static void meet(const struct part *part, struct bcs_near_said *said_out)
{
    const struct nic_shape *shape = &part->context->engine->layout.shape;
    struct place place = {
        .index = (uint32_t)part->group->rank,
        .n = (uint32_t)part->group->size,
        .step = 1,
        .near = part->group->near_first,
        .n_may_blocks = bcs_near_n_first(&shape->limits, shape->node_ranks),
    };
    struct block led[MOST_LEVELS], *block = led;

    say_own(part, said_out);
    for (;; block++) {
        bool is_top = place.n <= place.near;
        struct bcs_near_line *lines;

        *block = block_of(part, &place);
        lines = block->lines->arrivals[part->turn];
        copy(part, said_out, &lines[block->own].said);
        arrive(part, block, is_top ? block->n : 1);
        if (!is_top && block->own > 0) {
            await(part, &block->lines->release[part->turn], 1);
            copy(part, &block->lines->release[part->turn].said, said_out);
            break;
        }
        await(part, lines, block->n);
        join(part, block, said_out);
        if (is_top) {
            break;
        }
        rise(&place, shape->limits.near);
    }
    while (block > led) {
        release(part, --block, said_out);
    }
}

/** The members differ. */
static int refuse(const struct part *part, const struct bcs_near_said *said)
{
    struct nic_refusal refusal;

    memcpy(&refusal, said->payload, sizeof(refusal));
    refusal.sequence = part->number;
    refusal.node = part->context->engine->home;
    refusal.is_length_only = said->signature != NIC_SIGNATURE_MIXED;
    return bcs_disagreement(part->context, part->group, &refusal);
}

int bcs_near_collective(struct bcs_context *context, struct bcs_group *group,
                        const struct bcs_engine_collective_args *args)
{
    uint64_t number = ++group->n_near;
    const struct part part = {
        .context = context,
        .group = group,
        .args = args,
        .number = number,
        .turn = number % BCS_NEAR_TURNS,
    };
    struct bcs_near_said said;

    meet(&part, &said);
    if (has_stamps(&part)) {
        bcs_stamps_note(&context->stamps, said.stamp, BCS_STAMP_CAUSE_COLLECTIVE);
    }
    if (__builtin_expect(nic_signature_is_mixed(said.signature), 0)) {
        return refuse(&part, &said);
    }
    if (has_result(&part)) {
        memcpy(args->out, said.payload, args->n_bytes);
    }
    return 0;
}
