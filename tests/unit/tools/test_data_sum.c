/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sum of a part of a file with holes: it changes with any word of the part and with
 * nothing else, and fills no hole.
 */
#include <check.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/look/data_sum.h"
#include "tests/unit/run_suite.h"

#define FILE_BYTES (UINT64_C(1) << 40)
#define FAR (UINT64_C(1) << 39) /* of two stretches the second */

static int fd;

static void file_make(void)
{
    fd = memfd_create("sum", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)FILE_BYTES), 0);
}

static void file_close(void)
{
    close(fd);
}

static void put(uint64_t offset, uint64_t word)
{
    ck_assert_int_eq(pwrite(fd, &word, sizeof(word), (off_t)offset), sizeof(word));
}

static uint64_t sum_of(uint64_t begin, uint64_t end)
{
    uint64_t sum = 0;

    ck_assert_int_eq(bcs_data_sum(fd, begin, end, &sum), 0);
    return sum;
}

static blkcnt_t n_blocks(void)
{
    struct stat status;

    ck_assert_int_eq(fstat(fd, &status), 0);
    return status.st_blocks;
}

START_TEST(holes_are_nothing_and_stay_holes)
{
    ck_assert_uint_eq(sum_of(0, FILE_BYTES), 0);
    ck_assert_int_eq(n_blocks(), 0);
    put(FAR, 0);
    ck_assert_uint_eq(sum_of(0, FILE_BYTES), 0);
}
END_TEST

START_TEST(each_word_counts_wherever_it_is)
{
    static const uint64_t places[] = {0, 8, 4088, 4096, 40960, FAR, FAR + 65536};
    enum { N = sizeof(places) / sizeof(places[0]) };
    uint64_t before = 0;

    for (int i = 0; i < N; i++) {
        put(places[i], 1);
        ck_assert_uint_ne(sum_of(0, FILE_BYTES), before);
        before = sum_of(0, FILE_BYTES);
        ck_assert_uint_eq(sum_of(0, FILE_BYTES), before);
    }
    put(FAR, UINT64_C(1) << 63);
    ck_assert_uint_ne(sum_of(0, FILE_BYTES), before);
}
END_TEST

START_TEST(a_word_that_has_moved_makes_another_sum)
{
    uint64_t before;

    put(FAR, 7);
    before = sum_of(0, FILE_BYTES);
    put(FAR, 0);
    put(FAR + 8, 7);
    ck_assert_uint_ne(sum_of(0, FILE_BYTES), before);
}
END_TEST

START_TEST(what_is_outside_does_not_count)
{
    uint64_t before;

    put(4096 + 64, 5);
    before = sum_of(4096 + 64, 4096 + 128);
    put(4096 + 56, 5);
    put(4096 + 128, 5);
    ck_assert_uint_eq(sum_of(4096 + 64, 4096 + 128), before);
    ck_assert_uint_ne(before, 0);
    ck_assert_uint_eq(sum_of(4096 + 72, 4096 + 72), 0);
}
END_TEST

START_TEST(what_is_no_file_is_an_error)
{
    uint64_t sum = 3;

    ck_assert_int_lt(bcs_data_sum(-1, 0, 8, &sum), 0);
    ck_assert_uint_eq(sum, 3);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("data_sum");

    tcase_add_checked_fixture(tests, file_make, file_close);
    tcase_add_test(tests, holes_are_nothing_and_stay_holes);
    tcase_add_test(tests, each_word_counts_wherever_it_is);
    tcase_add_test(tests, a_word_that_has_moved_makes_another_sum);
    tcase_add_test(tests, what_is_outside_does_not_count);
    tcase_add_test(tests, what_is_no_file_is_an_error);
    return run_tcase("data_sum", tests);
}
