/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of Python, out of what CPython writes of a thread.
 */
#include "mpi_shim/calls/traceback.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run_suite.h"

#define HEAD "Stack (most recent call first):\n"
#define STEP "  File \"/a/run.py\", line 7 in step\n"
#define MAIN "  File \"run.py\", line 20 in <module>\n"
#define LIBRARY "  File \"/usr/lib/mpi4py/util/pool.py\", line 3 in map\n"
#define FROZEN "  File \"<frozen runpy>\", line 88 in _run_code\n"

static void expect(const char *text, uint32_t n_most, const char *lines)
{
    char found[BCS_STAND_LINES_BYTES] = "before";

    shim_traceback_lines(text, "libx*,/mpi4py/", n_most, found);
    ck_assert_str_eq(found, lines);
}

START_TEST(lines_are_told_from_the_last_call_on)
{
    expect(HEAD STEP MAIN, 3, "step, run.py:7\n<module>, run.py:20");
    expect(HEAD STEP MAIN, 1, "step, run.py:7");
    expect(HEAD STEP STEP STEP STEP, 3,
           "step, run.py:7\nstep, run.py:7\nstep, run.py:7");
    expect(HEAD STEP MAIN, 0, "");
    expect(HEAD "  File \"<string>\", line 1 in <module>\n", 3, "<module>, <string>:1");
}
END_TEST

START_TEST(lines_of_others_are_left_out)
{
    expect(HEAD LIBRARY STEP LIBRARY FROZEN MAIN, 3,
           "step, run.py:7\n<module>, run.py:20");
    expect(HEAD LIBRARY FROZEN, 3, "");
}
END_TEST

START_TEST(names_may_have_anything_in_them)
{
    expect(HEAD "  File \"/a\\xe4 \", line 3 in \"/b c.py\", line 4 in f in g\n", 3,
           "f in g, b c.py:4");
}
END_TEST

START_TEST(what_is_not_whole_is_not_told)
{
    expect(HEAD STEP "  File \"run.py\", line 20 in <mod", 3, "step, run.py:7");
    expect(HEAD STEP "  ...\n", 3, "step, run.py:7");
    expect(HEAD "  File \"run.py\", line 20 in f", 3, "");
    expect(HEAD, 3, "");
    expect("", 3, "");
}
END_TEST

START_TEST(another_form_is_not_trusted)
{
    static const char *const lines[] = {
        "  <no Python frame>\n",
        "  File ???, line 3 in f\n",
        "  File \"\", line 3 in f\n",
        "  File \"run.py\", line ??? in f\n",
        "  File \"run.py\", line 1234567890 in f\n",
        "  File \"run.py\", line 3 at f\n",
        "  File \"run.py\", line 3 in \n",
        "  File \"run.py\", line 3\n",
        "  File \"run.py\"\n",
        " File \"run.py\", line 3 in f\n",
        "\n",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[1024];

        snprintf(text, sizeof(text), HEAD STEP "%s", lines[i]);
        expect(text, 3, "");
        expect(text, 1, "step, run.py:7"); /* it is not read so far */
    }
    expect("Thread 0x7f (most recent call first):\n" STEP, 3, "");
    expect("Stack (most recent call last):\n\n" STEP, 3, "");
    expect(STEP, 3, "");
}
END_TEST

START_TEST(long_names_are_cut_and_long_paths_refused)
{
    char text[4096], name[2001], words[BCS_STAND_LINES_BYTES], other[512];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text),
             HEAD "  File \"/a/%.900s\", line 123456789 in %s\n" STEP, name, name);
    snprintf(words, sizeof(words), "%.60s, %.120s:123456789", name, name);
    snprintf(other, sizeof(other), "%s\nstep, run.py:7", words);
    expect(text, 1, words);
    expect(text, 3, other);
    snprintf(text, sizeof(text), HEAD "  File \"/a/%.1030s\", line 7 in f\n", name);
    expect(text, 3, "");
}
END_TEST

START_TEST(what_does_not_fit_is_left_out)
{
    char text[4096], name[121], words[BCS_STAND_LINES_BYTES];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(words, sizeof(words), "%.60s, %s:7", name, name);
    snprintf(text, sizeof(text),
             HEAD "  File \"%s\", line 7 in %s\n  File \"%s\", line 7 in %s\n", name,
             name, name, name);
    expect(text, 3, words);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("traceback");

    tcase_add_test(tests, lines_are_told_from_the_last_call_on);
    tcase_add_test(tests, lines_of_others_are_left_out);
    tcase_add_test(tests, names_may_have_anything_in_them);
    tcase_add_test(tests, what_is_not_whole_is_not_told);
    tcase_add_test(tests, another_form_is_not_trusted);
    tcase_add_test(tests, long_names_are_cut_and_long_paths_refused);
    tcase_add_test(tests, what_does_not_fit_is_left_out);
    return run_tcase("traceback", tests);
}
