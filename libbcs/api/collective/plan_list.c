/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plans of a process: their beginning and end, their memory, and whose turn it is.
 * Runs in the process that owns the context.
 */
#include "libbcs/api/collective/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/api/collective/plan_step.h"
#include "libbcs/api/message/orders.h"
#include "libbcs/fabric/base/align.h"

/* A number that comes again meets what it has met before only if that was left behind,
 * as messages of one sender are matched in their order, and fewer collectives than
 * numbers are under way at once. */
#define NUMBER_MASK ((1u << BCS_PLAN_NUMBER_BITS) - 1)

/** The number of the plan that a group begins. */
static inline uint32_t take_number(struct bcs_group *group, bool has_request)
{
    uint64_t number = !has_request ? 4 * group->n_started[0]++
                      : group->persistent != 0
                          ? 4 * (uint64_t)(group->persistent - 1) + 2
                          : 2 * group->n_started[1]++ + 1;

    return (uint32_t)number & NUMBER_MASK;
}

struct bcs_plan_memory {
    _Alignas(BCS_CACHE_LINE) struct bcs_plan_memory *next;
    _Alignas(BCS_CACHE_LINE) char data[];
};

static inline void list_init(struct bcs_step_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

struct bcs_plan *bcs_plan_begin(struct bcs_context *context, struct bcs_group *group,
                                uint32_t agreed, struct bcs_request *request)
{
    struct bcs_plan *plan = context->plans.free;
    bool has_request = request != NULL;

    if (plan != NULL) {
        context->plans.free = plan->next;
    } else {
        plan = malloc(sizeof(*plan));
        if (plan == NULL) {
            return NULL;
        }
    }
    plan->context = context;
    plan->group = group;
    plan->peers = group;
    plan->request = request;
    list_init(&plan->pending);
    list_init(&plan->queue);
    plan->memory = NULL;
    plan->next = NULL;
    plan->tag =
        (int32_t)(take_number(group, has_request) | agreed << BCS_PLAN_NUMBER_BITS);
    plan->status = 0;
    plan->is_open = true;
    plan->is_fenced = false;
    plan->has_receives = false;
    plan->is_spoiled = false;
    plan->stamp = BCS_STAMP_NONE;
    if (has_request) {
        if (context->stamps.is_on) {
            plan->stamp = bcs_stamps_own(&context->stamps);
        }
        *bcs_request_state(request) = (struct bcs_request_state){.cell = BCS_CELL_NONE,
                                                                 .is_pending = true,
                                                                 .is_send = true,
                                                                 .is_collective = true};
        plan->takes_turns = group->persistent == 0;
        if (plan->takes_turns) {
            plan->is_open = group->n_open < context->config.limits.plans;
            group->n_open += plan->is_open;
        }
    }
    return plan;
}

void *bcs_plan_allocate(struct bcs_plan *plan, size_t n_bytes)
{
    size_t all_bytes = sizeof(struct bcs_plan_memory) + n_bytes;
    struct bcs_plan_memory *memory =
        aligned_alloc(BCS_CACHE_LINE, bcs_align_up(all_bytes, BCS_CACHE_LINE));

    if (memory == NULL) {
        plan->status = -ENOMEM;
        return NULL;
    }
    memory->next = plan->memory;
    plan->memory = memory;
    return memory->data;
}

static void recycle(struct bcs_plan *plan)
{
    struct bcs_plans *plans = &plan->context->plans;

    while (plan->memory != NULL) {
        struct bcs_plan_memory *memory = plan->memory;

        plan->memory = memory->next;
        free(memory);
    }
    plan->next = plans->free;
    plans->free = plan;
}

static void append(struct bcs_plan **first, struct bcs_plan **last,
                   struct bcs_plan *plan)
{
    plan->next = NULL;
    if (*first == NULL) {
        *first = plan;
    } else {
        (*last)->next = plan;
    }
    *last = plan;
}

static void put_under_way(struct bcs_plan *plan)
{
    struct bcs_plans *plans = &plan->context->plans;

    append(&plans->first, &plans->last, plan);
    bcs_orders_expect(plan->context);
}

/** The turn of the oldest plan of a group that waits for it: it has waited for the one
 *  that is over, and for what that has. */
static void open_next(struct bcs_group *group, uint64_t stamp)
{
    struct bcs_plan *plan = group->waiting_first;

    if (plan != NULL) {
        plan->stamp =
            stamp == BCS_STAMP_NONE ? stamp : bcs_stamp_later(plan->stamp, stamp);
        group->waiting_first = plan->next;
        group->n_open++;
        plan->is_open = true;
        put_under_way(plan);
    }
}

/** A non-blocking plan is over, and in no list. */
static void finish(struct bcs_plan *plan)
{
    struct bcs_request *request = plan->request;

    if (plan->takes_turns) {
        plan->group->n_open--;
        open_next(plan->group, plan->stamp);
    }
    request->result = (struct bcs_result){
        .source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG, .error = plan->status};
    bcs_request_state(request)->is_pending = false;
    bcs_request_state(request)->stamp = plan->stamp;
    recycle(plan);
}

/** bcs_plan_advance, in a call that need not wait for the plan: what comes for it is
 *  what the plan has waited for, and is handed on with its messages. Whoever waits for
 *  the plan gets it in the end. */
static bool advance_aside(struct bcs_plan *plan)
{
    struct bcs_stamps *stamps = &plan->context->stamps;
    const struct bcs_stamps before = *stamps;
    bool is_over;

    stamps->latest = plan->stamp;
    stamps->is_blind = plan->stamp == BCS_STAMP_NONE;
    is_over = bcs_plan_advance(plan);
    plan->stamp = stamps->is_blind ? BCS_STAMP_NONE : stamps->latest;
    *stamps = before;
    return is_over;
}

static void move_all(struct bcs_plans *plans)
{
    struct bcs_plan *before = NULL, *plan = plans->first;

    plans->is_moving = true;
    while (plan != NULL) {
        bool is_over = advance_aside(plan);
        struct bcs_plan *next = plan->next;

        if (!is_over) {
            before = plan;
        } else {
            *(before == NULL ? &plans->first : &before->next) = next;
            if (next == NULL) {
                plans->last = before;
            }
            finish(plan);
            next = before == NULL ? plans->first : before->next; /* opened meanwhile */
        }
        plan = next;
    }
    plans->is_moving = false;
}

void bcs_plans_move(struct bcs_context *context)
{
    struct bcs_plans *plans = &context->plans;

    if (!plans->is_moving) { /* else called by what a combining function has called */
        move_all(plans);
    }
    if (plans->first != NULL) {
        bcs_orders_expect(context);
    }
}

int bcs_plan_end(struct bcs_plan *plan)
{
    struct bcs_group *group = plan->group;
    int status;

    if (plan->request == NULL) {
        if (plan->pending.first != NULL) {
            bcs_plan_fence(plan);
        }
        status = plan->status;
        recycle(plan);
        return status;
    }
    if (!plan->is_open) {
        append(&group->waiting_first, &group->waiting_last, plan);
    } else if (plan->pending.first == NULL && plan->queue.first == NULL) {
        finish(plan);
    } else {
        put_under_way(plan);
    }
    return 0;
}

void bcs_plans_fini(struct bcs_context *context)
{
    struct bcs_plans *plans = &context->plans;

    while (plans->free != NULL) {
        struct bcs_plan *plan = plans->free;

        plans->free = plan->next;
        free(plan);
    }
    bcs_steps_fini(plans);
}
