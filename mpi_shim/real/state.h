/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's state: all that it remembers, in one object, which MPI_Init fills. What
 * most calls look at stands here; the rest of a room is known to that room alone, which
 * makes it and takes it down. (What the shim knows of the MPI library, and never
 * changes, is in real.h and handles.h.)
 *
 * Entry points run in the application's threads. One of them at a time is in the API;
 * how that is seen to is told in door.c.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/api/attach.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/fabric/base/waiter.h"
#include "mpi_shim/real/real.h"

#pragma GCC visibility push(hidden)

/** How entry points go; see gate.h. */
struct shim_gate {
    bool mpi_is_slow;  /* MPI_X must look further */
    bool pmpi_is_slow; /* PMPI_X must look further */
    bool is_active;    /* between shim_gate_open and shim_gate_close */
    bool has_tool;     /* some member of shim_tool is set */
    bool is_forked;    /* this is a forked child, which must not call MPI */
};

/** How the real library and we move each other; see fallback.h. */
struct shim_progress {
    void (*poke)(void);
    void (*callback)(void);
};

/** Why leaving the API takes more than to say so. */
union shim_leaving {
    struct {
        uint8_t has_work;    /* at_leave is set */
        uint8_t is_threaded; /* threads take turns under the lock */
        uint8_t is_awaited;  /* a thread that should not be here waits for this one */
        uint8_t is_nested;   /* a handler of a signal has called */
    };
    uint32_t any;
};

/** Who may enter the API; see door.c. */
struct shim_door {
    pthread_mutex_t lock;
    int level;              /* of threads, as MPI_Query_thread has it */
    void *owner;            /* while there is no lock: the only thread that enters; */
    uint32_t owner_id;      /* by its id */
    _Atomic(void *) holder; /* of the lock, between two waits */
    _Atomic bool
        has_let_in; /* the owner has made room for a thread that waits for it */
    struct bcs_waiter placed; /* by which it has told where it stands */
};

struct shim_state {
    /* What most calls look at. */
    struct shim_gate gate; /* any thread reads it */
    bool is_watched;       /* collect or buffers is not NULL: shim_watch */
    union shim_leaving leaving;
    _Atomic uint32_t n_at_door; /* threads that wait for the lock */
    _Atomic(void *)
        free_for; /* the thread that may enter, and is not in there; or NULL */
    /* NULL until MPI_Init has attached this process, and again after MPI_Finalize. */
    struct bcs_context *context;
    /* What is left to be done when a call ends; NULL: nothing. */
    void (*at_leave)(void);
    struct mds_collect *collect;  /* where calls are recorded; NULL: they are not */
    struct shim_callers *callers; /* of Fortran's bindings; NULL: there are none */
    struct shim_comm *last_comm;  /* that was looked up */
    /* The addresses of the first requests of ours: from the first to this end. */
    struct shim_request *requests, *requests_end;
    struct shim_idup *idups; /* that are under way; NULL: none */

    /* Of one room each. */
    struct shim_comms *comms;
    struct shim_types *types;
    struct shim_ops *ops;
    struct shim_arena *arena;
    struct bcs_job_record *record; /* of the MDS, from MPI_Init to MPI_Finalize */
    struct shim_buffers *buffers;  /* of operations that are watched; NULL: none */
    struct shim_lint *lint; /* what the program has made; NULL: it is not noted */
    struct shim_place_finder *place_finder; /* of calls that wait; NULL: no memory */
    bool is_ending;     /* the process is in MPI_Finalize, and may wait there */
    MPI_Comm pack_comm; /* with which the real library packs for us */

    struct shim_door door;
    pthread_once_t resolved; /* the real library has been found */
    struct shim_progress progress;
    struct bcs_forked forked; /* makes the entry points of a forked child refuse */
    _Atomic bool is_told_inactive;
    /* Calls that went to the real library. */
    _Atomic uint64_t n_passed[SHIM_N_FUNCTIONS];
};

/** The one of this process: MPI's functions name none. */
extern struct shim_state shim_state;

/** Call after a change of collect or buffers. */
static inline void shim_watch(void)
{
    shim_state.is_watched = shim_state.collect != NULL || shim_state.buffers != NULL;
}

/** The process's context, while the shim is active. */
static inline struct bcs_context *shim_context(void)
{
    return shim_state.context;
}

/** Whether threads take turns in the API: MPI_THREAD_MULTIPLE was granted, or two have
 *  come at once. */
static inline bool shim_is_threaded(void)
{
    return shim_state.leaving.is_threaded != 0;
}

/** Have something done when the call under way leaves, and all that follow. @param work
 *  NULL: no more */
static inline void shim_at_leave(void (*work)(void))
{
    shim_state.at_leave = work;
    shim_state.leaving.has_work = work != NULL;
}

/** The slow part of shim_enter. */
void shim_enter_slow(void);

/** The slow part of shim_leave. */
void shim_leave_slow(void);

/** Enter the API: before any call that takes the context, a request or a communicator
 *  of ours. Not recursive. */
static inline void shim_enter(void)
{
    /* relaxed: only this thread itself makes it its own pointer; see door.c */
    if (__builtin_expect(
            atomic_load_explicit(&shim_state.free_for, memory_order_relaxed) !=
                __builtin_thread_pointer(),
            0)) {
        shim_enter_slow();
        return;
    }
    atomic_store_explicit(&shim_state.free_for, NULL, memory_order_relaxed);
}

/** Leave the API: also around calls of the real library that may block. */
static inline void shim_leave(void)
{
    if (__builtin_expect(shim_state.leaving.any != 0, 0)) {
        shim_leave_slow();
        return;
    }
    /* release: pairs with the exchange of who comes next, in door.c */
    atomic_store_explicit(&shim_state.free_for, __builtin_thread_pointer(),
                          memory_order_release);
}

#pragma GCC visibility pop

#endif
