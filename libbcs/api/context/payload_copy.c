/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way payloads are copied into blocks; see payload_copy.h.
 *
 * A trial is a row of copies by either way: what a copy costs depends on how those
 * before it have left the lines, so that the first ones of a row tell nothing. Trials
 * grow rarer as long as they show what the last one has shown.
 */
#include "libbcs/api/context/payload_copy.h"

#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/copy_past.h"

enum {
    ROW = 8,
    ROW_UNTIMED = 4, /* its first ones */
    TRIAL = 2 * ROW, /* through the caches, then past them */
    UNTIL_FIRST = 256,
    UNTIL_LAST = 1 << 14,
    /* What a KB that was copied past the caches costs its reader more, in ticks:
     * between two cores of an EPYC 84 to 173 if they are near, 28 to 41 if not; of 4 to
     * 32 KB. */
    READER_TICKS = 170,
    KB_SHIFT = 10,
};

/** A trial has ended: go by what it has shown. */
static void decide(struct bcs_payload_copy *copy)
{
    bool goes_past = copy->cost[true] != 0 && /* a trial may have found no block */
                     copy->cost[false] > (uint64_t)copy->cost[true] + READER_TICKS;

    if (goes_past != copy->goes_past || copy->n_until == 0) {
        copy->n_until = UNTIL_FIRST;
    } else if (copy->n_until < UNTIL_LAST) {
        copy->n_until *= 2;
    }
    copy->goes_past = goes_past;
}

struct bcs_payload_copy_turn bcs_payload_copy_turn(struct bcs_payload_copy *copy)
{
    uint32_t n = copy->n++;

    if (!BCS_CAN_COPY_PAST) {
        return (struct bcs_payload_copy_turn){0};
    }
    if (n < TRIAL) {
        return (struct bcs_payload_copy_turn){.goes_past = n >= ROW,
                                              .is_timed = n % ROW >= ROW_UNTIMED};
    }
    if (n == TRIAL) {
        decide(copy);
    }
    if (n >= copy->n_until) {
        copy->n = 0;
        copy->cost[false] = copy->cost[true] = 0;
    }
    return (struct bcs_payload_copy_turn){.goes_past = copy->goes_past};
}

void bcs_payload_copy_note(struct bcs_payload_copy *copy,
                           struct bcs_payload_copy_turn turn, size_t n_bytes,
                           uint64_t n_ticks)
{
    uint64_t cost = (n_ticks << KB_SHIFT) / n_bytes + 1;
    uint32_t *known = &copy->cost[turn.goes_past];

    if (*known == 0 || cost < *known) { /* the others were held up */
        *known = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
    }
}

void bcs_payload_copy(struct bcs_payload_copy *copy, struct bcs_payload_copy_turn turn,
                      void *to, const void *from, size_t n_bytes)
{
    uint64_t began = turn.is_timed ? bcs_clock_ticks() : 0;

    if (turn.goes_past) {
        bcs_copy_past(to, from, n_bytes);
    } else {
        memcpy(to, from, n_bytes);
    }
    if (turn.is_timed) {
        bcs_payload_copy_note(copy, turn, n_bytes, bcs_clock_ticks() - began);
    }
}
