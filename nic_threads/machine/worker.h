/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the service asks of those who work in it: the background thread, the timekeeper,
 * the crew. A worker has a state, and for each of its threads a look: it does what
 * there is to do, and says when it wants to look again. The service starts, parks,
 * wakes and ends the threads (service.c).
 */
#ifndef NIC_THREADS_MACHINE_WORKER_H
#define NIC_THREADS_MACHINE_WORKER_H

#include "nic_threads/machine/engine.h"

/** What wakes a thread: either may be NULL. */
struct nic_wakers {
    _Atomic uint32_t *park; /* a parking word; see libbcs/fabric/base/park.h */
    struct nic_view *bell;  /* the bell of this view's node */
};

/** What a thread does after a look. */
enum nic_rest_kind {
    NIC_REST_NOT,  /* it looks again at once */
    NIC_REST_PARK, /* it sleeps until its parking is ended, or until until_ns */
    NIC_REST_BELL, /* it sleeps until its bell has rung since before the look */
};

struct nic_rest {
    enum nic_rest_kind kind;
    uint64_t until_ns; /* on the clock of bcs_clock_now_ns; 0: no limit */
};

/** A worker. `part` is which of its threads is meant, 0 if it has one. */
struct nic_worker_ops {
    /** Make the state. params outlives it, and says is_background. @return 0 or
     *  -errno */
    int (*create)(const struct nic_engine_params *params, void **state_out);
    /** Free it; no thread is left. Never NULL. */
    void (*destroy)(void *state);
    /** What wakes a thread; does not change. */
    struct nic_wakers (*wakers)(void *state, uint32_t part);
    /** In the thread, before its first look. May be NULL. */
    void (*begin)(void *state, uint32_t part);
    /** Do what there is to do. The thread has announced before that it may sleep. */
    struct nic_rest (*look)(void *state, uint32_t part);
};

#endif
