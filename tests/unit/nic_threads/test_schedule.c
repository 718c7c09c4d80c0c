/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of long messages: what goes in which slice.
 */
#include "nic_threads/rules/schedule.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

enum { N_ITEMS = 64, CHUNK = 1000, SLICE = 2500 };

static struct nic_schedule schedule;
static struct nic_item items[N_ITEMS];
static const struct nic_items all = {.first = items, .n_first = N_ITEMS};

static void setup(void)
{
    nic_schedule_init(&schedule, CHUNK, SLICE);
}

static void add(uint32_t id, uint64_t total)
{
    items[id] = (struct nic_item){.total = total, .chunk_limit = UINT64_MAX};
    nic_schedule_add(&schedule, &all, id);
}

static void expect(uint32_t id, uint64_t offset, uint64_t n_bytes)
{
    struct nic_share share = {0};

    ck_assert_int_eq(nic_schedule_next(&schedule, &all, &share), 1);
    ck_assert_uint_eq(share.item, id);
    ck_assert_uint_eq(share.offset, offset);
    ck_assert_uint_eq(share.n_bytes, n_bytes);
    ck_assert_uint_eq(items[id].granted, offset + n_bytes);
}

static void expect_no_more(void)
{
    struct nic_share share = {.item = 77};

    ck_assert_int_eq(nic_schedule_next(&schedule, &all, &share), 0);
    ck_assert_uint_eq(share.item, 77);
}

START_TEST(nothing_waits_in_a_new_schedule)
{
    ck_assert(!nic_schedule_is_waiting(&schedule));
    nic_schedule_open(&schedule, &all);
    expect_no_more();
}
END_TEST

START_TEST(a_long_message_is_spread_over_slices)
{
    add(3, 2 * CHUNK + 1);
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert(nic_schedule_is_waiting(&schedule));
        nic_schedule_open(&schedule, &all);
        expect(3, i * CHUNK, i < 2 ? CHUNK : 1);
        expect_no_more(); /* one chunk of a message at a time */
        ck_assert(!nic_schedule_is_waiting(&schedule));
        if (i < 2) {
            nic_schedule_add(&schedule, &all, 3);
        }
    }
}
END_TEST

START_TEST(a_full_slice_leaves_the_rest_in_order)
{
    for (uint32_t id = 0; id < 6; id++) {
        add(id, CHUNK);
    }
    for (uint32_t id = 0; id < 6; id += 2) {
        nic_schedule_open(&schedule, &all);
        expect(id, 0, CHUNK);
        expect(id + 1, 0, CHUNK);
        expect_no_more();
    }
    ck_assert(!nic_schedule_is_waiting(&schedule));
}
END_TEST

START_TEST(a_short_message_does_not_overtake_one_that_does_not_fit)
{
    add(0, CHUNK);
    add(1, CHUNK);
    add(2, CHUNK);
    add(3, 1);
    nic_schedule_open(&schedule, &all);
    expect(0, 0, CHUNK);
    expect(1, 0, CHUNK);
    expect_no_more();
    nic_schedule_open(&schedule, &all);
    expect(2, 0, CHUNK);
    expect(3, 0, 1);
}
END_TEST

START_TEST(a_transfer_of_no_bytes_gets_one_chunk)
{
    add(5, 0);
    nic_schedule_open(&schedule, &all);
    expect(5, 0, 0);
    expect_no_more();
    ck_assert(!nic_schedule_is_waiting(&schedule));
}
END_TEST

START_TEST(a_transfer_is_queued_once)
{
    add(0, 2 * CHUNK);
    nic_schedule_add(&schedule, &all, 0);
    add(1, CHUNK);
    nic_schedule_add(&schedule, &all, 0);
    nic_schedule_open(&schedule, &all);
    expect(0, 0, CHUNK);
    expect(1, 0, CHUNK);
    expect_no_more();
    ck_assert(!nic_schedule_is_waiting(&schedule));
    nic_schedule_add(&schedule, &all, 0);
    nic_schedule_open(&schedule, &all);
    expect(0, CHUNK, CHUNK);
}
END_TEST

START_TEST(a_transfers_own_limit_makes_its_chunks_smaller)
{
    add(0, 300);
    items[0].chunk_limit = 128;
    for (uint64_t offset = 0; offset < 300; offset += 128) {
        nic_schedule_open(&schedule, &all);
        expect(0, offset, offset < 256 ? 128 : 44);
        nic_schedule_add(&schedule, &all, 0);
    }
}
END_TEST

START_TEST(a_slice_takes_at_least_one_chunk)
{
    nic_schedule_init(&schedule, CHUNK, 1);
    add(0, 5 * CHUNK);
    nic_schedule_open(&schedule, &all);
    expect(0, 0, CHUNK);
}
END_TEST

START_TEST(a_message_gets_one_chunk_of_a_slice_in_pieces)
{
    add(0, 2 * CHUNK);
    items[0].chunk_limit = 600;
    add(1, CHUNK);
    nic_schedule_open(&schedule, &all);
    expect(0, 0, 600);
    nic_schedule_add(&schedule, &all, 0);
    expect(1, 0, CHUNK);
    expect(0, 600, CHUNK - 600);
    nic_schedule_add(&schedule, &all, 0);
    ck_assert(nic_schedule_is_waiting(&schedule));
    ck_assert(!nic_schedule_can_go_on(&schedule));
    expect_no_more(); /* of this slice */
    add(2, 10);
    expect(2, 0, 10); /* one that has come later has not had any */
    nic_schedule_open(&schedule, &all);
    expect(0, CHUNK, 600);
}
END_TEST

