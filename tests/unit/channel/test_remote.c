/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands, one by one, in a job of one process: what each does to the region,
 * and to nothing else, and what is refused.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/caught_stderr.h"
#include "tests/unit/remote_ends.h"

static uint8_t model[REGION_BYTES]; /* what the region must be */

static void expect_model(void)
{
    ck_assert_mem_eq(bcs_region_memory(&own), model, REGION_BYTES);
}

START_TEST(words_are_written_and_read)
{
    uint64_t word = UINT64_C(0x0123456789abcdef);

    ck_assert_uint_eq(bcs_region_bytes(&remote), REGION_BYTES);
    ck_assert_uint_eq((uintptr_t)bcs_region_memory(&own) % 64, 0);
    for (uint64_t offset = 0; offset < REGION_BYTES; offset += 8) {
        ck_assert_uint_eq(word_at(&remote, offset), 0);
        ck_assert_int_eq(bcs_remote_write_word(&remote, offset, word + offset), 0);
        memcpy(model + offset, &(uint64_t){word + offset}, sizeof(word));
        expect_model();
        ck_assert_uint_eq(word_at(&remote, offset), word + offset);
        ck_assert_uint_eq(word_at(&own, offset), word + offset);
    }
}
END_TEST

START_TEST(blocks_of_any_place_and_length_are_written_and_read)
{
    uint8_t data[64], back[64];

    for (uint64_t offset = 40; offset < 56; offset++) {
        for (size_t n = 0; n <= 40; n++) {
            for (size_t i = 0; i < n; i++) {
                data[i] = (uint8_t)(offset * 41 + n + i);
            }
            ck_assert_int_eq(bcs_remote_write(&remote, offset, data, n), 0);
            memcpy(model + offset, data, n);
            expect_model();
            memset(back, 0xee, sizeof(back));
            ck_assert_int_eq(bcs_remote_read(&remote, offset, back, n), 0);
            ck_assert_mem_eq(back, data, n);
            ck_assert(ranks_is_all(back + n, sizeof(back) - n, 0xee));
        }
    }
    ck_assert_int_eq(bcs_remote_write(&remote, REGION_BYTES, data, 0), 0);
}
END_TEST

START_TEST(a_word_is_swapped_only_if_it_is_what_was_expected)
{
    uint64_t before = 99;

    ck_assert_int_eq(bcs_remote_compare_swap(&remote, 16, 0, 5, &before), 0);
    ck_assert_uint_eq(before, 0);
    ck_assert_uint_eq(word_at(&own, 16), 5);
    ck_assert_int_eq(bcs_remote_compare_swap(&remote, 16, 4, 6, &before), 0);
    ck_assert_uint_eq(before, 5);
    ck_assert_uint_eq(word_at(&own, 16), 5);
    ck_assert_int_eq(bcs_remote_add_word(&remote, 16, UINT64_MAX, &before), 0);
    ck_assert_uint_eq(before, 5);
    ck_assert_int_eq(bcs_remote_add_word(&remote, 16, 3, NULL), 0);
    ck_assert_uint_eq(word_at(&own, 16), 7);
}
END_TEST

START_TEST(writes_are_let_arrive_before_what_is_read)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.event = &event};
    uint64_t word;
    size_t n_bytes;

    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 1); /* of the pair, whichever region */
    ck_assert_int_eq(bcs_remote_read_word(&remote, 0, &word), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 0);
    ck_assert_int_eq(bcs_remote_write(&own, 1, &word, 1), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 1);
    ck_assert_int_eq(bcs_remote_read(&remote, 0, &word, 3), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(bcs_remote_wait(&remote, 0, 1), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 0);
    ck_assert_int_eq(bcs_remote_make_buffer(&own, 0, 512), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 1);
    ck_assert_int_eq(bcs_remote_append(&remote, 0, "a", 2), 0); /* which reads first */
    ck_assert_uint_eq(*remote.is_unsettled, 1);
    ck_assert_int_eq(bcs_remote_take(&own, 0, &word, sizeof(word), &n_bytes), 0);
    ck_assert_uint_eq(*remote.is_unsettled, 1);
    ck_assert_int_eq(bcs_remote_accumulate(&remote, 512,
                                           &(struct bcs_remote_accumulation){
                                               .op = BCS_SUM, .type = BCS_INT64}),
                     0); /* to nothing */
    ck_assert_uint_eq(*remote.is_unsettled, 1);
}
END_TEST

