/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Naps, by futex; see sleep.h for the invariant. Runs in any process and thread.
 */
#include "libbcs/ring/sleep.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t bcs_nap_announce(_Atomic uint32_t *nap)
{
    /* seq_cst: partner of the load in bcs_nap_end */
    uint32_t announced = atomic_fetch_or_explicit(nap, 1, memory_order_seq_cst) | 1;

    atomic_thread_fence(memory_order_seq_cst); /* work is looked for with acquire */
    return announced;
}

void bcs_nap_sleep(_Atomic uint32_t *nap, uint32_t announced, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000),
                                   (long)(until_ns % 1000000000)};

    if (atomic_load_explicit(nap, memory_order_seq_cst) == announced) {
        syscall(SYS_futex, nap, FUTEX_WAIT_BITSET, announced,
                until_ns == 0 ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
    }
}

bool bcs_nap_end(_Atomic uint32_t *nap)
{
    uint32_t value = atomic_load_explicit(nap, memory_order_seq_cst);

    return value % 2 != 0 &&
           atomic_compare_exchange_strong_explicit(
               nap, &value, value + 1, memory_order_seq_cst, memory_order_relaxed);
}

bool bcs_nap_wake(_Atomic uint32_t *nap)
{
    if (!bcs_nap_end(nap)) {
        return false;
    }
    syscall(SYS_futex, nap, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

uint32_t bcs_sleep_announce(struct bcs_machine *machine, struct bcs_port *port)
{
    uint32_t before;

    atomic_fetch_add_explicit(&machine->n_asleep, 1, memory_order_seq_cst);
    before = atomic_fetch_or_explicit(&port->naps, 1, memory_order_seq_cst);
    if (before % 2 != 0) { /* another thread of this process has counted it in */
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return before | 1;
}

void bcs_sleep_retract(struct bcs_machine *machine, struct bcs_port *port)
{
    if (bcs_nap_end(&port->naps)) {
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
}

bool bcs_sleep_now(struct bcs_port *port, uint32_t nap, uint64_t until_ns)
{
    bcs_nap_sleep(&port->naps, nap, until_ns);
    /* acquire: pairs with the exchange in bcs_nap_end */
    return atomic_load_explicit(&port->naps, memory_order_acquire) != nap;
}

void bcs_sleep_wake(struct bcs_machine *machine, struct bcs_port *port)
{
    if (bcs_nap_end(&port->naps)) {
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
        syscall(SYS_futex, &port->naps, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}
