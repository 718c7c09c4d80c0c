/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the layout of NIC memory with the symmetric heap's own allocator. Called once
 * by each process when it attaches.
 */
#include "libbcs/ring/nic_memory.h"

#include <bcs/primitives.h>
#include <errno.h>
#include <string.h>

#include "libbcs/ring/port.h"

uint64_t nic_port_blocks_offset(uint32_t n_cells)
{
    uint64_t n_bytes = sizeof(struct bcs_port) +
                       n_cells * (sizeof(struct bcs_cell) + sizeof(uint32_t));

    return (n_bytes + BCS_HEAP_ALIGN - 1) / BCS_HEAP_ALIGN * BCS_HEAP_ALIGN;
}

uint32_t nic_layout_n_local(const struct nic_layout *layout, uint32_t node)
{
    uint32_t first = node * layout->shape.node_ranks;
    uint32_t rest = layout->shape.n_ports - first;

    return rest < layout->shape.node_ranks ? rest : layout->shape.node_ranks;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

int nic_layout_init(struct nic_layout *layout_out, const struct nic_shape *shape)
{
    const struct bcs_limits *limits = &shape->limits;
    struct nic_layout layout = {.shape = *shape};
    struct bcs_heap heap;

    if (shape->n_ports == 0 || shape->node_ranks == 0 ||
        shape->node_ranks > BCS_MAX_PORTS_A_NODE) {
        return -EINVAL;
    }
    layout.n_nodes = (shape->n_ports + shape->node_ranks - 1) / shape->node_ranks;
    if (layout.n_nodes > BCS_MAX_NODES) {
        return -EINVAL;
    }
    if ((uint64_t)shape->n_ports * shape->n_groups > UINT32_C(1) << NIC_SLOT_BITS) {
        return -E2BIG;
    }
    layout.send_limit = shape->node_ranks *
                        smaller(NIC_SENDS_A_CELL * shape->n_cells, limits->kept_sends);
    /* For each cell an item that waits, and two notes on their way to other nodes; those
     * that hold sends, of which a slice may take a batch and what arrives beyond the limit;
     * reductions. */
    layout.n_items = 3 * shape->node_ranks * shape->n_cells + layout.send_limit +
                     limits->batch + 2 * limits->arrivals + shape->n_ports;
    layout.stage_stride_bytes = sizeof(struct bcs_block) + BCS_CHUNK_BLOCK_BYTES;
    layout.port_stride_bytes =
        nic_port_blocks_offset(shape->n_cells) +
        (uint64_t)BCS_BLOCK_CLASSES * NIC_BLOCK_CLASS_REGION_BYTES;

    bcs_heap_init(&heap, UINT64_MAX / 2);
    layout.node_gva = bcs_heap_reserve(&heap, shape->n_node_bytes, BCS_HEAP_ALIGN);
    layout.item_gva = bcs_heap_reserve(
        &heap, (uint64_t)layout.n_items * shape->n_item_bytes, BCS_HEAP_ALIGN);
    layout.slot_gva = bcs_heap_reserve(
        &heap, (uint64_t)shape->n_ports * shape->n_groups * shape->n_slot_bytes,
        BCS_HEAP_ALIGN);
    layout.wire_gva = bcs_heap_reserve(
        &heap, (uint64_t)layout.n_nodes * limits->wire * shape->n_wire_bytes,
        BCS_HEAP_ALIGN);
    layout.stage_gva = bcs_heap_reserve(
        &heap,
        (uint64_t)layout.n_nodes * limits->stage_blocks * layout.stage_stride_bytes,
        BCS_HEAP_ALIGN);
    layout.port_gva = bcs_heap_reserve(
        &heap, shape->node_ranks * layout.port_stride_bytes, BCS_HEAP_ALIGN);
    layout.heap_bytes =
        (heap.next + BCS_HEAP_ALIGN - 1) / BCS_HEAP_ALIGN * BCS_HEAP_ALIGN;
    *layout_out = layout;
    return 0;
}
