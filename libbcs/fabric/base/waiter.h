/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a wait of a port's owner keeps from one turn to the next. Who waits has it,
 * zeroed, and hands it to each turn (libbcs/api/message/wait.h); the drivers use what
 * is in it (nic_threads/drivers/waiting.h).
 */
#ifndef LIBBCS_FABRIC_BASE_WAITER_H
#define LIBBCS_FABRIC_BASE_WAITER_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/fabric/base/patience.h"

/** One wait in progress; zero it to start. Belongs to the waiting thread. */
struct bcs_waiter {
    struct bcs_spell spell;
    uint32_t park;     /* what to sleep on, once it is announced */
    uint64_t sleep_ns; /* sleep no longer than this at once; 0: no limit */
    uint64_t lent_cpu; /* its bit in machine->lent_cpus, or 0 */
    bool holds_lock;
    bool gives_way;        /* the lock is left to who wants it, for some polls */
    bool is_crowded;       /* some core has more than one process to run */
    bool has_short_sleeps; /* for the caller */
    bool is_asked;         /* the last time, where it stands */
    uint32_t stand;        /* number and 1 of where it has told that; 0: it has not */
    uint64_t since_ticks;  /* of the whole wait, about; 0: not known yet */
};

#endif
