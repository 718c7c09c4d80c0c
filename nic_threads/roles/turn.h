/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A turn: whoever takes it carries pending work of the machine's nodes as far as it
 * goes. Which processes do, and when, is the driver's business (driver.h).
 */
#ifndef NIC_THREADS_ROLES_TURN_H
#define NIC_THREADS_ROLES_TURN_H

#include "nic_threads/node/node.h"

/** Whether a locked or unlocked node seems to have work. */
bool nic_engine_has_work(const struct nic_view *view);

/**
 * Carry pending work as far as it goes, except at desks whose lock another process
 * holds: that process looks again after it has unlocked. Work of all nodes of the
 * machine; where each port has a desk of its own, at this process's, at those where it
 * has something under way, and the rounds of the nodes.
 *
 * @return whether anything was done
 */
bool nic_engine_turn(struct nic_engine *engine);

/** The same at all desks; for the background thread. */
bool nic_engine_turn_all(struct nic_engine *engine);

/** The same at one desk, by its number in the job; a node's own: the rounds of all
 *  nodes. A far desk is turned by its machine: false. */
bool nic_engine_turn_at(struct nic_engine *engine, uint32_t desk);

/** Of nic_engine_turn what is not at the own desk, but leave those of others alone that
 *  are locked. */
bool nic_engine_turn_others(struct nic_engine *engine);

/** After a step of a desk whose lock is kept: see to the desks that it has put
 *  something to. The other turns do so themselves. */
void nic_engine_visit(struct nic_engine *engine);

/**
 * A step of one node by a thread of its own: what the strobe receiver has to do at each
 * of the node's desks where nobody else holds the lock; then the strobe sender is rung,
 * as a microphase is done there.
 *
 * @param view  of any desk of the node
 *
 * @return whether anything was done
 */
bool nic_engine_receive(struct nic_view *view);

/** Timed strobes: one slice of all nodes of the machine, from the strobe until nothing
 *  of it is left to do. Only for the one thread that runs all slices; who holds a desk
 *  meanwhile to look at it, as proof.c does, takes no turn, and is waited for. */
void nic_engine_run_slice(struct nic_engine *engine);

#endif
