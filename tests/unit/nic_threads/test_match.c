/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matching lists: MPI's rules one by one, then thousands of random operations
 * compared with a plain list in order of posting; and a reader without the lock.
 */
#include "nic_threads/rules/match.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { N_ITEMS = 512, CONTEXT = 8 };

static struct nic_match match;
static struct nic_item items[N_ITEMS];
static const struct nic_items all = {.first = items, .n_first = N_ITEMS};

static void setup(void)
{
    nic_match_init(&match);
}

static struct bcs_descriptor describe(uint64_t context_id, int32_t source, int32_t tag)
{
    return (struct bcs_descriptor){
        .context_id = context_id, .source = source, .tag = tag};
}

static void add_send(uint32_t id, int32_t source, int32_t tag)
{
    items[id].descriptor = describe(CONTEXT, source, tag);
    nic_match_add_send(&match, &all, id);
}

static void add_receive(uint32_t id, int32_t source, int32_t tag)
{
    items[id].descriptor = describe(CONTEXT, source, tag);
    items[id].descriptor.cell = 1000 + id;
    nic_match_add_receive(&match, &all, id);
}

static uint32_t find_send(int32_t source, int32_t tag)
{
    struct bcs_descriptor receive = describe(CONTEXT, source, tag);

    return nic_match_find_send(&match, &all, &receive);
}

static uint32_t find_receive(int32_t source, int32_t tag)
{
    struct bcs_descriptor send = describe(CONTEXT, source, tag);

    return nic_match_find_receive(&match, &all, &send);
}

START_TEST(an_empty_queue_has_nothing)
{
    ck_assert_uint_eq(find_send(-1, -1), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_send(0, 0), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_receive(0, 0), NIC_ITEM_NONE);
    ck_assert_uint_eq(nic_match_find_cell(&match, &all, 0), NIC_ITEM_NONE);
}
END_TEST

START_TEST(messages_of_one_sender_do_not_overtake_each_other)
{
    for (uint32_t id = 0; id < 5; id++) {
        add_send(id, 3, 7);
    }
    for (uint32_t id = 0; id < 5; id++) {
        ck_assert_uint_eq(find_send(3, id % 2 == 0 ? 7 : -1), id);
        nic_match_remove_send(&match, &all, id);
    }
    ck_assert_uint_eq(find_send(3, 7), NIC_ITEM_NONE);
}
END_TEST

START_TEST(finding_leaves_in_place)
{
    add_send(0, 1, 1);
    ck_assert_uint_eq(find_send(1, 1), 0);
    ck_assert_uint_eq(find_send(1, 1), 0);
    add_receive(1, 2, 1);
    ck_assert_uint_eq(find_receive(2, 1), 1);
    ck_assert_uint_eq(find_receive(2, 1), 1);
}
END_TEST

START_TEST(a_receive_of_any_source_gets_the_oldest_send_of_all)
{
    add_send(9, 5, 1);
    add_send(4, 0, 1);
    add_send(6, 2, 1);
    ck_assert_uint_eq(find_send(-1, 1), 9);
    nic_match_remove_send(&match, &all, 9);
    ck_assert_uint_eq(find_send(-1, -1), 4);
    nic_match_remove_send(&match, &all, 4);
    ck_assert_uint_eq(find_send(-1, 1), 6);
}
END_TEST

START_TEST(a_send_gets_the_older_one_of_a_named_and_a_wildcard_receive)
{
    add_receive(0, 1, 5);
    add_receive(1, -1, 5);
    add_receive(2, 1, -1);
    add_receive(3, -1, -1);
    for (uint32_t id = 0; id < 4; id++) {
        ck_assert_uint_eq(find_receive(1, 5), id);
        nic_match_remove_receive(&match, &all, id);
    }
    add_receive(3, -1, 5);
    add_receive(2, 1, 5);
    ck_assert_uint_eq(find_receive(1, 5), 3);
    nic_match_remove_receive(&match, &all, 3);
    ck_assert_uint_eq(find_receive(1, 5), 2);
}
END_TEST

START_TEST(tags_and_sources_select)
{
    add_send(0, 1, 10);
    add_send(1, 1, 11);
    add_send(2, 2, 10);
    ck_assert_uint_eq(find_send(1, 11), 1);
    ck_assert_uint_eq(find_send(2, -1), 2);
    ck_assert_uint_eq(find_send(-1, 11), 1);
    ck_assert_uint_eq(find_send(2, 11), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_send(3, -1), NIC_ITEM_NONE);
    add_receive(3, 4, 10);
    ck_assert_uint_eq(find_receive(4, 11), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_receive(5, 10), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_receive(4, 10), 3);
}
END_TEST

