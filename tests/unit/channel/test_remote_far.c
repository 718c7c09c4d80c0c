/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands between two machines that are played on this one. One thread is the
 * program of both processes; the service of rank 1 carries out what rank 0 asks for.
 */
#include <errno.h>
#include <string.h>

#include "libbcs/channel/region_users.h"
#include "tests/pattern.h"
#include "tests/unit/remote_ends.h"

enum { N_BYTES = 5000, BUFFER = 0, BUFFER_BYTES = BCS_REMOTE_BUFFER_BYTES + 1024 };

static struct channels *both[2];
static struct bcs_remote of_one,
    far_region; /* of rank 1: its own, and as rank 0 has it */

static void join(struct ranks_rank *rank)
{
    ck_assert_int_eq(channels_join(&rank->entry, &both[rank->entry.bootstrap.rank]), 0);
}

static void set_up(void)
{
    ranks_init(&job, ranks, 2, 0);
    ranks_set_far(ranks, 2, 2);
    ranks_run(ranks, 2, join);
    ck_assert_int_eq(remote_export(both[1], REGION, N_BYTES, &of_one), 0);
    ck_assert_int_eq(remote_import(both[0], 1, REGION, false, &far_region), 0);
}

static void tear_down(void)
{
    ck_assert_int_eq(channels_leave(both[0]), 0);
    ck_assert_int_eq(channels_leave(both[1]), 0);
    ranks_fini(&job);
}

START_TEST(blocks_of_any_length_go_to_another_machine)
{
    static const size_t lengths[] = {0, 1, 7, 8, 447, 448, 449, 1000, 4990};
    uint8_t sent[N_BYTES], got[N_BYTES];

    ck_assert_ptr_null(far_region.memory);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memset(bcs_region_memory(&of_one), 0xee, N_BYTES);
        memset(got, 0, sizeof(got));
        pattern_fill(sent, lengths[i], (int)i);
        ck_assert_int_eq(bcs_remote_write(&far_region, 3, sent, lengths[i]), 0);
        ck_assert_mem_eq((uint8_t *)bcs_region_memory(&of_one) + 3, sent, lengths[i]);
        ck_assert_uint_eq(((uint8_t *)bcs_region_memory(&of_one))[3 + lengths[i]],
                          0xee);
        ck_assert_int_eq(bcs_remote_read(&far_region, 3, got, lengths[i]), 0);
        ck_assert_mem_eq(got, sent, lengths[i]);
    }
}
END_TEST

START_TEST(elements_are_accumulated_on_another_machine)
{
    uint32_t operands[300], before[300], got[300];
    struct bcs_remote_accumulation accumulation = {.op = BCS_SUM,
                                                   .type = BCS_UINT32,
                                                   .operands = operands,
                                                   .count = 300,
                                                   .before_out = before};

    for (uint32_t i = 0; i < 300; i++) {
        operands[i] = i;
    }
    for (uint32_t round = 0; round < 3; round++) {
        ck_assert_int_eq(bcs_remote_accumulate(&far_region, 4, &accumulation), 0);
        for (uint32_t i = 0; i < 300; i++) {
            ck_assert_uint_eq(before[i], round * i);
        }
    }
    ck_assert_int_eq(bcs_remote_read(&of_one, 4, got, sizeof(got)), 0);
    for (uint32_t i = 0; i < 300; i++) {
        ck_assert_uint_eq(got[i], 3 * i);
    }
    accumulation.type = BCS_FLOAT;
    accumulation.op = BCS_BXOR;
    ck_assert_int_eq(bcs_remote_accumulate(&far_region, 4, &accumulation), -EINVAL);
}
END_TEST

START_TEST(words_are_swapped_and_found_on_another_machine)
{
    struct bcs_remote_indirect place = {
        .index_offset = 24, .index_bytes = 4, .base = 64, .stride = 8};
    uint64_t before = 9, offset = 0;
    uint32_t index = 3;

    ck_assert_int_eq(bcs_remote_compare_swap(&far_region, 8, 1, 2, &before), 0);
    ck_assert_uint_eq(before, 0);
    ck_assert_uint_eq(word_at(&of_one, 8), 0);
    ck_assert_int_eq(bcs_remote_compare_swap(&far_region, 8, 0, 2, &before), 0);
    ck_assert_uint_eq(word_at(&of_one, 8), 2);
    ck_assert_int_eq(bcs_remote_add_word(&far_region, 8, 5, &before), 0);
    ck_assert_uint_eq(before, 2);
    ck_assert_uint_eq(word_at(&far_region, 8), 7);
    ck_assert_int_eq(bcs_remote_write(&of_one, 24, &index, sizeof(index)), 0);
    ck_assert_int_eq(bcs_remote_find(&far_region, &place, &offset), 0);
    ck_assert_uint_eq(offset, 64 + 24);
}
END_TEST

