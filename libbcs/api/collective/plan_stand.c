/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells where the caller of a plan stands, and what plans need that nobody waits for.
 * Runs in the thread that waits, when it has waited for a while.
 */
#include "libbcs/api/collective/plan.h"
#include "libbcs/api/collective/plan_step.h"
#include "libbcs/api/record/stand_tell.h"

/** The oldest message that a plan has under way. */
static struct bcs_stand_operation need_of(const struct bcs_plan *plan)
{
    const struct bcs_step *step = plan->pending.first;
    const struct bcs_request_state *inside = bcs_request_state(&step->request);

    return (struct bcs_stand_operation){
        .context_id = plan->group->context_id + BCS_SPACE_COLLECTIVE,
        .n_bytes = inside->n_bytes,
        .peer = (int32_t)step->rank,
        .tag = plan->tag,
        .cell = inside->cell,
        .kind = inside->is_send ? BCS_STAND_SEND : BCS_STAND_RECEIVE,
    };
}

void bcs_plan_stand(struct bcs_plan *plan, struct bcs_waiter *waiter)
{
    const struct bcs_stand_operation need = need_of(plan);

    bcs_stand_begin(plan->context, true);
    bcs_stand_add_step(plan->context, &(struct bcs_stand_about){.group = plan->group},
                       &need);
    bcs_stand_publish(plan->context, waiter);
}

/** Whether a plan does nothing before a message is over that it has under way. */
static bool is_at_rest(const struct bcs_plan *plan)
{
    return plan->pending.first != NULL &&
           (plan->queue.first == NULL || plan->queue.first->is_fenced);
}

bool bcs_plans_find_needs(const struct bcs_context *context,
                          const struct bcs_request *request, bcs_take_need_fn take,
                          void *arg)
{
    for (const struct bcs_plan *plan = context->plans.first; plan != NULL;
         plan = plan->next) {
        struct bcs_stand_operation need;

        if (request != NULL && plan->request != request) {
            continue;
        }
        if (!is_at_rest(plan)) {
            return false;
        }
        need = need_of(plan);
        take(arg, &need);
    }
    return true;
}
