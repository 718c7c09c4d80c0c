/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs-top is asked at the end of a job, and what is said without it. A script
 * stands in its place: it writes its arguments down, and answers each line with a line.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/report/deadlock_report.h"
#include "libbcs/report/lines.h"
#include "libbcs/report/top_tool.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

static const char script[] = "#!/bin/sh\n"
                             "if [ \"$1\" = --lines ]; then\n"
                             "    cat > question; sed 's/^/told /' question\n"
                             "else\n"
                             "    echo \"$LD_PRELOAD|$*|\" > asked\n"
                             "fi\n"
                             "exit $TOP_STATUS\n";

static char folder[64];
static char asked[256]; /* what the script has written */

static void set_up(void)
{
    char path[512];
    FILE *file;

    snprintf(folder, sizeof(folder), "/tmp/test_top_tool.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    file = fopen("bcs-top", "we");
    fputs(script, file);
    fclose(file);
    chmod("bcs-top", S_IRWXU);
    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    setenv("TOP_STATUS", "0", 1);
    caught_stderr_begin();
}

static void tear_down(void)
{
    caught_stderr_end();
    unlink("bcs-top");
    unlink("asked");
    unlink("question");
    rmdir(folder);
}

/* The first line that the script has written. */
static const char *read_back(const char *name)
{
    FILE *file = fopen(name, "re");

    asked[0] = '\0';
    if (file != NULL) {
        ck_assert_ptr_nonnull(fgets(asked, sizeof(asked), file));
        fclose(file);
    }
    return asked;
}

START_TEST(each_line_has_its_answer)
{
    struct bcs_line lines[] = {{.path = "/lib/a", .offset = 0x1f},
                               {.path = "b\nc", .offset = 2},
                               {.offset = 3}};

    ck_assert(bcs_lines_find(lines, 3));
    ck_assert_str_eq(lines[0].text, "told 1f /lib/a");
    ck_assert_str_eq(lines[1].text, "told 2 ?");
    ck_assert_str_eq(lines[2].text, "told 3 ?");
    for (int i = 0; i < 3; i++) {
        free(lines[i].text);
    }
}
END_TEST

START_TEST(without_answers_there_are_addresses)
{
    struct bcs_line lines[] = {{.path = "/lib/a", .offset = 0x1f}, {.path = "b"}, {0}};

    setenv("TOP_STATUS", "1", 1);
    ck_assert(!bcs_lines_find(lines, 3));
    ck_assert_str_eq(lines[0].text, "0x1f in a");
    ck_assert_str_eq(lines[1].text, "0x0 in b");
    ck_assert_str_eq(lines[2].text, "0x0 in no file");
    for (int i = 0; i < 3; i++) {
        free(lines[i].text);
    }
}
END_TEST

START_TEST(a_line_that_is_not_answered_has_an_address)
{
    struct bcs_line line = {.path = "/lib/a", .offset = 0x1f};
    FILE *file = fopen("bcs-top", "we");

    fputs("#!/bin/sh\ncat > question\necho\n", file);
    fclose(file);
    ck_assert(!bcs_lines_find(&line, 1));
    ck_assert_str_eq(line.text, "0x1f in a");
    free(line.text);
}
END_TEST

START_TEST(nothing_is_asked_about_no_lines)
{
    ck_assert(!bcs_lines_find(NULL, 0));
    ck_assert_str_eq(read_back("question"), "");
}
END_TEST

START_TEST(a_deadlock_is_told_with_all_its_ranks)
{
    const uint64_t stuck[] = {UINT64_C(1) << 63 | 0x8f, 1};
    char *messages[] = {(char *)"0,1,2,3,4", (char *)"5,6,7,8,9"};
    char expected[256];

    snprintf(expected, sizeof(expected),
             "|--stuck 0-3,7,63-64 %ld  0,1,2,3,4 5,6,7,8,9|\n", (long)getpid());
    setenv("LD_PRELOAD", "", 1);
    ck_assert(bcs_deadlock_report(&(struct bcs_deadlock){
        .stuck = stuck, .n_ranks = 65, .messages = messages, .n_messages = 2}));
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "deadlock: ranks 0-3,7,63-64 "));
    ck_assert_str_eq(read_back("asked"), expected);
}
END_TEST

