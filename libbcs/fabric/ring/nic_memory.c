/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the layout of NIC memory with the symmetric heap's own allocator. Called
 * once by each process when it attaches.
 */
#include "libbcs/fabric/ring/nic_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/span.h"
#include "libbcs/fabric/ring/near_line.h"
#include "libbcs/fabric/ring/stand.h"

/** What collective slots take in the first part, of limits.whole; each grows with the
 *  nodes. */
#define SLOT_BYTES_FIRST UINT64_C(4096)

uint32_t nic_layout_n_local(const struct nic_layout *layout, uint32_t node)
{
    uint32_t first = node * layout->shape.node_ranks;
    uint32_t rest = layout->shape.n_ports - first;

    return rest < layout->shape.node_ranks ? rest : layout->shape.node_ranks;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** The layout that is being made, and where the next part goes. */
struct drawing {
    struct nic_layout *layout;
    struct bcs_heap heap;
    uint32_t window_shift;
};

/** Reserve a part of the first part. */
static uint64_t reserve(struct drawing *drawing, uint64_t n_bytes)
{
    return bcs_heap_reserve(&drawing->heap, n_bytes, BCS_HEAP_ALIGN);
}

/** The table of n elements of which n_first, if there are so many, are in the first
 *  part. Where they are is said by place_first and place_later. */
static struct nic_region table(const struct drawing *drawing, uint64_t n,
                               uint64_t n_first, uint64_t stride_bytes)
{
    uint64_t n_a_window = (UINT64_C(1) << drawing->window_shift) / stride_bytes;

    assert(n_a_window > 0);
    return (struct nic_region){
        .n_first = (uint32_t)smaller(n, n_first),
        .stride_bytes = (uint32_t)stride_bytes,
        .window_shift = drawing->window_shift,
        .shift = 63 - (uint32_t)__builtin_clzll(n_a_window),
    };
}

static void place_first(struct drawing *drawing, struct nic_region *region)
{
    region->first_gva =
        reserve(drawing, (uint64_t)region->n_first * region->stride_bytes);
}

/** Put the region of n elements at an address, a border of windows. @return its end,
 *  another */
static uint64_t place_later(struct nic_region *region, uint64_t gva, uint64_t n)
{
    uint64_t n_windows = n == 0 ? 0 : ((n - 1) >> region->shift) + 1;

    region->gva = gva;
    return n <= region->n_first ? gva : gva + (n_windows << region->window_shift);
}

/** Sizes of a port's tables. */
static void size_port(const struct drawing *drawing)
{
    static const uint64_t most_bytes[] = NIC_BLOCK_CLASS_REGION_BYTES;
    static const uint32_t class_bytes[] = BCS_BLOCK_CLASS_BYTES;
    static const uint32_t parts[] = {1, 2, 4, 16, 16}; /* of limits.whole */
    struct nic_layout *layout = drawing->layout;
    const struct bcs_limits *limits = &layout->shape.limits;

    layout->cells = table(drawing, layout->shape.n_cells, UINT64_C(4) * limits->whole,
                          sizeof(struct bcs_cell));
    layout->links = table(drawing, layout->n_links, limits->whole / 8,
                          bcs_ring_bytes(limits->link));
    layout->credits =
        table(drawing, 2 * (uint64_t)layout->n_off_node, 0, sizeof(bcs_credit));
    layout->landings = table(drawing, layout->n_off_node, 0, limits->landing);
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        bool is_chunk = i == BCS_BLOCK_CLASSES - 1;
        uint64_t stride = class_bytes[i] + sizeof(struct bcs_block);

        layout->n_blocks[i] = (uint32_t)smaller(
            is_chunk ? limits->stream_blocks : limits->blocks, most_bytes[i] / stride);
        layout->blocks[i] =
            table(drawing, layout->n_blocks[i], limits->whole / parts[i], stride);
    }
}

/** Sizes of a desk's tables. */
static void size_desk(const struct drawing *drawing)
{
    struct nic_layout *layout = drawing->layout;
    const struct nic_shape *shape = &layout->shape;
    uint64_t whole = shape->limits.whole;

    layout->items = table(drawing, layout->n_items,
                          (layout->n_desks > 1 ? 4 : 16) * whole, shape->n_item_bytes);
    layout->partners =
        table(drawing, layout->n_off_node, whole / 2, shape->n_partner_bytes);
}

