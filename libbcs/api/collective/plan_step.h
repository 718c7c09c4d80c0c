/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of a plan, and the memory of steps. For plan.c and plan_list.c; called by the
 * process that owns the context.
 */
#ifndef LIBBCS_API_COLLECTIVE_PLAN_STEP_H
#define LIBBCS_API_COLLECTIVE_PLAN_STEP_H

#include "libbcs/api/context/context.h"

enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_COPY, STEP_COMBINE };

/** Two places in memory, and how much there is. */
struct operands {
    const void *from;
    void *to;
    size_t count; /* bytes, or elements */
};

struct bcs_step {
    struct bcs_step *next;
    uint8_t kind;
    bool is_fenced; /* needs all steps before it */
    uint32_t rank;  /* of a message that is under way: its peer in the job */
    union {
        struct bcs_message message; /* until it is started */
        struct bcs_request request;
        struct operands operands;
    };
};

/** Add to the free steps, of which there are none. @return whether there was memory */
bool bcs_steps_add(struct bcs_plans *plans);

/** Give back the memory of all steps. */
void bcs_steps_fini(struct bcs_plans *plans);

#endif
