/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of NIC memory: nothing overlaps, whatever the job's shape.
 */
#include "libbcs/fabric/ring/nic_memory.h"

#include <bcs/primitives.h>
#include <check.h>
#include <errno.h>
#include <string.h>

#include "libbcs/fabric/ring/port.h"
#include "tests/unit/run_suite.h"

/* With the usual limits, and then with the least. */
static struct nic_shape shapes[] = {
    {1, 1, 1, false, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
    {5, 2, 2, false, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 2, {0}},
    {7, 3, 3, false, 1000, 4, 4096, 7000, 8, 128, 64, 64, 64, 64, {0}},
    {8, 8, 8, false, 65536, 65536, 100000, 7000, 256, 128, 320, 64, 64, 8192, {0}},
    {300, 200, 200, false, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
    {512, 1, 1, false, 64, 4096, 123456, 7000, 200, 128, 320, 64, 64, 2, {0}},
    {300, 300, 1, true, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 64, {0}},
    {1, 1, 1, false, 64, 4, 5000, 7000, 200, 128, 320, 64, 64, 8192, {0}},
    {5, 2, 2, false, 64, 4, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
    {64, 1, 1, true, 64, 4096, 123456, 7000, 200, 128, 320, 64, 64, 2, {0}},
    {9, 4, 1, true, 64, 4, 5000, 7000, 200, 128, 320, 64, 64, 64, {0}},
    {512, 1, 1, false, 64, 4, 123456, 7000, 200, 128, 320, 64, 64, 8192, {0}},
    {300, 300, 1, true, 64, 4, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), FIRST_WITH_LEAST = 7 };

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

/** A part of a heap. */
struct part {
    uint64_t begin, end;
};

enum { PARTS_MOST = 128 };

struct parts {
    int n;
    struct part all[PARTS_MOST];
};

static void add(struct parts *parts, uint64_t begin, uint64_t end)
{
    ck_assert_int_lt(parts->n, PARTS_MOST);
    parts->all[parts->n++] = (struct part){begin, end};
}

/** Both parts of a table of n elements; look at those beside its borders. */
static void add_table(struct parts *parts, const struct nic_layout *layout,
                      const struct nic_region *region, uint64_t n)
{
    uint64_t window_bytes = layout->shape.limits.window;
    uint64_t n_a_window = UINT64_C(1) << region->shift;
    const uint64_t beside[] = {0,          region->n_first, region->n_first + 1,
                               n_a_window, n_a_window - 1,  n / 2,
                               n - 1};

    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        uint64_t gva = nic_region_gva(region, beside[i]);

        if (beside[i] < n && beside[i] < region->n_first) {
            ck_assert_uint_le(gva + region->stride_bytes, layout->whole_bytes);
        } else if (beside[i] < n) {
            ck_assert_uint_ge(gva, layout->whole_bytes);
            ck_assert_uint_eq(gva / window_bytes,
                              (gva + region->stride_bytes - 1) / window_bytes);
        }
    }
    ck_assert_uint_le(region->n_first, n);
    add(parts, region->first_gva,
        region->first_gva + (uint64_t)region->n_first * region->stride_bytes);
    if (n > region->n_first) {
        add(parts, nic_region_gva(region, region->n_first),
            nic_region_gva(region, n - 1) + region->stride_bytes);
    }
}

/** The first desk of a node, and the last. */
static void list_desks(const struct nic_layout *layout, struct parts *parts)
{
    for (uint32_t desk = 0; desk < layout->n_desks; desk += layout->n_desks - 1) {
        uint64_t gva = layout->desk_gva + desk * layout->desk_stride_bytes;
        const struct nic_region items = nic_layout_items(layout, desk);

        add(parts, gva, gva + layout->shape.n_desk_bytes);
        add_table(parts, layout, &items, layout->n_items);
        if (layout->n_off_node > 0) {
            const struct nic_region partners = nic_layout_partners(layout, desk);

            add_table(parts, layout, &partners, layout->n_off_node);
        }
        if (layout->n_desks == 1) {
            return;
        }
    }
}

/** A port's links, and what belongs to them. */
static void list_links(const struct nic_layout *layout, uint32_t port,
                       struct parts *parts)
{
    if (layout->n_links > 0) {
        const struct nic_region links =
            nic_layout_of_port(layout, &layout->links, port);

        add_table(parts, layout, &links, layout->n_links);
    }
    if (layout->n_off_node > 0) {
        const struct nic_region credits =
            nic_layout_of_port(layout, &layout->credits, port);
        const struct nic_region landings =
            nic_layout_of_port(layout, &layout->landings, port);

        add_table(parts, layout, &credits, layout->n_links);
        add_table(parts, layout, &landings, layout->n_off_node);
    }
}

/** All of a heap, with the ports that stand at the borders. */
static void list_parts(const struct nic_layout *layout, struct parts *parts)
{
    const struct nic_shape *shape = &layout->shape;
    const uint32_t locals[] = {0, 1, shape->node_ranks - 1};
    uint32_t n_local = nic_layout_n_local(layout, 0);

    add(parts, 0, BCS_HEAP_RESERVED_BYTES);
    add(parts, layout->node_gva, layout->node_gva + shape->n_node_bytes);
    list_desks(layout, parts);
    add_table(parts, layout, &layout->slots,
              (uint64_t)shape->n_ports * shape->n_groups);
    if (layout->n_links > 0) {
        add_table(parts, layout, &layout->near,
                  (uint64_t)shape->n_ports * shape->n_groups);
    }
    add_table(parts, layout, &layout->wires,
              (uint64_t)layout->n_nodes * shape->limits.wire);
    add_table(parts, layout, &layout->wire_ends, layout->n_nodes);
    add_table(parts, layout, &layout->stages,
              (uint64_t)(layout->n_off_node > 0 ? shape->node_ranks : layout->n_nodes) *
                  shape->limits.stage_blocks);
    if (layout->n_off_node > 0) {
        add_table(parts, layout, &layout->node_links, shape->node_ranks);
    }
    if (shape->n_spans > 0) {
        add_table(parts, layout, &layout->spans,
                  2 * (uint64_t)shape->n_spans * (layout->n_desks + 1));
    }
    add_table(parts, layout, &layout->stands, shape->node_ranks);
    for (int i = 0; i < 3; i++) {
        uint32_t port = locals[i];
        struct nic_region cells;

        if (port >= n_local || (i > 0 && port == 0) || (i > 1 && port == 1)) {
            continue;
        }
        cells = nic_layout_of_port(layout, &layout->cells, port);
        add_table(parts, layout, &cells, shape->n_cells);
        list_links(layout, port, parts);
        for (int j = 0; j < BCS_BLOCK_CLASSES; j++) {
            const struct nic_region blocks =
                nic_layout_of_port(layout, &layout->blocks[j], port);

            if (layout->n_blocks[j] > 0) {
                add_table(parts, layout, &blocks, layout->n_blocks[j]);
            }
        }
        add(parts, nic_layout_port_gva(layout, port),
            nic_layout_port_gva(layout, port) + sizeof(struct bcs_port));
        add(parts, nic_layout_order_gva(layout, port),
            nic_layout_order_gva(layout, port) +
                shape->limits.orders * sizeof(uint64_t));
    }
}

START_TEST(the_parts_of_a_heap_do_not_overlap_and_no_element_straddles)
{
    const struct nic_layout layout = layout_of(&shapes[_i]);
    struct parts parts = {0};

    list_parts(&layout, &parts);
    for (int i = 0; i < parts.n; i++) {
        const struct part *a = &parts.all[i];

        ck_assert_uint_eq(a->begin % BCS_CACHE_LINE, 0);
        ck_assert_uint_le(a->end, layout.heap_bytes);
        for (int j = 0; j < i; j++) {
            const struct part *b = &parts.all[j];

            ck_assert(a->end <= b->begin || b->end <= a->begin);
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
        ck_assert_uint_le(end, layout.whole_bytes);
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

/* What a process maps of a large job at the start is small. */
START_TEST(the_first_part_is_small)
{
    const struct nic_shape *shape = &shapes[_i];
    const struct nic_layout layout = layout_of(shape);

    ck_assert_uint_le(layout.whole_bytes, (UINT64_C(1) << 20) + shape->n_node_bytes +
                                              shape->node_ranks * (UINT64_C(1) << 20));
    ck_assert_uint_ge(layout.n_items, shape->desk_ranks * shape->n_cells);
    ck_assert_uint_ge(layout.stages.stride_bytes,
                      sizeof(struct bcs_block) + BCS_CHUNK_BLOCK_BYTES);
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
        {0, 1, 1, true, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
        {4, 0, 1, true, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
        {2 * NIC_NODE_RANKS_MOST,
         NIC_NODE_RANKS_MOST + 1,
         NIC_NODE_RANKS_MOST + 1,
         false,
         64,
         4096,
         5000,
         7000,
         200,
         128,
         320,
         64,
         64,
         0,
         {0}},
        {NIC_NODES_MOST + 1,
         1,
         1,
         true,
         64,
         4096,
         5000,
         7000,
         200,
         128,
         320,
         64,
         64,
         0,
         {0}},
        {8, 4, 2, false, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
        {8, 4, 4, true, 64, 4096, 5000, 7000, 200, 128, 320, 64, 64, 0, {0}},
    };
    const struct nic_shape too_many = {257,  2,    2,   false, 64,  NIC_GROUPS_MOST,
                                       5000, 7000, 200, 128,   320, 64,
                                       64,   0,    {0}};
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
    tcase_add_loop_test(tcase,
                        the_parts_of_a_heap_do_not_overlap_and_no_element_straddles, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, every_port_lies_in_its_nodes_heap_and_apart, 0,
                        N_SHAPES);
    tcase_add_loop_test(tcase, every_port_belongs_to_one_node, 0, N_SHAPES);
    tcase_add_loop_test(tcase, the_first_part_is_small, 0, N_SHAPES);
    tcase_add_loop_test(tcase, equal_shapes_have_equal_layouts, 0, N_SHAPES);
    tcase_add_test(tcase, an_impossible_shape_is_refused);
    return run_tcase("nic_memory", tcase);
}