/** The first parts of the ports: ring, first cells, orders, first blocks. */
static void place_ports(struct drawing *drawing)
{
    struct nic_layout *layout = drawing->layout;
    uint64_t first_gva;

    layout->port_gva = reserve(drawing, BCS_PORT_BYTES);
    layout->cells.first_gva = bcs_heap_reserve(
        &drawing->heap, layout->cells.n_first * sizeof(struct bcs_cell),
        BCS_CACHE_LINE);
    assert(layout->cells.first_gva == layout->port_gva + BCS_PORT_BYTES);
    place_first(drawing, &layout->links);
    layout->order_gva =
        reserve(drawing, layout->shape.limits.orders * sizeof(uint64_t));
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        place_first(drawing, &layout->blocks[i]);
    }
    first_gva = reserve(drawing, 0);
    layout->port_stride_bytes = first_gva - layout->port_gva;
    reserve(drawing, (layout->shape.node_ranks - 1) * layout->port_stride_bytes);
}

/** The first parts of the desks: state, first items, first partners. */
static void place_desks(struct drawing *drawing)
{
    struct nic_layout *layout = drawing->layout;

    layout->desk_gva = reserve(drawing, layout->shape.n_desk_bytes);
    place_first(drawing, &layout->items);
    place_first(drawing, &layout->partners);
    layout->desk_stride_bytes = reserve(drawing, 0) - layout->desk_gva;
    reserve(drawing, (layout->n_desks - 1) * layout->desk_stride_bytes);
}

/** The regions of the desks, from an address on. @return their end */
static uint64_t place_desks_later(struct nic_layout *layout, uint64_t begin)
{
    uint64_t end = place_later(&layout->items, begin, layout->n_items);

    end = place_later(&layout->partners, end, layout->n_off_node);
    layout->desk_later_stride_bytes = end - begin;
    return begin + layout->n_desks * layout->desk_later_stride_bytes;
}

/** The regions of the ports, from an address on. @return their end */
static uint64_t place_ports_later(struct nic_layout *layout, uint64_t begin)
{
    uint64_t end = place_later(&layout->cells, begin, layout->shape.n_cells);

    end = place_later(&layout->links, end, layout->n_links);
    end = place_later(&layout->credits, end, 2 * (uint64_t)layout->n_off_node);
    end = place_later(&layout->landings, end, layout->n_off_node);
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        end = place_later(&layout->blocks[i], end, layout->n_blocks[i]);
    }
    layout->port_later_stride_bytes = end - begin;
    return begin + layout->shape.node_ranks * layout->port_later_stride_bytes;
}

/** How many there are of what a desk keeps. */
static void count_items(struct nic_layout *layout)
{
    const struct nic_shape *shape = &layout->shape;
    const struct bcs_limits *limits = &shape->limits;
    uint64_t n_ranks = shape->desk_ranks;
    uint64_t n_sends =
        n_ranks *
        smaller(UINT64_C(1) * NIC_SENDS_A_CELL * shape->n_cells, limits->kept_sends);

    layout->send_limit = (uint32_t)smaller(n_sends, NIC_KEPT_SENDS_MOST);
    /* For each cell an item that waits, and two control descriptors on their way to
     * others; those that hold sends, of which a slice may take a batch and what arrives
     * beyond the limit; reductions. */
    layout->n_items =
        (uint32_t)smaller(3 * n_ranks * shape->n_cells + layout->send_limit +
                              limits->batch + 2 * limits->arrivals + shape->n_ports,
                          NIC_ITEMS_MOST);
}

