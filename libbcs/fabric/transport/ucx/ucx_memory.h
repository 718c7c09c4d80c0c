/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of transport "ucx": the near heaps by transport shm, and where the far
 * ones are. One thread, but for windows.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCX_MEMORY_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCX_MEMORY_H

#include "libbcs/fabric/transport/ucx/ucx_state.h"

/** The operation of that name. */
size_t ucx_memory_size(uint32_t n_nodes);

/** The operation of that name. */
int ucx_memory_create(struct bcs_memory *memory, const struct bcs_node_set *makes);

/** The operation of that name. */
struct bcs_memory_address ucx_memory_address(const struct bcs_memory *memory,
                                             uint32_t node);

/** The operation of that name. */
int ucx_memory_connect(struct bcs_memory *memory,
                       const struct bcs_memory_address addresses[]);

/** The operation of that name. */
void ucx_memory_seal(struct bcs_memory *memory);

/** The operation of that name. */
int ucx_memory_map(const struct bcs_memory *memory, uint32_t node, uint64_t gva,
                   uint64_t n_bytes, void **place_out);

/** The operation of that name. */
void ucx_memory_fini(struct bcs_memory *memory);

#endif
