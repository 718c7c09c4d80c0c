/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of NIC memory: nothing overlaps, whatever the job's shape.
 */
#include "libbcs/ring/nic_memory.h"

#include <bcs/primitives.h>
#include <check.h>
#include <errno.h>
#include <string.h>

#include "libbcs/ring/port.h"
#include "tests/unit/run_suite.h"

/* With the usual limits, and then with the least. */
static struct nic_shape shapes[] = {
    {1, 1, 64, 4096, 5000, 200, 128, 300, {0}},
    {5, 2, 64, 4096, 5000, 200, 128, 300, {0}},
    {7, 3, 1000, 4, 4096, 8, 128, 64, {0}},
    {8, 8, 65536, 65536, 100000, 256, 128, 320, {0}},
    {300, 200, 64, 4096, 5000, 200, 128, 300, {0}},
    {512, 1, 64, 4096, 123456, 200, 128, 300, {0}},
    {1, 1, 64, 4, 5000, 200, 128, 300, {0}},
    {5, 2, 64, 4, 5000, 200, 128, 300, {0}},
    {512, 1, 64, 4, 123456, 200, 128, 300, {0}},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), FIRST_WITH_LEAST = 6 };

static void set_limits(void)
{
    const char *bad;

    for (size_t i = 0; i < N_SHAPES; i++) {
        ck_assert(bcs_limits_parse(i < FIRST_WITH_LEAST ? "usual" : "least",
                                   &shapes[i].limits, &bad));
    }
}

static struct nic_layout layout_of(const struct nic_shape *shape)
{
    struct nic_layout layout;

    ck_assert_int_eq(nic_layout_init(&layout, shape), 0);
    return layout;
}

START_TEST(the_parts_of_a_heap_do_not_overlap)
{
    const struct nic_shape *shape = &shapes[_i];
    const struct nic_layout layout = layout_of(shape);
    const struct {
        uint64_t gva, n_bytes;
    } parts[] = {
        {0, BCS_HEAP_RESERVED_BYTES},
        {layout.node_gva, shape->n_node_bytes},
        {layout.item_gva, (uint64_t)layout.n_items * shape->n_item_bytes},
        {layout.slot_gva,
         (uint64_t)shape->n_ports * shape->n_groups * shape->n_slot_bytes},
        {layout.wire_gva,
         (uint64_t)layout.n_nodes * shape->limits.wire * shape->n_wire_bytes},
        {layout.stage_gva, (uint64_t)layout.n_nodes * shape->limits.stage_blocks *
                               layout.stage_stride_bytes},
        {layout.port_gva, shape->node_ranks * layout.port_stride_bytes},
    };
    const int n_parts = sizeof(parts) / sizeof(parts[0]);

    for (int i = 0; i < n_parts; i++) {
        ck_assert_uint_eq(parts[i].gva % BCS_CACHE_LINE, 0);
        ck_assert_uint_le(parts[i].gva + parts[i].n_bytes, layout.heap_bytes);
        for (int j = 0; j < i; j++) {
            ck_assert(parts[i].gva + parts[i].n_bytes <= parts[j].gva ||
                      parts[j].gva + parts[j].n_bytes <= parts[i].gva);
        }
    }
    ck_assert_uint_eq(layout.heap_bytes % BCS_HEAP_ALIGN, 0);
}
END_TEST

START_TEST(every_port_lies_in_its_nodes_heap_and_apart)
{
    const struct nic_shape *shape = &shapes[_i];
    const struct nic_layout layout = layout_of(shape);
    uint64_t end = 0;

    for (uint32_t port = 0; port < shape->n_ports; port++) {
        uint32_t node = nic_layout_node(&layout, port);
        uint64_t gva = nic_layout_port_gva(&layout, port);

        ck_assert_uint_eq(node, port / shape->node_ranks);
        ck_assert_uint_lt(node, layout.n_nodes);
        end = port % shape->node_ranks == 0 ? layout.port_gva : end;
        ck_assert_uint_ge(gva, end);
        ck_assert_uint_eq(gva % BCS_CACHE_LINE, 0);
        end = gva + layout.port_stride_bytes;
        ck_assert_uint_le(end, layout.heap_bytes);
    }
}
END_TEST

