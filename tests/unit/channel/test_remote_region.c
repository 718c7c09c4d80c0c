/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions, from their export to the use of their memory for others, and buffers in
 * them.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/remote_ends.h"

enum {
    BUFFER = 64, /* offset of one in the region */
    BUFFER_BYTES = BCS_REMOTE_BUFFER_BYTES + 128,
    LONGEST = 56, /* record */
    N_RECORDS = 5000,
};

static struct bcs_remote third;

START_TEST(what_is_bad_is_refused_at_exporting_and_importing)
{
    ck_assert_int_eq(remote_export(alone, BCS_REGION_NUMBERS, 8, &third), -EINVAL);
    ck_assert_int_eq(remote_export(alone, 1, 0, &third), -EINVAL);
    ck_assert_int_eq(remote_export(alone, REGION, 8, &third), -EEXIST);
    ck_assert_int_eq(remote_export(alone, 1, 8, &own), -EEXIST);
    ck_assert_int_eq(remote_export(alone, 1, CHANNEL_POOL_BYTES, &third), -ENOMEM);
    ck_assert_int_eq(remote_export(alone, 1, SIZE_MAX, &third), -ENOMEM);
    ck_assert_int_eq(remote_import(alone, 1, REGION, true, &third), -EINVAL);
    ck_assert_int_eq(remote_import(alone, -1, REGION, true, &third), -EINVAL);
    ck_assert_int_eq(remote_import(alone, 0, BCS_REGION_NUMBERS, true, &third),
                     -EINVAL);
    ck_assert_int_eq(remote_import(alone, 0, 1, false, &third), -ENOENT);
    ck_assert_int_eq(remote_import(alone, 0, 1, true, &third), -ENOENT);
    ck_assert_int_eq(remote_import(alone, 0, REGION, true, &remote), -EEXIST);
    ck_assert_int_eq(remote_export(alone, 1, 8, &third), 0);
    ck_assert_int_eq(bcs_region_release(&third), 0);
}
END_TEST

START_TEST(a_region_taken_back_is_closed_for_those_who_have_it)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.at_least = 1, .event = &event};
    uint64_t word = 0;

    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    ck_assert_int_eq(bcs_region_release(&own), 0);
    ck_assert_int_eq(remote_import(alone, 0, REGION, false, &third), -ENOENT);
    ck_assert_int_eq(bcs_remote_write_word(&remote, 0, 0), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_read_word(&remote, 0, &word), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_read(&remote, 1, &word, 3), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_add_word(&remote, 0, 0, NULL), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_wait(&remote, 0, 1), BCS_E_CLOSED);
    ck_assert_int_eq(remote_test(alone, &event, 1), 0);
    ck_assert_int_eq(event.result, BCS_E_CLOSED);
    ck_assert_int_eq(fetch.result, BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_accumulate(&remote, 0,
                                           &(struct bcs_remote_accumulation){
                                               .op = BCS_SUM, .type = BCS_INT64}),
                     BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0); /* which ends at once */
    ck_assert_uint_eq(event.count, 2);
    ck_assert_int_eq(fetch.result, BCS_E_CLOSED);
    fetch.at_least = 0;
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    ck_assert_uint_eq(event.count, 3);
    ck_assert_int_eq(fetch.result, 0); /* its word was there */
    /* It is remembered by those who have it, and free when they have released it. */
    ck_assert_int_eq(remote_export(alone, REGION, 8, &own), -EEXIST);
    ck_assert_int_eq(bcs_region_release(&remote), 0);
    ck_assert_int_eq(remote_export(alone, REGION, 8, &own), 0);
    ck_assert_int_eq(remote_import(alone, 0, REGION, false, &remote), 0);
    ck_assert_int_eq(bcs_remote_write_word(&remote, 0, 5), 0);
}
END_TEST