/* Also the sources that share a bucket with the one that is asked for. */
START_TEST(contexts_are_apart)
{
    for (int32_t source = 0; source < 3 * NIC_MATCH_BUCKETS; source++) {
        const uint32_t id = (uint32_t)source;
        struct bcs_descriptor other = describe(CONTEXT + 1, source, 3);

        add_send(id, source, 3);
        ck_assert_uint_eq(nic_match_find_send(&match, &all, &other), NIC_ITEM_NONE);
        other.source = -1;
        ck_assert_uint_eq(nic_match_find_send(&match, &all, &other), NIC_ITEM_NONE);
        ck_assert_uint_eq(find_send(source, 3), id);
        nic_match_remove_send(&match, &all, id);

        add_receive(id, source % 2 == 0 ? source : -1, 3);
        other.source = source;
        ck_assert_uint_eq(nic_match_find_receive(&match, &all, &other), NIC_ITEM_NONE);
        ck_assert_uint_eq(find_receive(source, 3), id);
        nic_match_remove_receive(&match, &all, id);
    }
}
END_TEST

START_TEST(a_pending_receive_is_found_by_its_cell)
{
    for (uint32_t id = 0; id < 40; id++) {
        add_receive(id, id % 4 == 0 ? -1 : (int32_t)id, 1);
    }
    for (uint32_t id = 0; id < 40; id++) {
        ck_assert_uint_eq(nic_match_find_cell(&match, &all, 1000 + id), id);
        nic_match_remove_receive(&match, &all, id);
        ck_assert_uint_eq(nic_match_find_cell(&match, &all, 1000 + id), NIC_ITEM_NONE);
    }
}
END_TEST

START_TEST(what_is_taken_from_the_middle_leaves_the_others_in_order)
{
    static const uint32_t removed[] = {3, 0, 5, 1}; /* middle, first, last, first */

    for (uint32_t id = 0; id < 6; id++) {
        add_send(id, 1, 1);
        add_receive(10 + id, 2, 1);
        add_receive(20 + id, -1, 2);
    }
    for (int i = 0; i < 4; i++) {
        nic_match_remove_send(&match, &all, removed[i]);
        nic_match_remove_receive(&match, &all, 10 + removed[i]);
        nic_match_remove_receive(&match, &all, 20 + removed[i]);
    }
    add_send(0, 1, 1);
    add_receive(10, 2, 1);
    add_receive(20, -1, 2);
    for (int i = 0; i < 3; i++) {
        static const uint32_t left[] = {2, 4, 0};
        ck_assert_uint_eq(find_send(-1, 1), left[i]);
        ck_assert_uint_eq(find_send(1, 1), left[i]);
        ck_assert_uint_eq(find_receive(2, 1), 10 + left[i]);
        ck_assert_uint_eq(find_receive(2, 2), 20 + left[i]);
        nic_match_remove_send(&match, &all, left[i]);
        nic_match_remove_receive(&match, &all, 10 + left[i]);
        nic_match_remove_receive(&match, &all, 20 + left[i]);
    }
    ck_assert_uint_eq(find_send(-1, -1), NIC_ITEM_NONE);
    ck_assert_uint_eq(find_receive(2, 1), NIC_ITEM_NONE);
}
END_TEST

/* ---- the same operations on a plain list */

struct model_list {
    uint32_t ids[N_ITEMS]; /* oldest first */
    int n;
};

static struct model_list model_sends, model_receives;
static uint32_t free_ids[N_ITEMS];
static int n_free;

static bool fits(const struct bcs_descriptor *receive,
                 const struct bcs_descriptor *send)
{
    return receive->context_id == send->context_id &&
           (receive->source == -1 || receive->source == send->source) &&
           (receive->tag == -1 || receive->tag == send->tag);
}

static void model_remove(struct model_list *list, int at)
{
    for (list->n--; at < list->n; at++) {
        list->ids[at] = list->ids[at + 1];
    }
}

static struct bcs_descriptor random_descriptor(bool is_send)
{
    static const uint64_t contexts[] = {2, 3, 2 + NIC_MATCH_BUCKETS, 2 | 1 << 20};

    return describe(contexts[rand() % 4], rand() % (is_send ? 6 : 7) - !is_send,
                    rand() % (is_send ? 4 : 5) - !is_send);
}

static void post_send(void)
{
    uint32_t id = free_ids[--n_free];
    uint32_t found;
    int at = 0;

    items[id].descriptor = random_descriptor(true);
    while (at < model_receives.n &&
           !fits(&items[model_receives.ids[at]].descriptor, &items[id].descriptor)) {
        at++;
    }
    found = nic_match_find_receive(&match, &all, &items[id].descriptor);
    if (at == model_receives.n) {
        ck_assert_uint_eq(found, NIC_ITEM_NONE);
        nic_match_add_send(&match, &all, id);
        model_sends.ids[model_sends.n++] = id;
        return;
    }
    ck_assert_uint_eq(found, model_receives.ids[at]);
    nic_match_remove_receive(&match, &all, found);
    model_remove(&model_receives, at);
    free_ids[n_free++] = found;
    free_ids[n_free++] = id;
}

