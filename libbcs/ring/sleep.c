/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parking, by futex; see sleep.h for the invariant. Runs in any process and thread.
 */
#include "libbcs/ring/sleep.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t bcs_park_announce(_Atomic uint32_t *park)
{
    /* seq_cst: partner of the load in bcs_park_end */
    uint32_t announced = atomic_fetch_or_explicit(park, 1, memory_order_seq_cst) | 1;

    atomic_thread_fence(memory_order_seq_cst); /* work is looked for with acquire */
    return announced;
}

void bcs_park_sleep(_Atomic uint32_t *park, uint32_t announced, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000),
                                   (long)(until_ns % 1000000000)};

    if (atomic_load_explicit(park, memory_order_seq_cst) == announced) {
        syscall(SYS_futex, park, FUTEX_WAIT_BITSET, announced,
                until_ns == 0 ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
    }
}

bool bcs_park_end(_Atomic uint32_t *park)
{
    uint32_t value = atomic_load_explicit(park, memory_order_seq_cst);

    return value % 2 != 0 &&
           atomic_compare_exchange_strong_explicit(
               park, &value, value + 1, memory_order_seq_cst, memory_order_relaxed);
}

bool bcs_park_wake(_Atomic uint32_t *park)
{
    if (!bcs_park_end(park)) {
        return false;
    }
    syscall(SYS_futex, park, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

uint32_t bcs_sleep_announce(struct bcs_machine *machine, struct bcs_port *port)
{
    uint32_t before;

    atomic_fetch_add_explicit(&machine->n_asleep, 1, memory_order_seq_cst);
    before = atomic_fetch_or_explicit(&port->park, 1, memory_order_seq_cst);
    if (before % 2 != 0) { /* another thread of this process has counted it in */
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return before | 1;
}

void bcs_sleep_retract(struct bcs_machine *machine, struct bcs_port *port)
{
    if (bcs_park_end(&port->park)) {
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
}

bool bcs_sleep_now(struct bcs_port *port, uint32_t park, uint64_t until_ns)
{
    bcs_park_sleep(&port->park, park, until_ns);
    /* acquire: pairs with the exchange in bcs_park_end */
    return atomic_load_explicit(&port->park, memory_order_acquire) != park;
}

void bcs_sleep_wake(struct bcs_machine *machine, struct bcs_port *port)
{
    if (bcs_park_end(&port->park)) {
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
        syscall(SYS_futex, &port->park, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}
