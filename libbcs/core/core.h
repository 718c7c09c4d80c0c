/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the core: the handle and the checks that all primitives share. Included by
 * the files of this folder only; everybody else uses <bcs/primitives.h>.
 */
#ifndef BCS_CORE_CORE_H
#define BCS_CORE_CORE_H

#include <stdint.h>

#include <bcs/primitives.h>

#include "libbcs/transport/transport.h"

struct bcs_core {
    struct bcs_transport *transport;
    const struct bcs_memory *memory;
    uint32_t node;
    uint64_t heap_bytes;
};

/**
 * Check that a range of global memory lies within the heap, outside of the transport's
 * part. `caller` and `what` name it in the log.
 *
 * @param n_bytes  at least 1
 * @param align    a power of two; 1: any address will do
 * @return 0        it does
 * @return -EINVAL  it does not; logged
 */
int bcs_core_check_range(const struct bcs_core *core, const char *caller,
                         const char *what, uint64_t gva, uint64_t n_bytes,
                         uint64_t align);

/**
 * Check the address of an event, where 0 stands for no event.
 *
 * @return 0        valid or 0
 * @return -EINVAL  neither; logged
 */
int bcs_core_check_event(const struct bcs_core *core, const char *caller,
                         const char *what, uint64_t event_gva);

/**
 * Check that a set has nodes and all of them exist.
 *
 * @return 0        it does
 * @return -EINVAL  it does not; logged
 */
int bcs_core_check_dests(const struct bcs_core *core, const char *caller,
                         const struct bcs_node_set *dests);

#endif
