/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crew of a node: one thread for each role of its NIC engine, the form in which the
 * paper ran it. They live in the first process of the node, and sleep unless a microstrobe
 * gives them something to do. [BCS-MPI section 4.1]
 */
#ifndef NIC_THREADS_CREW_H
#define NIC_THREADS_CREW_H

#include "nic_threads/engine.h"

/** The roles that the strobe receiver wakes. */
enum nic_role { NIC_ROLE_BS, NIC_ROLE_BR, NIC_ROLE_DH, NIC_ROLE_CH, NIC_ROLE_RH };

enum { NIC_ROLES = 5 };

struct nic_crew;

/**
 * Start the crew of a node; on node 0 with the strobe sender. All nodes must be set up.
 *
 * @param params  of the node's first process; what it points to must outlive the crew
 * @return 0 or -errno, logged; end with nic_crew_stop
 */
int nic_crew_start(const struct nic_engine_params *params, struct nic_crew **crew_out);

/** End the threads; waits for them. Accepts NULL. */
void nic_crew_stop(struct nic_crew *crew);

/** Have a role's thread carry out a step and wait for it. */
void nic_crew_hand_over(struct nic_crew *crew, enum nic_role role, nic_role_fn step);

/** Whether nodes have crews. */
static inline bool nic_crew_is_used(const struct nic_view *view)
{
    return view->engine->config->driver == NIC_DRIVER_THREADS;
}

/** nic_crew_begin_phase where nodes have crews. */
void nic_crew_ring_for_phase(struct nic_view *view, enum nic_phase phase);

/**
 * After a microstrobe: wake the strobe receivers of all nodes. Where a slice begins on a
 * node that has nothing to do, the strobe sender delivers in its place, so that empty slices
 * cost one wake-up. Nothing without driver `threads`.
 */
static inline void nic_crew_begin_phase(struct nic_view *view, enum nic_phase phase)
{
    if (nic_crew_is_used(view)) {
        nic_crew_ring_for_phase(view, phase);
    }
}

/** Wake one node's strobe receiver, for a descriptor that was published before, or a credit
 *  that was put as the view's node. Nothing without driver `threads`. */
void nic_crew_ring_receiver(struct nic_view *view, uint32_t node);

/** Wake the strobe sender, for a demand or a completed microphase of the view's node. */
void nic_crew_ring_sender(struct nic_view *view);

/** Carry out a step of a role: on its thread if there is a crew, else here. */
static inline void nic_crew_run(struct nic_view *view, enum nic_role role,
                                nic_role_fn step)
{
    if (__builtin_expect(view->engine->crew != NULL, 0)) {
        nic_crew_hand_over(view->engine->crew, role, step);
    } else {
        step(view);
    }
}

#endif
