/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's state, and the door to the API of a process with several threads in MPI.
 */
#include <stdatomic.h>

#include "mpi_shim/real/state.h"

struct shim_state shim_state = {
    .gate = {.mpi_is_slow = true, .pmpi_is_slow = true},
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .resolved = PTHREAD_ONCE_INIT,
};

void shim_enter_threaded(void)
{
    atomic_fetch_add_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
    pthread_mutex_lock(&shim_state.lock);
    atomic_fetch_sub_explicit(&shim_state.n_at_door, 1, memory_order_relaxed);
}
