/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user selects by a text.
 */
#include <check.h>

#include "mds/selection.h"
#include "tests/unit/run_suite.h"

START_TEST(ranks_are_numbers_and_ranges)
{
    ck_assert(mds_ranks_is_valid("all"));
    ck_assert(mds_ranks_is_valid("0"));
    ck_assert(mds_ranks_is_valid("0,4-7,999999999"));
    ck_assert(mds_ranks_is_valid("3-3"));
}
END_TEST

START_TEST(anything_else_is_refused)
{
    static const char *const wrong[] = {"",    "any", "all,0", "-1",    "1-",
                                        "-",   "3-2", "1,,2",  ",1",    "1,",
                                        "1 2", "1;2", "0x1",   "1-2-3", "1234567890"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_msg(!mds_ranks_is_valid(wrong[i]), "'%s'", wrong[i]);
    }
}
END_TEST

START_TEST(a_rank_is_selected_by_any_of_them)
{
    ck_assert(mds_ranks_has("all", 77));
    ck_assert(mds_ranks_has("0,4-7", 0));
    ck_assert(mds_ranks_has("0,4-7", 4));
    ck_assert(mds_ranks_has("0,4-7", 7));
    ck_assert(!mds_ranks_has("0,4-7", 1));
    ck_assert(!mds_ranks_has("0,4-7", 8));
    ck_assert(!mds_ranks_has("10", 1));
}
END_TEST

START_TEST(names_are_selected_by_patterns)
{
    ck_assert(mds_names_has("*", "MPI_Send"));
    ck_assert(mds_names_has("MPI_Recv,MPI_S*", "MPI_Send"));
    ck_assert(mds_names_has("MPI_Send", "MPI_Send"));
    ck_assert(!mds_names_has("MPI_Send", "MPI_Ssend"));
    ck_assert(!mds_names_has("MPI_Sen", "MPI_Send"));
    ck_assert(!mds_names_has("", "MPI_Send"));
    ck_assert(mds_names_has(",MPI_?end", "MPI_Send"));
}
END_TEST

START_TEST(a_window_is_a_first_slice_and_a_number)
{
    static const char *const wrong[] = {"7500",   "7500,", ",5",
                                        "7500,0", "1,2,3", "-1,5",
                                        "1 ,5",   "1,5us", "1,1000000000000000000"};
    uint64_t first, n;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_msg(!mds_window_is_valid(wrong[i]), "'%s'", wrong[i]);
    }
    ck_assert(mds_window_is_valid(""));
    mds_window_read("", &first, &n);
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(n, 0);
    ck_assert(mds_window_is_valid("7500,5000"));
    mds_window_read("7500,5000", &first, &n);
    ck_assert_uint_eq(first, 7500);
    ck_assert_uint_eq(n, 5000);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("selection");

    tcase_add_test(tcase, ranks_are_numbers_and_ranges);
    tcase_add_test(tcase, anything_else_is_refused);
    tcase_add_test(tcase, a_rank_is_selected_by_any_of_them);
    tcase_add_test(tcase, names_are_selected_by_patterns);
    tcase_add_test(tcase, a_window_is_a_first_slice_and_a_number);
    return run_tcase("selection", tcase);
}
