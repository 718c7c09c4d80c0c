/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a desk keeps: items, those beyond the first ones too, and lists of items and of
 * blocks.
 */
#include "nic_threads/node/completing.h"
#include "nic_threads/node/items.h"

#include <check.h>

#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/outbox.h"
#include "nic_threads/node/tables.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, N_LISTED = 3 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_view *view;

static void begin(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_threaded = true, .limits = "whole=1"};

    job_open(&job, &shape, ranks);
    view = nic_engine_own(ranks[0].context->engine);
}

static void end(void)
{
    job_close(&job, ranks);
}

static uint32_t item_new(enum bcs_descriptor_kind kind, uint32_t port)
{
    return nic_item_new(view, &(struct bcs_descriptor){.kind = kind}, port);
}

START_TEST(sends_that_are_kept_are_counted)
{
    uint32_t send = item_new(BCS_SEND, 1), receive = item_new(BCS_RECEIVE, 0);

    ck_assert_uint_eq(nic_view_item(view, send)->port, 1);
    ck_assert_uint_eq(nic_view_item(view, receive)->descriptor.kind, BCS_RECEIVE);
    ck_assert_uint_eq(view->desk->n_sends_kept, 1);
    nic_item_free(view, receive);
    ck_assert_uint_eq(view->desk->n_sends_kept, 1);
    nic_item_free(view, send);
    ck_assert_uint_eq(view->desk->n_sends_kept, 0);
}
END_TEST

START_TEST(an_item_behind_the_first_ones_is_given_back)
{
    uint32_t id;

    do {
        id = item_new(BCS_RECEIVE, 0);
    } while (id < view->items.n_first);
    ck_assert_uint_eq(id, view->items.n_first);
    nic_view_item(view, id)->next = 0; /* as if in a list */
    nic_item_free(view, id);
    ck_assert_uint_eq(item_new(BCS_RECEIVE, 0), id);
    ck_assert_uint_eq(item_new(BCS_RECEIVE, 0), id + 1); /* none of those in use */
}
END_TEST

START_TEST(what_waits_for_room_leaves_in_its_order)
{
    struct nic_outbox outbox = {0};
    uint32_t n_waiting = 0, taken;

    for (int turn = 0; turn < 2; turn++) {
        taken = view->desk->items_touched;
        for (int32_t i = 0; i < N_LISTED; i++) {
            nic_outbox_add(view, &outbox, &n_waiting,
                           &(struct bcs_descriptor){.kind = BCS_SEND, .tag = i}, 1);
        }
        ck_assert_uint_eq(n_waiting, N_LISTED);
        for (int32_t i = 0; i < N_LISTED; i++) {
            ck_assert_int_eq(
                nic_view_item(view, nic_outbox_first(&outbox))->descriptor.tag, i);
            nic_outbox_drop(view, &outbox, &n_waiting);
        }
        ck_assert_uint_eq(n_waiting, 0);
        ck_assert(nic_outbox_is_empty(&outbox));
        ck_assert_uint_eq(nic_outbox_first(&outbox), NIC_ITEM_NONE);
    }
    ck_assert_uint_eq(view->desk->items_touched, taken); /* the same again */
}
END_TEST

START_TEST(blocks_are_queued_one_behind_the_other)
{
    uint64_t blocks[N_LISTED], first = 0, last = 0;

    for (int i = 0; i < N_LISTED; i++) {
        blocks[i] = bcs_poster_block(&ranks[0].context->poster, 1000, 0);
        ck_assert_uint_ne(blocks[i], 0);
        nic_view_block(view, blocks[i])->next = 1; /* of before */
        nic_view_queue_block(view, &first, &last, blocks[i]);
        ck_assert_uint_eq(last, blocks[i]);
    }
    ck_assert_uint_eq(first, blocks[0]);
    for (int i = 0; i < N_LISTED; i++) {
        ck_assert_uint_eq(nic_view_block(view, blocks[i])->next,
                          i + 1 < N_LISTED ? blocks[i + 1] : 0);
    }
}
END_TEST

START_TEST(who_gets_an_order_is_woken)
{
    _Atomic uint32_t *park = &nic_engine_port(ranks[0].context->engine, 0)->park;

    bcs_park_announce(park, NULL);
    ck_assert(nic_engine_try_lock(view));
    nic_view_remind(view, 0, bcs_poster_cell(&ranks[0].context->poster));
    nic_engine_unlock(view);
    ck_assert(!bcs_park_is_announced(park));
}
END_TEST

/** A table from one place to another is behind what was before, on lines of its own. */
static void expect_behind(const void *table, size_t n_bytes, uintptr_t *end)
{
    ck_assert_uint_eq((uintptr_t)table % BCS_CACHE_LINE, 0);
    ck_assert_uint_ge((uintptr_t)table, *end);
    *end = (uintptr_t)table + n_bytes;
}

static void expect_marks(const struct nic_marks *marks, size_t n_words, size_t n_groups,
                         uintptr_t *end)
{
    expect_behind((const void *)marks->words, n_words * sizeof(uint64_t), end);
    expect_behind((const void *)marks->groups, n_groups * sizeof(uint64_t), end);
}

static void expect_announced(const struct nic_announced *announced, size_t n,
                             size_t n_groups, uintptr_t *end)
{
    expect_behind(announced->each, n, end);
    expect_behind(announced->groups, n_groups, end);
}

START_TEST(tables_stand_one_behind_the_other)
{
    enum { N_PORTS = 70, N_LINKS = 8192, N_FAR = 4160, N_NODES = 4097, BEGIN = 4096 };
    struct nic_per_port a_port;
    struct nic_per_node a_node;
    uintptr_t end = BEGIN;
    size_t n_bytes =
        nic_per_port_place((void *)(uintptr_t)BEGIN, N_PORTS, N_LINKS, N_FAR, &a_port);

    expect_marks(&a_port.writers, 128, 2, &end);
    expect_behind(a_port.touched, 2 * sizeof(a_port.touched[0]), &end);
    expect_behind(a_port.has_deferred, 2 * sizeof(a_port.has_deferred[0]), &end);
    expect_behind(a_port.match, N_PORTS * sizeof(a_port.match[0]), &end);
    expect_behind(a_port.deferred, N_PORTS * sizeof(a_port.deferred[0]), &end);
    /* of ports, and of desks */
    expect_announced(&a_port.announced, 2 * N_FAR, 130, &end);
    expect_marks(&a_port.waiting, 65, 2, &end);
    ck_assert_uint_le(end, BEGIN + n_bytes);
    end = BEGIN;
    n_bytes = nic_per_node_place((void *)(uintptr_t)BEGIN, N_PORTS, N_NODES, &a_node);
    expect_announced(&a_node.announced, N_NODES, 65, &end);
    expect_marks(&a_node.senders, 65, 2, &end);
    expect_marks(&a_node.taken, 65, 2, &end);
    expect_marks(&a_node.waiting, 65, 2, &end);
    expect_behind(a_node.apart, 2 * N_PORTS * sizeof(a_node.apart[0]), &end);
    ck_assert_uint_le(end, BEGIN + n_bytes);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("items");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, sends_that_are_kept_are_counted);
    tcase_add_test(tcase, an_item_behind_the_first_ones_is_given_back);
    tcase_add_test(tcase, what_waits_for_room_leaves_in_its_order);
    tcase_add_test(tcase, blocks_are_queued_one_behind_the_other);
    tcase_add_test(tcase, who_gets_an_order_is_woken);
    tcase_add_test(tcase, tables_stand_one_behind_the_other);
    return run_tcase("items", tcase);
}
