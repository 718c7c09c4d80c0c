/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the core: the handle and the checks that all primitives share. Included by
 * the files of this folder only; everybody else uses <bcs/primitives.h>.
 */
#ifndef LIBBCS_FABRIC_CORE_CORE_H
#define LIBBCS_FABRIC_CORE_CORE_H

#include <stdint.h>

#include <bcs/primitives.h>

#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/transport/transport.h"

struct bcs_core {
    struct bcs_transport *transport;
    const struct bcs_memory *memory;
    uint32_t node;
    uint64_t heap_bytes;
};

/** Log what is wrong with a range, an event or a set of nodes. @return -EINVAL */
int bcs_core_wrong_range(const struct bcs_core *core, const char *caller,
                         const char *what, uint64_t gva, uint64_t n_bytes,
                         uint64_t align);

/** The same of a set of nodes. */
int bcs_core_wrong_dests(const struct bcs_core *core, const char *caller,
                         const struct bcs_node_set *dests);

/**
 * Check that a range of global memory lies within the heap, outside of the transport's
 * part. `caller` and `what` name it in the log.
 *
 * @param n_bytes  at least 1
 * @param align    a power of two; 1: any address will do
 * @return 0        it does
 * @return -EINVAL  it does not; logged
 */
static inline int bcs_core_check_range(const struct bcs_core *core, const char *caller,
                                       const char *what, uint64_t gva, uint64_t n_bytes,
                                       uint64_t align)
{
    return __builtin_expect(gva >= BCS_HEAP_RESERVED_BYTES && gva < core->heap_bytes &&
                                n_bytes <= core->heap_bytes - gva &&
                                (gva & (align - 1)) == 0,
                            1)
               ? 0
               : bcs_core_wrong_range(core, caller, what, gva, n_bytes, align);
}

/**
 * Check the address of an event, where 0 stands for no event.
 *
 * @return 0        valid or 0
 * @return -EINVAL  neither; logged
 */
static inline int bcs_core_check_event(const struct bcs_core *core, const char *caller,
                                       const char *what, uint64_t event_gva)
{
    return event_gva == 0 ? 0
                          : bcs_core_check_range(core, caller, what, event_gva,
                                                 sizeof(struct bcs_event),
                                                 sizeof(struct bcs_event));
}

/**
 * Check that a set has nodes and all of them exist.
 *
 * @return 0        it does
 * @return -EINVAL  it does not; logged
 */
static inline int bcs_core_check_dests(const struct bcs_core *core, const char *caller,
                                       const struct bcs_node_set *dests)
{
    uint32_t n_nodes = core->memory->n_nodes;

    return __builtin_expect(bcs_node_set_step(dests, 0) != BCS_NODE_NONE &&
                                dests->first < n_nodes &&
                                dests->n_nodes <= n_nodes - dests->first,
                            1)
               ? 0
               : bcs_core_wrong_dests(core, caller, dests);
}

#endif
