/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is read of a manifest, and texts of others on their way into documents.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/utf8.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/read/text.h"
#include "tests/unit/run_suite.h"

START_TEST(a_value_is_found_by_key_and_number)
{
    const char *text = "format: bcs-mds 1\nargument: a\nno key\nargument: b: c\nlast: ";
    char value[8];

    ck_assert(manifest_value(text, "format", 0, value, sizeof(value)));
    ck_assert_str_eq(value, "bcs-mds");
    ck_assert(manifest_value(text, "argument", 1, value, sizeof(value)));
    ck_assert_str_eq(value, "b: c");
    ck_assert(manifest_value(text, "last", 0, value, sizeof(value)));
    ck_assert_str_eq(value, "");
    ck_assert(!manifest_value(text, "argument", 2, value, sizeof(value)));
    ck_assert(!manifest_value(text, "arg", 0, value, sizeof(value)));
    ck_assert(!manifest_value(text, "arguments", 0, value, sizeof(value)));
}
END_TEST

START_TEST(new_lines_and_backslashes_come_back)
{
    static const char value[] = "a\\nb\\\\nc\\";
    char *text = manifest_unescape(value, strlen(value));

    ck_assert_str_eq(text, "a\nb\\nc\\");
    free(text);
}
END_TEST

START_TEST(a_command_is_words_for_a_shell)
{
    char *command = manifest_command("program: ./a\nargument: it's\nargument: \n"
                                     "argument: -n=3\nargument: \x1b[2J\xc2\x9b\xff"
                                     "\\n\xc3\xa4\nranks: 4\n");

    ck_assert_str_eq(command, "./a 'it'\\''s' '' -n=3 '?[2J???\xc3\xa4'");
    free(command);
}
END_TEST

static void expect_utf8(const char *bytes, const char *expected)
{
    char *text = text_utf8(bytes, strlen(bytes));

    ck_assert_str_eq(text, expected);
    free(text);
}

#define U_FFFD "\xef\xbf\xbd"

START_TEST(a_character_that_is_cut_off_is_none)
{
    ck_assert_uint_eq(bcs_utf8_bytes("\xc3\xa4", 2), 2);
    ck_assert_uint_eq(bcs_utf8_bytes("\xc3\xa4", 1), 0);
    ck_assert_uint_eq(bcs_utf8_bytes("\xf0\x9f\x98\x80", 3), 0);
    ck_assert_uint_eq(bcs_utf8_bytes("", 0), 0);
}
END_TEST

START_TEST(what_is_no_utf8_is_replaced)
{
    expect_utf8("a\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                "a\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    expect_utf8("\x80z", U_FFFD "z");
    expect_utf8("\xc3z", U_FFFD "z");
    expect_utf8("\xc3", U_FFFD);
    expect_utf8("\xc1\xbf", U_FFFD U_FFFD);            /* longer than needed */
    expect_utf8("\xe0\x9f\xbf", U_FFFD U_FFFD U_FFFD); /* the same */
    expect_utf8("\xed\xa0\x80", U_FFFD U_FFFD U_FFFD); /* half of a pair */
    expect_utf8("\xed\xbf\xbf", U_FFFD U_FFFD U_FFFD); /* the other half */
    expect_utf8("\xf4\x90\x80\x80", U_FFFD U_FFFD U_FFFD U_FFFD); /* beyond the last */
    expect_utf8("\xf8\x88\x80\x80", U_FFFD U_FFFD U_FFFD U_FFFD);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("manifest");

    tcase_add_test(tcase, a_value_is_found_by_key_and_number);
    tcase_add_test(tcase, new_lines_and_backslashes_come_back);
    tcase_add_test(tcase, a_command_is_words_for_a_shell);
    tcase_add_test(tcase, a_character_that_is_cut_off_is_none);
    tcase_add_test(tcase, what_is_no_utf8_is_replaced);
    return run_tcase("manifest", tcase);
}
