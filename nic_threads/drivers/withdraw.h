/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Withdrawing a send, by its sender, whatever its receiver's process does: the sender
 * locks the desk of the receiver, and takes the message back from where it lies. So
 * that needs neither a descriptor, for which there may be no room, nor anybody else to
 * act. All nodes of a job are on one machine.
 */
#ifndef NIC_THREADS_DRIVERS_WITHDRAW_H
#define NIC_THREADS_DRIVERS_WITHDRAW_H

#include "nic_threads/node/node.h"
#include "nic_threads/node/recall.h"

/** Withdraw a send of this process. By the thread that uses the engine. */
enum nic_withdrawn nic_withdraw(struct nic_engine *engine, struct nic_recall *recall);

#endif
