/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of nodes: ranges and marks compared with the obvious array of flags.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <bcs/primitives.h>

#include "tests/unit/run_suite.h"

enum { N_NODES = 1000 };

static void compare_with_flags(const struct bcs_node_set *set, const bool *flags)
{
    uint32_t n_nodes = 0, next = bcs_node_set_next(set, 0);

    for (uint32_t node = 0; node < N_NODES; node++) {
        ck_assert(bcs_node_set_has(set, node) == flags[node]);
        if (flags[node]) {
            ck_assert_uint_eq(next, node);
            next = bcs_node_set_next(set, node + 1);
            n_nodes++;
        }
    }
    ck_assert_uint_eq(next, BCS_NODE_NONE);
    ck_assert_uint_eq(bcs_node_set_count(set), n_nodes);
    ck_assert(bcs_node_set_is_empty(set) == (n_nodes == 0));
}

/** Random marks for the nodes of a range, and the flags of the nodes. */
static struct bcs_node_set random_set(uint64_t *marks, bool *flags)
{
    struct bcs_node_set set = {.first = (uint32_t)rand() % 200,
                               .n_nodes = (uint32_t)rand() % (N_NODES - 200)};

    memset(flags, 0, N_NODES * sizeof(flags[0]));
    for (uint32_t i = 0; i < set.n_nodes; i++) {
        flags[set.first + i] = true;
    }
    if (rand() % 3 == 0) {
        return set;
    }
    memset(marks, rand() % 2 == 0 ? 0 : 0xff, bcs_node_words(N_NODES) * sizeof(*marks));
    for (uint32_t i = 0; i < set.n_nodes; i++) {
        flags[set.first + i] = rand() % 3 == 0;
        if (flags[set.first + i]) {
            bcs_node_mark(marks, i);
        } else {
            bcs_node_unmark(marks,
                            i); /* marks behind the range stay, and do not count */
        }
    }
    set.marks = marks;
    return set;
}

START_TEST(a_cleared_set_is_empty)
{
    static const uint64_t marks[2];
    const struct bcs_node_set none = {0}, unmarked = bcs_node_set_marked(marks, 100);
    const struct bcs_node_set elsewhere = {.first = 7};
    const bool flags[N_NODES] = {false};

    compare_with_flags(&none, flags);
    compare_with_flags(&unmarked, flags);
    ck_assert(bcs_node_set_is_equal(&none, &unmarked));
    ck_assert(bcs_node_set_is_equal(&none, &elsewhere));
}
END_TEST

START_TEST(a_range_may_go_up_to_the_last_number)
{
    const struct bcs_node_set set = bcs_node_set_range(BCS_NODE_NONE - 2, 2);
    const struct bcs_node_set one = bcs_node_set_one(BCS_NODE_NONE - 1);

    ck_assert_uint_eq(bcs_node_set_next(&set, 0), BCS_NODE_NONE - 2);
    ck_assert_uint_eq(bcs_node_set_next(&set, BCS_NODE_NONE - 1), BCS_NODE_NONE - 1);
    ck_assert_uint_eq(bcs_node_set_next(&set, BCS_NODE_NONE), BCS_NODE_NONE);
    ck_assert(!bcs_node_set_has(&set, BCS_NODE_NONE));
    ck_assert(!bcs_node_set_has(&set, 0));
    ck_assert(bcs_node_set_has(&one, BCS_NODE_NONE - 1));
    ck_assert(!bcs_node_set_is_equal(&set, &one));
}
END_TEST

START_TEST(equal_sets_have_the_same_nodes_however_they_name_them)
{
    uint64_t marks[2] = {0};
    const struct bcs_node_set range = bcs_node_set_range(63, 2);
    const struct bcs_node_set marked = bcs_node_set_marked(marks, 65);
    const struct bcs_node_set longer = bcs_node_set_marked(marks, 128);

    bcs_node_mark(marks, 63);
    ck_assert(!bcs_node_set_is_equal(&range, &marked));
    bcs_node_mark(marks, 64);
    ck_assert(bcs_node_set_is_equal(&range, &marked));
    ck_assert(bcs_node_set_is_equal(&longer, &range));
    bcs_node_mark(marks, 65);
    ck_assert(bcs_node_set_is_equal(&marked, &range)); /* it is not in the range */
    ck_assert(!bcs_node_set_is_equal(&longer, &range));
    bcs_node_unmark(marks, 63);
    ck_assert(!bcs_node_set_is_equal(&range, &marked));
}
END_TEST

START_TEST(random_sets_agree_with_flags)
{
    static uint64_t marks_a[N_NODES], marks_b[N_NODES];
    bool flags_a[N_NODES], flags_b[N_NODES];

    srand(1);
    for (int i = 0; i < 300; i++) {
        struct bcs_node_set a = random_set(marks_a, flags_a);
        struct bcs_node_set b = random_set(marks_b, flags_b);

        compare_with_flags(&a, flags_a);
        ck_assert(bcs_node_set_is_equal(&a, &a));
        ck_assert_int_eq(bcs_node_set_is_equal(&a, &b),
                         memcmp(flags_a, flags_b, sizeof(flags_a)) == 0);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("node_set");

    tcase_add_test(tcase, a_cleared_set_is_empty);
    tcase_add_test(tcase, a_range_may_go_up_to_the_last_number);
    tcase_add_test(tcase, equal_sets_have_the_same_nodes_however_they_name_them);
    tcase_add_test(tcase, random_sets_agree_with_flags);
    return run_tcase("node_set", tcase);
}
