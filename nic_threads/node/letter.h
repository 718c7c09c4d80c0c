/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block that one machine puts to another one in one piece, as far_side.c and
 * witness.c of nic_threads/referee do. Whoever looks for it looks at its number, which
 * is written last, and differs from the number before.
 */
#ifndef NIC_THREADS_NODE_LETTER_H
#define NIC_THREADS_NODE_LETTER_H

#include <bcs/primitives.h>
#include <stdint.h>

enum { NIC_LETTER_BYTES = BCS_XFER_COPIED_BYTES - sizeof(uint64_t) };

struct nic_letter {
    uint8_t bytes[NIC_LETTER_BYTES];
    uint64_t number;
};

_Static_assert(sizeof(struct nic_letter) == BCS_XFER_COPIED_BYTES, "no gaps");

#endif
