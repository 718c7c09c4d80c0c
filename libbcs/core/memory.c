/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heaps of the nodes: which transport has them, and the checks of what a caller asks of
 * it. Called while a process attaches and detaches, by one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "libbcs/transport/transport.h"

static int check(const struct bcs_memory_params *params)
{
    if (params->n_nodes == 0 || params->n_nodes > BCS_MAX_NODES) {
        bcs_error("bcs_memory_create: %" PRIu32 " nodes; allowed are 1 to %d",
                  params->n_nodes, BCS_MAX_NODES);
        return -EINVAL;
    }
    if (params->heap_bytes == 0 || params->heap_bytes % BCS_HEAP_ALIGN != 0 ||
        params->heap_bytes > INT64_MAX / params->n_nodes) {
        bcs_error("bcs_memory_create: heaps of %" PRIu64
                  " bytes; must be a multiple of %d"
                  " and fit %" PRIu32 " times",
                  params->heap_bytes, BCS_HEAP_ALIGN, params->n_nodes);
        return -EINVAL;
    }
    if (bcs_node_set_next(&params->makes, params->n_nodes) != BCS_MAX_NODES) {
        bcs_error(
            "bcs_memory_create: makes the heap of a node beyond the last, %" PRIu32,
            params->n_nodes - 1);
        return -EINVAL;
    }
    return 0;
}

static const struct bcs_transport_ops *find_transport(const char *name)
{
    const struct bcs_transport_ops *ops = bcs_transport_find(name);

    if (ops == NULL) {
        char known[128] = "";

        for (const char *const *n = bcs_transport_names(); *n != NULL; n++) {
            strncat(known, " ", sizeof(known) - strlen(known) - 1);
            strncat(known, *n, sizeof(known) - strlen(known) - 1);
        }
        bcs_error("bcs_memory_create: no transport \"%s\"; there are:%s", name, known);
    }
    return ops;
}

int bcs_memory_create(const struct bcs_memory_params *params,
                      struct bcs_memory **memory_out)
{
    const struct bcs_transport_ops *ops = find_transport(params->transport);
    int rc;

    if (ops == NULL) {
        return -ENOENT;
    }
    rc = check(params);
    return rc < 0 ? rc : ops->memory_create(params, memory_out);
}

struct bcs_memory_address bcs_memory_address(const struct bcs_memory *memory,
                                             uint32_t node)
{
    return memory->ops->memory_address(memory, node);
}

int bcs_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[])
{
    return memory->ops->memory_connect(memory, addresses);
}

void bcs_memory_seal(struct bcs_memory *memory)
{
    memory->ops->memory_seal(memory);
}

void *bcs_memory_heap(const struct bcs_memory *memory, uint32_t node)
{
    return memory->ops->memory_heap(memory, node);
}

void bcs_memory_destroy(struct bcs_memory *memory)
{
    if (memory != NULL) {
        memory->ops->memory_destroy(memory);
    }
}