/* Three elements before, the operands, and what comes of them. */
#define EXPECT_ACCUMULATED(element, kind, operation, ...)                              \
    do {                                                                               \
        const element given[3][3] = __VA_ARGS__;                                       \
        element befores[3] = {0};                                                      \
        struct bcs_remote_accumulation accumulation = {.op = (operation),              \
                                                       .type = (kind),                 \
                                                       .operands = given[1],           \
                                                       .count = 3,                     \
                                                       .before_out = befores};         \
                                                                                       \
        memset(model, 0x55, sizeof(model));                                            \
        memcpy(model + 3 * sizeof(element), given[0], sizeof(given[0]));               \
        ck_assert_int_eq(bcs_remote_write(&own, 0, model, sizeof(model)), 0);          \
        ck_assert_int_eq(                                                              \
            bcs_remote_accumulate(&remote, 3 * sizeof(element), &accumulation), 0);    \
        memcpy(model + 3 * sizeof(element), given[2], sizeof(given[2]));               \
        expect_model();                                                                \
        ck_assert_mem_eq(befores, given[0], sizeof(befores));                          \
        accumulation.before_out = NULL;                                                \
        accumulation.count = 0;                                                        \
        ck_assert_int_eq(bcs_remote_accumulate(&remote, REGION_BYTES, &accumulation),  \
                         0);                                                           \
        expect_model();                                                                \
    } while (0)

