/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the next timed strobe, on the thread that sends them: the timekeeper, or the
 * strobe sender's of driver `threads`.
 */
#ifndef NIC_THREADS_STROBE_TIMER_H
#define NIC_THREADS_STROBE_TIMER_H

#include "nic_threads/node.h"

/** Start the grid of strobes now. Called on the sending thread; view is node 0's. */
void nic_strobe_timer_start(struct nic_strobe_clock *clock,
                            const struct nic_view *view);

/**
 * Sleep until the next strobe is due, and account for it.
 *
 * @param nap          the thread's; to be ended after *is_stopping has been set
 * @return whether a strobe is due; false: *is_stopping is set
 */
bool nic_strobe_timer_wait(struct nic_strobe_clock *clock, _Atomic uint32_t *nap,
                           const _Atomic bool *is_stopping);

#endif
