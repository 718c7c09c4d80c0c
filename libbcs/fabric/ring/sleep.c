/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping of the owners of ports; see sleep.h for the invariant. Any process and
 * thread.
 */
#include "libbcs/fabric/ring/sleep.h"

uint32_t bcs_sleep_announce(struct bcs_machine *machine, struct bcs_port *port)
{
    uint32_t announced;
    bool is_first;

    atomic_fetch_add_explicit(&machine->n_asleep, 1, memory_order_seq_cst);
    announced = bcs_park_announce(&port->park, &is_first);
    if (!is_first) { /* another thread of this process has counted it in */
        atomic_fetch_sub_explicit(&machine->n_asleep, 1, memory_order_relaxed);
    }
    return announced;
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
        bcs_word_wake(&port->park);
    }
}