START_TEST(elements_are_accumulated)
{
    EXPECT_ACCUMULATED(int32_t, BCS_INT32, BCS_SUM,
                       {{1, -2, 3}, {4, 5, -9}, {5, 3, -6}});
    EXPECT_ACCUMULATED(uint32_t, BCS_UINT32, BCS_PROD,
                       {{1, 2, 3}, {4, 5, 6}, {4, 10, 18}});
    EXPECT_ACCUMULATED(int32_t, BCS_INT32, BCS_MIN,
                       {{1, -2, 3}, {4, -5, 2}, {1, -5, 2}});
    EXPECT_ACCUMULATED(uint32_t, BCS_UINT32, BCS_MAX,
                       {{1, 2, UINT32_MAX}, {4, 1, 0}, {4, 2, UINT32_MAX}});
    EXPECT_ACCUMULATED(int64_t, BCS_INT64, BCS_SUM,
                       {{INT64_MIN, 2, 3}, {-1, 5, 6}, {INT64_MAX, 7, 9}});
    EXPECT_ACCUMULATED(int64_t, BCS_INT64, BCS_MAX,
                       {{-1, 2, 3}, {-2, 5, 6}, {-1, 5, 6}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_BAND,
                       {{12, 5, 0}, {10, 6, 1}, {8, 4, 0}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_BOR,
                       {{12, 5, 0}, {10, 6, 1}, {14, 7, 1}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_BXOR,
                       {{12, 5, 0}, {10, 6, 1}, {6, 3, 1}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_LAND,
                       {{12, 5, 0}, {10, 0, 1}, {1, 0, 0}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_LOR,
                       {{12, 0, 0}, {10, 0, 1}, {1, 0, 1}});
    EXPECT_ACCUMULATED(uint64_t, BCS_UINT64, BCS_LXOR,
                       {{12, 0, 7}, {10, 0, 0}, {0, 0, 1}});
    EXPECT_ACCUMULATED(float, BCS_FLOAT, BCS_SUM,
                       {{1.5F, -2, 3}, {4, 5, 0.25F}, {5.5F, 3, 3.25F}});
    EXPECT_ACCUMULATED(double, BCS_DOUBLE, BCS_SUM,
                       {{1.5, -2, 1e300}, {4, 5, 1e300}, {5.5, 3, 2e300}});
    EXPECT_ACCUMULATED(double, BCS_DOUBLE, BCS_MIN,
                       {{1.5, -2, 3}, {4, -5, 2}, {1.5, -5, 2}});
}
END_TEST

START_TEST(places_are_found_by_index_and_by_pointer)
{
    struct bcs_remote_indirect by_index = {
        .index_offset = 12, .index_bytes = 4, .base = 100, .stride = 6};
    struct bcs_remote_indirect by_pointer = {
        .index_offset = 24, .index_bytes = 8, .stride = 1};
    int32_t ten = 10;
    uint64_t offset = 0;
    char back[4] = "";

    ck_assert_int_eq(bcs_remote_write(&own, 12, &(uint32_t){7}, 4), 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 24, 144), 0);
    ck_assert_int_eq(bcs_remote_find(&remote, &by_index, &offset), 0);
    ck_assert_uint_eq(offset, 142);
    ck_assert_int_eq(bcs_remote_write_indirect(&remote, &by_index, "abc", 4), 0);
    by_index.index_offset = 32;
    ck_assert_int_eq(bcs_remote_write(&own, 32, &(uint32_t){UINT32_MAX}, 4), 0);
    ck_assert_int_eq(bcs_remote_find(&remote, &by_index, &offset), 0);
    ck_assert_uint_eq(offset, 100 + 6 * (uint64_t)UINT32_MAX);
    ck_assert_str_eq((char *)bcs_region_memory(&own) + 142, "abc");
    ck_assert_int_eq(bcs_remote_read_indirect(&remote, &by_pointer, back, 2), 0);
    ck_assert_str_eq(back, "c");
    ck_assert_int_eq(
        bcs_remote_accumulate_indirect(
            &remote, &by_pointer,
            &(struct bcs_remote_accumulation){
                .op = BCS_SUM, .type = BCS_INT32, .operands = &ten, .count = 1}),
        0);
    ck_assert_int_eq(*(char *)((char *)bcs_region_memory(&own) + 144), 'c' + 10);
}
END_TEST

START_TEST(indexes_that_lead_nowhere_are_refused)
{
    struct bcs_remote_indirect place = {
        .index_offset = 8, .index_bytes = 8, .stride = 8};
    uint64_t word = 0;

    ck_assert_int_eq(bcs_remote_write_word(&own, 8, UINT64_MAX / 8 + 1), 0);
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -ERANGE);
    place.stride = 1;
    place.base = UINT64_MAX - 1;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -ERANGE);
    place.base = 0;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), 0);
    ck_assert_int_eq(bcs_remote_write_indirect(&remote, &place, &word, 1), -ERANGE);
    ck_assert_int_eq(bcs_remote_read_indirect(&remote, &place, &word, 1), -ERANGE);
    place.index_offset = 12;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -EINVAL);
    place.index_bytes = 4;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), 0);
    place.index_offset = 14;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -EINVAL);
    place.index_offset = REGION_BYTES;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -ERANGE);
    place.index_offset = 12;
    place.reserved = 1;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -EINVAL);
    place.reserved = 0;
    place.index_bytes = 2;
    ck_assert_int_eq(bcs_remote_find(&remote, &place, &word), -EINVAL);
}
END_TEST

