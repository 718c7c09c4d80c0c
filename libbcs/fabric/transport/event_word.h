/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of an event in memory that processes share: the signaller's, which the
 * transports call, and the sleeper's. A signal costs one atomic addition and one load;
 * only if somebody sleeps it costs a system call.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_EVENT_WORD_H
#define LIBBCS_FABRIC_TRANSPORT_EVENT_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include <bcs/primitives.h>

/** The reserved word of an event that counts the processes that sleep on it, or are
 *  about to: its n_waiters. */
static inline uint32_t *bcs_event_n_waiters(struct bcs_event *event)
{
    return &event->reserved[0];
}

/** Add one to the event's count; what the caller stored before is visible to whoever
 *  sees the count by bcs_test_event. Must be followed by bcs_event_wake. */
void bcs_event_signal(struct bcs_event *event);

/** Wake all that sleep on an event that the caller has signalled. Apart from the signal
 *  so that no lock needs to be held during the system call. */
void bcs_event_wake(struct bcs_event *event);

/**
 * Sleep while the event's count is `seen`, at most timeout_ns.
 *
 * @return whether the time passed; false also after a wake without any signal
 */
bool bcs_event_sleep(struct bcs_event *event, uint64_t seen, uint64_t timeout_ns);

#endif
