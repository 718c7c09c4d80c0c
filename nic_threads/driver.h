/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers decide who runs the NIC engine's steps. A process that has posted something and
 * goes on calls kick; a process that waits calls turn until what it waits for has happened,
 * then stop. A new driver is a new file with a new table.
 */
#ifndef NIC_THREADS_DRIVER_H
#define NIC_THREADS_DRIVER_H

#include "nic_threads/engine.h"

/** Polls between two looks at the clock. */
enum { NIC_POLLS_A_CLOCK = 64 };

/** One wait in progress; zero it to start. Belongs to the waiting thread. */
struct nic_waiter {
    uint64_t since_ticks; /* when this round of polling began */
    uint32_t n_polls;
    uint32_t n_yields;
    uint32_t nap;      /* what to sleep on, once is_announced */
    uint64_t nap_ns;   /* sleep no longer than this at once; 0: no limit */
    uint64_t lent_cpu; /* its bit in machine->lent_cpus, or 0 */
    bool holds_lock;
    bool is_announced;   /* marked as asleep: sleeps at the next turn */
    bool is_crowded;     /* some core has more than one process to run */
    bool has_short_naps; /* for the caller */
};

/** A driver. engine is the calling process's. */
struct nic_driver_ops {
    const char *name;
    /**
     * Start what this process hosts for the job or its node: threads, or nothing. All nodes
     * must be set up.
     *
     * @param params       of the process; what it points to must outlive the service
     * @param service_out  for close; NULL if there is nothing
     * @return 0 or -errno, logged
     */
    int (*open)(const struct nic_engine_params *params, void **service_out);
    /** End it, when no process waits for anything any more. Accepts NULL. */
    void (*close)(void *service);
    /** Something was posted, and nobody in this process waits: see that it gets done. */
    void (*kick)(struct nic_engine *engine);
    /** After kick, for an operation that cannot complete by itself: have it moved on also
     *  if nobody ever waits. */
    void (*leave)(struct nic_engine *engine);
    /** Move what can be moved at once, without waiting. @return whether anything was */
    bool (*progress)(struct nic_engine *engine);
    /** One turn of a wait for room in the ring; as turn. */
    void (*wait_for_room)(struct nic_engine *engine, struct nic_waiter *waiter);
    /** One turn of a wait. Returns soon, or after a sleep that a completion has ended; the
     *  caller must look for its completion between any two turns. */
    void (*turn)(struct nic_engine *engine, struct nic_waiter *waiter);
    /** The wait is over, or is given up. */
    void (*stop)(struct nic_engine *engine, struct nic_waiter *waiter);
};

/** Processes that wait run the engine themselves; strobes on demand. */
extern const struct nic_driver_ops nic_driver_inline;

/** One thread runs the engine at each timed strobe. */
extern const struct nic_driver_ops nic_driver_timed;

/** A thread for each role; either kind of strobes. */
extern const struct nic_driver_ops nic_driver_threads;

/** The driver of a configuration. Never NULL. */
const struct nic_driver_ops *nic_driver_find(const struct nic_config *config);

/* ---- What drivers have in common; see the parking argument in driver_inline.c */

/** Mark the waiting process as asleep. It must look once more before it sleeps. */
void nic_waiter_announce(struct nic_engine *engine, struct nic_waiter *waiter);

/** End the announcement, and start the waiter anew. */
void nic_waiter_take_back(struct nic_engine *engine, struct nic_waiter *waiter);

/** Ticks that this wait has lasted, from the first look at the clock on. */
uint64_t nic_waiter_elapsed_ticks(struct nic_waiter *waiter);

/**
 * `wait_for_room` where threads run the engine, and waiters do not: announce, let the caller
 * look, sleep.
 *
 * @param kick  called after the announcement, as what was posted just before a wait has
 *              not been kicked
 */
void nic_waiter_rest(struct nic_engine *engine, struct nic_waiter *waiter,
                     void (*kick)(struct nic_engine *engine));

/** `turn` of the same drivers. Between timed strobes a waiter with a core to itself polls
 *  first, as most waits are over in some slices. */
void nic_waiter_turn(struct nic_engine *engine, struct nic_waiter *waiter,
                     void (*kick)(struct nic_engine *engine));

/** `stop` of the same drivers: end the announcement if there is one. */
void nic_waiter_stop(struct nic_engine *engine, struct nic_waiter *waiter);

/** Let go of the engine's lock, if the waiter keeps it between two turns. */
void nic_waiter_let_go(struct nic_engine *engine, struct nic_waiter *waiter);

/** Sleep until something is completed for this process, or for nap_ns; then the announcement
 *  stands, and the next turn sleeps again. */
void nic_waiter_sleep(struct nic_engine *engine, struct nic_waiter *waiter);

#endif