/** Post a receive, or a probe that does not wait and leaves the message. */
static void post_receive(uint32_t cell, bool is_probe)
{
    uint32_t id = free_ids[--n_free];
    uint32_t found;
    int at = 0;

    items[id].descriptor = random_descriptor(false);
    items[id].descriptor.cell = cell;
    while (at < model_sends.n &&
           !fits(&items[id].descriptor, &items[model_sends.ids[at]].descriptor)) {
        at++;
    }
    found = nic_match_find_send(&match, &all, &items[id].descriptor);
    ck_assert_uint_eq(found, at < model_sends.n ? model_sends.ids[at] : NIC_ITEM_NONE);
    if (is_probe) {
        free_ids[n_free++] = id;
    } else if (found == NIC_ITEM_NONE) {
        nic_match_add_receive(&match, &all, id);
        model_receives.ids[model_receives.n++] = id;
    } else {
        nic_match_remove_send(&match, &all, found);
        model_remove(&model_sends, at);
        free_ids[n_free++] = found;
        free_ids[n_free++] = id;
    }
}

static void cancel_some_receive(void)
{
    int at = model_receives.n > 0 ? rand() % model_receives.n : 0;
    uint32_t id = model_receives.ids[at];

    if (model_receives.n > 0) {
        ck_assert_uint_eq(nic_match_find_cell(&match, &all, items[id].descriptor.cell),
                          id);
        nic_match_remove_receive(&match, &all, id);
        model_remove(&model_receives, at);
        free_ids[n_free++] = id;
    }
}

static void take_some_send(void)
{
    if (model_sends.n > 0) {
        int at = rand() % model_sends.n;

        nic_match_remove_send(&match, &all, model_sends.ids[at]);
        free_ids[n_free++] = model_sends.ids[at];
        model_remove(&model_sends, at);
    }
}

START_TEST(random_operations_agree_with_a_plain_list)
{
    int n_most = 0;

    srand((unsigned)_i + 1);
    model_sends.n = model_receives.n = n_free = 0;
    for (uint32_t id = 0; id < N_ITEMS; id++) {
        free_ids[n_free++] = id;
    }
    for (int i = 0; i < 20000; i++) {
        /* Now mostly sends, now mostly receives, so that both queues fill and drain. */
        int n_sends_of_10 = i / 500 % 2 == 0 ? 8 : 2;
        int what = rand() % 20;

        if (what == 0) {
            cancel_some_receive();
        } else if (what == 1 || n_free < 2) {
            take_some_send();
        } else if (rand() % 10 < n_sends_of_10) {
            post_send();
        } else {
            post_receive((uint32_t)i, what == 2);
        }
        ck_assert_int_eq(match.n_sends, model_sends.n);
        ck_assert_int_eq(match.n_receives, model_receives.n);
        n_most = model_sends.n > n_most ? model_sends.n : n_most;
    }
    ck_assert_int_gt(n_most, 100);
}
END_TEST

/** What a reader without the lock looks for. */
static uint32_t wanted;

/** Queue a send of each further tag, just when the reader looks for it. */
static void *add_what_is_wanted(void *none)
{
    for (uint32_t id = 1; id < N_ITEMS; id++) {
        while (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) < id) {
        }
        add_send(id, (int32_t)id, 0);
    }
    return none;
}

/** Even rounds look by source first, odd ones for a message of any source. */
START_TEST(what_is_found_in_one_list_is_found_in_the_other)
{
    pthread_t writer;

    wanted = 0;
    add_send(0, 0, 1); /* or the queue would be taken for empty until the last moment */
    ck_assert_int_eq(pthread_create(&writer, NULL, add_what_is_wanted, NULL), 0);
    for (uint32_t id = 1; id < N_ITEMS; id++) {
        const int32_t sources[] = {(int32_t)id, -1};

        __atomic_store_n(&wanted, id, __ATOMIC_RELEASE);
        while (find_send(sources[_i % 2], 0) == NIC_ITEM_NONE) {
        }
        ck_assert_uint_eq(find_send(sources[1 - _i % 2], 0), id);
        nic_match_remove_send(&match, &all,
                              id); /* the writer waits for the next wish */
    }
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("match");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, an_empty_queue_has_nothing);
    tcase_add_test(tcase, messages_of_one_sender_do_not_overtake_each_other);
    tcase_add_test(tcase, finding_leaves_in_place);
    tcase_add_test(tcase, a_receive_of_any_source_gets_the_oldest_send_of_all);
    tcase_add_test(tcase, a_send_gets_the_older_one_of_a_named_and_a_wildcard_receive);
    tcase_add_test(tcase, tags_and_sources_select);
    tcase_add_test(tcase, contexts_are_apart);
    tcase_add_test(tcase, a_pending_receive_is_found_by_its_cell);
    tcase_add_test(tcase, what_is_taken_from_the_middle_leaves_the_others_in_order);
    tcase_add_loop_test(tcase, random_operations_agree_with_a_plain_list, 0, 4);
    tcase_add_loop_test(tcase, what_is_found_in_one_list_is_found_in_the_other, 0, 60);
    return run_tcase("match", tcase);
}