/** Give each command that has an offset. @param n_bytes  of those on blocks */
static void expect_all(const struct bcs_remote *at, uint64_t offset, size_t n_bytes,
                       int error)
{
    struct bcs_remote_event event = {0};
    static uint8_t bytes[REGION_BYTES];
    struct bcs_remote_accumulation accumulation = {
        .op = BCS_SUM, .type = BCS_INT64, .operands = bytes, .count = n_bytes / 8};
    struct bcs_remote_fetch fetch = {
        .word = offset, .n_bytes = 8, .data_out = bytes, .event = &event};
    uint64_t word = 0;

    ck_assert_int_eq(bcs_remote_write_word(at, offset, 1), error);
    ck_assert_int_eq(bcs_remote_read_word(at, offset, &word), error);
    ck_assert_int_eq(bcs_remote_compare_swap(at, offset, 0, 1, &word), error);
    ck_assert_int_eq(bcs_remote_add_word(at, offset, 1, NULL), error);
    ck_assert_int_eq(bcs_remote_wait(at, offset, 1), error);
    ck_assert_int_eq(bcs_remote_accumulate(at, offset, &accumulation), error);
    ck_assert_int_eq(bcs_remote_fetch(at, &fetch), error);
    if (error != -EINVAL) { /* to which a block is not aligned */
        ck_assert_int_eq(bcs_remote_write(at, offset, bytes, n_bytes), error);
        ck_assert_int_eq(bcs_remote_read(at, offset, bytes, n_bytes), error);
        fetch = (struct bcs_remote_fetch){
            .offset = offset, .n_bytes = n_bytes, .data_out = bytes, .event = &event};
        ck_assert_int_eq(bcs_remote_fetch(at, &fetch), error);
    }
    ck_assert_uint_eq(event.count, 0);
}

START_TEST(what_is_not_within_a_region_is_refused)
{
    expect_all(&remote, REGION_BYTES, 8, -ERANGE);
    expect_all(&remote, UINT64_MAX - 7, 16, -ERANGE); /* whose end is within */
    expect_all(&remote, UINT64_MAX / 2 + 1, 8, -ERANGE);
    expect_all(&remote, 4, 8, -EINVAL);
    expect_all(&remote, 1, 8, -EINVAL);
    ck_assert_int_eq(bcs_remote_write(&remote, 1, model, REGION_BYTES), -ERANGE);
    ck_assert_int_eq(bcs_remote_write(&remote, 8, model, SIZE_MAX - 7), -ERANGE);
    ck_assert_int_eq(
        bcs_remote_accumulate(&remote, 0,
                              &(struct bcs_remote_accumulation){.op = BCS_SUM,
                                                                .type = BCS_INT64,
                                                                .operands = model,
                                                                .count = SIZE_MAX / 4}),
        -ERANGE);
    expect_model();
}
END_TEST

START_TEST(operations_that_are_not_defined_are_refused)
{
    static const struct {
        enum bcs_op op;
        enum bcs_type type;
    } wrong[] = {
        {BCS_OP_COMBINE, BCS_INT64},  {BCS_SUM, BCS_INT16},
        {BCS_BXOR, BCS_DOUBLE},       {BCS_SUM, BCS_LONG_DOUBLE},
        {BCS_SUM, BCS_FLOAT_COMPLEX}, {(enum bcs_op)(BCS_BXOR + 1), BCS_INT64}};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(bcs_remote_accumulate(
                             &remote, 0,
                             &(struct bcs_remote_accumulation){.op = wrong[i].op,
                                                               .type = wrong[i].type,
                                                               .operands = model,
                                                               .count = 1}),
                         -EINVAL);
    }
    ck_assert_int_eq(bcs_remote_fetch(&remote, &(struct bcs_remote_fetch){0}), -EINVAL);
    ck_assert_int_eq(
        bcs_remote_fetch(&remote,
                         &(struct bcs_remote_fetch){
                             .n_bytes = 1, .event = &(struct bcs_remote_event){0}}),
        -EINVAL);
    expect_model();
}
END_TEST

static void *use_from_another(void *arg)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote another;

    expect_all(&remote, 0, 8, -EPERM);
    ck_assert_int_eq(bcs_region_release(&remote), -EPERM);
    ck_assert_int_eq(remote_export(alone, 1, 8, &another), -EPERM);
    ck_assert_int_eq(remote_import(alone, 0, REGION, true, &another), -EPERM);
    ck_assert_int_eq(remote_test(alone, &event, 1), -EPERM);
    ck_assert_int_eq(remote_wait_event(alone, &event, 1), -EPERM);
    return arg;
}

