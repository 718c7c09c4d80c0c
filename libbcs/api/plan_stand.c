/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells where the caller of a plan stands. Runs in that thread, when it has waited for a while.
 */
#include "libbcs/api/plan.h"
#include "libbcs/api/stand.h"

void bcs_plan_stand(const struct bcs_plan *plan, struct bcs_waiter *waiter)
{
    static const char *const words[BCS_PLAN_KINDS] = {
        [BCS_PLAN_BARRIER] = "barrier",
        [BCS_PLAN_BCAST] = "broadcast",
        [BCS_PLAN_GATHER] = "gather",
        [BCS_PLAN_SCATTER] = "scatter",
        [BCS_PLAN_ALLGATHER] = "allgather",
        [BCS_PLAN_ALLTOALL] = "alltoall",
        [BCS_PLAN_REDUCE] = "reduction",
        [BCS_PLAN_ALLREDUCE] = "allreduce",
        [BCS_PLAN_SCAN] = "scan",
        [BCS_PLAN_EXSCAN] = "exscan",
        [BCS_PLAN_REDUCE_SCATTER] = "reduce-scatter",
        [BCS_PLAN_NEIGHBORS] = "with neighbours",
    };

    bcs_stand_at_collective(plan->context, waiter, plan->group,
                            words[(uint32_t)plan->tag >> BCS_PLAN_NUMBER_BITS],
                            plan->group->n_started[plan->request != NULL]);
}
