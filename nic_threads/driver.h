/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers decide who runs the NIC engine's steps. A process that has posted something
 * calls nic_driver_kick; a process that waits calls nic_driver_turn until what it waits
 * for has happened, then nic_driver_stop. A new driver is a new file with a new table.
 */
#ifndef NIC_THREADS_DRIVER_H
#define NIC_THREADS_DRIVER_H

#include "nic_threads/engine.h"

/** One wait in progress; zero it to start. Belongs to the waiting thread. */
struct nic_waiter {
    uint64_t since_ticks;    /* when this round of polling began */
    uint64_t patience_ticks; /* how long to poll before sleeping */
    uint32_t n_polls;
    uint32_t n_turns; /* for the caller */
    uint32_t n_yields;
    uint32_t nap; /* what to sleep on, once is_announced */
    bool holds_lock;
    bool is_announced; /* marked as asleep: sleeps at the next turn */
    bool is_crowded;   /* some core has more than one process to run */
};

/** A driver. engine is the calling process's. */
struct nic_driver_ops {
    const char *name;
    /** Something was posted, and nobody in this process waits: see that it gets done. */
    void (*kick)(struct nic_engine *engine);
    /** One turn of a wait. Returns soon, or after a sleep that a completion has ended; the
     *  caller must look for its completion between any two turns. */
    void (*turn)(struct nic_engine *engine, struct nic_waiter *waiter);
    /** The wait is over, or is given up. */
    void (*stop)(struct nic_engine *engine, struct nic_waiter *waiter);
};

/** Processes that wait run the engine themselves. */
extern const struct nic_driver_ops nic_driver_inline;

/** The driver of a configuration. Never NULL. */
const struct nic_driver_ops *nic_driver_find(const struct nic_config *config);

#endif