START_TEST(records_are_appended_on_another_machine)
{
    uint8_t record[449] = {0}, got[449];
    size_t n_bytes;
    int n = 0;

    ck_assert_int_eq(bcs_remote_append(&far_region, BUFFER, record, 8), -EINVAL);
    ck_assert_int_eq(bcs_remote_make_buffer(&far_region, BUFFER, BUFFER_BYTES), -EPERM);
    ck_assert_int_eq(bcs_remote_make_buffer(&of_one, BUFFER, BUFFER_BYTES), 0);
    ck_assert_int_eq(bcs_remote_take(&far_region, BUFFER, got, 8, &n_bytes), -EPERM);
    ck_assert_int_eq(bcs_remote_append(&far_region, BUFFER, record, 449), -ENOTSUP);
    while (bcs_remote_append(&far_region, BUFFER, record, 448) == 0) {
        record[0]++;
        n++;
    }
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(bcs_remote_append(&far_region, BUFFER, record, 448), BCS_E_FULL);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(bcs_remote_take(&of_one, BUFFER, got, 448, &n_bytes), 0);
        ck_assert(n_bytes == 448 && got[0] == i);
    }
}
END_TEST

static void *use_from_another(void *arg)
{
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 1), -EPERM);
    ck_assert_int_eq(bcs_region_release(&far_region), -EPERM);
    return arg;
}

START_TEST(what_is_wrong_is_refused_here)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.event = &event};
    pthread_t thread;

    ck_assert_int_eq(bcs_remote_write_word(&far_region, N_BYTES, 1), -ERANGE);
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 4, 1), -EINVAL);
    ck_assert_int_eq(bcs_remote_fetch(&far_region, &fetch), -ENOTSUP);
    fetch.offset = N_BYTES;
    fetch.n_bytes = 1;
    ck_assert_int_eq(bcs_remote_fetch(&far_region, &fetch), -ERANGE);
    ck_assert_uint_eq(event.count, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_from_another, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_ptr_null(bcs_region_memory(&far_region));
    ck_assert_int_eq(bcs_region_release(&far_region), 0);
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 1), -EPERM);
}
END_TEST

START_TEST(a_region_taken_back_is_closed_and_kept_until_it_is_released)
{
    struct bcs_remote again;
    uint64_t word;
    uint64_t serial = both[1]->remotes.exports.own[REGION].serial;

    ck_assert_int_eq(bcs_region_release(&of_one), 0);
    ck_assert(!region_count_in(both[1], 1, REGION, serial)); /* nobody comes in */
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 1), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_read_word(&far_region, 0, &word), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_wait(&far_region, 0, 1), 0); /* as it was written */
    ck_assert_int_eq(bcs_remote_wait(&far_region, 0, 2), BCS_E_CLOSED);
    ck_assert_int_eq(remote_import(both[0], 1, REGION, false, &again), -ENOENT);
    ck_assert_int_eq(remote_export(both[1], REGION, 64, &of_one), -EEXIST);
    ck_assert_int_eq(bcs_region_release(&far_region), 0);
    ck_assert_int_eq(remote_export(both[1], REGION, 64, &of_one), 0);
    ck_assert_int_eq(remote_import(both[0], 1, REGION, false, &far_region), 0);
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 1), 0);
    ck_assert_uint_eq(word_at(&of_one, 0), 1);
}
END_TEST

START_TEST(who_has_left_answers_nobody)
{
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 1), 0);
    ck_assert_int_eq(channels_leave(both[1]), 0);
    ck_assert_int_eq(bcs_remote_write_word(&far_region, 0, 2), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_wait(&far_region, 0, 2), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_region_release(&far_region), 0);
    ck_assert_int_eq(channels_leave(both[0]), 0);
    ranks_fini(&job);
}
END_TEST

START_TEST(a_wait_that_is_over_counts_no_more)
{
    const struct remote_head *head = of_one.inside->head;

    ck_assert_int_eq(bcs_remote_write_word(&of_one, 0, 5), 0);
    ck_assert_int_eq(bcs_remote_wait(&far_region, 0, 5), 0);
    ck_assert_uint_eq(word_at(&far_region, 0), 5); /* the service has gone on */
    ck_assert_uint_eq(head->n_far, 0);
    ck_assert_uint_eq(head->state, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote_far");
    TCase *tests = tcase_create("two machines"), *leaving = tcase_create("leaving");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, blocks_of_any_length_go_to_another_machine);
    tcase_add_test(tests, elements_are_accumulated_on_another_machine);
    tcase_add_test(tests, words_are_swapped_and_found_on_another_machine);
    tcase_add_test(tests, records_are_appended_on_another_machine);
    tcase_add_test(tests, what_is_wrong_is_refused_here);
    tcase_add_test(tests, a_region_taken_back_is_closed_and_kept_until_it_is_released);
    tcase_add_test(tests, a_wait_that_is_over_counts_no_more);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(leaving, set_up, NULL);
    tcase_add_test(leaving, who_has_left_answers_nobody);
    suite_add_tcase(suite, leaving);
    return run_suite(suite);
}