START_TEST(memory_is_used_again_when_all_have_released_it_and_is_zero)
{
    size_t n_bytes = CHANNEL_POOL_BYTES / 2; /* and a head: in more than that */
    struct bcs_remote fourth;

    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(remote_export(alone, 1, n_bytes, &third), 0);
        ck_assert_int_eq(remote_import(alone, 0, 1, false, &fourth), 0);
        ck_assert_uint_eq(word_at(&fourth, 0), 0);
        ck_assert_uint_eq(word_at(&fourth, n_bytes - 8), 0);
        ck_assert_int_eq(bcs_remote_write_word(&fourth, 0, 5), 0);
        ck_assert_int_eq(bcs_remote_write_word(&fourth, n_bytes - 8, 5), 0);
        ck_assert_int_eq(bcs_region_release(&third), 0);
        /* Still imported: its memory is not given to another. */
        ck_assert_int_eq(remote_export(alone, 2, n_bytes, &third), -ENOMEM);
        ck_assert_int_eq(bcs_region_release(&fourth), 0);
    }
}
END_TEST

START_TEST(a_region_released_here_ends_its_fetches)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch of_own = {.at_least = 1, .event = &event};
    struct bcs_remote_fetch of_other = {.at_least = 1, .event = &event};

    ck_assert_int_eq(bcs_remote_fetch(&own, &of_own), 0);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &of_other), 0);
    ck_assert_int_eq(bcs_region_release(&remote), 0);
    ck_assert_uint_eq(event.count, 1);
    ck_assert_int_eq(of_other.result, BCS_E_CLOSED);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(remote_test(alone, &event, 2), 0);
    ck_assert_int_eq(of_own.result, 0);
}
END_TEST

/* ------------------------------------------------------------------ buffers */

static void record_of(uint64_t i, uint8_t record[LONGEST], size_t *n_bytes_out)
{
    *n_bytes_out = (size_t)(i * 7 % (LONGEST + 1));
    for (size_t k = 0; k < *n_bytes_out; k++) {
        record[k] = (uint8_t)(i + k);
    }
}

static void expect_record(uint64_t i)
{
    uint8_t record[LONGEST], expected[LONGEST];
    size_t n_bytes = 0, n_expected;

    record_of(i, expected, &n_expected);
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes),
                     0);
    ck_assert_uint_eq(n_bytes, n_expected);
    ck_assert_mem_eq(record, expected, n_bytes);
}

START_TEST(records_are_taken_in_their_order_and_room_is_used_again)
{
    uint64_t n_appended = 0, n_taken = 0, n_full = 0;
    uint8_t record[LONGEST];
    size_t n_bytes;

    ck_assert_int_eq(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES), 0);
    while (n_taken < N_RECORDS) {
        int rc;

        record_of(n_appended, record, &n_bytes);
        rc = bcs_remote_append(&remote, BUFFER, record, n_bytes);
        if (rc == 0) {
            n_appended++;
        }
        if (rc == BCS_E_FULL || n_appended % 3 == 0) {
            n_full += rc == BCS_E_FULL;
            ck_assert_uint_gt(n_appended, n_taken); /* none is full of nothing */
            expect_record(n_taken++);
        }
        ck_assert(rc == 0 || rc == BCS_E_FULL);
    }
    ck_assert_uint_gt(n_full, N_RECORDS / 100);
    while (n_taken < n_appended) {
        expect_record(n_taken++);
    }
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes),
                     BCS_E_PENDING);
    /* Nothing beside the buffer has been touched. */
    ck_assert(ranks_is_all(bcs_region_memory(&own), BUFFER, 0));
    ck_assert(ranks_is_all((uint8_t *)bcs_region_memory(&own) + BUFFER + BUFFER_BYTES,
                           REGION_BYTES - BUFFER - BUFFER_BYTES, 0));
}
END_TEST

START_TEST(a_buffer_takes_as_much_as_is_told)
{
    uint64_t word = 5;
    int n = 0;

    ck_assert_int_eq(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES), 0);
    while (bcs_remote_append(&remote, BUFFER, &word, sizeof(word)) == 0) {
        n++;
    }
    ck_assert_int_eq(n, 128 / 16);
}
END_TEST