static void place_all(struct drawing *drawing)
{
    struct nic_layout *layout = drawing->layout;
    const struct nic_shape *shape = &layout->shape;
    const struct bcs_limits *limits = &shape->limits;
    uint64_t n_slots = (uint64_t)shape->n_ports * shape->n_groups;
    uint64_t n_near, n_whole_near;
    uint64_t n_wires = (uint64_t)layout->n_nodes * limits->wire;
    uint64_t n_stages =
        (uint64_t)(layout->n_off_node > 0 ? shape->node_ranks : layout->n_nodes) *
        limits->stage_blocks;
    uint64_t n_node_links = layout->n_off_node > 0 ? shape->node_ranks : 0;
    uint64_t n_far_stands = layout->n_nodes > 1 ? shape->n_ports : 0;
    uint64_t n_spans = 2 * (uint64_t)shape->n_spans * (layout->n_desks + 1);
    uint64_t window_bytes = UINT64_C(1) << drawing->window_shift, end;

    layout->n_near =
        layout->n_links > 0 ? bcs_near_n_in_all(limits, shape->node_ranks) : 0;
    n_near = n_slots * layout->n_near;
    n_whole_near = limits->whole > 0 ? layout->n_near : 0; /* those of all processes */
    size_desk(drawing);
    layout->slots =
        table(drawing, n_slots, SLOT_BYTES_FIRST * limits->whole / shape->n_slot_bytes,
              shape->n_slot_bytes);
    layout->near = table(drawing, n_near, larger(limits->whole / 8, n_whole_near),
                         sizeof(struct bcs_near_block));
    layout->wires = table(drawing, n_wires, 0, shape->n_wire_bytes);
    layout->wire_ends =
        table(drawing, layout->n_nodes, limits->whole / 2, shape->n_wire_end_bytes);
    layout->stages =
        table(drawing, n_stages, 0, sizeof(struct bcs_block) + BCS_CHUNK_BLOCK_BYTES);
    layout->node_links = table(drawing, n_node_links, 0, bcs_ring_bytes(limits->link));
    layout->spans = table(drawing, n_spans, 0, sizeof(struct bcs_span));
    layout->stands =
        table(drawing, shape->node_ranks, 0, bcs_stands_bytes(shape->n_ports));
    layout->far_stands =
        table(drawing, n_far_stands, 0, bcs_far_stand_bytes(shape->n_ports));
    size_port(drawing);

    layout->node_gva = reserve(drawing, shape->n_node_bytes);
    place_first(drawing, &layout->wire_ends);
    place_desks(drawing);
    place_first(drawing, &layout->slots);
    place_first(drawing, &layout->near);
    place_ports(drawing);
    layout->whole_bytes = reserve(drawing, 0);

    end = bcs_align_up(layout->whole_bytes, window_bytes);
    end = place_desks_later(layout, end);
    end = place_later(&layout->slots, end, n_slots);
    end = place_later(&layout->near, end, n_near);
    end = place_later(&layout->wires, end, n_wires);
    end = place_later(&layout->wire_ends, end, layout->n_nodes);
    end = place_later(&layout->stages, end, n_stages);
    end = place_later(&layout->node_links, end, n_node_links);
    end = place_later(&layout->spans, end, n_spans);
    end = place_later(&layout->stands, end, shape->node_ranks);
    end = place_later(&layout->far_stands, end, n_far_stands);
    layout->heap_bytes = place_ports_later(layout, end);
}

int nic_layout_init(struct nic_layout *layout_out, const struct nic_shape *shape)
{
    struct nic_layout layout = {.shape = *shape};
    struct drawing drawing = {.layout = &layout};

    if (shape->n_ports == 0 || shape->node_ranks == 0 || shape->desk_ranks == 0 ||
        (shape->desk_ranks != 1 && shape->desk_ranks != shape->node_ranks) ||
        (shape->has_links && shape->desk_ranks != 1) ||
        shape->node_ranks > NIC_NODE_RANKS_MOST) {
        return -EINVAL;
    }
    layout.n_nodes = nic_layout_n_nodes(shape->n_ports, shape->node_ranks);
    if (layout.n_nodes > NIC_NODES_MOST) {
        return -EINVAL;
    }
    layout.n_off_node = nic_shape_n_off_node(shape);
    layout.n_links = nic_shape_n_links(shape);
    layout.n_desks = shape->node_ranks / shape->desk_ranks + (layout.n_off_node > 0);
    if ((uint64_t)shape->n_ports * shape->n_groups > UINT32_C(1) << NIC_SLOT_BITS) {
        return -E2BIG;
    }
    drawing.window_shift = (uint32_t)__builtin_ctz(shape->limits.window);
    bcs_heap_init(&drawing.heap, UINT64_MAX / 2);
    count_items(&layout);
    place_all(&drawing);
    *layout_out = layout;
    return 0;
}
