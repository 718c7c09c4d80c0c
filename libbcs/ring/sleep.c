/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Naps of ports, by futex; see sleep.h for the invariant. Runs in any process and thread.
 */
#include "libbcs/ring/sleep.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t bcs_sleep_announce(struct bcs_machine *machine, struct bcs_port *port)
{
    uint32_t before;

    atomic_fetch_add_explicit(&machine->n_asleep, 1, memory_order_seq_cst);
    /* seq_cst: partner of the load in end_nap */
    before = atomic_fetch_or_explicit(&port->naps, 1, memory_order_seq_cst);
    if (before % 2 != 0) { /* another thread of this process has counted it in */
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
    return before | 1;
}

/** @return whether this call has ended the nap */
static bool end_nap(struct bcs_machine *machine, struct bcs_port *port)
{
    uint32_t nap = atomic_load_explicit(&port->naps, memory_order_seq_cst);

    if (nap % 2 == 0 ||
        !atomic_compare_exchange_strong_explicit(
            &port->naps, &nap, nap + 1, memory_order_seq_cst, memory_order_relaxed)) {
        return false;
    }
    atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    return true;
}

void bcs_sleep_retract(struct bcs_machine *machine, struct bcs_port *port)
{
    end_nap(machine, port);
}

void bcs_sleep_now(struct bcs_port *port, uint32_t nap)
{
    if (atomic_load_explicit(&port->naps, memory_order_seq_cst) == nap) {
        syscall(SYS_futex, &port->naps, FUTEX_WAIT, nap, NULL, NULL, 0);
    }
}

void bcs_sleep_wake(struct bcs_machine *machine, struct bcs_port *port)
{
    if (end_nap(machine, port)) {
        syscall(SYS_futex, &port->naps, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}
