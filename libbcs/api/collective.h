/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over contiguous bytes. Small barriers, broadcasts and reductions are
 * carried out by the NIC engine (collective and reduce helpers); all others are made of
 * point-to-point messages here. Every member of the group calls with matching
 * arguments, in the same order. All functions block; all return 0, -errno, or
 * BCS_E_TRUNCATED if a member sent more than its receiver has room for.
 *
 * Reductions combine the members' vectors element by element on one fixed binary tree
 * over the ranks (aligned blocks of 1, 2, 4, ... ranks; left operand = lower ranks), so
 * that the bits do not depend on the layout, the root, the length or the algorithm.
 * [BCS-MPI table 4.1, section 4.4]
 */
#ifndef BCS_API_COLLECTIVE_H
#define BCS_API_COLLECTIVE_H

#include "libbcs/api/context.h"

/** right = left OP right, over count elements. arg is struct bcs_reduction.arg. */
typedef void (*bcs_combine_fn)(void *arg, const void *left, void *right, size_t count);

/** How to combine. If kernel >= 0 the engine's own kernel of that number may do it. */
struct bcs_reduction {
    const void *in;         /* this member's vector */
    void *out;              /* the result, where this member gets one; may be == in */
    size_t count;           /* elements */
    size_t element_bytes;   /* of one element, contiguous */
    int kernel;             /* nic_reduce_kernel number, or -1 */
    bcs_combine_fn combine; /* always given */
    void *arg;
};

/** Blocks of a v-collective. NULL displacements: packed one after the other. */
struct bcs_blocks {
    char *data;
    const size_t *n_bytes;       /* [size] */
    const size_t *displacements; /* [size], bytes; or NULL */
};

#define BCS_ROOT_ALL (-1)

/** Wait until every member has called it. Always carried out by the engine. */
int bcs_barrier(struct bcs_context *context, struct bcs_group *group);

/** Every member gets the root's n_bytes, which is the same on all members. */
int bcs_bcast(struct bcs_context *context, struct bcs_group *group, void *data,
              size_t n_bytes, int root);

/** Reduce to one root, or to all members with root BCS_ROOT_ALL. */
int bcs_reduce(struct bcs_context *context, struct bcs_group *group,
               const struct bcs_reduction *reduction, int root);

/** The root gets each member's block; blocks is read at the root only. mine may be NULL
 *  at the root: its block is in place. */
int bcs_gather(struct bcs_context *context, struct bcs_group *group, const void *mine,
               size_t n_mine_bytes, const struct bcs_blocks *blocks, int root);

/** Each member gets its block of the root's; mine may be NULL at the root: in place. */
int bcs_scatter(struct bcs_context *context, struct bcs_group *group, void *mine,
                size_t n_mine_bytes, const struct bcs_blocks *blocks, int root);

/** Each member gets all blocks; mine may be NULL: own block is in place. */
int bcs_allgather(struct bcs_context *context, struct bcs_group *group,
                  const void *mine, const struct bcs_blocks *blocks);

/** Block j of member i goes to block i of member j. send.data NULL: in place. */
int bcs_alltoall(struct bcs_context *context, struct bcs_group *group,
                 const struct bcs_blocks *send, const struct bcs_blocks *receive);

#endif
