/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mover: copies between ports, through a buffer if need be. Used by one thread.
 */
#include "nic_threads/machine/mover.h"

#include <errno.h>
#include <stdlib.h>

struct nic_mover {
    const struct nic_engine *engine;
    char buffer[NIC_MOVER_BUFFER_BYTES];
};

int nic_mover_create(const struct nic_engine *engine, struct nic_mover **mover_out)
{
    struct nic_mover *mover = malloc(sizeof(*mover));

    if (mover == NULL) {
        return -ENOMEM;
    }
    mover->engine = engine;
    *mover_out = mover;
    return 0;
}

void nic_mover_destroy(struct nic_mover *mover)
{
    free(mover);
}

enum nic_outcome nic_mover_read(struct nic_mover *mover, const struct nic_place *from,
                                uint64_t n_bytes, const void **data_out)
{
    *data_out = mover->buffer;
    return nic_process_read(mover->engine, from, mover->buffer, n_bytes);
}

enum nic_outcome nic_mover_write(struct nic_mover *mover, const void *data,
                                 const struct nic_place *to, uint64_t n_bytes)
{
    return nic_process_write(mover->engine, to, data, n_bytes);
}

enum nic_outcome nic_mover_copy(struct nic_mover *mover, const struct nic_place *from,
                                const struct nic_place *to, uint64_t n_bytes)
{
    const struct nic_engine *engine = mover->engine;
    enum nic_outcome outcome = NIC_DONE;
    uint64_t n;

    if (to->port == engine->port) {
        return nic_process_read(engine, from, (void *)(uintptr_t)to->address, n_bytes);
    }
    if (from->port == engine->port) {
        return nic_process_write(engine, to, (const void *)(uintptr_t)from->address,
                                 n_bytes);
    }
    for (uint64_t done = 0; outcome == NIC_DONE && done < n_bytes; done += n) {
        uint64_t left = n_bytes - done;
        struct nic_place source = {from->port, from->address + done};
        struct nic_place target = {to->port, to->address + done};

        n = left < NIC_MOVER_BUFFER_BYTES ? left : (uint64_t)NIC_MOVER_BUFFER_BYTES;
        outcome = nic_process_read(engine, &source, mover->buffer, n);
        if (outcome == NIC_DONE) {
            outcome = nic_process_write(engine, &target, mover->buffer, n);
        }
    }
    return outcome;
}
