/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way long messages come faster; see pace.h.
 */
#include "libbcs/api/pace.h"

#include <string.h>

enum {
    TRIALS = 8,         /* first messages, by turns; the first of each way is cold */
    RETRY = 32,         /* one in so many comes by the slower way, */
    RETRY_IF_FAR = 256, /* or in so many if that takes half as long again */
    STEP_SHIFT = 4,     /* what is known grows by so little, as others may be held up */
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

bool bcs_pace_wants_blocks(struct bcs_pace *pace, uint32_t port, uint64_t n_bytes)
{
    struct bcs_pace_entry *entry = entry_of(pace, port, n_bytes);
    uint32_t n = entry->n++, direct = entry->cost[false], blocks = entry->cost[true];
    bool is_faster = blocks < direct;
    uint32_t faster = is_faster ? blocks : direct, slower = is_faster ? direct : blocks;

    if (n < TRIALS) {
        return n % 2 != 0;
    }
    if (direct == 0 || blocks == 0) {
        return false; /* none has come in this way, or none that both ends waited for */
    }
    if (n % (slower > faster + faster / 2 ? RETRY_IF_FAR : RETRY) == 0) {
        return !is_faster;
    }
    return is_faster;
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
    }
    entry->cost[has_blocks] = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}
