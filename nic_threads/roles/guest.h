/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who locks a desk without running it, to look there or to take something away: the
 * referee, and who takes a send back.
 */
#ifndef NIC_THREADS_ROLES_GUEST_H
#define NIC_THREADS_ROLES_GUEST_H

#include "nic_threads/node/node.h"

/** Lock a desk that a rank may be polling at, which lets go now and then. End with
 *  nic_engine_unlock.
 *  @return false: not now */
bool nic_guest_lock(struct nic_view *view);

/** A desk had been locked that somebody had work for, and went away, as
 *  nic_engine_unlock has said: see that it is done. With no lock. */
void nic_guest_make_good(struct nic_engine *engine);

#endif
