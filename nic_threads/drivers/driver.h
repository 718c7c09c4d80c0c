/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers decide who runs the NIC engine's steps. A process that has posted something
 * and goes on calls kick; a process that waits calls turn until what it waits for has
 * happened, then stop. What is posted is read at a desk, by its number among all: the
 * poster's own or, where each port has one, that of another port or of the node. What
 * needs threads of the library's own, it names, and the service runs it. A new driver
 * is a new file with a new table.
 */
#ifndef NIC_THREADS_DRIVERS_DRIVER_H
#define NIC_THREADS_DRIVERS_DRIVER_H

#include "nic_threads/drivers/waiting.h"
#include "nic_threads/machine/engine.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/service/service.h"

/** A driver. engine is the calling process's. */
struct nic_driver_ops {
    const char *name;
    uint32_t serves;    /* entries of the service that it needs; service.h */
    bool takes_at_hand; /* whether processes may take messages by themselves;
                           take_at_hand.h */
    /** Something was posted for a desk to read, and nobody in this process waits: see
     *  that it gets done. */
    void (*kick)(struct nic_engine *engine, uint32_t reader);
    /** After kick, for an operation that cannot complete by itself: have it moved on
     *  also if nobody ever waits. */
    void (*leave)(struct nic_engine *engine, uint32_t reader);
    /** A call that does not wait has found nothing: move what can be moved at once.
     *  @return whether something may have come of it, or of others' turns: then the
     *  caller looks again */
    bool (*progress)(struct nic_engine *engine);
    /** One turn of a wait for room in a ring that a desk reads; as turn. */
    void (*wait_for_room)(struct nic_engine *engine, struct bcs_waiter *waiter,
                          uint32_t reader);
    /** One turn of a wait. Returns soon, or after a sleep that a completion has ended;
     *  the caller must look for its completion between any two turns. */
    void (*turn)(struct nic_engine *engine, struct bcs_waiter *waiter);
    /** The wait is over, or is given up. */
    void (*stop)(struct nic_engine *engine, struct bcs_waiter *waiter);
};

/** Processes that wait run the engine themselves; strobes on demand. */
extern const struct nic_driver_ops nic_driver_inline;

/** The same while slices are recorded: it shows who waits. */
extern const struct nic_driver_ops nic_driver_inline_recorded;

/** One thread runs the engine at each timed strobe. */
extern const struct nic_driver_ops nic_driver_timed;

/** A thread for each role; either kind of strobes. */
extern const struct nic_driver_ops nic_driver_threads;

/**
 * Let no slice of all nodes begin any more, and wait until the last one is over: after
 * this, all nodes have recorded equally many. By one process, on node 0's machine, when
 * no process of the job has anything left to post; those of other machines still move
 * on by themselves. Without effect where nothing is recorded of all nodes.
 */
void nic_engine_end_slices(struct nic_engine *engine);

/**
 * Copy what was recorded on a node, at all of its desks together, or by the strobe
 * sender: times in ticks, begins since the job's. Waits for the locks of the desks; the
 * strobe sender's may be copied after nic_engine_end_slices only.
 *
 * @return 0        copied
 * @return -ENOENT  nothing is recorded there
 * @return -ENOMEM
 */
int nic_engine_recorded(struct nic_engine *engine, uint32_t node, bool is_global,
                        struct bcs_spans *recorded_out);

/** The driver of a configuration. Never NULL. */
const struct nic_driver_ops *nic_driver_find(const struct nic_config *config);

#endif
