/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings as lines of JSON: what a line has of a finding, how texts of others stand in
 * it, and where it is appended.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/report/finding.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

static char folder[64], path[512], host[128];

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_finding.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
    snprintf(path, sizeof(path), "%s/%s.findings", folder, host);
    setenv(BCS_FINDINGS_SETTING, folder, 1);
    caught_stderr_begin();
}

static void tear_down(void)
{
    caught_stderr_end();
    unlink(path);
    rmdir(folder);
}

/* The lines in the file of this machine, for free. */
static char *written(void)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 4096);

    if (file != NULL) {
        fread(text, 1, 4095, file);
        fclose(file);
    }
    return text;
}

static void line_is(const struct bcs_finding *finding, const char *expected)
{
    char *line = bcs_finding_line(finding);

    ck_assert_str_eq(line, expected);
    free(line);
}

START_TEST(a_line_has_all_that_is_known)
{
    const uint64_t ranks[] = {UINT64_C(1) << 63 | 1, 2};
    const struct bcs_finding_place place = {.call = "MPI_Recv",
                                            .words = "main, prog.c:12",
                                            .file = "/a/prog.c",
                                            .line = 13};

    line_is(
        &(struct bcs_finding){.kind = BCS_FINDING_DEADLOCK,
                              .status = 86,
                              .message = "deadlock",
                              .demand = "the standard",
                              .text = "a report",
                              .ranks = ranks,
                              .n_ranks = 66,
                              .places = &place,
                              .n_places = 1},
        "{\"kind\": \"deadlock\", \"level\": \"error\", \"page\": "
        "\"docs/my-program-hangs.md\", \"message\": \"deadlock\", \"demand\": \"the "
        "standard\", \"text\": \"a report\", \"status\": 86, \"ranks\": [0, 63, 65], "
        "\"places\": [{\"call\": \"MPI_Recv\", \"place\": \"main, prog.c:12\", "
        "\"function\": \"main\", \"file\": \"/a/prog.c\", \"line\": 13}]}");
}
END_TEST

START_TEST(what_is_not_known_is_left_out)
{
    const uint32_t rank = 3;
    const struct bcs_finding_place places[] = {{.call = "MPI_Send"},
                                               {.call = "b", .words = "f, run.py:7"}};

    line_is(
        &(struct bcs_finding){.kind = BCS_FINDING_LEAK,
                              .message = "m",
                              .rank = &rank,
                              .places = places,
                              .n_places = 2},
        "{\"kind\": \"leak\", \"level\": \"warning\", \"page\": "
        "\"docs/referee.md#what-is-left-at-the-end\", \"message\": \"m\", \"ranks\": "
        "[3], \"places\": [{\"call\": \"MPI_Send\"}, {\"call\": \"b\", \"place\": \"f, "
        "run.py:7\", \"function\": \"f\", \"file\": \"run.py\", \"line\": 7}]}");
}
END_TEST

START_TEST(texts_of_others_are_escaped)
{
    line_is(
        &(struct bcs_finding){.kind = BCS_FINDING_SUSPICION,
                              .message = "a\"b\\c\nd\x01\x7f"
                                         "\xc3\xa4\xff\xc3"},
        "{\"kind\": \"suspicion\", \"level\": \"note\", \"page\": "
        "\"docs/referee.md#a-suspicion\", \"message\": "
        "\"a\\\"b\\\\c\\u000ad\\u0001\\u007f\xc3\xa4\\ufffd\\ufffd\", \"places\": []}");
}
END_TEST

START_TEST(words_of_a_place_are_parted)
{
    static const char *const without[] = {
        "",          "main",     "main+0x7, prog", "0x1 in prog",      "f, g.c:",
        "f, g.c:1x", ", g.c:12", "f, :12",         "f, g.c:1234567890"};
    const char *file;
    int n_file, line;

    ck_assert_int_eq(
        bcs_finding_part_words("a<b, c>::f, my file.c:12", &file, &n_file, &line), 10);
    ck_assert_str_eq(file, "my file.c:12");
    ck_assert_int_eq(n_file, 9);
    ck_assert_int_eq(line, 12);
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        ck_assert_int_eq(bcs_finding_part_words(without[i], &file, &n_file, &line), 0);
    }
}
END_TEST

START_TEST(findings_are_appended)
{
    char *text;

    bcs_finding_append("one");
    bcs_finding_append("two");
    text = written();
    ck_assert_str_eq(text, "one\ntwo\n");
    free(text);
    bcs_finding_tell(&(struct bcs_finding){.kind = BCS_FINDING_MISUSE, .message = "m"});
    text = written();
    ck_assert_ptr_nonnull(strstr(text, "one\ntwo\n{\"kind\": \"misuse\""));
    ck_assert_str_eq(text + strlen(text) - 2, "}\n");
    free(text);
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(without_the_setting_nothing_is_written)
{
    static const char *const values[] = {"", NULL};

    for (int i = 0; i < 2; i++) {
        if (values[i] == NULL) {
            unsetenv(BCS_FINDINGS_SETTING);
        } else {
            setenv(BCS_FINDINGS_SETTING, values[i], 1);
        }
        ck_assert(!bcs_findings_are_wanted());
        bcs_finding_append("one");
        bcs_finding_tell(
            &(struct bcs_finding){.kind = BCS_FINDING_MISUSE, .message = "m"});
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(a_finding_that_is_lost_is_told_of)
{
    setenv(BCS_FINDINGS_SETTING, "/tmp/there/is/none", 1);
    ck_assert(bcs_findings_are_wanted());
    bcs_finding_append("one");
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "a finding is lost"));
}
END_TEST

START_TEST(each_kind_has_a_rule)
{
    for (int i = 0; i < BCS_FINDING_KINDS; i++) {
        const struct bcs_finding_rule *rule = &bcs_finding_rules[i];

        ck_assert_int_eq(bcs_finding_kind_of(rule->name), i);
        ck_assert_ptr_nonnull(strstr(rule->page, "docs/"));
        ck_assert_ptr_nonnull(rule->summary);
    }
    ck_assert_int_eq(bcs_finding_kind_of("nothing"), BCS_FINDING_KINDS);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("finding");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_line_has_all_that_is_known);
    tcase_add_test(tcase, what_is_not_known_is_left_out);
    tcase_add_test(tcase, texts_of_others_are_escaped);
    tcase_add_test(tcase, words_of_a_place_are_parted);
    tcase_add_test(tcase, findings_are_appended);
    tcase_add_test(tcase, without_the_setting_nothing_is_written);
    tcase_add_test(tcase, a_finding_that_is_lost_is_told_of);
    tcase_add_test(tcase, each_kind_has_a_rule);
    return run_tcase("finding", tcase);
}
