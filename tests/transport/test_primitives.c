/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each primitive does when nobody else is there.
 */
#include <errno.h>
#include <string.h>

#include "tests/transport/world.h"

/* Every node's handle, so that the test can look at all copies. */
struct nodes {
    struct world world;
    struct actor me; /* acts as node 0 */
    struct bcs_core *cores[WORLD_N_NODES];
};

static void nodes_init(struct nodes *nodes, int index)
{
    world_init(&nodes->world, index);
    actor_init(&nodes->me, &nodes->world, WORLD_MAX_ACTORS);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        nodes->cores[node] = world_core(&nodes->world, node);
    }
}

static void nodes_fini(struct nodes *nodes)
{
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        bcs_core_destroy(nodes->cores[node]);
    }
    actor_fini(&nodes->me);
    ck_assert_uint_eq(nodes->world.shared->n_errors, 0);
    world_fini(&nodes->world);
}

/* How often the node's event was signalled. */
static uint64_t count_on(struct nodes *nodes, uint32_t node, uint64_t event_gva)
{
    uint64_t count = 0;

    while (bcs_test_event(nodes->cores[node], event_gva, count + 1, false) == 0) {
        count++;
    }
    return count;
}

START_TEST(a_put_reaches_exactly_the_nodes_of_its_set)
{
    static const char text[] = "a block of odd length";
    static const char zeros[sizeof(text)];
    struct nodes nodes;
    uint64_t gva, event_gva, n_signals[WORLD_N_NODES] = {0};

    nodes_init(&nodes, _i);
    event_gva = world_event(&nodes.world);
    gva = world_reserve(&nodes.world, sizeof(text) + 1, 1) + 1;
    for (uint32_t members = 1; members < 1 << WORLD_N_NODES; members++) {
        struct bcs_node_set dests = set_of_mask(members);

        ck_assert_int_eq(
            actor_put(&nodes.me, &dests, gva, text, sizeof(text), event_gva), 0);
        for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
            bool is_dest = bcs_node_set_has(&dests, node);

            n_signals[node] += is_dest;
            ck_assert_int_eq(
                bcs_test_event(nodes.cores[node], event_gva, n_signals[node], true), 0);
            ck_assert_mem_eq(bcs_core_address(nodes.cores[node], gva),
                             is_dest ? text : zeros, sizeof(text));
        }
        for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
            memset(bcs_core_address(nodes.cores[node], gva), 0, sizeof(text));
            ck_assert_uint_eq(count_on(&nodes, node, event_gva), n_signals[node]);
        }
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(blocks_of_many_lengths_arrive_whole)
{
    static const size_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 63, 64, 65, 4096, 100003};
    static uint8_t block[100003];
    struct nodes nodes;
    uint64_t gva, event_gva;

    nodes_init(&nodes, _i);
    event_gva = world_event(&nodes.world);
    gva = world_reserve(&nodes.world, sizeof(block) + 1, 64);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memset(block, (int)i + 1, sizeof(block));
        ck_assert_int_eq(
            actor_put(&nodes.me, &nodes.world.all, gva, block, lengths[i], event_gva),
            0);
        for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
            uint8_t *copy = bcs_core_address(nodes.cores[node], gva);

            ck_assert_int_eq(bcs_test_event(nodes.cores[node], event_gva, i + 1, true),
                             0);
            ck_assert_mem_eq(copy, block, lengths[i]);
            ck_assert_uint_ne(copy[lengths[i]], i + 1);
        }
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(the_local_event_is_signalled_on_the_callers_node_only)
{
    struct nodes nodes;
    struct bcs_node_set dests = set_of_two(1, 2);
    struct bcs_xfer xfer = {.src = "x", .n_bytes = 1, .dests = &dests};

    nodes_init(&nodes, _i);
    xfer.dest_gva = world_reserve(&nodes.world, 1, 1);
    xfer.local_event_gva = world_event(&nodes.world);
    ck_assert_int_eq(bcs_xfer_and_signal(nodes.cores[3], &xfer), 0);
    ck_assert_int_eq(bcs_test_event(nodes.cores[3], xfer.local_event_gva, 1, true), 0);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        ck_assert_uint_eq(count_on(&nodes, node, xfer.local_event_gva), node == 3);
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(a_transfer_without_data_signals_both_events)
{
    struct nodes nodes;
    struct bcs_node_set dests = set_of_two(0, 2);
    struct bcs_xfer xfer = {.dests = &dests};

    nodes_init(&nodes, _i);
    xfer.local_event_gva = world_event(&nodes.world);
    xfer.remote_event_gva = world_event(&nodes.world);
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(bcs_xfer_and_signal(nodes.cores[0], &xfer), 0);
        ck_assert_int_eq(bcs_test_event(nodes.cores[0], xfer.local_event_gva, i, true),
                         0);
        ck_assert_int_eq(bcs_test_event(nodes.cores[2], xfer.remote_event_gva, i, true),
                         0);
        for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
            ck_assert_uint_eq(count_on(&nodes, node, xfer.remote_event_gva),
                              node % 2 == 0 ? i : 0);
        }
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(one_event_may_be_local_and_remote_at_once)
{
    struct nodes nodes;
    struct bcs_node_set dests = bcs_node_set_one(0);
    struct bcs_xfer xfer = {.dests = &dests};

    nodes_init(&nodes, _i);
    xfer.local_event_gva = world_event(&nodes.world);
    xfer.remote_event_gva = xfer.local_event_gva;
    ck_assert_int_eq(bcs_xfer_and_signal(nodes.cores[0], &xfer), 0);
    ck_assert_int_eq(bcs_test_event(nodes.cores[0], xfer.local_event_gva, 2, true), 0);
    ck_assert_int_eq(bcs_test_event(nodes.cores[0], xfer.local_event_gva, 3, false),
                     BCS_E_PENDING);
    nodes_fini(&nodes);
}
END_TEST

START_TEST(a_node_may_put_its_own_copy_to_all_nodes)
{
    struct nodes nodes;
    uint64_t gva, event_gva;
    char *own;

    nodes_init(&nodes, _i);
    event_gva = world_event(&nodes.world);
    gva = world_reserve(&nodes.world, 100, 1);
    own = bcs_core_address(nodes.me.core, gva);
    memset(own, 'b', 100);
    ck_assert_int_eq(actor_put(&nodes.me, &nodes.world.all, gva, own, 100, event_gva),
                     0);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        ck_assert_int_eq(bcs_test_event(nodes.cores[node], event_gva, 1, true), 0);
        ck_assert_mem_eq(bcs_core_address(nodes.cores[node], gva), own, 100);
    }
    nodes_fini(&nodes);
}
END_TEST

