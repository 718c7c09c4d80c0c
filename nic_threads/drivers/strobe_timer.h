/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the next timed strobe, on the thread that sends them: the timekeeper, or the
 * strobe sender's of driver `threads`.
 */
#ifndef NIC_THREADS_DRIVERS_STROBE_TIMER_H
#define NIC_THREADS_DRIVERS_STROBE_TIMER_H

#include "nic_threads/node/node.h"

/** Start the grid of strobes now. Called on the sending thread; view is node 0's. */
void nic_strobe_timer_start(struct nic_strobe_clock *clock,
                            const struct nic_view *view);

/**
 * Sleep until a strobe is due that some node needs, and account for it. Call it between
 * slices.
 *
 * @param view  node 0's
 * @return whether a strobe is due; false: *is_stopping is set
 */
bool nic_strobe_timer_wait(struct nic_strobe_clock *clock, const struct nic_view *view,
                           const _Atomic bool *is_stopping);

/** A process has posted (seq_cst): the next strobe may be needed. One load if it comes
 *  anyhow. */
void nic_strobe_timer_need(const struct nic_engine *engine);

/** Wake the sending thread, after *is_stopping has been set (seq_cst). */
void nic_strobe_timer_stop(const struct nic_view *view);

#endif
