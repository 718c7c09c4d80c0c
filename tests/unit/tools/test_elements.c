/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way through a table in a file with holes: all elements that anybody has written
 * are met, in their order, in the first part and in the windows behind it, and no hole
 * is filled.
 */
#include <check.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/look/elements.h"
#include "tests/unit/run_suite.h"

enum {
    STRIDE = 640,
    N_FIRST = 16,
    N = 100000,
    WINDOW_SHIFT = 16,
    SHIFT = 6,
    MOST = 64
};
#define FILE_BYTES (UINT64_C(1) << 40)

/* Elements do not fill a window: its last 24 KB are nobody's. */
static const struct nic_region region = {
    .first_gva = 4096 + 128,
    .gva = UINT64_C(1) << 30,
    .n_first = N_FIRST,
    .stride_bytes = STRIDE,
    .window_shift = WINDOW_SHIFT,
    .shift = SHIFT,
};
static int fd;

static void file_make(void)
{
    fd = memfd_create("elements", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)FILE_BYTES), 0);
}

static void file_close(void)
{
    close(fd);
}

static void put(uint64_t offset)
{
    const uint64_t word = 1;

    ck_assert_int_eq(pwrite(fd, &word, sizeof(word), (off_t)offset), sizeof(word));
}

static void put_element(uint64_t number)
{
    put(nic_region_gva(&region, number));
}

/** Whether an element that was written is met, once, and all by ascending numbers. */
static bool meets(uint64_t wanted, uint64_t n)
{
    struct bcs_elements elements = {.fd = fd, .region = region, .n = n};
    uint64_t number, last = 0;
    int n_met = 0, n_wanted = 0;

    while (bcs_elements_next(&elements, &number)) {
        ck_assert_uint_lt(number, n);
        ck_assert(n_met++ == 0 || number > last);
        last = number;
        n_wanted += number == wanted;
    }
    return n_wanted == 1;
}

START_TEST(an_empty_table_has_none)
{
    struct bcs_elements elements = {.fd = fd, .region = region, .n = N};
    uint64_t number;
    struct stat status;

    ck_assert(!bcs_elements_next(&elements, &number));
    ck_assert_int_eq(fstat(fd, &status), 0);
    ck_assert_int_eq(status.st_blocks, 0);
}
END_TEST

START_TEST(each_one_that_was_written_is_met)
{
    static const uint64_t numbers[] = {0,  5,  15, 16,  17,   63,        64,
                                       65, 79, 81, 127, 4096, 4096 + 63, N - 1};
    enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

    for (int i = 0; i < N_NUMBERS; i++) {
        put_element(numbers[i]);
        for (int j = 0; j <= i; j++) {
            ck_assert_msg(meets(numbers[j], N), "element %lu of %d", numbers[j], i + 1);
        }
    }
}
END_TEST

START_TEST(few_more_are_met_than_were_written)
{
    struct bcs_elements elements = {.fd = fd, .region = region, .n = N};
    uint64_t number;
    int n_met = 0;

    put_element(20);
    put_element(50000);
    while (bcs_elements_next(&elements, &number)) {
        n_met++;
    }
    /* Those that have a part in one of two pages. */
    ck_assert_int_le(n_met, 2 * (4096 / STRIDE + 2));
    ck_assert_int_ge(n_met, 2);
}
END_TEST

START_TEST(an_element_with_data_at_its_end_is_met)
{
    uint64_t gva = nic_region_gva(&region, 19);

    ck_assert_uint_ne(gva / 4096, (gva + STRIDE - 8) / 4096); /* on two pages */
    put(gva + STRIDE - 8);
    ck_assert(meets(19, N));
}
END_TEST

START_TEST(what_is_no_element_is_passed)
{
    put(region.gva + (UINT64_C(1) << WINDOW_SHIFT) - 8); /* behind those of a window */
    put(region.first_gva + (uint64_t)N_FIRST * STRIDE +
        8192); /* behind the first part */
    put_element(64);
    put_element(90);
    ck_assert(meets(64, N));
    ck_assert(meets(64, 65));
    ck_assert(!meets(90, 90));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("elements");

    tcase_add_checked_fixture(tests, file_make, file_close);
    tcase_add_test(tests, an_empty_table_has_none);
    tcase_add_test(tests, each_one_that_was_written_is_met);
    tcase_add_test(tests, few_more_are_met_than_were_written);
    tcase_add_test(tests, an_element_with_data_at_its_end_is_met);
    tcase_add_test(tests, what_is_no_element_is_passed);
    return run_tcase("elements", tests);
}
