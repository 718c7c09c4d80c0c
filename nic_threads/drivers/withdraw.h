/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Withdrawing a send, by its sender, whatever its receiver's process does. From a near
 * receiver the sender takes it by itself: it locks the receiver's desk, and takes the
 * message back from where it lies. A far receiver's node has a thread that does so for
 * it. So that needs neither a descriptor, for which there may be no room, nor the
 * receiver to act.
 */
#ifndef NIC_THREADS_DRIVERS_WITHDRAW_H
#define NIC_THREADS_DRIVERS_WITHDRAW_H

#include "nic_threads/node/node.h"

/** Withdraw a send of this process. By the thread that uses the engine; again and again
 *  with the same recall, a turn of a wait in between, until it is known what comes of
 *  it. Meanwhile the send's cell, if it has one, must not serve another operation. */
enum nic_withdrawn nic_withdraw(struct nic_engine *engine, struct nic_recall *recall);

#endif
