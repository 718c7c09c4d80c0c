/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an intercommunicator: what one side gives, the other side gets. Each
 * is the counterpart of a call of <bcs/bcs.h>, with the same arguments and results, but
 * that blocks and lengths are those of the other side's members where the MPI standard
 * says so; all members of both sides call it. A barrier is that of both. Internal;
 * called by the MPI shim, in the process that owns the context.
 */
#ifndef LIBBCS_API_COLLECTIVE_COLLECTIVE_ACROSS_H
#define LIBBCS_API_COLLECTIVE_COLLECTIVE_ACROSS_H

#include "libbcs/api/context/group.h"

/**
 * The groups of an intercommunicator. Messages of one never match those of another; the
 * tags of all are taken from both, so that they are the same on the two sides.
 */
struct bcs_sides {
    struct bcs_group both;   /* all members: one side's, then the other's */
    struct bcs_group mine;   /* this side's; without a slot */
    struct bcs_group others; /* the other side's; rank: this process's in its own */
};

/* Roots, beside a rank of the other side. */
#define BCS_ROOT_SELF (-2)     /* this process, for the other side */
#define BCS_ROOT_OUR_SIDE (-3) /* another process of this side: nothing to do here */

/** The other side's members get the root's data. */
int bcs_across_bcast(struct bcs_context *context, struct bcs_sides *sides, void *data,
                     size_t n_bytes, int32_t root, struct bcs_request *request);

/** The root gets the other side's blocks. */
int bcs_across_gather(struct bcs_context *context, struct bcs_sides *sides,
                      const struct bcs_part *mine, const struct bcs_blocks *blocks,
                      int32_t root, struct bcs_request *request);

/** The other side's members get their blocks of the root's. */
int bcs_across_scatter(struct bcs_context *context, struct bcs_sides *sides,
                       const struct bcs_part *mine, const struct bcs_blocks *blocks,
                       int32_t root, struct bcs_request *request);

/** Every member gets the other side's parts. */
int bcs_across_allgather(struct bcs_context *context, struct bcs_sides *sides,
                         const struct bcs_part *mine, const struct bcs_blocks *blocks,
                         struct bcs_request *request);

/** Every member sends a block to each of the other side's, and gets one from each. */
int bcs_across_alltoall(struct bcs_context *context, struct bcs_sides *sides,
                        const struct bcs_blocks *send, const struct bcs_blocks *receive,
                        struct bcs_request *request);

/** The root, or with BCS_ROOT_ALL every member, gets the other side's vectors
 *  combined. */
int bcs_across_reduce(struct bcs_context *context, struct bcs_sides *sides,
                      const struct bcs_reduction *reduction, int32_t root,
                      struct bcs_request *request);

/**
 * The other side's vectors combined, in parts for the members of this one. All vectors
 * have the same length.
 *
 * @param counts  [size of this side] elements of the parts; NULL: reduction->count each
 */
int bcs_across_reduce_scatter(struct bcs_context *context, struct bcs_sides *sides,
                              const struct bcs_reduction *reduction,
                              const size_t counts[], struct bcs_request *request);

#endif
