/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signalling and sleeping on an event: on the low half of its count
 * (libbcs/fabric/base/park.h).
 *
 * No signal is lost: the signaller adds to count and then looks at n_waiters, the
 * sleeper adds to n_waiters and then looks at count (in the kernel, under the futex's
 * lock). All four are sequentially consistent, so at least one of the two sees the
 * other: either the sleeper does not sleep or the signaller wakes it. A signaller that
 * is killed between its two steps leaves the sleeper to its time limit. A sleeper that
 * is killed leaves n_waiters too large, which costs the later signallers system calls
 * and nothing else.
 */
#include "libbcs/fabric/transport/event_word.h"

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"

static uint32_t *low_half(struct bcs_event *event)
{
    uint32_t *halves = (uint32_t *)&event->count;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return &halves[0];
#else
    return &halves[1];
#endif
}

void bcs_event_signal(struct bcs_event *event)
{
    /* Pairs with count_load in libbcs/fabric/core/event.c (acquire), and with the load
     * in bcs_event_sleep. */
    __atomic_fetch_add(&event->count, 1, __ATOMIC_SEQ_CST);
}

void bcs_event_wake(struct bcs_event *event)
{
    /* Pairs with the increment in bcs_event_sleep. */
    if (__atomic_load_n(bcs_event_n_waiters(event), __ATOMIC_SEQ_CST) != 0) {
        bcs_word_wake(low_half(event));
    }
}

bool bcs_event_sleep(struct bcs_event *event, uint64_t seen, uint64_t timeout_ns)
{
    bool is_timeout = false;

    /* Pairs with the load in bcs_event_wake. */
    __atomic_fetch_add(bcs_event_n_waiters(event), 1, __ATOMIC_SEQ_CST);
    /* Pairs with the increment in bcs_event_signal. */
    if (__atomic_load_n(&event->count, __ATOMIC_SEQ_CST) == seen) {
        is_timeout = bcs_word_sleep(low_half(event), (uint32_t)seen,
                                    bcs_clock_now_ns() + timeout_ns);
    }
    __atomic_fetch_sub(bcs_event_n_waiters(event), 1, __ATOMIC_RELAXED);
    return is_timeout;
}