static void *begin_anew(void *arg)
{
    ck_assert_int_eq(remote_export(alone, 1, 8, &own), 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(bcs_region_release(&own), 0);
    return arg;
}

START_TEST(remote_commands_are_of_one_thread_at_a_time)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, use_from_another, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(bcs_region_release(&own), 0);
    ck_assert_int_eq(bcs_region_release(&remote), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, begin_anew, NULL), 0);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_region_that_is_not_open_is_refused)
{
    struct bcs_remote none = {0};

    expect_all(&none, 0, 8, -EPERM);
    ck_assert_int_eq(bcs_region_release(&none), 0);
    ck_assert_int_eq(bcs_region_release(&remote), 0);
    expect_all(&remote, 0, 8, -EPERM);
    ck_assert_ptr_null(bcs_region_memory(&remote));
    ck_assert_uint_eq(bcs_region_bytes(&remote), 0);
    ck_assert_int_eq(remote_import(alone, 0, REGION, true, &remote), 0);
    ck_assert_int_eq(channels_leave(alone), 0);
    expect_all(&remote, 0, 8, -EPERM);
    expect_all(&own, 0, 8, -EPERM);
    ck_assert_int_eq(channels_join(&ranks[0].entry, &alone), 0); /* for the end */
}
END_TEST

START_TEST(a_forked_child_has_nothing_open)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        expect_all(&remote, 0, 8, -EPERM);
        expect_all(&own, 0, 8, -EPERM);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(bcs_remote_write_word(&remote, 0, 1), 0);
    ck_assert_uint_eq(word_at(&own, 0), 1);
}
END_TEST

/** Whether the next line on standard error has this in it. */
static void expect_said(const char *text)
{
    const char *said = caught_stderr_next();

    ck_assert_msg(strstr(said, text) != NULL, "said %s", said);
}

START_TEST(errors_name_what_is_wrong)
{
    struct bcs_remote another;

    caught_stderr_begin();
    bcs_remote_write_word(&remote, REGION_BYTES - 4, 0);
    expect_said("offset 1020 of region 7 of rank 0; allowed are multiples of 8");
    bcs_remote_write_word(&remote, REGION_BYTES, 0);
    expect_said(
        "8 bytes at offset 1024 are not within region 7 of rank 0, which has 1024");
    remote_import(alone, 3, 0, true, &another);
    expect_said("no rank 3 in a job of 1");
    remote_import(alone, 0, 9, true, &another);
    expect_said("rank 0 has not exported region 9");
    remote_import(alone, 0, 256, true, &another);
    expect_said("region 256; allowed are 0 to 255");
    bcs_region_release(&remote);
    bcs_remote_write_word(&remote, 0, 0);
    expect_said("region 7 of rank 0 is not open here");
    caught_stderr_end();
}
END_TEST

int main(void)
{
    TCase *commands = tcase_create("commands");

    tcase_add_checked_fixture(commands, setup_alone, teardown_alone);
    tcase_add_test(commands, words_are_written_and_read);
    tcase_add_test(commands, blocks_of_any_place_and_length_are_written_and_read);
    tcase_add_test(commands, a_word_is_swapped_only_if_it_is_what_was_expected);
    tcase_add_test(commands, writes_are_let_arrive_before_what_is_read);
    tcase_add_test(commands, elements_are_accumulated);
    tcase_add_test(commands, places_are_found_by_index_and_by_pointer);
    tcase_add_test(commands, indexes_that_lead_nowhere_are_refused);
    tcase_add_test(commands, what_is_not_within_a_region_is_refused);
    tcase_add_test(commands, operations_that_are_not_defined_are_refused);
    tcase_add_test(commands, remote_commands_are_of_one_thread_at_a_time);
    tcase_add_test(commands, a_region_that_is_not_open_is_refused);
    tcase_add_test(commands, a_forked_child_has_nothing_open);
    tcase_add_test(commands, errors_name_what_is_wrong);
    return run_tcase("remote", commands);
}
