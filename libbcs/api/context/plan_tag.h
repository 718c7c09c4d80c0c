/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tags of the messages of collectives: kind, kernel and root of a collective, which
 * all its members must say alike, and its number. Messages of members that do not agree
 * never match; what they mean can be read back from their tags (plan_words.c). Internal
 * to libbcs/api.
 *
 *     bits 27 to 30  kind
 *     bits 11 to 26  of reductions with a kernel: 19 to 26 kernel and 1, 11 to 18 root;
 * else root bits 0 to 10   number: bit 0 of those with a request; of the others bit 1
 * of persistent ones
 *
 * Of a root only the lowest bits are there: roots that differ by a multiple of 256, or
 * 65536, are taken for the same.
 */
#ifndef LIBBCS_API_CONTEXT_PLAN_TAG_H
#define LIBBCS_API_CONTEXT_PLAN_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/api/context/group.h"
#include "libbcs/fabric/ring/stand.h"
#include "nic_threads/rules/reduce_ops.h"

/** The kinds of collectives, as far as members must not mix them. */
enum bcs_plan_kind {
    BCS_PLAN_BARRIER,
    BCS_PLAN_BCAST,
    BCS_PLAN_GATHER,
    BCS_PLAN_SCATTER,
    BCS_PLAN_ALLGATHER,
    BCS_PLAN_ALLTOALL,
    BCS_PLAN_REDUCE,
    BCS_PLAN_ALLREDUCE,
    BCS_PLAN_SCAN,
    BCS_PLAN_EXSCAN,
    BCS_PLAN_REDUCE_SCATTER,
    BCS_PLAN_NEIGHBORS,
    BCS_PLAN_KINDS
};

enum {
    BCS_PLAN_NUMBER_BITS = BCS_STAND_NUMBER_BITS,
    BCS_PLAN_ROOT_BITS = 16,        /* without a kernel; */
    BCS_PLAN_REDUCED_ROOT_BITS = 8, /* with one */
    BCS_PLAN_AGREED_BITS = 4 + BCS_PLAN_ROOT_BITS,
};

_Static_assert(BCS_PERSISTENT_NUMBERS == 1 << (BCS_PLAN_NUMBER_BITS - 2),
               "persistent collectives have all numbers with bit 1 alone");

_Static_assert(BCS_PLAN_KINDS < 1 << 4, "slots.c of the shim has a tag beyond");
_Static_assert(NIC_REDUCE_N_OPS *NIC_REDUCE_N_TYPES < 1 << 8,
               "eight bits hold a kernel");
_Static_assert(BCS_PLAN_NUMBER_BITS + BCS_PLAN_AGREED_BITS == 31, "no tag is negative");

/** What members must say alike. @param root 0: it has none @param kernel -1: it has
 *  none */
static inline uint32_t bcs_plan_agreed(enum bcs_plan_kind kind, int32_t root,
                                       int kernel)
{
    uint32_t low =
        kernel < 0 ? (uint32_t)root & ((1u << BCS_PLAN_ROOT_BITS) - 1)
                   : (uint32_t)(kernel + 1) << BCS_PLAN_REDUCED_ROOT_BITS |
                         ((uint32_t)root & ((1u << BCS_PLAN_REDUCED_ROOT_BITS) - 1));

    return (uint32_t)kind << BCS_PLAN_ROOT_BITS | low;
}

static inline enum bcs_plan_kind bcs_plan_tag_kind(int32_t tag)
{
    return (enum bcs_plan_kind)((uint32_t)tag >>
                                (BCS_PLAN_NUMBER_BITS + BCS_PLAN_ROOT_BITS));
}

/** Whether it is the tag of a collective's message. */
static inline bool bcs_plan_tag_is_valid(int32_t tag)
{
    return tag >= 0 && bcs_plan_tag_kind(tag) < BCS_PLAN_KINDS;
}

/** Whether all members name one root. */
static inline bool bcs_plan_kind_has_root(enum bcs_plan_kind kind)
{
    return kind == BCS_PLAN_BCAST || kind == BCS_PLAN_GATHER ||
           kind == BCS_PLAN_SCATTER || kind == BCS_PLAN_REDUCE;
}

/** The kernel of a reduction. @return -1: it has none */
static inline int bcs_plan_tag_kernel(int32_t tag)
{
    enum bcs_plan_kind kind = bcs_plan_tag_kind(tag);
    bool reduces = kind >= BCS_PLAN_REDUCE && kind <= BCS_PLAN_REDUCE_SCATTER;
    uint32_t field =
        (uint32_t)tag >> (BCS_PLAN_NUMBER_BITS + BCS_PLAN_REDUCED_ROOT_BITS);

    return reduces ? (int)(field & 0xff) - 1 : -1;
}

/** The root, as far as it is in the tag. @return -1: it has none */
static inline int32_t bcs_plan_tag_root(int32_t tag)
{
    uint32_t bits =
        bcs_plan_tag_kernel(tag) < 0 ? BCS_PLAN_ROOT_BITS : BCS_PLAN_REDUCED_ROOT_BITS;

    return bcs_plan_kind_has_root(bcs_plan_tag_kind(tag))
               ? (int32_t)((uint32_t)tag >> BCS_PLAN_NUMBER_BITS & ((1u << bits) - 1))
               : -1;
}

/** The number, as far as it is in the tag. */
static inline uint64_t bcs_plan_tag_number(int32_t tag)
{
    return (uint32_t)tag & ((1u << BCS_PLAN_NUMBER_BITS) - 1);
}

#endif
