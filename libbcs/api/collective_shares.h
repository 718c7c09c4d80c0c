/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by the members: between collective_reduce.c, the calls, and
 * collective_shares.c, the algorithm.
 */
#ifndef BCS_API_COLLECTIVE_SHARES_H
#define BCS_API_COLLECTIVE_SHARES_H

#include "libbcs/api/plan.h"

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
    int32_t rank;
    int32_t size;
    int32_t root;  /* REDUCE: who wants the result; or BCS_ROOT_ALL */
    int32_t owner; /* who combines; or OWNER_NONE: everybody a share */
    size_t element_bytes;
    size_t n_round;      /* elements of one round: of all shares; SCATTER: of a part */
    size_t stride_bytes; /* from one member's vector in memory to the next */
    const size_t *parts; /* SCATTER: [size + 1] where the members' parts begin */
    char *out;
    char *memory;
    char **vectors; /* [size] shares of the members, in rank order */
};

/** Add the steps of a reduction of at least one byte, by at least two members. */
void bcs_plan_reduction(struct bcs_reducing *reducing);

#endif
