/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heaps of the nodes: which transport has them, the tables of their windows, and
 * the checks of what a caller asks. Called while a process attaches and detaches, by
 * one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/transport/transport.h"

/** Whether the near nodes exist, and have all of those among them whose heaps are made
 *  here. */
static bool is_near_sound(const struct bcs_memory_params *params)
{
    if (params->near.marks != NULL || params->near.first >= params->n_nodes ||
        params->near.n_nodes > params->n_nodes - params->near.first) {
        bcs_error(
            "bcs_memory_create: near nodes that are no range of nodes 0 to %" PRIu32,
            params->n_nodes - 1);
        return false;
    }
    for (uint32_t i = 0; i < params->n_nodes; i++) {
        if (bcs_node_set_has(&params->makes, i) &&
            !bcs_node_set_has(&params->near, i)) {
            bcs_error("bcs_memory_create: makes the heap of node %" PRIu32
                      ", which is not near",
                      i);
            return false;
        }
    }
    return true;
}

static int check(const struct bcs_memory_params *params)
{
    if (params->n_nodes == 0 || params->n_nodes == BCS_NODE_NONE) {
        bcs_error("bcs_memory_create: %" PRIu32 " nodes; allowed are 1 to %" PRIu32,
                  params->n_nodes, BCS_NODE_NONE - 1);
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
    if (bcs_node_set_next(&params->makes, params->n_nodes) != BCS_NODE_NONE) {
        bcs_error(
            "bcs_memory_create: makes the heap of a node beyond the last, %" PRIu32,
            params->n_nodes - 1);
        return -EINVAL;
    }
    if (params->near.n_nodes > 0 && !is_near_sound(params)) {
        return -EINVAL;
    }
    for (size_t i = 0; i < sizeof(params->reserved) / sizeof(params->reserved[0]);
         i++) {
        if (params->reserved[i] != 0) {
            bcs_error("bcs_memory_create: a reserved member is not 0");
            return -EINVAL;
        }
    }
    return 0;
}

/** Bytes of a heap that are mapped at once. */
static uint64_t whole_bytes(const struct bcs_memory_params *params)
{
    return params->window_bytes == 0 ? params->heap_bytes : params->whole_bytes;
}

static int check_windows(const struct bcs_memory_params *params)
{
    uint64_t n_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    if (params->window_bytes == 0) {
        return 0;
    }
    if ((params->window_bytes & (params->window_bytes - 1)) != 0 ||
        params->window_bytes < n_page_bytes || params->whole_bytes == 0 ||
        params->whole_bytes > params->heap_bytes) {
        bcs_error("bcs_memory_create: %" PRIu64 " bytes in one piece and the rest in "
                  "windows of %" PRIu64
                  "; windows must be a power of two, at least %" PRIu64
                  ", and the first part a part of the heap",
                  params->whole_bytes, params->window_bytes, n_page_bytes);
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

/** A memory of nothing, which the transport is to fill. @return NULL: logged */
static struct bcs_memory *memory_new(const struct bcs_transport_ops *ops,
                                     const struct bcs_memory_params *params)
{
    struct bcs_memory *memory = calloc(1, ops->memory_size(params->n_nodes));

    if (memory == NULL) {
        bcs_error("bcs_memory_create: out of memory");
        return NULL;
    }
    *memory = (struct bcs_memory){
        .ops = ops,
        .n_nodes = params->n_nodes,
        .heap_bytes = params->heap_bytes,
        .whole_bytes = whole_bytes(params),
        .window_bytes =
            params->window_bytes == 0 ? UINT64_C(1) << 63 : params->window_bytes,
        .seed = params->seed,
        .near = params->near.n_nodes > 0 ? params->near
                                         : bcs_node_set_range(0, params->n_nodes),
        .windows = calloc(params->n_nodes, sizeof(*memory->windows)),
    };
    if (memory->windows == NULL) {
        bcs_error("bcs_memory_create: no memory for the tables of %" PRIu32 " heaps",
                  params->n_nodes);
        bcs_memory_destroy(memory);
        return NULL;
    }
    for (uint32_t i = 0; i < params->n_nodes; i++) {
        if (bcs_windows_init(&memory->windows[i], memory->heap_bytes,
                             memory->whole_bytes, memory->window_bytes) < 0) {
            bcs_memory_destroy(memory);
            return NULL;
        }
    }
    return memory;
}

int bcs_memory_create(const struct bcs_memory_params *params,
                      struct bcs_memory **memory_out)
{
    const struct bcs_transport_ops *ops = find_transport(params->transport);
    struct bcs_memory *memory;
    int rc;

    if (ops == NULL) {
        return -ENOENT;
    }
    if (check(params) < 0 || check_windows(params) < 0) {
        return -EINVAL;
    }
    memory = memory_new(ops, params);
    if (memory == NULL) {
        return -ENOMEM;
    }
    rc = ops->memory_create(memory, &params->makes);
    if (rc < 0) {
        bcs_memory_destroy(memory);
        return rc;
    }
    *memory_out = memory;
    return 0;
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
    return memory->windows[node].whole;
}

void bcs_memory_take_away(struct bcs_memory *memory)
{
    memory->is_taken_away = true;
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        bcs_windows_take_away(&memory->windows[i]);
    }
}

void bcs_memory_destroy(struct bcs_memory *memory)
{
    if (memory == NULL) {
        return;
    }
    if (memory->windows != NULL) {
        memory->ops->memory_fini(memory); /* no thread of the transport is left then */
        for (uint32_t i = 0; i < memory->n_nodes; i++) {
            bcs_windows_fini(&memory->windows[i]);
        }
    }
    free(memory->windows);
    free(memory);
}
