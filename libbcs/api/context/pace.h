/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast long messages come by either way: directly, one copy by the kernel, or
 * through blocks, two copies through a cache that both ends share, if they do. Which is
 * faster depends on where the two cores are, which no call tells on a virtual machine,
 * and which may change: so a receiver tries both on its own messages now and then, and
 * asks for the faster one. What arrives is the same by either. Asked only while each
 * process that is awake has a core. Used by the owner of the context.
 */
#ifndef LIBBCS_API_CONTEXT_PACE_H
#define LIBBCS_API_CONTEXT_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { BCS_PACE_ENTRIES = 32 };

/** What is known of long messages from one port, of lengths that are alike. */
struct bcs_pace_entry {
    uint32_t key;     /* of port and lengths; 0: nothing is known */
    uint32_t n;       /* messages that were asked about */
    uint32_t n_until; /* the slower way is tried again; 0: not yet settled */
    /* Time of a KB, directly and through blocks, of late, and nearer to the faster
     * ones, as others had to wait; 0: not known. */
    uint32_t cost[2];
    uint32_t n_noted[2];
};

/** Cleared: nothing is known. */
struct bcs_pace {
    struct bcs_pace_entry
        entries[BCS_PACE_ENTRIES]; /* by a hash; what is older gives way */
};

/** Whether the next message of this length from a port should come through blocks.
 *  @param n_bytes room of its receive */
bool bcs_pace_wants_blocks(struct bcs_pace *pace, uint32_t port, uint64_t n_bytes);

/** Take note of a message that has come. @param n_ticks bcs_clock_ticks from when both
 *  ends could copy to the end */
void bcs_pace_note(struct bcs_pace *pace, uint32_t port, uint64_t n_bytes,
                   bool has_blocks, uint64_t n_ticks);

#endif
