/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a payload of some KB goes into a block: through the caches, or past them
 * (base/copy_past.h). Through them is faster where the core that has read the block
 * before is near, or is this one; past them where it is far. Which of the two holds no
 * call tells on a virtual machine, and it changes: so a sender tries both on its own
 * messages now and then, and goes on with the one that costs both ends less. What
 * arrives is the same by either. Used by the owner of the context.
 */
#ifndef LIBBCS_API_CONTEXT_PAYLOAD_COPY_H
#define LIBBCS_API_CONTEXT_PAYLOAD_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BCS_PAYLOAD_COPY_SHIFT =
        12, /* from 4 KB on: less is over before a line is asked for */
    BCS_PAYLOAD_COPY_LENGTHS = 5 /* up to 8, 16, 32 and 64 KB, and what is longer */
};

/** What is known of messages of lengths that are alike. Cleared: nothing. */
struct bcs_payload_copy {
    uint32_t n;       /* copies since the last trial began */
    uint32_t n_until; /* the next one begins; 0: there was none */
    uint32_t cost
        [2]; /* ticks of a KB, through the caches and past them, of the last trial */
    bool goes_past; /* what it has shown */
};

/** The next copy of a length. */
struct bcs_payload_copy_turn {
    bool goes_past, is_timed;
};

/** Which one a length of at least 1 << BCS_PAYLOAD_COPY_SHIFT bytes belongs to. */
static inline uint32_t bcs_payload_copy_index(size_t n_bytes)
{
    uint32_t i = 63 - (uint32_t)__builtin_clzll(n_bytes) - BCS_PAYLOAD_COPY_SHIFT;

    return i < BCS_PAYLOAD_COPY_LENGTHS - 1 ? i : BCS_PAYLOAD_COPY_LENGTHS - 1;
}

/** How the next one is to be copied, and whether its time is to be noted. */
struct bcs_payload_copy_turn bcs_payload_copy_turn(struct bcs_payload_copy *copy);

/** Take note of the time of one that was to be timed. */
void bcs_payload_copy_note(struct bcs_payload_copy *copy,
                           struct bcs_payload_copy_turn turn, size_t n_bytes,
                           uint64_t n_ticks);

/** Copy one as its turn says. */
void bcs_payload_copy(struct bcs_payload_copy *copy, struct bcs_payload_copy_turn turn,
                      void *to, const void *from, size_t n_bytes);

#endif
