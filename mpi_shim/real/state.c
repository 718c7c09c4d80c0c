/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's state; see state.h.
 */
#include "mpi_shim/real/state.h"

struct shim_state shim_state = {
    .gate = {.mpi_is_slow = true, .pmpi_is_slow = true},
    .door = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .resolved = PTHREAD_ONCE_INIT,
};
