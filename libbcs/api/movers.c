/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of movers. One more is a line here, a call of bcs_orders_expect whenever it
 * has something to do, and nothing else.
 */
#include "libbcs/api/movers.h"

#include "libbcs/api/collective/plan.h"
#include "libbcs/api/message/completion.h"

const bcs_mover_fn bcs_movers[] = {
    bcs_serve_orders, /* of other operations */
    bcs_plans_move,   /* collectives that go on by themselves */
    NULL,
};
