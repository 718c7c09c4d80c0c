/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of near collectives in NIC memory, zero at first: what each member of a group says, and
 * the others read (libbcs/api/near_collective.c). A collective slot has some for each parity of
 * the collective's number and each member.
 */
#ifndef BCS_RING_NEAR_LINE_H
#define BCS_RING_NEAR_LINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "libbcs/ring/descriptor.h"

enum {
    BCS_NEAR_MOST = 16, /* members of a group that look at each other's lines */
    BCS_NEAR_TURNS = 2, /* collectives whose lines stand apart */
};

/** What a member says; two cache lines, of which the second is for long operands only. */
struct bcs_near_line {
    /* of the member's last collective with these lines; publishes the rest */
    _Alignas(BCS_CACHE_LINE) _Atomic uint64_t number;
    uint64_t terms;
    uint8_t payload[BCS_INLINE_BYTES];
};

_Static_assert(sizeof(struct bcs_near_line) == 2 * BCS_CACHE_LINE, "two cache lines");

/** Those of a slot. */
struct bcs_near_lines {
    struct bcs_near_line turns[BCS_NEAR_TURNS][BCS_NEAR_MOST];
};

#endif
