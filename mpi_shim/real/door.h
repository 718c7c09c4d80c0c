/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door to the API: who of a process may enter; see door.c. The quick ways in and
 * out are in state.h.
 */
#ifndef SHIM_REAL_DOOR_H
#define SHIM_REAL_DOOR_H

#include "libbcs/api/attach.h"

#pragma GCC visibility push(hidden)

/** MPI has been initialized, by this thread. @param level of threads, that was
 *  granted */
void shim_door_open(int level);

/** Let in whoever waits, between two turns of a wait: into the hooks, if threads take
 *  turns from the start. */
void shim_door_add_hooks(struct bcs_hooks *hooks);

/** Enter, unless another thread is in there. @return whether it has; then it must
 *  leave */
bool shim_enter_at_once(void);

#pragma GCC visibility pop

#endif