START_TEST(every_port_belongs_to_one_node)
{
    const struct nic_layout layout = layout_of(&shapes[_i]);
    uint32_t n_ports = 0;

    for (uint32_t node = 0; node < layout.n_nodes; node++) {
        uint32_t n_local = nic_layout_n_local(&layout, node);

        ck_assert_uint_ge(n_local, 1);
        ck_assert_uint_le(n_local, shapes[_i].node_ranks);
        ck_assert_uint_eq(nic_layout_node(&layout, n_ports), node);
        n_ports += n_local;
        ck_assert_uint_eq(nic_layout_node(&layout, n_ports - 1), node);
    }
    ck_assert_uint_eq(n_ports, shapes[_i].n_ports);
}
END_TEST

START_TEST(a_port_has_room_for_its_cells_orders_and_blocks)
{
    const struct nic_shape *shape = &shapes[_i];
    const struct nic_layout layout = layout_of(shape);
    uint64_t blocks = nic_port_blocks_offset(shape->n_cells);

    ck_assert_uint_ge(blocks, sizeof(struct bcs_port) +
                                  (uint64_t)shape->n_cells *
                                      (sizeof(struct bcs_cell) + sizeof(uint32_t)));
    ck_assert_uint_eq(blocks % BCS_CACHE_LINE, 0);
    ck_assert_uint_ge(layout.port_stride_bytes,
                      blocks +
                          (uint64_t)BCS_BLOCK_CLASSES * NIC_BLOCK_CLASS_REGION_BYTES);
    ck_assert_uint_ge(layout.stage_stride_bytes,
                      sizeof(struct bcs_block) + BCS_CHUNK_BLOCK_BYTES);
    ck_assert_uint_ge(layout.n_items, shape->node_ranks * shape->n_cells);
}
END_TEST

START_TEST(equal_shapes_have_equal_layouts)
{
    struct nic_layout a, b;

    memset(&a, 0, sizeof(a));
    memset(&b, 0xff, sizeof(b));
    ck_assert_int_eq(nic_layout_init(&a, &shapes[_i]), 0);
    ck_assert_int_eq(nic_layout_init(&b, &shapes[_i]), 0);
    ck_assert_uint_eq(a.heap_bytes, b.heap_bytes);
    ck_assert_uint_eq(a.port_gva, b.port_gva);
    ck_assert_uint_eq(a.n_items, b.n_items);
    ck_assert_mem_eq(&b.shape, &shapes[_i], sizeof(b.shape));
}
END_TEST

START_TEST(an_impossible_shape_is_refused)
{
    static const struct nic_shape wrong[] = {
        {0, 1, 64, 4096, 5000, 200, 128, 300, {0}},
        {4, 0, 64, 4096, 5000, 200, 128, 300, {0}},
        {1000, BCS_MAX_PORTS_A_NODE + 1, 64, 4096, 5000, 200, 128, 300, {0}},
        {BCS_MAX_NODES + 1, 1, 64, 4096, 5000, 200, 128, 300, {0}},
    };
    const struct nic_shape too_many = {257, 2,   64, NIC_GROUPS_MOST, 5000, 200,
                                       128, 300, {0}};
    struct nic_layout unchanged = {.n_nodes = 99};

    ck_assert_int_eq(nic_layout_init(&unchanged, &too_many), -E2BIG);
    ck_assert_uint_eq(unchanged.n_nodes, 99);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct nic_layout layout = {.n_nodes = 99};

        ck_assert_int_eq(nic_layout_init(&layout, &wrong[i]), -EINVAL);
        ck_assert_uint_eq(layout.n_nodes, 99);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("nic_memory");

    tcase_add_unchecked_fixture(tcase, set_limits, NULL);
    tcase_add_loop_test(tcase, the_parts_of_a_heap_do_not_overlap, 0, N_SHAPES);
    tcase_add_loop_test(tcase, every_port_lies_in_its_nodes_heap_and_apart, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, every_port_belongs_to_one_node, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_port_has_room_for_its_cells_orders_and_blocks, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, equal_shapes_have_equal_layouts, 0, N_SHAPES);
    tcase_add_test(tcase, an_impossible_shape_is_refused);
    return run_tcase("nic_memory", tcase);
}
