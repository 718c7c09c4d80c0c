/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handle of the primitives: it opens the transport of a memory as one node, and
 * holds what is needed to check the arguments of every call before the transport sees
 * them. Used by any thread of the process that created the handle.
 */
#include "libbcs/fabric/core/core.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libbcs/fabric/base/log.h"

int bcs_core_create(struct bcs_memory *memory, uint32_t node,
                    struct bcs_core **core_out)
{
    struct bcs_core *core;
    int rc;

    if (node >= memory->n_nodes || bcs_memory_heap(memory, node) == NULL) {
        bcs_error("bcs_core_create: node %" PRIu32 " of %" PRIu32 " nodes%s", node,
                  memory->n_nodes, node < memory->n_nodes ? " is not mapped here" : "");
        return -EINVAL;
    }
    core = calloc(1, sizeof(*core));
    if (core == NULL) {
        bcs_error("bcs_core_create: out of memory");
        return -ENOMEM;
    }
    core->memory = memory;
    core->node = node;
    core->heap_bytes = memory->heap_bytes;
    rc = memory->ops->open(memory, node, &core->transport);
    if (rc < 0) {
        bcs_core_destroy(core);
        return rc;
    }
    *core_out = core;
    return 0;
}

void bcs_core_destroy(struct bcs_core *core)
{
    if (core == NULL) {
        return;
    }
    if (core->transport != NULL) {
        core->transport->ops->close(core->transport);
    }
    free(core);
}

void bcs_core_order_by_node(struct bcs_core *core)
{
    if (core->transport->ops->order_by_node != NULL) {
        core->transport->ops->order_by_node(core->transport);
    }
}

void *bcs_core_address(const struct bcs_core *core, uint64_t gva)
{
    return bcs_memory_at(core->memory, core->node, gva);
}

int bcs_core_progress(struct bcs_core *core)
{
    return bcs_core_progress_and_look(core, 0, 0);
}

int bcs_core_progress_and_look(struct bcs_core *core, uint64_t first_gva,
                               uint64_t n_bytes)
{
    return core->transport->ops->progress(core->transport, first_gva, n_bytes);
}

void bcs_core_leave(struct bcs_core *core)
{
    if (core->transport->ops->leave != NULL) {
        core->transport->ops->leave(core->transport);
    }
}

int bcs_core_flush(struct bcs_core *core)
{
    return bcs_core_is_late(core) ? core->transport->ops->flush(core->transport) : 0;
}

bool bcs_core_is_late(const struct bcs_core *core)
{
    return core->transport->ops->flush != NULL;
}

size_t bcs_core_copied_bytes(const struct bcs_core *core)
{
    size_t n_bytes = core->transport->ops->copied_bytes;

    return n_bytes > BCS_XFER_COPIED_BYTES ? n_bytes : BCS_XFER_COPIED_BYTES;
}

bool bcs_core_delivers(const struct bcs_core *core)
{
    return core->transport->ops->delivers;
}

int bcs_core_wrong_range(const struct bcs_core *core, const char *caller,
                         const char *what, uint64_t gva, uint64_t n_bytes,
                         uint64_t align)
{
    if (gva < BCS_HEAP_RESERVED_BYTES || gva >= core->heap_bytes ||
        n_bytes > core->heap_bytes - gva) {
        bcs_error("%s: %s at 0x%" PRIx64 ", %" PRIu64 " bytes, is outside of the heap,"
                  " 0x%x to 0x%" PRIx64,
                  caller, what, gva, n_bytes, BCS_HEAP_RESERVED_BYTES,
                  core->heap_bytes);
    } else {
        bcs_error("%s: %s at 0x%" PRIx64 ", %" PRIu64
                  " bytes, is not aligned to %" PRIu64,
                  caller, what, gva, n_bytes, align);
    }
    return -EINVAL;
}

int bcs_core_wrong_dests(const struct bcs_core *core, const char *caller,
                         const struct bcs_node_set *dests)
{
    if (bcs_node_set_is_empty(dests)) {
        bcs_error("%s: the destination set is empty", caller);
    } else {
        bcs_error("%s: the destination set goes on to node %" PRIu64
                  "; the last one is %" PRIu32,
                  caller, (uint64_t)dests->first + dests->n_nodes - 1,
                  core->memory->n_nodes - 1);
    }
    return -EINVAL;
}
