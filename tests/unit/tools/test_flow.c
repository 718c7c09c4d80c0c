/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What descriptors that were read tell of who sends how much to whom.
 */
#include <check.h>
#include <stdlib.h>

#include "apps/tools/look/flow.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4 };

static struct bcs_flows flows;
static double mean;

static void begin(void)
{
    flows = (struct bcs_flows){0};
    mean = -1;
}

static void end(void)
{
    free(flows.flows);
}

static struct bcs_descriptor message(uint32_t to, uint64_t n_bytes)
{
    return (struct bcs_descriptor){.kind = BCS_SEND, .port = to, .n_bytes = n_bytes};
}

/** Take entries for the last ones of n_moved, written by rank 1. */
static void add(const struct bcs_descriptor *entries, uint32_t n, uint32_t n_moved)
{
    ck_assert_int_eq(bcs_flow_add(&flows,
                                  &(struct bcs_flow_window){.entries = entries,
                                                            .n = n,
                                                            .n_moved = n_moved,
                                                            .from = 1,
                                                            .n_ports = N_RANKS,
                                                            .mean_bytes = mean},
                                  &mean),
                     0);
}

START_TEST(messages_are_added_by_receiver)
{
    const struct bcs_descriptor entries[] = {message(2, 10), message(3, 1),
                                             message(2, 5)};

    add(entries, 3, 3);
    ck_assert_uint_eq(flows.n, 2);
    ck_assert_uint_eq(flows.flows[0].from, 1);
    ck_assert_uint_eq(flows.flows[0].to, 2);
    ck_assert_double_eq(flows.flows[0].n_messages, 2);
    ck_assert_double_eq(flows.flows[0].n_bytes, 15);
    ck_assert_uint_eq(flows.flows[1].to, 3);
    ck_assert_double_eq(flows.flows[1].n_bytes, 1);
    ck_assert_double_eq_tol(mean, 16.0 / 3, 1e-9);
}
END_TEST

START_TEST(the_last_ones_stand_for_all)
{
    const struct bcs_descriptor entries[] = {message(0, 8), message(0, 24)};

    add(entries, 2, 10);
    ck_assert_double_eq(flows.flows[0].n_messages, 10);
    ck_assert_double_eq(flows.flows[0].n_bytes, 160);
}
END_TEST

START_TEST(what_is_gone_is_taken_for_as_short_as_before)
{
    const struct bcs_descriptor shorts[] = {message(0, 10), message(0, 10)};
    const struct bcs_descriptor longs[] = {message(0, 1000), message(0, 1000)};

    add(shorts, 2, 2);
    flows.n = 0;
    add(longs, 2, 100); /* 98 are gone */
    ck_assert_double_eq(flows.flows[0].n_messages, 100);
    ck_assert_double_eq_tol(flows.flows[0].n_bytes, 2000 + 98 * 10, 1e-6);
    flows.n = 0;
    add(shorts, 2, 100);
    ck_assert_double_eq_tol(flows.flows[0].n_bytes, 1000, 1e-6);
}
END_TEST

START_TEST(what_is_no_message_counts_only_as_what_has_moved)
{
    struct bcs_descriptor entries[] = {message(0, 8),
                                       {.kind = BCS_RECEIVE, .n_bytes = 500},
                                       {.kind = BCS_COLLECTIVE, .source = 0},
                                       {.kind = BCS_COLLECTIVE, .source = 1}};

    add(entries, 4, 8);
    ck_assert_uint_eq(flows.n, 1);
    ck_assert_double_eq(flows.flows[0].n_messages, 2);
    ck_assert_double_eq(flows.n_collectives, 2);
}
END_TEST

START_TEST(what_makes_no_sense_is_left_out)
{
    const struct bcs_descriptor entries[] = {message(N_RANKS, 8),
                                             message(UINT32_MAX, 8)};

    add(entries, 2, 2);
    add(entries, 0, 5); /* none could be read */
    ck_assert_uint_eq(flows.n, 0);
    ck_assert_double_eq(mean, -1);
}
END_TEST

START_TEST(there_is_room_for_many)
{
    for (uint32_t i = 0; i < 1000; i++) {
        const struct bcs_descriptor entry = message(i % N_RANKS, i);

        add(&entry, 1, 1);
    }
    ck_assert_uint_eq(flows.n, 1000); /* of windows of their own */
    ck_assert_double_eq(flows.flows[999].n_bytes, 999);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("flow");

    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, messages_are_added_by_receiver);
    tcase_add_test(tests, the_last_ones_stand_for_all);
    tcase_add_test(tests, what_is_gone_is_taken_for_as_short_as_before);
    tcase_add_test(tests, what_is_no_message_counts_only_as_what_has_moved);
    tcase_add_test(tests, what_makes_no_sense_is_left_out);
    tcase_add_test(tests, there_is_room_for_many);
    return run_tcase("flow", tests);
}