START_TEST(a_full_slice_can_not_go_on)
{
    for (uint32_t id = 0; id < 3; id++) {
        add(id, CHUNK);
    }
    nic_schedule_open(&schedule, &all);
    expect(0, 0, CHUNK);
    ck_assert(nic_schedule_can_go_on(&schedule));
    expect(1, 0, CHUNK);
    expect_no_more();
    ck_assert(!nic_schedule_can_go_on(&schedule));
    nic_schedule_open(&schedule, &all);
    ck_assert(nic_schedule_can_go_on(&schedule));
}
END_TEST

/* ---- random transfers compared with what every message must get */

struct model {
    uint32_t queue[N_ITEMS]; /* in order */
    int n;
    uint32_t later[N_ITEMS]; /* had their chunk of the last slice */
    int n_later;
    uint64_t moved[N_ITEMS];
    uint64_t had[N_ITEMS]; /* of it in the last slice */
    bool is_queued[N_ITEMS];
};

static void model_queue(struct model *model, uint32_t id)
{
    nic_schedule_add(&schedule, &all, id);
    if (!model->is_queued[id]) {
        model->is_queued[id] = true;
        if (model->had[id] == CHUNK) {
            model->later[model->n_later++] = id;
        } else {
            model->queue[model->n++] = id;
        }
    }
}

static void model_open(struct model *model)
{
    nic_schedule_open(&schedule, &all);
    for (int i = 0; i < model->n_later; i++) {
        model->queue[model->n++] = model->later[i];
    }
    model->n_later = 0;
    for (int i = 0; i < N_ITEMS; i++) {
        model->had[i] = 0;
    }
}

/** Fill one slice and check every chunk of it. */
static void check_slice(struct model *model)
{
    uint64_t left = SLICE;
    struct nic_share share;

    model_open(model);
    while (nic_schedule_next(&schedule, &all, &share)) {
        uint64_t rest = items[share.item].total - share.offset;
        uint64_t limit = items[share.item].chunk_limit < CHUNK
                             ? items[share.item].chunk_limit
                             : CHUNK;

        ck_assert_int_gt(model->n, 0);
        ck_assert_uint_eq(share.item, model->queue[0]);
        ck_assert_uint_eq(share.offset, model->moved[share.item]);
        ck_assert_uint_eq(share.n_bytes, rest < limit ? rest : limit);
        ck_assert_uint_le(share.n_bytes, left);
        left -= share.n_bytes;
        model->moved[share.item] += share.n_bytes;
        model->had[share.item] += share.n_bytes;
        model->is_queued[share.item] = false;
        model->n--;
        for (int i = 0; i < model->n; i++) {
            model->queue[i] = model->queue[i + 1];
        }
    }
    if (model->n > 0) { /* the slice is full: not even the oldest one's chunk fits */
        const struct nic_item *first = &items[model->queue[0]];
        uint64_t rest = first->total - first->granted;

        rest = rest < CHUNK ? rest : CHUNK;
        ck_assert_uint_gt(rest < first->chunk_limit ? rest : first->chunk_limit, left);
    }
}

START_TEST(every_byte_of_random_transfers_goes_once_and_in_order)
{
    struct model model = {0};
    int n_transfers = 0;

    srand((unsigned)_i + 1);
    for (uint32_t id = 0; id < N_ITEMS; id++) {
        items[id] = (struct nic_item){0};
    }
    for (int i = 0; i < 5000; i++) {
        uint32_t id = (uint32_t)rand() % N_ITEMS;

        if (model.is_queued[id] || model.moved[id] < items[id].total) {
            model_queue(&model, id); /* it wants its next chunk, or is queued already */
        } else {
            ck_assert_uint_eq(items[id].granted, items[id].total);
            items[id] = (struct nic_item){
                .total = (uint64_t)rand() % (4 * CHUNK),
                .chunk_limit =
                    rand() % 2 == 0 ? UINT64_MAX : (uint64_t)rand() % 500 + 1,
            };
            model.moved[id] = 0;
            model.had[id] = 0;
            n_transfers++;
            model_queue(&model, id);
        }
        if (rand() % 4 == 0) {
            check_slice(&model);
        }
    }
    while (model.n + model.n_later > 0) {
        check_slice(&model);
    }
    ck_assert(!nic_schedule_is_waiting(&schedule));
    ck_assert_int_gt(n_transfers, 500);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("schedule");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, nothing_waits_in_a_new_schedule);
    tcase_add_test(tcase, a_long_message_is_spread_over_slices);
    tcase_add_test(tcase, a_full_slice_leaves_the_rest_in_order);
    tcase_add_test(tcase, a_short_message_does_not_overtake_one_that_does_not_fit);
    tcase_add_test(tcase, a_transfer_of_no_bytes_gets_one_chunk);
    tcase_add_test(tcase, a_transfer_is_queued_once);
    tcase_add_test(tcase, a_transfers_own_limit_makes_its_chunks_smaller);
    tcase_add_test(tcase, a_slice_takes_at_least_one_chunk);
    tcase_add_test(tcase, a_message_gets_one_chunk_of_a_slice_in_pieces);
    tcase_add_test(tcase, a_full_slice_can_not_go_on);
    tcase_add_loop_test(tcase, every_byte_of_random_transfers_goes_once_and_in_order, 0,
                        4);
    return run_tcase("schedule", tcase);
}