START_TEST(a_record_that_is_too_long_for_its_place_stays)
{
    char record[LONGEST];
    size_t n_bytes = 0;

    ck_assert_int_eq(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES), 0);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, "abcdefghi", 10), 0);
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, 9, &n_bytes),
                     BCS_E_TRUNCATED);
    ck_assert_uint_eq(n_bytes, 10);
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, 10, &n_bytes), 0);
    ck_assert_str_eq(record, "abcdefghi");
}
END_TEST

START_TEST(what_is_bad_is_refused_of_buffers)
{
    char record[LONGEST + 1] = "";
    size_t n_bytes;

    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, record, 1), -EINVAL);
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, 1, &n_bytes), -EINVAL);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, 32, BUFFER_BYTES), -EINVAL);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, 0, BCS_REMOTE_BUFFER_BYTES), -EINVAL);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, 0, BUFFER_BYTES + 4), -EINVAL);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, 0, REGION_BYTES + 8), -ERANGE);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES), 0);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, record, LONGEST), 0);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, record, LONGEST + 1), -EINVAL);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, record, SIZE_MAX), -EINVAL);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER + 8, record, 1), -EINVAL);
    ck_assert_int_eq(bcs_remote_append(&remote, REGION_BYTES - 64, record, 1), -ERANGE);
}
END_TEST

/** Overwrite a word of a buffer at the end of the region. */
static void overwrite(uint64_t from, uint64_t word)
{
    uint64_t buffer = REGION_BYTES - BUFFER_BYTES;

    ck_assert_int_eq(bcs_remote_make_buffer(&own, buffer, BUFFER_BYTES), 0);
    ck_assert_int_eq(bcs_remote_append(&remote, buffer, "a", 1), 0);
    ck_assert_int_eq(bcs_remote_write_word(&remote, buffer + from, word), 0);
}

START_TEST(a_buffer_that_was_overwritten_does_no_harm)
{
    const uint64_t bad[] = {7, 136, REGION_BYTES, UINT64_MAX - 7};
    uint64_t buffer = REGION_BYTES - BUFFER_BYTES;
    char record[LONGEST] = "";
    size_t n_bytes;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        overwrite(8, bad[i]); /* its length */
        ck_assert_int_eq(bcs_remote_append(&remote, buffer, record, 1), -EPROTO);
        ck_assert_int_eq(bcs_remote_take(&own, buffer, record, 1, &n_bytes), -EPROTO);
        for (uint64_t kind = 1; kind <= 3; kind++) { /* its first mark */
            overwrite(BCS_REMOTE_BUFFER_BYTES, bad[i] << 2 | kind);
            ck_assert_int_eq(bcs_remote_take(&own, buffer, record, 1, &n_bytes),
                             kind == 1 && bad[i] == 7 ? BCS_E_TRUNCATED : -EPROTO);
        }
    }
    overwrite(64, 3); /* where the next record will be */
    ck_assert_int_eq(bcs_remote_append(&remote, buffer, record, 1), -EPROTO);
    overwrite(128, 3); /* up to where records were taken */
    ck_assert_int_eq(bcs_remote_take(&own, buffer, record, 1, &n_bytes), -EPROTO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote_region");
    TCase *regions = tcase_create("regions"), *buffers = tcase_create("buffers");

    tcase_add_checked_fixture(regions, setup_alone, teardown_alone);
    tcase_add_test(regions, what_is_bad_is_refused_at_exporting_and_importing);
    tcase_add_test(regions, a_region_taken_back_is_closed_for_those_who_have_it);
    tcase_add_test(regions, memory_is_used_again_when_all_have_released_it_and_is_zero);
    tcase_add_test(regions, a_region_released_here_ends_its_fetches);
    suite_add_tcase(suite, regions);
    tcase_add_checked_fixture(buffers, setup_alone, teardown_alone);
    tcase_add_test(buffers, records_are_taken_in_their_order_and_room_is_used_again);
    tcase_add_test(buffers, a_buffer_takes_as_much_as_is_told);
    tcase_add_test(buffers, a_record_that_is_too_long_for_its_place_stays);
    tcase_add_test(buffers, what_is_bad_is_refused_of_buffers);
    tcase_add_test(buffers, a_buffer_that_was_overwritten_does_no_harm);
    suite_add_tcase(suite, buffers);
    return run_suite(suite);
}
