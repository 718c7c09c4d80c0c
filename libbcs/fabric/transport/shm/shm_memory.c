/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and mapping the heaps of a machine's nodes. Called while a process attaches
 * and detaches, by one thread; but windows are mapped by any.
 */
#include "libbcs/fabric/transport/shm/shm_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/base/process.h"

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

uint64_t shm_memory_self(struct bcs_memory *memory)
{
    _Atomic uint64_t *known = &shm_of(memory)->self;
    uint64_t self = atomic_load_explicit(known, memory_order_relaxed);

    if ((uint32_t)self != (uint32_t)getpid()) {
        self = bcs_process_word();
        atomic_store_explicit(known, self, memory_order_relaxed);
    }
    return self;
}

size_t shm_memory_size(uint32_t n_nodes)
{
    return sizeof(struct shm_memory) + n_nodes * sizeof(struct bcs_shm_segment);
}

/** A node's segment has been mapped. */
static void note_mapped(struct bcs_memory *memory, uint32_t node)
{
    struct shm_memory *shm = shm_of(memory);

    shm->reach[node].whole = shm->segments[node].base;
    if (bcs_node_set_has(&memory->near, node)) {
        memory->windows[node].whole = shm->segments[node].base;
    }
}

/** Set up where the heaps are found. @return 0 or -ENOMEM, logged */
static int make_reach(struct bcs_memory *memory)
{
    struct shm_memory *shm = shm_of(memory);
    int rc = 0;

    shm->reach = memory->windows;
    if (bcs_node_set_count(&memory->near) == memory->n_nodes) {
        return 0;
    }
    shm->reach = calloc(memory->n_nodes, sizeof(*shm->reach));
    if (shm->reach == NULL) {
        bcs_error("no memory for the tables of %u heaps", memory->n_nodes);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < memory->n_nodes && rc == 0; i++) {
        rc = bcs_windows_init(&shm->reach[i], memory->heap_bytes, memory->whole_bytes,
                              memory->window_bytes);
    }
    return rc;
}

int shm_memory_create(struct bcs_memory *memory, const struct bcs_node_set *makes)
{
    int rc = make_reach(memory);

    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        if (bcs_node_set_has(makes, i)) {
            rc = bcs_shm_segment_create_large(&shm_of(memory)->segments[i],
                                              memory->heap_bytes, memory->whole_bytes);
            if (rc < 0) {
                return rc;
            }
            note_mapped(memory, i);
        }
    }
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

/** All have connected: the file descriptor is of use only to map more. */
static void close_unless_large(struct bcs_shm_segment *segment)
{
    if (segment->n_mapped_bytes == segment->n_bytes) {
        bcs_shm_segment_close_fd(segment);
    }
}

int shm_memory_attach(struct bcs_memory *memory, uint32_t node,
                      const struct bcs_memory_address *address)
{
    struct shm_memory *shm = shm_of(memory);
    struct bcs_shm_handle handle;
    int rc;

    if (shm->segments[node].base != NULL) {
        return 0;
    }
    memcpy(&handle, address, sizeof(handle));
    rc = bcs_shm_segment_attach_large(&shm->segments[node], &handle,
                                      memory->whole_bytes);
    if (rc == 0) {
        note_mapped(memory, node);
        close_unless_large(&shm->segments[node]);
    }
    return rc;
}

int shm_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[])
{
    int rc = 0;

    for (uint32_t i = 0; i < memory->n_nodes && rc == 0; i++) {
        rc = shm_memory_attach(memory, i, &addresses[i]);
    }
    return rc;
}

void shm_memory_seal(struct bcs_memory *memory)
{
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        struct bcs_shm_segment *segment = &shm_of(memory)->segments[i];

        if (segment->base != NULL) {
            close_unless_large(segment);
        }
    }
}

int shm_memory_map(const struct bcs_memory *memory, uint32_t node, uint64_t gva,
                   uint64_t n_bytes, void **place_out)
{
    return bcs_shm_segment_map(&const_shm_of(memory)->segments[node], gva, n_bytes,
                               place_out);
}

void shm_memory_fini(struct bcs_memory *memory)
{
    struct shm_memory *shm = shm_of(memory);

    if (shm->reach != NULL && shm_memory_has_far(shm)) {
        for (uint32_t i = 0; i < memory->n_nodes; i++) {
            bcs_windows_fini(&shm->reach[i]);
        }
        free(shm->reach);
    }
    for (uint32_t i = 0; i < memory->n_nodes; i++) {
        bcs_shm_segment_fini(&shm->segments[i]);
    }
}
