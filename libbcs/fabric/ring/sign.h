/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The begin of a machine's segment: by it who looks from outside knows that it is one
 * of ours, and of which version. The same in all versions. Set once, by the machine's
 * first process.
 */
#ifndef LIBBCS_FABRIC_RING_SIGN_H
#define LIBBCS_FABRIC_RING_SIGN_H

#include <stdatomic.h>
#include <stdint.h>

#define BCS_SIGN_MAGIC "BCS-JOB\n"

enum { BCS_SIGN_VERSION_BYTES = 16 };

/** The same in all versions. */
struct bcs_sign {
    char magic[8];
    char version[BCS_SIGN_VERSION_BYTES]; /* in words, ended by a zero */
    uint64_t layout;                      /* bcs_board_layout of that version */
    uint64_t board;                       /* where the board begins, in the segment */
    /* release, when the two above and the board's head are there; pairs with the
     * acquire of who looks. 0: not yet. */
    _Atomic uint64_t is_ready;
};

_Static_assert(sizeof(struct bcs_sign) == 48, "as earlier versions have it");

#endif
