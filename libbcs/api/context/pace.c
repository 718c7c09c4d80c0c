/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way long messages come faster; see pace.h.
 */
#include "libbcs/api/context/pace.h"

#include <string.h>

enum {
    TRIALS = 8,         /* first messages, by turns; the first of each way is cold */
    TRIAL_SHIFT = 23,   /* from 8 MB on none is tried: no cache has it at both ends */
    CLEAR_FACTOR = 2,   /* so much slower is clear at once: no more trials */
    RETRY_SHARE = 512,  /* of the time is lost by trying the slower way again, */
    RETRY_LEAST = 32,   /* but of so many messages it is tried by one at most */
    STEP_SHIFT = 3,     /* what is known grows by so little, as others may be held up */
    LENGTHS_SHIFT = 19, /* lengths below and from 512 KB on are apart */
    KB_SHIFT = 10,
    PORT_FACTOR = 2654435, /* of a hash */
};

/** The entry of a port and a length; one of another is forgotten. */
static struct bcs_pace_entry *entry_of(struct bcs_pace *pace, uint32_t port,
                                       uint64_t n_bytes)
{
    uint32_t key = 2 * port + 1 + (n_bytes >> LENGTHS_SHIFT != 0);
    struct bcs_pace_entry *entry =
        &pace->entries[key * PORT_FACTOR / 64 % BCS_PACE_ENTRIES];

    if (entry->key != key) {
        memset(entry, 0, sizeof(*entry));
        entry->key = key;
    }
    return entry;
}

/** How many messages come by the faster way until the slower one is tried again. */
static uint32_t retry_interval(uint32_t faster, uint32_t slower)
{
    uint64_t n = (uint64_t)(slower - faster) * RETRY_SHARE / faster;

    return n < RETRY_LEAST ? RETRY_LEAST : n < INT32_MAX ? (uint32_t)n : INT32_MAX;
}

bool bcs_pace_wants_blocks(struct bcs_pace *pace, uint32_t port, uint64_t n_bytes)
{
    struct bcs_pace_entry *entry;
    uint32_t n, direct, blocks, faster, slower;

    if (n_bytes >> TRIAL_SHIFT != 0) {
        return false;
    }
    entry = entry_of(pace, port, n_bytes);
    n = entry->n++;
    direct = entry->cost[false];
    blocks = entry->cost[true];
    faster = blocks < direct ? blocks : direct;
    slower = blocks < direct ? direct : blocks;
    if (n < TRIALS && (faster == 0 || slower / CLEAR_FACTOR < faster)) {
        return n % 2 != 0;
    }
    if (faster == 0) {
        return false; /* none has come in one way, or none that both ends waited for */
    }
    if (n >= entry->n_until) {
        bool is_first = entry->n_until == 0;

        entry->n_until = n + retry_interval(faster, slower);
        return (blocks < direct) == is_first;
    }
    return blocks < direct;
}

void bcs_pace_note(struct bcs_pace *pace, uint32_t port, uint64_t n_bytes,
                   bool has_blocks, uint64_t n_ticks)
{
    struct bcs_pace_entry *entry = entry_of(pace, port, n_bytes);
    uint64_t cost = (n_ticks << KB_SHIFT) / n_bytes + 1,
             known = entry->cost[has_blocks];

    if (entry->n_noted[has_blocks]++ == 0) {
        return; /* caches and pages are cold */
    }
    if (known != 0 && cost > known + (known >> STEP_SHIFT)) {
        cost = known + (known >> STEP_SHIFT) + 1;
    } else if (known != 0 && cost < known) {
        cost = known - (known - cost) / 2;
    }
    entry->cost[has_blocks] = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}
