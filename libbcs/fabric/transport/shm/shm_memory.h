/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heaps of the nodes of one machine: an anonymous segment each, mapped by all
 * processes of the job. A heap that is far to the caller is mapped for the transport
 * alone: so several machines are played on one, and whoever uses a far heap by address
 * faults.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_SHM_SHM_MEMORY_H
#define LIBBCS_FABRIC_TRANSPORT_SHM_SHM_MEMORY_H

#include "libbcs/fabric/base/shm_segment.h"
#include "libbcs/fabric/transport/transport.h"

/** Memory of transport "shm", and of those that are made of it. */
struct shm_memory {
    struct bcs_memory base; /* first */
    /* What bcs_process_word told the process that opened a transport last; its low half
     * is the pid, as a forked child has another one. Relaxed: nothing follows from
     * it. */
    _Atomic uint64_t self;
    /* [n_nodes] where the transport finds the heaps: those of the base, or, where some
     * are far, a table of its own, also of the near ones. */
    struct bcs_windows *reach;
    struct bcs_shm_segment segments[]; /* [n_nodes]; base NULL: not mapped yet */
};

/** Whether some nodes are far. */
static inline bool shm_memory_has_far(const struct shm_memory *memory)
{
    return memory->reach != memory->base.windows;
}

/** bcs_process_word, which reads a file, remembered: a process opens all nodes. */
uint64_t shm_memory_self(struct bcs_memory *memory);

/** The operation of that name. */
size_t shm_memory_size(uint32_t n_nodes);

/** The operation of that name. */
int shm_memory_create(struct bcs_memory *memory, const struct bcs_node_set *makes);

/** The operation of that name. */
struct bcs_memory_address shm_memory_address(const struct bcs_memory *memory,
                                             uint32_t node);

/** The operation of that name. */
int shm_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[]);

/** Map the first part of one heap, unless it is mapped. @return 0 or -errno, logged */
int shm_memory_attach(struct bcs_memory *memory, uint32_t node,
                      const struct bcs_memory_address *address);

/** The operation of that name. */
void shm_memory_seal(struct bcs_memory *memory);

/** The operation of that name. */
int shm_memory_map(const struct bcs_memory *memory, uint32_t node, uint64_t gva,
                   uint64_t n_bytes, void **place_out);

/** The operation of that name. */
void shm_memory_fini(struct bcs_memory *memory);

#endif
