/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of a job that is made up: what ranks are in it that do not wait, and below
 * which reports it is printed.
 */
#include "apps/tools/top/job_tree.h"

#include <check.h>
#include <string.h>

#include "apps/tools/top/roll_call.h"
#include "tests/unit/caught_stdout.h"
#include "tests/unit/run_suite.h"

#define TITLE "  all ranks by call path, the outermost call first:\n"
#define ACTS "not in a waiting MPI call"

/** A wait in a call of a function, and of main. */
static json_t *wait_in(const char *call, const char *place, const char *caller,
                       int n_pending)
{
    return json_pack("{s:s, s:s, s:[s], s:f, s:i}", "call", call, "place", place,
                     "callers", caller, "seconds", 2.0, "pending", n_pending);
}

static json_t *receive(const char *place)
{
    return wait_in("MPI_Recv", place, "main, prog.c:40", 1);
}

/** A wait in a function that another one but main has called. */
static json_t *receive_of_run(void)
{
    json_t *wait = receive("step, prog.c:7");

    json_array_insert_new(json_object_get(wait, "callers"), 0,
                          json_string("run, prog.c:20"));
    return wait;
}

/** A look in vain. */
static json_t *poll_in(const char *caller, double seconds)
{
    json_t *poll = json_pack("{s:s, s:s, s:[], s:f}", "call", "MPI_Test", "place",
                             "spin, prog.c:5", "callers", "seconds", seconds);

    if (caller != NULL) {
        json_array_append_new(json_object_get(poll, "callers"), json_string(caller));
    }
    return poll;
}

static json_t *job_new(void)
{
    return json_pack("{s:i, s:i, s:[], s:[]}", "pid", 4711, "n_ranks", 0, "ranks",
                     "unreceived");
}

/** Add the next rank. @param wait  NULL: it does not wait  @param poll  NULL: nor does
 *  it poll */
static void add_rank(json_t *job, json_t *wait, json_t *poll)
{
    json_t *ranks = json_object_get(job, "ranks"), *waits = json_array();
    int rank = (int)json_array_size(ranks);

    if (wait != NULL) {
        json_array_append_new(waits, wait);
    }
    json_array_append_new(ranks, json_pack("{s:i, s:b, s:o, s:o}", "rank", rank,
                                           "is_known", 1, "waits", waits, "poll",
                                           poll == NULL ? json_null() : poll));
    json_object_set_new(job, "n_ranks", json_integer(rank + 1));
    json_object_set_new(job, "tree", job_tree_of(ranks));
}

/** What a report prints of its title and the lines behind; "": it has no tree. */
static const char *tree_of(const char *text)
{
    const char *title = strstr(text, TITLE);

    return title == NULL ? "" : title;
}

/** The tree of the report of a deadlock of some ranks, or of all of a job. */
static const char *tree_below(json_t *job, const char *stuck)
{
    const char *text;

    caught_stdout_begin();
    ck_assert_int_eq(roll_call_print(job, stuck), 0);
    text = caught_stdout_end();
    json_decref(job);
    return tree_of(text);
}

/** The report of an error. */
static const char *report_of(json_t *job, const char *ranks, bool are_failing)
{
    const char *text;

    caught_stdout_begin();
    ck_assert_int_eq(
        roll_call_print_at(job, &(struct roll_call_at){.ranks = ranks,
                                                       .before = "before\n",
                                                       .after = "after\n",
                                                       .are_failing = are_failing}),
        0);
    text = caught_stdout_end();
    json_decref(job);
    return text;
}

START_TEST(lines_that_tell_all_are_enough)
{
    json_t *job = job_new();

    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, receive("step, prog.c:9"), NULL);
    ck_assert_str_eq(tree_below(json_incref(job), "0-1"), "");
    ck_assert_str_eq(tree_below(job, NULL), "");
}
END_TEST

START_TEST(a_verdict_tells_who_is_not_stuck)
{
    json_t *job = job_new();

    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, NULL, NULL);
    ck_assert_str_eq(tree_below(json_incref(job), "0-1"),
                     TITLE "    2: " ACTS "\n"
                           "    0-1: main, prog.c:40 > step, prog.c:7 > MPI_Recv\n");
    ck_assert_str_eq(tree_below(job, NULL), ""); /* the line above has it */
}
END_TEST

START_TEST(callers_that_differ_are_told)
{
    json_t *job = job_new();

    add_rank(job, wait_in("MPI_Recv", "step, prog.c:7", "main, prog.c:40", 1), NULL);
    add_rank(job, wait_in("MPI_Recv", "step, prog.c:7", "main, prog.c:50", 1), NULL);
    ck_assert_str_eq(tree_below(job, "0-1"),
                     TITLE "    0: main, prog.c:40 > step, prog.c:7 > MPI_Recv\n"
                           "    1: main, prog.c:50 > step, prog.c:7 > MPI_Recv\n");
}
END_TEST

START_TEST(many_lines_have_a_tree_if_paths_part)
{
    static const char *const places[] = {"step, prog.c:1", "step, prog.c:2",
                                         "step, prog.c:3", "step, prog.c:4",
                                         "step, prog.c:5"};

    for (int n = 4; n <= 5; n++) {
        json_t *job = job_new();

        for (int i = 0; i < n; i++) {
            add_rank(job, receive(places[i]), NULL);
        }
        ck_assert_int_eq(*tree_below(job, NULL) != '\0', n == 5);
    }
}
END_TEST

