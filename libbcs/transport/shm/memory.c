/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and mapping the heaps of a machine's nodes. Called while a process attaches and
 * detaches, by one thread.
 */
#include "libbcs/transport/shm/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"

_Static_assert(offsetof(struct shm_memory, base) == 0, "cast from bcs_memory");
_Static_assert(sizeof(struct bcs_shm_handle) <= sizeof(struct bcs_memory_address),
               "an address holds a handle");

static struct shm_memory *shm_of(struct bcs_memory *memory)
{
    return (struct shm_memory *)memory;
}

static const struct shm_memory *const_shm_of(const struct bcs_memory *memory)
{
    return (const struct shm_memory *)memory;
}

int shm_memory_create_for(const struct bcs_transport_ops *ops,
                          const struct bcs_memory_params *params,
                          struct bcs_memory **memory_out)
{
    struct shm_memory *memory =
        calloc(1, sizeof(*memory) + params->n_nodes * sizeof(memory->segments[0]));

    if (memory == NULL) {
        bcs_error("transport shm: out of memory");
        return -ENOMEM;
    }
    memory->base = (struct bcs_memory){
        .ops = ops,
        .n_nodes = params->n_nodes,
        .heap_bytes = params->heap_bytes,
        .seed = params->seed,
    };
    for (uint32_t i = 0; i < params->n_nodes; i++) {
        if (bcs_node_set_has(&params->makes, i)) {
            int rc = bcs_shm_segment_create(&memory->segments[i], params->heap_bytes);

            if (rc < 0) {
                shm_memory_destroy(&memory->base);
                return rc;
            }
        }
    }
    *memory_out = &memory->base;
    return 0;
}

struct bcs_memory_address shm_memory_address(const struct bcs_memory *memory,
                                             uint32_t node)
{
    struct bcs_shm_handle handle =
        bcs_shm_segment_handle(&const_shm_of(memory)->segments[node]);
    struct bcs_memory_address address = {{0}};

    memcpy(&address, &handle, sizeof(handle));
    return address;
}

int shm_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[])
{
    struct shm_memory *shm = shm_of(memory);

    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        struct bcs_shm_handle handle;
        int rc;

        if (shm->segments[i].base != NULL) {
            continue;
        }
        memcpy(&handle, &addresses[i], sizeof(handle));
        rc = bcs_shm_segment_attach(&shm->segments[i], &handle);
        if (rc < 0) {
            return rc;
        }
        bcs_shm_segment_close_fd(&shm->segments[i]);
    }
    return 0;
}

void shm_memory_seal(struct bcs_memory *memory)
{
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        struct bcs_shm_segment *segment = &shm_of(memory)->segments[i];

        if (segment->base != NULL) {
            bcs_shm_segment_close_fd(segment);
        }
    }
}

void *shm_memory_heap(const struct bcs_memory *memory, uint32_t node)
{
    return const_shm_of(memory)->segments[node].base;
}

void shm_memory_destroy(struct bcs_memory *memory)
{
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        bcs_shm_segment_fini(&shm_of(memory)->segments[i]);
    }
    free(shm_of(memory));
}
