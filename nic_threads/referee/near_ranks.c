/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reminds and asks the ranks of a machine; see near_ranks.h.
 */
#include "nic_threads/referee/near_ranks.h"

#include "libbcs/fabric/base/park.h"
#include "nic_threads/node/views.h"
#include "nic_threads/rules/deadlock.h"

static const struct bcs_port *port_of(const struct nic_engine *engine, uint32_t rank)
{
    return nic_engine_port(engine, nic_engine_port_of(engine, rank));
}

uint32_t nic_ranks_remind(const struct nic_engine *engine,
                          const struct nic_snapshot *snapshot, uint32_t *parks,
                          uint32_t *n_woken_out)
{
    uint32_t n = 0;

    *n_woken_out = 0;
    for (uint32_t i = 0; i < nic_engine_n_ranks(engine); i++) {
        const struct bcs_port *port;
        uint32_t park;

        if (!nic_engine_is_near_rank(engine, i)) {
            continue;
        }
        port = port_of(engine, i);
        park = atomic_load_explicit(&port->park, memory_order_relaxed);
        if (park % 2 != 0 && !nic_snapshot_have(snapshot, i)) {
            if (park == parks[i]) {
                bcs_word_wake(&port->park);
                ++*n_woken_out;
            }
            n++;
        }
        parks[i] = park;
    }
    return n;
}

void nic_ranks_ask(const struct nic_engine *engine, const uint64_t *ranks,
                   uint64_t asked)
{
    for (uint32_t i = 0; i < nic_engine_n_ranks(engine); i++) {
        if (nic_deadlock_has(ranks, i) && nic_engine_is_near_rank(engine, i)) {
            struct bcs_stands *stands =
                nic_engine_stands(engine, nic_engine_port_of(engine, i));

            /* seq_cst: partner of the load of who answers */
            atomic_store_explicit(&stands->asked, asked, memory_order_seq_cst);
            bcs_word_wake(&port_of(engine, i)->park);
        }
    }
}