START_TEST(many_lines_of_one_path_have_no_tree)
{
    json_t *job = job_new();

    for (int i = 0; i < 6; i++) { /* each waits for another one: a line each */
        json_t *wait = receive("step, prog.c:7");

        json_object_set_new(wait, "operations", json_pack("[{s:i}]", "peer", i));
        add_rank(job, wait, NULL);
    }
    ck_assert_str_eq(tree_below(job, NULL), "");
}
END_TEST

START_TEST(who_polls_is_told_with_the_callers)
{
    json_t *job = job_new(), *alone = job_new();

    add_rank(job, NULL, poll_in("main, prog.c:40", 0.5));
    add_rank(job, NULL, poll_in("main, prog.c:40", 5.0));
    ck_assert_str_eq(tree_below(job, NULL), TITLE
                     "    0: main, prog.c:40 > spin, prog.c:5 > polls by MPI_Test\n"
                     "    1: " ACTS
                     ", has polled last by MPI_Test at spin, prog.c:5\n");
    add_rank(alone, NULL, poll_in(NULL, 0.5)); /* nor are callers known */
    add_rank(alone, NULL, poll_in("main, prog.c:40", 5.0));
    ck_assert_str_eq(tree_below(alone, NULL), "");
}
END_TEST

START_TEST(who_is_not_known_is_not_said_to_act)
{
    json_t *job = job_new(), *ranks = json_object_get(job, "ranks");

    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, NULL, NULL);
    json_object_set_new(json_array_get(ranks, 1), "is_known", json_false());
    json_object_set_new(job, "tree", job_tree_of(ranks));
    ck_assert_str_eq(tree_below(job, "0"),
                     TITLE "    0: main, prog.c:40 > step, prog.c:7 > MPI_Recv\n"
                           "    1: on another machine, has told nothing\n");
}
END_TEST

START_TEST(an_error_tells_where_others_are_if_that_is_known)
{
    json_t *job = job_new();

    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, NULL, NULL);
    ck_assert_str_eq(tree_of(report_of(json_incref(job), "0", false)), "");
    add_rank(job, NULL, poll_in(NULL, 0.5));
    ck_assert_str_eq(tree_of(report_of(job, "0", false)),
                     TITLE "    0: main, prog.c:40 > step, prog.c:7 > MPI_Recv\n"
                           "    1: " ACTS "\n"
                           "    2: spin, prog.c:5 > polls by MPI_Test\n");
}
END_TEST

START_TEST(what_ends_the_job_stands_last)
{
    static const char tree[] =
        TITLE "    0: main, prog.c:40 > step, prog.c:7 > MPI_Recv\n"
              "    1: main, prog.c:50 > fill, prog.c:9 > MPI_Bcast\n";
    json_t *job = job_new();
    const char *text;

    add_rank(job, receive("step, prog.c:7"), NULL);
    add_rank(job, wait_in("MPI_Bcast", "fill, prog.c:9", "main, prog.c:50", 0), NULL);
    text = report_of(json_incref(job), "0-1", true);
    ck_assert_ptr_null(strstr(text, "  0: MPI_Recv"));
    ck_assert_ptr_nonnull(strstr(text, "before\n  1: MPI_Bcast"));
    ck_assert_ptr_eq(strstr(text, tree) + strlen(tree), strstr(text, "after\n"));
    text = report_of(job, "0", false);
    ck_assert_ptr_nonnull(strstr(text, "before\n  0: MPI_Recv"));
    ck_assert_ptr_eq(strstr(text, "after\n") + strlen("after\n"), strstr(text, tree));
}
END_TEST

START_TEST(a_tree_alone_has_a_title)
{
    json_t *job = job_new();

    add_rank(job, wait_in("", "", "main, prog.c:40", 1), NULL);
    add_rank(job, NULL, NULL);
    add_rank(job, receive_of_run(), NULL);
    caught_stdout_begin();
    ck_assert_int_eq(roll_call_print_tree(job), 0);
    ck_assert_str_eq(caught_stdout_end(),
                     "Job of process 4711, 3 ranks:\n"
                     "  1: " ACTS "\n"
                     "  0,2: main, prog.c:40\n"
                     "    0: a call\n"
                     "    2: run, prog.c:20 > step, prog.c:7 > MPI_Recv\n");
    json_decref(job);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("job_tree");

    tcase_add_test(tcase, lines_that_tell_all_are_enough);
    tcase_add_test(tcase, a_verdict_tells_who_is_not_stuck);
    tcase_add_test(tcase, callers_that_differ_are_told);
    tcase_add_test(tcase, many_lines_have_a_tree_if_paths_part);
    tcase_add_test(tcase, many_lines_of_one_path_have_no_tree);
    tcase_add_test(tcase, who_polls_is_told_with_the_callers);
    tcase_add_test(tcase, who_is_not_known_is_not_said_to_act);
    tcase_add_test(tcase, an_error_tells_where_others_are_if_that_is_known);
    tcase_add_test(tcase, what_ends_the_job_stands_last);
    tcase_add_test(tcase, a_tree_alone_has_a_title);
    return run_tcase("job_tree", tcase);
}