START_TEST(a_long_list_is_cut_off_but_not_for_the_tool)
{
    const uint64_t stuck = 0x5555;
    char expected[256];

    snprintf(expected, sizeof(expected), "|--stuck 0,2,4,6,8,10,12,14 %ld out|\n",
             (long)getpid());
    ck_assert(bcs_deadlock_report(
        &(struct bcs_deadlock){.stuck = &stuck, .n_ranks = 16, .path = "out"}));
    ck_assert_ptr_nonnull(
        strstr(caught_stderr_next(),
               "ranks 0,2,4,6,8,10,... wait for each other and can never continue:"));
    ck_assert_str_eq(read_back("asked"), expected);
}
END_TEST

START_TEST(one_rank_is_no_ranks)
{
    const uint64_t stuck = 1 << 12 | 1 << 13; /* there is no rank 13 */

    bcs_deadlock_report(&(struct bcs_deadlock){.stuck = &stuck, .n_ranks = 13});
    ck_assert_ptr_nonnull(
        strstr(caught_stderr_next(),
               "deadlock: rank 12 waits for itself and can never continue:"));
}
END_TEST

START_TEST(a_tool_that_fails_is_told_of)
{
    const uint64_t stuck = 1;
    const char *text;

    setenv("TOP_STATUS", "3", 1);
    ck_assert(
        !bcs_deadlock_report(&(struct bcs_deadlock){.stuck = &stuck, .n_ranks = 1}));
    caught_stderr_next();
    text = caught_stderr_next();
    ck_assert_ptr_nonnull(
        strstr(text, "bcs-top, which says where they stand, has failed"));
}
END_TEST

START_TEST(places_are_asked_for_by_the_first_process)
{
    const uint64_t stuck = 6;
    struct bcs_places places = {
        .ranks = &stuck, .n_ranks = 3, .pid = 77, .before = "before", .after = "after"};

    bcs_places_report(&places);
    ck_assert_str_eq(read_back("asked"), "|--at 1-2 77 before after|\n");
    places.are_failing = true;
    bcs_places_report(&places);
    ck_assert_str_eq(read_back("asked"), "|--failing 1-2 77 before after|\n");
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(without_places_the_lines_around_them_are_told)
{
    const uint64_t stuck = 1;

    setenv("TOP_STATUS", "3", 1);
    bcs_places_report(&(struct bcs_places){.ranks = &stuck,
                                           .n_ranks = 1,
                                           .pid = 77,
                                           .before = "before\n",
                                           .after = "after\n"});
    ck_assert_str_eq(caught_stderr_next(), "before\n");
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "bcs-top, which says where"));
    ck_assert_str_eq(caught_stderr_next(), "after\n");
}
END_TEST

START_TEST(nothing_is_preloaded_into_the_tool)
{
    char **list;
    size_t n = 0;

    clearenv();
    setenv("LD_PRELOAD", "x", 1);
    setenv("LD_PRELOAD_NOT", "y", 1);
    list = bcs_top_tool_environment();
    while (list[n] != NULL) {
        n++;
    }
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(list[0], "LD_PRELOAD_NOT=y");
    free(list);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("top_tool");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, each_line_has_its_answer);
    tcase_add_test(tcase, without_answers_there_are_addresses);
    tcase_add_test(tcase, a_line_that_is_not_answered_has_an_address);
    tcase_add_test(tcase, nothing_is_asked_about_no_lines);
    tcase_add_test(tcase, a_deadlock_is_told_with_all_its_ranks);
    tcase_add_test(tcase, a_long_list_is_cut_off_but_not_for_the_tool);
    tcase_add_test(tcase, one_rank_is_no_ranks);
    if (!HAS_ADDRESS_SANITIZER) {
        tcase_add_test(tcase, a_tool_that_fails_is_told_of);
        tcase_add_test(tcase, places_are_asked_for_by_the_first_process);
        tcase_add_test(tcase, without_places_the_lines_around_them_are_told);
    }
    tcase_add_test(tcase, nothing_is_preloaded_into_the_tool);
    return run_tcase("top_tool", tcase);
}
