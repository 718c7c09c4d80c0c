/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC engine of one process: its views of all nodes of the machine, the engine locks
 * and the turn that carries pending work as far as it goes. Which processes call a turn,
 * and when, is the driver's business (driver.h).
 */
#ifndef NIC_THREADS_ENGINE_H
#define NIC_THREADS_ENGINE_H

#include "nic_threads/node.h"

/** What nic_engine_create needs. */
struct nic_engine_params {
    char *base; /* mapping of the job's memory: nic_engine_memory_bytes */
    uint32_t n_ports;
    uint32_t port;                   /* of this process */
    const struct nic_config *config; /* stays the caller's, must outlive the engine */
    bool is_direct;
    bool is_background; /* a second engine of this process; sets up nothing */
    bool is_mover;      /* the engine copies long messages by itself, if it may */
};

/** The layout of a job of n_ports processes. @return 0, -EINVAL or -E2BIG, logged */
int nic_engine_layout(uint32_t n_ports, const struct nic_config *config,
                      struct nic_layout *layout_out);

/** Bytes of the job's memory for a layout. */
uint64_t nic_engine_memory_bytes(const struct nic_layout *layout);

/**
 * Make this process's views. The first process of each node also sets up the node's
 * state; nobody may take a turn before all have (the caller synchronizes).
 *
 * @return 0 or -errno, logged; end with nic_engine_destroy
 */
int nic_engine_create(const struct nic_engine_params *params,
                      struct nic_engine **engine_out);

/** Free the views; the job's memory stays. Accepts NULL. */
void nic_engine_destroy(struct nic_engine *engine);

/**
 * Carry pending work of all nodes of the machine as far as it goes, except on nodes whose
 * lock another process holds: that process looks again after it has unlocked.
 *
 * @return whether anything was done
 */
bool nic_engine_turn(struct nic_engine *engine);

/** Timed strobes: one slice of all nodes of the machine, from the strobe until nothing of it
 *  is left to do. Only for the one thread that runs all slices. */
void nic_engine_run_slice(struct nic_engine *engine);

/** Try to lock a node; who holds it is told. @return whether this process now holds it */
bool nic_engine_try_lock(struct nic_view *view);

/**
 * Tell whoever holds a node's lock that there is work, published before (seq_cst), so that it
 * looks again after it has unlocked.
 *
 * @return false: nobody holds it
 */
bool nic_engine_tell_holder(struct nic_view *view);

/**
 * Unlock, then wake those for whom something was completed. seq_cst.
 *
 * @return whether the holder has been told of work: it must look whether there is any
 */
bool nic_engine_unlock(struct nic_view *view);

/** One step on a locked node. @return whether anything was done */
bool nic_engine_step(struct nic_view *view);

/** Wake the owners of completed cells who sleep. A seq_cst store or fence stands between
 *  the completions and this call. */
void nic_engine_wake(struct nic_view *view);

/** Have the background thread look after work that nobody may be waiting for, published
 *  before. Costs a system call if it has to be woken. */
void nic_engine_watch(const struct nic_engine *engine);

/** Whether fewer of the job's processes are awake than there are cores. */
bool nic_engine_has_idle_core(const struct nic_engine *engine);

/** Whether more of them are awake than there are cores. */
bool nic_engine_is_crowded(const struct nic_engine *engine);

/** Whether threads that this cannot count may need the cores besides. */
static inline bool nic_engine_has_helpers(const struct nic_engine *engine)
{
    return engine->is_threaded || engine->config->driver == NIC_DRIVER_THREADS;
}

/** Whether a locked or unlocked node seems to have work. */
bool nic_engine_has_work(const struct nic_view *view);

/**
 * Xfer-And-Signal as the view's node, of up to BCS_XFER_COPIED_BYTES, so that the source
 * may be used again at once; a transport error ends the process (logged).
 */
void nic_engine_xfer(struct nic_view *view, const struct bcs_xfer *xfer);

/** The same of any length; returns when the source may be used again. The local event is the
 *  engine's. */
void nic_engine_put_long(struct nic_view *view, const struct bcs_xfer *xfer);

/** nic_engine_flush for who has put something. */
void nic_engine_flush_puts(struct nic_view *view);

/** Wait until all nodes have what was put as the view's node by this process: before others
 *  act as it, or are told of it by another way than the primitives. */
static inline void nic_engine_flush(struct nic_view *view)
{
    if (view->owes_flush) {
        nic_engine_flush_puts(view);
    }
}

/** Compare-And-Write as the view's node; a transport error ends the process (logged). */
bool nic_engine_compare(struct nic_view *view, const struct bcs_comparison *comparison);

/** Whether the job has one node that runs its slices as they come, without strobes. */
static inline bool nic_is_alone(const struct nic_engine *engine)
{
    return engine->n_nodes == 1 && !engine->is_timed;
}

/** Sends that a node keeps for want of a receive before it takes no more from the rings;
 *  their senders wait then. */
static inline uint32_t nic_send_limit(const struct nic_view *view)
{
    return view->engine->layout.send_limit;
}

/** Say that a send stays where it is, as the node keeps so many. */
void nic_view_hold(const struct nic_view *view);

/** Whether a node keeps so many sends. Also read without the lock. */
static inline bool nic_view_is_full(const struct nic_view *view)
{
    return __atomic_load_n(&view->node->n_sends_kept, __ATOMIC_RELAXED) >=
           nic_send_limit(view);
}

#endif
