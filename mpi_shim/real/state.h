/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's state: one per process, made by MPI_Init, read by all entry points. Entry
 * points run in the application's threads; with MPI_THREAD_MULTIPLE one of them at a time
 * is in the API, under the lock of this file, which waits let go now and then.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/api/attach.h"

/** Null until MPI_Init has attached this process, and again after MPI_Finalize. */
struct shim_state {
    struct bcs_context *context;
    bool is_threaded;           /* MPI_THREAD_MULTIPLE was granted */
    _Atomic uint32_t n_at_door; /* threads that wait for the lock */
    pthread_mutex_t lock;
    void (*at_leave)(
        void); /* what remains to be done when a call ends; NULL: nothing */
};

extern struct shim_state shim_state;

/** The process's context, while the shim is active. */
static inline struct bcs_context *shim_context(void)
{
    return shim_state.context;
}

/** The slow part of shim_enter. */
void shim_enter_threaded(void);

/** Enter the API: before any call that takes the context, a request or a communicator of
 *  ours. Not recursive. */
static inline void shim_enter(void)
{
    if (__builtin_expect(shim_state.is_threaded, 0)) {
        shim_enter_threaded();
    }
}

/** Leave the API: also around calls of the real library that may block. */
static inline void shim_leave(void)
{
    if (__builtin_expect(shim_state.at_leave != NULL, 0)) {
        shim_state.at_leave();
    }
    if (__builtin_expect(shim_state.is_threaded, 0)) {
        pthread_mutex_unlock(&shim_state.lock);
    }
}

#endif
