/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by the members: between collective_reduce.c and collective_across.c, the
 * calls, and collective_shares.c, the algorithm.
 */
#ifndef LIBBCS_API_COLLECTIVE_COLLECTIVE_SHARES_H
#define LIBBCS_API_COLLECTIVE_COLLECTIVE_SHARES_H

#include "libbcs/api/collective/plan.h"

/** Who gets what of the members' vectors. */
enum bcs_reduce_form {
    BCS_REDUCE,         /* the root, or all: all vectors combined */
    BCS_SCAN,           /* each member: those of the ranks up to its own combined */
    BCS_EXCLUSIVE_SCAN, /* each member but 0: those of the ranks below its own */
    BCS_REDUCE_SCATTER, /* each member: its part of all vectors combined */
};

/** A reduction that is being planned. */
struct bcs_reducing {
    struct bcs_plan *plan;
    const struct bcs_reduction *reduction;
    enum bcs_reduce_form form;
    int32_t rank; /* in the group of those who reduce, plan->peers, and its size */
    int32_t size;
    int kernel;    /* nic_reduce_kernel number, or -1 */
    int32_t root;  /* REDUCE: who wants the result; or BCS_ROOT_ALL */
    int32_t owner; /* who combines; or everybody: a share, or each the whole */
    size_t element_bytes;
    size_t n_round;      /* elements of one round: of all shares; SCATTER: of a part */
    size_t stride_bytes; /* from one member's vector in memory to the next */
    const size_t *parts; /* scattered: [size + 1] where the members' parts begin */
    char *out;
    char *memory;
    char **vectors; /* [size] shares of the members, in rank order */
};

/** Find out how the elements of r->reduction are combined, and how long they are.
 *  @return 0, or -EINVAL: that operation is not defined; logged, as an error of the
 *  call */
int bcs_reducing_find(struct bcs_reducing *r, const char *call);

/** Begin the plan of a reduction by all of a group. @return 0 or -ENOMEM */
int bcs_reducing_begin(struct bcs_reducing *r, struct bcs_context *context,
                       struct bcs_group *group, enum bcs_plan_kind kind,
                       struct bcs_request *request);

/** Find where the members' parts begin; NULL: all have r->reduction->count elements.
 *  @return whether there was memory */
bool bcs_reducing_find_parts(struct bcs_reducing *r, const size_t counts[]);

/** Add the steps of a reduction of at least one byte, by at least two members. */
void bcs_plan_reduction(struct bcs_reducing *reducing);

#endif
