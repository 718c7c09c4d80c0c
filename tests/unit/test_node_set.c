/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of nodes: a bitmap compared with the obvious array of flags.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <bcs/primitives.h>

#include "tests/unit/run_suite.h"

START_TEST(a_cleared_set_is_empty)
{
    struct bcs_node_set set;

    memset(&set, 0xff, sizeof(set));
    bcs_node_set_clear(&set);
    ck_assert(bcs_node_set_is_empty(&set));
    ck_assert_uint_eq(bcs_node_set_count(&set), 0);
    ck_assert_uint_eq(bcs_node_set_next(&set, 0), BCS_MAX_NODES);
}
END_TEST

START_TEST(a_filled_set_has_the_first_nodes_only)
{
    static const uint32_t sizes[] = {0, 1, 63, 64, 65, 511, BCS_MAX_NODES};
    struct bcs_node_set set;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bcs_node_set_fill(&set, sizes[i]);
        ck_assert_uint_eq(bcs_node_set_count(&set), sizes[i]);
        ck_assert_uint_eq(bcs_node_set_next(&set, sizes[i]), BCS_MAX_NODES);
        ck_assert(sizes[i] == 0 || bcs_node_set_has(&set, sizes[i] - 1));
    }
    bcs_node_set_fill(&set, BCS_MAX_NODES + 1);
    ck_assert_uint_eq(bcs_node_set_count(&set), BCS_MAX_NODES);
}
END_TEST

START_TEST(a_node_beyond_the_last_changes_nothing)
{
    struct bcs_node_set set;

    bcs_node_set_clear(&set);
    bcs_node_set_add(&set, BCS_MAX_NODES);
    bcs_node_set_add(&set, UINT32_MAX);
    ck_assert(bcs_node_set_is_empty(&set));
    bcs_node_set_fill(&set, BCS_MAX_NODES);
    bcs_node_set_remove(&set, BCS_MAX_NODES);
    ck_assert_uint_eq(bcs_node_set_count(&set), BCS_MAX_NODES);
    ck_assert(!bcs_node_set_has(&set, BCS_MAX_NODES));
    ck_assert_uint_eq(bcs_node_set_next(&set, BCS_MAX_NODES), BCS_MAX_NODES);
}
END_TEST

START_TEST(equal_sets_have_the_same_nodes)
{
    struct bcs_node_set a, b;

    bcs_node_set_clear(&a);
    bcs_node_set_clear(&b);
    bcs_node_set_add(&a, 7);
    bcs_node_set_add(&a, 300);
    bcs_node_set_add(&b, 300);
    ck_assert(!bcs_node_set_is_equal(&a, &b));
    bcs_node_set_add(&b, 7);
    ck_assert(bcs_node_set_is_equal(&a, &b));
    bcs_node_set_remove(&a, 7);
    ck_assert(!bcs_node_set_is_equal(&a, &b));
}
END_TEST

static void compare_with_flags(const struct bcs_node_set *set, const bool *flags)
{
    uint32_t n_nodes = 0, next = bcs_node_set_next(set, 0);

    for (uint32_t node = 0; node < BCS_MAX_NODES; node++) {
        ck_assert(bcs_node_set_has(set, node) == flags[node]);
        if (flags[node]) {
            ck_assert_uint_eq(next, node);
            next = bcs_node_set_next(set, node + 1);
            n_nodes++;
        }
    }
    ck_assert_uint_eq(next, BCS_MAX_NODES);
    ck_assert_uint_eq(bcs_node_set_count(set), n_nodes);
    ck_assert(bcs_node_set_is_empty(set) == (n_nodes == 0));
}

START_TEST(random_adding_and_removing_agrees_with_flags)
{
    struct bcs_node_set set;
    bool flags[BCS_MAX_NODES] = {false};

    srand(1);
    bcs_node_set_clear(&set);
    for (int i = 0; i < 2000; i++) {
        uint32_t node = (uint32_t)rand() % BCS_MAX_NODES;

        flags[node] = rand() % 2 != 0;
        if (flags[node]) {
            bcs_node_set_add(&set, node);
        } else {
            bcs_node_set_remove(&set, node);
        }
        if (i % 20 == 0) {
            compare_with_flags(&set, flags);
        }
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("node_set");

    tcase_add_test(tcase, a_cleared_set_is_empty);
    tcase_add_test(tcase, a_filled_set_has_the_first_nodes_only);
    tcase_add_test(tcase, a_node_beyond_the_last_changes_nothing);
    tcase_add_test(tcase, equal_sets_have_the_same_nodes);
    tcase_add_test(tcase, random_adding_and_removing_agrees_with_flags);
    return run_tcase("node_set", tcase);
}
