/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC threads of the paper as step functions: each carries out one role's part of a
 * microphase at one desk, and returns. Whoever drives the engine calls them under the
 * desk's engine lock, in the order of slice.h; at a desk that is alone they follow each
 * other directly, in rounds of several nodes they wait for their microstrobes. [BCS-MPI
 * section 4.1]
 */
#ifndef NIC_THREADS_ROLES_ROLES_H
#define NIC_THREADS_ROLES_ROLES_H

#include "nic_threads/node/node.h"

/** The roles that the strobe receiver has carried out. */
enum nic_role { NIC_ROLE_BS, NIC_ROLE_BR, NIC_ROLE_DH, NIC_ROLE_CH, NIC_ROLE_RH };

enum { NIC_ROLES = 5 };

/** What a slice at a desk that is alone has carried out. */
enum nic_carried {
    NIC_CARRIED_NOTHING, /* there was nothing */
    NIC_CARRIED_SOME,    /* and there may be more */
    NIC_CARRIED_ALL,     /* that was posted when it began */
};

/** A step of a role. */
typedef void (*nic_role_fn)(struct nic_view *view);

/** What the strobe receiver asks of a driver whose roles have threads of their own. The
 *  driver hands it down when it makes its engine. */
struct nic_crew_ops {
    /** Have a role's thread carry out a step at a desk, and wait for it. */
    void (*hand_over)(struct nic_view *view, enum nic_role role, nic_role_fn step);
};

/* ---- SS, strobe sender: on node 0 only */

/** Timed strobes: open a slice. The last one must be closed, that is, the sender has no
 *  work. */
void nic_strobe_sender_open_slice(struct nic_view *view);

/**
 * Start a round that some node has demanded, or, if the present microphase is complete
 * on all nodes (Compare-And-Write), send the next microstrobe (Xfer-And-Signal), or, if
 * a timed slice has nothing left to do, close it.
 *
 * @return whether anything was sent
 */
bool nic_strobe_sender_step(struct nic_view *view);

/** Whether no slice is to begin any more; tells who has asked for it. Between slices,
 *  by the strobe sender alone. */
bool nic_strobe_sender_is_over(const struct nic_view *view);

/** Whether the strobe sender may have something to do; read without the lock. */
bool nic_strobe_sender_has_work(const struct nic_view *view);

/* ---- SR, strobe receiver: on every node */

/** Whether descriptors, wire entries or transfers wait for a slice; read without the
 *  lock, so that the answer may be out of date. */
bool nic_strobe_receiver_has_work(const struct nic_view *view);

/** Whether a timed slice would find nothing to do here, not even to deliver. Needs the
 *  lock. */
bool nic_strobe_receiver_is_at_rest(const struct nic_view *view);

/** Whether a timed slice would find nothing to do here but to deliver. */
bool nic_strobe_receiver_is_idle(const struct nic_view *view);

/** Run one whole slice at a desk that is alone. */
enum nic_carried nic_strobe_receiver_run_alone(struct nic_view *view);

/** Carry out the microphase of a new microstrobe, or, where there is none and work
 *  waits, demand a round. @return whether either was done */
bool nic_strobe_receiver_step(struct nic_view *view);

/* ---- BS, buffer sender */

/** DEM: deliver the sends of this slice that go to other nodes. */
void nic_buffer_sender_step(struct nic_view *view);

/* ---- BR, buffer receiver */

/** MSM: match sends with receives, answer probes, choose this slice's chunks. */
void nic_buffer_receiver_step(struct nic_view *view);

/* ---- DH, DMA helper */

/** PM: deliver the matched messages, pass on chunks that were loaded, stored or
 *  granted. */
void nic_dma_helper_step(struct nic_view *view);

/* ---- CH, collective helper */

/** DEM: open slots, count members in. */
void nic_collective_helper_exchange(struct nic_view *view);

/** MSM: at the master, ask all nodes whether a collective can go, and schedule it. */
void nic_collective_helper_schedule(struct nic_view *view);

/** BBM: carry out the scheduled barriers and broadcasts. */
void nic_collective_helper_step(struct nic_view *view);

/** End of a slice: complete the members of collectives whose result has come. */
void nic_collective_helper_finish(struct nic_view *view);

/** Whether a result has come that local members wait for; read without the lock. */
bool nic_collective_helper_has_result(const struct nic_view *view);

/** Send a result to all members on all nodes of a slot. */
void nic_collective_helper_broadcast(struct nic_view *view, uint32_t slot,
                                     const void *result, size_t n_bytes);

/* ---- RH, reduce helper */

/** RM: combine the contributions of the scheduled reductions and hand out the
 *  results. */
void nic_reduce_helper_step(struct nic_view *view);

#endif
