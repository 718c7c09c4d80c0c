/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: what one member has to do for one collective, as steps in an order. Each
 * algorithm is one function that adds its steps to a plan; the same function serves the
 * blocking and the non-blocking form. Internal to libbcs/api; called by the process
 * that owns the context.
 *
 * A step is carried out when it is added, if that is possible. Steps behind a fence
 * need all steps before it: a blocking caller waits at the fence, so that it never has
 * more than the pending transfers in memory; the steps of a non-blocking one are put
 * down, and bcs_plans_move, which every wait and every test of the process calls, goes
 * on with them. Whatever a step reads or writes must therefore stay until the plan is
 * over: the caller's buffers do, memory of the plan does, the stack does not.
 *
 * Matching. All messages of a plan carry the tag that bcs_plan_begin takes. Members
 * begin the collectives of a group in the same order, so the tag is the same at all of
 * them. It has in it what they must agree on, kind, root and kernel (plan_tag.h):
 * members that do not wait for ever, as they do natively, rather than take each other's
 * data. Within a plan, two members must add their messages to each other in the same
 * order, and if they send both ways, start send and receive together: the member that
 * is furthest behind can then always go on.
 *
 * Lengths. A member that gets more or less than it expects says so and fails, and so
 * does everyone who would get anything that depends on it: in its place it sends an
 * empty message, which nobody expects.
 *
 * Bounds. Of the plans of one group, only the limits.plans oldest are under way; later
 * ones are put down and wait for their turn. It is the same order at all members, so
 * the oldest can go on everywhere. Persistent collectives, which members start in any
 * order, have numbers of their own (struct bcs_group) and take no turns. When
 * completion cells run short, the last of them are left to the oldest plan of the
 * process.
 */
#ifndef LIBBCS_API_COLLECTIVE_PLAN_H
#define LIBBCS_API_COLLECTIVE_PLAN_H

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/plan_tag.h"

/** How BCS_STEP_COMBINE combines two vectors. */
struct bcs_combiner {
    int kernel; /* nic_reduce_kernel number; or -1: by the function */
    bcs_combine_fn combine;
    void *arg;
};

struct bcs_step_list {
    struct bcs_step *first;
    struct bcs_step **end;
};

/** Memory that lives as long as its plan. */
struct bcs_plan_memory;

/** One collective at this member, from bcs_plan_begin until it is over. */
struct bcs_plan {
    struct bcs_context *context;
    struct bcs_group *group;
    /* Whom sends and receives address: the group, unless an algorithm changes it
     * between two steps (to the remote group of an intercommunicator). */
    const struct bcs_group *peers;
    struct bcs_request *request;  /* NULL: the caller waits */
    struct bcs_step_list pending; /* transfers that have been started */
    struct bcs_step_list queue;   /* steps that have not */
    struct bcs_combiner combiner; /* set before the first bcs_plan_combine */
    struct bcs_plan_memory *memory;
    struct bcs_plan *next;
    /* Where the job has stamps and nobody waits: the latest of what it has waited for,
     * its begin at least; BCS_STAMP_NONE: something had none. */
    uint64_t stamp;
    int32_t tag;
    int status;        /* 0, BCS_E_TRUNCATED, or the first -errno */
    bool is_open;      /* its turn has come */
    bool takes_turns;  /* with a request: among those of its group */
    bool is_fenced;    /* the next step needs all before it */
    bool has_receives; /* since the last fence */
    bool is_spoiled;   /* what came before the last fence had a wrong length */
};

/**
 * Begin a collective; every member begins those of a group in the same order, but for
 * persistent ones.
 *
 * @param agreed   what all members must say alike: bcs_plan_agreed
 * @param request  NULL: bcs_plan_fence and bcs_plan_end wait; else they do not, and the
 *                 request is done when the plan is over
 * @return NULL    no memory; nothing was begun
 */
struct bcs_plan *bcs_plan_begin(struct bcs_context *context, struct bcs_group *group,
                                uint32_t agreed, struct bcs_request *request);

/**
 * All steps are added; the plan is no longer the caller's.
 *
 * @return with a request 0; else what the collective has come to: 0, BCS_E_TRUNCATED if
 *         a message had another length than its receive (logged), or -errno
 */
int bcs_plan_end(struct bcs_plan *plan);

/** Send n_bytes to a member of plan->peers. No bytes: no message, as the receiver knows
 *  the length, too. */
void bcs_plan_send(struct bcs_plan *plan, int32_t to, const void *data, size_t n_bytes);

/** Receive n_bytes; no bytes: no message. */
void bcs_plan_receive(struct bcs_plan *plan, int32_t from, void *data, size_t n_bytes);

/** Receive as above, and fence. */
void bcs_plan_await(struct bcs_plan *plan, int32_t from, void *data, size_t n_bytes);

/** Send a message without data, for a bcs_plan_hear. */
void bcs_plan_tell(struct bcs_plan *plan, int32_t to);

/** Receive a message without data. */
void bcs_plan_hear(struct bcs_plan *plan, int32_t from);

/** Copy n_bytes within this process; they may overlap. */
void bcs_plan_copy(struct bcs_plan *plan, void *to, const void *from, size_t n_bytes);

/** Copy a block to where it is wanted, as if it were a message to oneself. */
void bcs_plan_deliver(struct bcs_plan *plan, void *to, size_t n_expected,
                      const void *from, size_t n_bytes);

/** right = left OP right over count elements, by plan->combiner. */
void bcs_plan_combine(struct bcs_plan *plan, const void *left, void *right,
                      size_t count);

/** The steps from here on need those before to be over. */
void bcs_plan_fence(struct bcs_plan *plan);

/** Memory that is the plan's until it is over, aligned to a cache line. @return NULL:
 *  none left, and the plan fails: add nothing that needs it, but end the plan */
void *bcs_plan_allocate(struct bcs_plan *plan, size_t n_bytes);

/** Tell where the caller of a plan stands, who has waited for a while; see
 *  stand_tell.h. It waits for its oldest message. */
void bcs_plan_stand(struct bcs_plan *plan, struct bcs_waiter *waiter);

/** A bcs_find_needs_fn. */
bool bcs_plans_find_needs(const struct bcs_context *context,
                          const struct bcs_request *request, bcs_take_need_fn take,
                          void *arg);

/** Mover: go on with all plans that nobody waits for; see context->plans. */
void bcs_plans_move(struct bcs_context *context);

/** Give back the memory of plans that are over, at the end of the context. */
void bcs_plans_fini(struct bcs_context *context);

/* ------------------------------------------------- between plan_list.c and plan.c */

/** Do the steps of a non-blocking plan that can be done. @return whether it is over */
bool bcs_plan_advance(struct bcs_plan *plan);

#endif
