/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log sink: which lines appear, what stands in front of them, and that a line is
 * one write.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/log_config.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

START_TEST(by_default_errors_and_warnings_are_printed)
{
    bcs_error("first %d", 1);
    bcs_warn("second");
    bcs_log(BCS_LOG_INFO, "third");
    bcs_log(BCS_LOG_DEBUG, "fourth");
    ck_assert_str_eq(caught_stderr_next(), "bcs: first 1\n");
    ck_assert_str_eq(caught_stderr_next(), "bcs: second\n");
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(the_rank_stands_in_front_of_each_line)
{
    bcs_log_setup(BCS_LOG_DEBUG, 3);
    bcs_log(BCS_LOG_DEBUG, "text");
    ck_assert_str_eq(caught_stderr_next(), "bcs[rank 3]: text\n");
    bcs_log_setup(BCS_LOG_DEBUG, 0);
    bcs_log(BCS_LOG_DEBUG, "text");
    ck_assert_str_eq(caught_stderr_next(), "bcs[rank 0]: text\n");
}
END_TEST

static enum bcs_log_level level_of(const char *text)
{
    struct bcs_log_config config = {0};
    char error[256];

    if (text == NULL) {
        unsetenv("BCS_LOG");
    } else {
        setenv("BCS_LOG", text, 1);
    }
    ck_assert_int_eq(
        bcs_config_read(&bcs_log_config_table, &config, error, sizeof(error)), 0);
    return (enum bcs_log_level)config.level;
}

START_TEST(the_variable_names_the_level)
{
    ck_assert_int_eq(level_of(NULL), BCS_LOG_WARN);
    ck_assert_int_eq(level_of("error"), BCS_LOG_ERROR);
    ck_assert_int_eq(level_of("warn"), BCS_LOG_WARN);
    ck_assert_int_eq(level_of("info"), BCS_LOG_INFO);
    ck_assert_int_eq(level_of("debug"), BCS_LOG_DEBUG);
}
END_TEST

START_TEST(only_errors_are_printed_at_level_error)
{
    bcs_log_setup(BCS_LOG_ERROR, -1);
    bcs_warn("no");
    bcs_error("yes");
    ck_assert_str_eq(caught_stderr_next(), "bcs: yes\n");
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(a_long_line_is_cut_off_and_still_one_write)
{
    char text[3000];
    const char *line;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    bcs_error("%s", text);
    line = caught_stderr_next();
    ck_assert_uint_eq(strlen(line), 1024);
    ck_assert_uint_eq(strcspn(line, "\n"), 1023);
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(errno_is_left_alone)
{
    close(STDERR_FILENO);
    errno = ENOENT;
    bcs_error("nobody reads this");
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("log");

    tcase_add_checked_fixture(tests, caught_stderr_begin, caught_stderr_end);
    tcase_add_test(tests, by_default_errors_and_warnings_are_printed);
    tcase_add_test(tests, the_rank_stands_in_front_of_each_line);
    tcase_add_test(tests, the_variable_names_the_level);
    tcase_add_test(tests, only_errors_are_printed_at_level_error);
    tcase_add_test(tests, a_long_line_is_cut_off_and_still_one_write);
    tcase_add_test(tests, errno_is_left_alone);
    return run_tcase("log", tests);
}