/* Put a block of 'n', change it at once or after the local event, and look at what
 * comes. */
static void put_then_change(struct nodes *nodes, size_t n_bytes, bool waits,
                            char wanted)
{
    char block[2 * BCS_XFER_COPIED_BYTES];
    struct bcs_core *core = nodes->cores[1];
    struct bcs_xfer xfer = {
        .src = block,
        .n_bytes = n_bytes,
        .dest_gva = world_reserve(&nodes->world, n_bytes, 8),
        .dests = &nodes->world.all,
        .local_event_gva = world_event(&nodes->world),
    };

    memset(block, 'n', n_bytes);
    ck_assert_int_eq(bcs_xfer_and_signal(core, &xfer), 0);
    if (waits) {
        ck_assert_int_eq(bcs_test_event(core, xfer.local_event_gva, 1, true), 0);
    }
    memset(block, 'x', n_bytes);
    ck_assert_int_eq(bcs_core_flush(core), 0);
    memset(block, wanted, n_bytes);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        ck_assert_mem_eq(bcs_core_address(nodes->cores[node], xfer.dest_gva), block,
                         n_bytes);
    }
    ck_assert_int_eq(bcs_test_event(core, xfer.local_event_gva, 1, false), 0);
}

START_TEST(the_source_of_a_put_may_change_when_the_contract_says_so)
{
    struct nodes nodes;

    nodes_init(&nodes, _i);
    for (size_t n_bytes = 1; n_bytes <= BCS_XFER_COPIED_BYTES; n_bytes++) {
        put_then_change(&nodes, n_bytes, false, 'n');
        put_then_change(&nodes, BCS_XFER_COPIED_BYTES + n_bytes, true, 'n');
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(a_late_transport_shows_a_source_that_changes_too_soon)
{
    struct nodes nodes;

    nodes_init(&nodes, _i);
    if (strcmp(nodes.world.transport, "shm-defer") == 0) {
        put_then_change(&nodes, BCS_XFER_COPIED_BYTES + 1, false, 'x');
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(what_is_kept_back_comes_in_its_order_before_a_query)
{
    struct nodes nodes;
    uint64_t gva;

    nodes_init(&nodes, _i);
    gva = world_reserve(&nodes.world, 8, 8);
    for (uint64_t i = 1; i <= 1000; i++) {
        struct bcs_xfer xfer = {
            .src = &i,
            .n_bytes = sizeof(i),
            .dest_gva = gva,
            .dests = &nodes.world.all,
        };

        ck_assert_int_eq(bcs_xfer_and_signal_blocking(nodes.me.core, &xfer), 0);
        if (i % 37 == 0) {
            ck_assert(actor_query(&nodes.me, &nodes.world.all, gva, i));
        }
    }
    nodes_fini(&nodes);
}
END_TEST

static void set_everywhere(struct nodes *nodes, uint64_t gva, uint64_t value)
{
    actor_put_word(&nodes->me, &nodes->world.all, gva, value);
}

static bool compare_as_c(uint64_t variable, enum bcs_compare op, uint64_t value)
{
    const bool answers[] = {
        [BCS_COMPARE_GE] = variable >= value,
        [BCS_COMPARE_LT] = variable < value,
        [BCS_COMPARE_EQ] = variable == value,
        [BCS_COMPARE_NE] = variable != value,
    };

    return answers[op];
}

START_TEST(comparisons_are_those_of_unsigned_words)
{
    static const uint64_t values[] = {
        0, 1, 41, 42, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    const size_t n_values = sizeof(values) / sizeof(values[0]);
    struct nodes nodes;
    struct bcs_comparison comparison = {.dests = &nodes.world.all};
    bool is_true;

    nodes_init(&nodes, _i);
    comparison.variable_gva = world_reserve(&nodes.world, 8, 8);
    for (size_t i = 0; i < n_values * n_values * 4; i++) {
        uint64_t variable = values[i % n_values];

        comparison.value = values[i / n_values % n_values];
        comparison.op = (enum bcs_compare)(i / n_values / n_values);
        set_everywhere(&nodes, comparison.variable_gva, variable);
        ck_assert_int_eq(bcs_compare_and_write(nodes.me.core, &comparison, &is_true),
                         0);
        ck_assert(is_true == compare_as_c(variable, comparison.op, comparison.value));
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(one_node_that_differs_makes_it_false)
{
    /* For each comparison with 5: what makes it true, and what makes it false. */
    static const uint64_t good[] = {[BCS_COMPARE_GE] = 5,
                                    [BCS_COMPARE_LT] = 4,
                                    [BCS_COMPARE_EQ] = 5,
                                    [BCS_COMPARE_NE] = 6};
    static const uint64_t bad[] = {[BCS_COMPARE_GE] = 4,
                                   [BCS_COMPARE_LT] = 5,
                                   [BCS_COMPARE_EQ] = 6,
                                   [BCS_COMPARE_NE] = 5};
    struct nodes nodes;
    struct bcs_node_set dests = set_of_mask(0xe); /* 1, 2, 3 */
    struct bcs_comparison comparison = {.value = 5, .dests = &dests};
    bool is_true;

    nodes_init(&nodes, _i);
    comparison.variable_gva = world_reserve(&nodes.world, 8, 8);
    for (uint32_t i = 0; i < 4 * WORLD_N_NODES; i++) {
        struct bcs_node_set odd = bcs_node_set_one(i % WORLD_N_NODES);

        comparison.op = (enum bcs_compare)(i / WORLD_N_NODES);
        set_everywhere(&nodes, comparison.variable_gva, good[comparison.op]);
        actor_put_word(&nodes.me, &odd, comparison.variable_gva, bad[comparison.op]);
        ck_assert_int_eq(bcs_compare_and_write(nodes.me.core, &comparison, &is_true),
                         0);
        ck_assert(is_true == (i % WORLD_N_NODES == 0)); /* node 0 was not asked */
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(the_write_happens_on_all_nodes_or_on_none)
{
    struct nodes nodes;
    struct bcs_node_set dests = set_of_mask(0x7); /* 0, 1, 2 */
    struct bcs_node_set odd = bcs_node_set_one(2);
    struct bcs_comparison comparison = {
        .op = BCS_COMPARE_EQ, .value = 1, .dests = &dests, .write_value = 99};
    bool is_true;

    nodes_init(&nodes, _i);
    comparison.variable_gva = world_reserve(&nodes.world, 8, 8);
    comparison.write_gva = world_reserve(&nodes.world, 8, 8);
    set_everywhere(&nodes, comparison.variable_gva, 1);
    actor_put_word(&nodes.me, &odd, comparison.variable_gva, 0);
    ck_assert_int_eq(bcs_compare_and_write(nodes.me.core, &comparison, &is_true), 0);
    ck_assert(!is_true);
    ck_assert(actor_query(&nodes.me, &nodes.world.all, comparison.write_gva, 0));

    actor_put_word(&nodes.me, &odd, comparison.variable_gva, 1);
    ck_assert_int_eq(bcs_compare_and_write(nodes.me.core, &comparison, &is_true), 0);
    ck_assert(is_true);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        struct bcs_node_set one = bcs_node_set_one(node);

        ck_assert(
            actor_query(&nodes.me, &one, comparison.write_gva, node == 3 ? 0 : 99));
        ck_assert(actor_query(&nodes.me, &one, comparison.variable_gva, 1));
    }
    nodes_fini(&nodes);
}
END_TEST

START_TEST(a_query_sees_what_its_own_node_stored_by_address)
{
    struct nodes nodes;
    uint64_t gva;

    nodes_init(&nodes, _i);
    gva = world_reserve(&nodes.world, 8, 8);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        ck_assert(!actor_query(&nodes.me, &nodes.world.all, gva, 7));
        __atomic_store_n((uint64_t *)bcs_core_address(nodes.cores[node], gva), 7,
                         __ATOMIC_RELEASE);
    }
    ck_assert(actor_query(&nodes.me, &nodes.world.all, gva, 7));
    nodes_fini(&nodes);
}
END_TEST

START_TEST(an_event_counts_signals_and_is_not_used_up)
{
    struct nodes nodes;
    struct bcs_node_set dests = bcs_node_set_one(1);
    struct bcs_xfer xfer = {.dests = &dests};

    nodes_init(&nodes, _i);
    xfer.remote_event_gva = world_event(&nodes.world);
    ck_assert_int_eq(bcs_test_event(nodes.cores[1], xfer.remote_event_gva, 0, true), 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        ck_assert_int_eq(
            bcs_test_event(nodes.cores[1], xfer.remote_event_gva, i, false),
            BCS_E_PENDING);
        ck_assert_int_eq(bcs_xfer_and_signal(nodes.me.core, &xfer), 0);
        ck_assert_int_eq(bcs_core_flush(nodes.me.core), 0);
        ck_assert_int_eq(bcs_test_event(nodes.cores[1], xfer.remote_event_gva, i, true),
                         0);
        ck_assert_int_eq(
            bcs_test_event(nodes.cores[1], xfer.remote_event_gva, 1, false), 0);
    }
    nodes_fini(&nodes);
}
END_TEST

/* Put a number to a node, or to all, without waiting for it. */
static void put_number(struct nodes *nodes, const struct bcs_node_set *dests,
                       uint64_t gva, uint64_t number)
{
    struct bcs_xfer xfer = {
        .src = &number, .n_bytes = sizeof(number), .dest_gva = gva, .dests = dests};

    ck_assert_int_eq(bcs_xfer_and_signal_blocking(nodes->me.core, &xfer), 0);
}

START_TEST(a_handle_that_orders_by_node_keeps_the_order_to_each_and_of_several)
{
    uint64_t expected[WORLD_N_NODES] = {0}, gva;
    struct nodes nodes;

    nodes_init(&nodes, _i);
    gva = world_reserve(&nodes.world, 8, 8);
    bcs_core_order_by_node(nodes.me.core);
    for (uint64_t i = 1; i <= 300; i++) {
        uint32_t node = actor_random(&nodes.me) % WORLD_N_NODES;
        struct bcs_node_set one = bcs_node_set_one(node);

        put_number(&nodes, &one, gva, i);
        expected[node] = i;
        if (i % 17 == 0) {
            put_number(&nodes, &nodes.world.all, gva, 1000 * i);
            for (node = 0; node < WORLD_N_NODES; node++) {
                expected[node] = 1000 * i;
            }
        }
        if (i % 7 == 0) {
            one = bcs_node_set_one(node % WORLD_N_NODES);
            ck_assert(actor_query(&nodes.me, &one, gva, expected[one.first]));
        }
    }
    ck_assert_int_eq(bcs_core_flush(nodes.me.core), 0);
    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        ck_assert_uint_eq(word_on(nodes.cores[node], gva), expected[node]);
    }
    nodes_fini(&nodes);
}
END_TEST

TCase *primitives_tcase(int n_transports)
{
    TCase *tcase = tcase_create("primitives");

    tcase_add_loop_test(tcase, a_put_reaches_exactly_the_nodes_of_its_set, 0,
                        n_transports);
    tcase_add_loop_test(tcase, blocks_of_many_lengths_arrive_whole, 0, n_transports);
    tcase_add_loop_test(tcase, the_local_event_is_signalled_on_the_callers_node_only, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_transfer_without_data_signals_both_events, 0,
                        n_transports);
    tcase_add_loop_test(tcase, one_event_may_be_local_and_remote_at_once, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_node_may_put_its_own_copy_to_all_nodes, 0,
                        n_transports);
    tcase_add_loop_test(tcase, the_source_of_a_put_may_change_when_the_contract_says_so,
                        0, n_transports);
    tcase_add_loop_test(tcase, a_late_transport_shows_a_source_that_changes_too_soon, 0,
                        n_transports);
    tcase_add_loop_test(tcase, what_is_kept_back_comes_in_its_order_before_a_query, 0,
                        n_transports);
    tcase_add_loop_test(tcase, comparisons_are_those_of_unsigned_words, 0,
                        n_transports);
    tcase_add_loop_test(tcase, one_node_that_differs_makes_it_false, 0, n_transports);
    tcase_add_loop_test(tcase, the_write_happens_on_all_nodes_or_on_none, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_query_sees_what_its_own_node_stored_by_address, 0,
                        n_transports);
    tcase_add_loop_test(tcase, an_event_counts_signals_and_is_not_used_up, 0,
                        n_transports);
    tcase_add_loop_test(
        tcase, a_handle_that_orders_by_node_keeps_the_order_to_each_and_of_several, 0,
        n_transports);
    return tcase;
}
