/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waking the referee (nic_threads/referee/referee.c), which rests while nothing changes
 * that it would have to look at. On other machines its witness is woken, which tells it
 * (witness.c). Called by processes that begin to wait for longer: who goes to sleep,
 * after the announcement, and who has told where it stands.
 */
#ifndef NIC_THREADS_NODE_REFEREE_WAKE_H
#define NIC_THREADS_NODE_REFEREE_WAKE_H

#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/ring/sleep.h"

/** Wake it, and have it look now. */
static inline void nic_rouse_referee(struct bcs_machine *machine)
{
    /* seq_cst: also what it is woken for; it finds it in its next look */
    atomic_store_explicit(&machine->referee_rests, BCS_REFEREE_WOKEN,
                          memory_order_seq_cst);
    bcs_park_wake(&machine->referee_park);
}

/** Wake it, if it rests. What it is to find was published before, seq_cst, or is a
 *  record. */
static inline void nic_wake_referee(struct bcs_machine *machine)
{
    _Atomic uint32_t *rests = &machine->referee_rests;

    /* seq_cst: partner of the store in referee.c, behind which it looks once more */
    if (__builtin_expect(atomic_load_explicit(rests, memory_order_seq_cst) ==
                             BCS_REFEREE_RESTS,
                         0)) {
        nic_rouse_referee(machine);
    }
}

#endif
