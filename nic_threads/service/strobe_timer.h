/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the next timed strobe, on the thread that sends them: the timekeeper, or
 * the strobe sender's of driver `threads`. machine->strobe_park wakes it.
 */
#ifndef NIC_THREADS_SERVICE_STROBE_TIMER_H
#define NIC_THREADS_SERVICE_STROBE_TIMER_H

#include "nic_threads/machine/worker.h"

/** The timer of a sending thread. */
struct nic_strobe_timer {
    struct nic_strobe_clock clock;
    bool has_rested; /* strobes were left out, as none was needed */
    bool is_set;     /* for the strobe that is due at due_ns: */
    bool has_ended;  /* before it was set */
    enum nic_strobe_poll poll;
    uint64_t due_ns;
    uint64_t end_ns;
};

/** Start the grid of strobes now. Called on the sending thread; view is node 0's. */
void nic_strobe_timer_start(struct nic_strobe_timer *timer,
                            const struct nic_view *view);

/**
 * Look whether a strobe is due that some node needs, and account for it. Call it
 * between slices, parked (nic_threads/machine/worker.h).
 *
 * @param view  node 0's
 * @return NIC_REST_NOT: a strobe is due; else when to look again
 */
struct nic_rest nic_strobe_timer_look(struct nic_strobe_timer *timer,
                                      const struct nic_view *view);

/** A process has posted (seq_cst): the next strobe may be needed. One load if it comes
 *  anyhow. */
void nic_strobe_timer_need(const struct nic_engine *engine);

#endif
