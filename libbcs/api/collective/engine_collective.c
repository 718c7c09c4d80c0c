/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting one member's part of a collective to the engine. Called by the process that
 * owns the context.
 */
#include "libbcs/api/collective/engine_collective.h"

#include <errno.h>
#include <string.h>

#include "libbcs/api/collective/disagreement.h"
#include "libbcs/api/collective/near_collective.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/drivers/pending_desks.h"
#include "nic_threads/node/signature.h"

enum { TURN_STEP_NS = 100000 };

_Static_assert((int)BCS_ENGINE_BARRIER == BCS_COLLECTIVE_BARRIER &&
                   (int)BCS_ENGINE_BCAST == BCS_COLLECTIVE_BCAST &&
                   (int)BCS_ENGINE_REDUCE == BCS_COLLECTIVE_REDUCE &&
                   (int)BCS_ENGINE_ALLGATHER == BCS_COLLECTIVE_ALLGATHER &&
                   (int)BCS_ENGINE_ALLTOALL == BCS_COLLECTIVE_ALLTOALL,
               "the API's kinds are the engine's");

bool bcs_engine_collective_fits(size_t n_bytes)
{
    return n_bytes <= BCS_INLINE_BYTES;
}

/** Say what a part is. */
static void fill(const struct bcs_context *context, const struct bcs_group *group,
                 const struct bcs_engine_collective_args *args,
                 struct bcs_descriptor *entry)
{
    entry->flags = args->root < 0 ? BCS_TO_ALL : 0;
    entry->operation = bcs_collective_operation(args);
    entry->context_id = group->context_id;
    entry->port = group->slot;
    entry->source = group->rank;
    entry->tag = args->root;
    entry->n_bytes = args->n_bytes;
    if (context->stamps.is_on) {
        entry->address = bcs_stamps_onward(&context->stamps);
    }
    if (args->in != NULL) {
        memcpy(entry->payload, args->in, args->n_bytes);
    }
}

/** A part for the engine. */
static int post_part(struct bcs_context *context, struct bcs_group *group,
                     const struct bcs_engine_collective_args *args)
{
    struct bcs_ring_writer *ring = bcs_post_to_node(context);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_COLLECTIVE);
    struct bcs_waiter waiter = {0};
    uint32_t id = bcs_post_cell(context);
    struct nic_refusal refusal;
    struct bcs_cell *cell;
    enum bcs_cell_state state;
    int status = 0;

    if (id == BCS_CELL_NONE) {
        return bcs_post_no_cell(context);
    }
    cell = bcs_poster_cell_at(&context->poster, id);
    group->n_posted++;
    entry->cell = id;
    fill(context, group, args, entry);
    nic_engine_add_pending(context->engine, ring->reader);
    bcs_ring_publish(ring, entry);
    while ((state = bcs_cell_state(cell)) == BCS_CELL_PENDING) {
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at(
                context, &waiter,
                &(struct bcs_stand_about){
                    .kind = BCS_STAND_COLLECTIVE,
                    .group = group,
                    .peer = -1,
                    .tag = -1,
                    .cell = &id,
                    .n_bytes = args->n_bytes,
                    .collective = bcs_collective_words(args),
                    .number = group->n_posted,
                    .agreed = &(struct bcs_stand_agreed){args->root,
                                                         bcs_collective_kernel(args)},
                });
        }
    }
    bcs_wait_stop(context, &waiter);
    nic_engine_end_pending(context->engine);
    if (context->stamps.is_on && state != BCS_CELL_REFUSED) {
        bcs_stamps_note(&context->stamps, cell->address, BCS_STAMP_CAUSE_COLLECTIVE);
    }
    if (state == BCS_CELL_INLINE) {
        memcpy(args->out, cell->payload, args->n_bytes);
    } else if (__builtin_expect(state == BCS_CELL_REFUSED, 0)) {
        memcpy(&refusal, cell->payload, sizeof(refusal));
        status = bcs_disagreement(context, group, &refusal);
    }
    bcs_poster_free_cell(&context->poster, id);
    return status;
}

static inline int carry_out(struct bcs_context *context, struct bcs_group *group,
                            const struct bcs_engine_collective_args *args)
{
    return bcs_group_is_near(context, group) ? bcs_near_collective(context, group, args)
                                             : post_part(context, group, args);
}

/** The same where other threads may be in the API. MPI forbids several of them to be in
 *  collectives of a group at once (MPI-3.1, 5.13), and there is room for one: who comes
 *  second waits. */
static __attribute__((cold, noinline)) int
carry_out_in_turn(struct bcs_context *context, struct bcs_group *group,
                  const struct bcs_engine_collective_args *args)
{
    int status;

    while (group->is_taken) {
        context->hooks.turns->pause();
        bcs_rest(TURN_STEP_NS);
        context->hooks.turns->resume();
    }
    group->is_taken = true;
    status = carry_out(context, group, args);
    group->is_taken = false;
    return status;
}

int bcs_engine_collective(struct bcs_context *context, struct bcs_group *group,
                          const struct bcs_engine_collective_args *args)
{
    return __builtin_expect(context->hooks.turns == NULL, 1)
               ? carry_out(context, group, args)
               : carry_out_in_turn(context, group, args);
}
