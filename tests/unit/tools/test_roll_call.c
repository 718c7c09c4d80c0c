/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roll-call of jobs that are made up: of ten thousand ranks it fits a screen, and
 * whoever is not like the others is on it.
 */
#include "apps/tools/top/roll_call.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/top/near_miss.h"
#include "apps/tools/top/ranks.h"
#include "apps/tools/top/wait_print.h"
#include "libbcs/fabric/ring/stand.h"
#include "tests/unit/caught_stdout.h"
#include "tests/unit/run_suite.h"

#define ACTING                                                                         \
    "not in a waiting MPI call (computing, polling, or in a call of Open MPI)"

enum { MANY = 10000, SCREEN = 60, TAG = 7, WORLD = 2 };

/* ----------------------------------------------------------------------- made-up
 * jobs */

static json_t *job_new(int n_ranks)
{
    return json_pack("{s:i, s:i, s:[], s:[]}", "pid", 4711, "n_ranks", n_ranks, "ranks",
                     "unreceived");
}

/** Add the next rank. @param wait  what it waits for; NULL: nothing */
static void add_rank(json_t *job, json_t *wait)
{
    json_t *ranks = json_object_get(job, "ranks"), *waits = json_array();

    if (wait != NULL) {
        json_array_append_new(waits, wait);
    }
    json_array_append_new(
        ranks,
        json_pack("{s:i, s:o}", "rank", (int)json_array_size(ranks), "waits", waits));
}

static json_t *wait_new(const char *call, const char *place, int peer, json_t *one)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:n, s:s, s:i, s:f, s:b, s:[i], s:[o], "
                     "s:i}",
                     "call", call, "place", place, "communicator", "the grid",
                     "context", WORLD, "collective", "", "root", "reduction", "",
                     "number", 0, "seconds", 2.0, "needs_all", 1, "waits_for", peer,
                     "operations", one, "pending", 1);
}

static json_t *receive_at(const char *place, int peer, int tag)
{
    return wait_new("MPI_Recv", place, peer,
                    json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "receive", "peer",
                              peer, "tag", tag, "bytes", 4, "context", WORLD));
}

/** In a collective that goes without messages. */
static json_t *collective(const char *call, int context, int number, int root)
{
    json_t *wait =
        wait_new(call, "prog.c:9", 0,
                 json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "collective", "peer",
                           -1, "tag", -1, "bytes", 32, "context", context));

    json_object_set_new(wait, "collective", json_string("alltoall"));
    json_object_set_new(wait, "context", json_integer(context));
    json_object_set_new(wait, "number", json_integer(number));
    json_object_set_new(wait, "root", json_integer(root));
    return wait;
}

/* --------------------------------------------------------------------- what is
 * printed */

/** Print a job, or those whose calls fail. */
static int print(json_t *job, const char *list, bool are_failing)
{
    return are_failing
               ? roll_call_print_at(job, &(struct roll_call_at){list, "", "", true})
               : roll_call_print(job, list);
}

/** What is printed of a job, which is given up. @return until the next call */
static const char *printed_of(json_t *job, const char *list, bool are_failing)
{
    caught_stdout_begin();
    ck_assert_int_eq(print(job, list, are_failing), 0);
    json_decref(job);
    return caught_stdout_end();
}

static const char *printed(json_t *job, const char *stuck)
{
    return printed_of(job, stuck, false);
}

static int count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '\n';
    }
    return n;
}

static void expect_line(const char *text, const char *line)
{
    ck_assert_msg(strstr(text, line) != NULL, "not there: %s\nin: %.2000s", line, text);
}

static void expect_no(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "there: %s\nin: %.2000s", words, text);
}

#define PLACE ", on the grid, at prog.c:1, for 2.0 s\n"

START_TEST(of_a_large_ring_the_odd_ones_are_told)
{
    json_t *job = job_new(MANY);
    const char *text;

    for (int i = 0; i < MANY; i++) {
        add_rank(job, i == 37     ? receive_at("prog.c:1", 5, TAG)
                      : i == 4242 ? receive_at("prog.c:2", i + 1, TAG)
                                  : receive_at("prog.c:1", (i + 1) % MANY, TAG));
    }
    text = printed(job, "0-9999");
    ck_assert_ptr_eq(strstr(text, "  37: MPI_Recv, receive from rank 5, tag 7" PLACE),
                     text);
    expect_line(text, "\n  4242: MPI_Recv, receive from rank 4243, tag 7, on the grid, "
                      "at prog.c:2, for 2.0 s\n");
    expect_line(text, "\n  0-36,38-4241,4243-9999: MPI_Recv, receive from the next "
                      "rank each, tag 7" PLACE);
    ck_assert_int_eq(count_lines(text), 4); /* and a circle */
}
END_TEST

/** A receive in a function that one or two others have called. */
static json_t *receive_called(const char *from, const char *from_there)
{
    json_t *wait = receive_at("step, prog.c:1", 9, TAG), *callers = json_array();

    json_array_append_new(callers, json_string(from));
    if (from_there != NULL) {
        json_array_append_new(callers, json_string(from_there));
    }
    json_object_set_new(wait, "callers", callers);
    return wait;
}

START_TEST(who_has_called_follows_the_place)
{
    json_t *job = job_new(3);

    add_rank(job, receive_called("run, prog.c:20", "main, prog.c:40"));
    add_rank(job, receive_called("run, prog.c:20", "main, prog.c:40"));
    add_rank(job, NULL);
    expect_line(printed(job, NULL), "  0-1: MPI_Recv, receive from rank 9, tag 7, on "
                                    "the grid, at step, prog.c:1, called from run, "
                                    "prog.c:20, main, prog.c:40, for 2.0 s\n");
}
END_TEST

START_TEST(ranks_of_one_place_are_one_line_whoever_has_called)
{
    json_t *job = job_new(3);

    add_rank(job, receive_called("run, prog.c:20", "main, prog.c:40"));
    add_rank(job, receive_called("run, prog.c:21", "main, prog.c:40"));
    add_rank(job, receive_called("main, prog.c:41", NULL));
    expect_line(printed(job, NULL), "  0-2: MPI_Recv, receive from rank 9, tag 7, on "
                                    "the grid, at step, prog.c:1, called from several "
                                    "places, for 2.0 s\n");
}
END_TEST

START_TEST(a_program_without_lines_is_said_how_to_have_them)
{
    json_t *job = job_new(2), *wait = receive_called("main+0x9, prog", NULL);

    json_object_set_new(wait, "place", json_string("step+0x21, prog"));
    json_object_set_new(wait, "lacks_lines", json_true());
    add_rank(job, wait);
    add_rank(job, NULL);
    expect_line(printed(job, NULL), "at step+0x21, prog (compile with -g for lines), "
                                    "called from main+0x9, prog, for 2.0 s\n");
}
END_TEST

START_TEST(partners_that_are_as_far_from_each_are_told_so)
{
    static const struct {
        int offset;
        const char *words;
    } ways[] = {{-1, "from the previous rank each"},
                {100, "from the rank 100 after each"},
                {-100, "from the rank 100 before each"}};

    for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        json_t *job = job_new(MANY);
        const char *text;

        for (int i = 0; i < MANY; i++) {
            add_rank(job,
                     receive_at("prog.c:1", (i + MANY + ways[way].offset) % MANY, TAG));
        }
        text = printed(job, NULL);
        expect_line(text, ways[way].words);
        ck_assert_int_eq(count_lines(text), 2);
    }
}
END_TEST

START_TEST(of_many_partners_it_is_told_that_they_are_many)
{
    json_t *job = job_new(MANY);
    const char *text;

    for (int i = 0; i < MANY; i++) { /* every third one waits for rank 0 */
        add_rank(job, i % 3 == 0 ? receive_at("prog.c:1", 0, TAG)
                                 : receive_at("prog.c:1", i * i % MANY, i));
    }
    text = printed(job, NULL);
    expect_line(text, ": MPI_Recv, receive from rank 0, tag 7" PLACE);
    expect_line(text, ": MPI_Recv, receive from one each, several tags" PLACE);
    ck_assert_int_eq(count_lines(text), 3);
}
END_TEST

START_TEST(who_is_not_known_is_not_said_to_go_on)
{
    json_t *job = job_new(4);

    for (int i = 0; i < 4; i++) {
        add_rank(job, i == 0 ? receive_at("prog.c:1", 1, TAG) : NULL);
        json_object_set_new(json_array_get(json_object_get(job, "ranks"), (size_t)i),
                            "is_known", json_boolean(i < 2));
    }
    expect_line(printed(job, NULL),
                "  1: " ACTING "\n"
                "  2-3: are on other machines, and have told nothing\n");
}
END_TEST

START_TEST(who_polls_is_told_with_the_last_call)
{
    json_t *job = job_new(5);

    for (int i = 0; i < 5; i++) {
        add_rank(job, NULL);
        json_object_set_new(
            json_array_get(json_object_get(job, "ranks"), (size_t)i), "poll",
            json_pack("{s:s, s:s, s:f}", "call", i < 4 ? "call" : "", "place",
                      i < 2 ? "x" : "y", "seconds", i < 3 ? 0.9 : 3.0));
    }
    expect_line(printed(job, NULL),
                "  0-1: polls, by call, at x\n  2: polls, by call, at y\n"
                "  3: has polled last 3 s ago, by call, at y\n  4: " ACTING);
}
END_TEST

START_TEST(of_few_ranks_each_partner_is_told)
{
    json_t *job = job_new(4);
    const char *text;

    for (int i = 0; i < 4; i++) {
        add_rank(job, i == 3 ? NULL : receive_at("prog.c:1", (i + 1) % 4, TAG));
    }
    text = printed(job, NULL);
    expect_line(text,
                "  0: MPI_Recv, receive from rank 1, tag 7" PLACE
                "  1: MPI_Recv, receive from rank 2, tag 7" PLACE
                "  2: MPI_Recv, receive from rank 3, tag 7" PLACE "  3: " ACTING "\n");
}
END_TEST

START_TEST(of_calls_that_fail_no_others_and_no_times_are_told)
{
    json_t *job = job_new(3), *failing;

    add_rank(job, receive_at("prog.c:1", 1, TAG));
    for (int i = 1; i < 3; i++) {
        failing = receive_at("prog.c:2", 0, TAG);
        json_array_clear(json_object_get(failing, "operations"));
        json_object_set_new(failing, "pending", json_integer(0));
        add_rank(job, failing);
    }
    ck_assert_str_eq(printed_of(job, "0-2", true),
                     "  1-2: MPI_Recv, on the grid, at prog.c:2\n");
}
END_TEST

START_TEST(of_many_places_the_smallest_and_the_largest_are_told)
{
    json_t *job = job_new(MANY);
    const char *text;
    char place[32];

    for (int i = 0; i < MANY; i++) { /* 1000 places of one, 1000 of two, and the rest */
        snprintf(place, sizeof(place), "prog.c:%d",
                 i < 7000   ? 1
                 : i < 9000 ? i / 2
                            : i);
        add_rank(job, receive_at(place, 0, TAG));
    }
    text = printed(job, NULL);
    expect_line(text, "  9000: MPI_Recv, ");
    expect_line(text, "  0-6999: MPI_Recv, ");
    expect_line(text, "  and 1971 places more\n");
    expect_no(text, "7000");
    ck_assert_int_le(count_lines(text), SCREEN);
}
END_TEST

START_TEST(of_many_collectives_the_odd_ones_are_told)
{
    json_t *job = job_new(MANY);
    char call[32];
    const char *text;

    for (int i = 0; i < MANY;
         i++) { /* a hundred communicators; in the first many calls */
        int context = i / 100 * 2;

        snprintf(call, sizeof(call), "MPI_X%d", i);
        add_rank(job, collective(i == 150            ? "MPI_Bcast"
                                 : i > 50 && i < 100 ? call
                                                     : "MPI_Alltoall",
                                 context, i % 2, i));
    }
    text = printed(job, "0-9999");
    expect_line(text, "  rank 51 is in MPI_X51 on the grid, ");
    expect_line(text, ", ranks 0-50 are in MPI_Alltoall, and 44 more calls\n");
    expect_line(text, "  rank 150 is in MPI_Bcast on the grid, ranks 100-149,151-199 "
                      "are in MPI_Alltoall\n");
    expect_line(text, "  roots differ: rank 1 says 1, ");
    expect_line(text, "and 19 more roots, in MPI_Alltoall on the grid\n");
    expect_line(text, "more collectives\n");
    ck_assert_int_le(count_lines(text), SCREEN);
}
END_TEST

START_TEST(a_collective_has_its_length)
{
    json_t *job = job_new(2);
    const char *text;

    add_rank(job, collective("MPI_Alltoall", WORLD, 1, 0));
    add_rank(job, receive_at("prog.c:1", 0, TAG));
    text = printed(job, NULL);
    expect_line(text, "  0: MPI_Alltoall, 32 bytes in all, on the grid");
}
END_TEST

static void expect_list(const char *list, int n_ranks, const char *as_json)
{
    json_t *ranks = ranks_read(list, n_ranks);
    char *text = json_dumps(ranks, JSON_COMPACT);

    ck_assert_str_eq(text, as_json);
    free(text);
    json_decref(ranks);
}

START_TEST(ranks_are_found_in_lists)
{
    json_t *ranks = ranks_read("1,3,5,9", 12);

    for (int i = 0; i < 12; i++) {
        bool is_there = i == 1 || i == 3 || i == 5 || i == 9;

        ck_assert_int_eq(ranks_include(ranks, i), is_there);
    }
    expect_list("0-3,7", 12, "[0,1,2,3,7]");
    expect_list("0-3,7", 3, "[0,1,2]");
    expect_list(NULL, 3, "[0,1,2]");
    expect_list("", 3, "[]");
    json_decref(ranks);
}
END_TEST

/* ------------------------------------------------------ messages and what is waited
 * for */

/** In what a message that nobody has received is not what rank 0, or 1, waits for; "":
 *  in more. */
static const char *difference_of(const char *message)
{
    static char word[32];
    json_t *job = job_new(2), *one = near_miss_read(message);

    add_rank(job, receive_at("prog.c:1", 1, TAG));
    add_rank(job,
             wait_new("MPI_Ssend", "prog.c:2", 0,
                      json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "send", "peer", 0,
                                "tag", TAG, "bytes", 4, "context", WORLD)));
    ck_assert_ptr_nonnull(one);
    near_miss_find(job, one);
    snprintf(word, sizeof(word), "%s",
             wait_text(json_object_get(one, "near_miss"), "in"));
    json_decref(one);
    json_decref(job);
    return word;
}

START_TEST(a_near_miss_differs_in_one_thing)
{
    ck_assert_str_eq(difference_of("1,0,7,4,2,0"), "");
    ck_assert_str_eq(difference_of("1,0,8,4,2,0"), "tag");
    ck_assert_str_eq(difference_of("2,0,7,4,2,0"), "source");
    ck_assert_str_eq(difference_of("1,0,7,4,4,0"), "communicator");
    ck_assert_str_eq(difference_of("1,0,8,4,4,0"), "");
    ck_assert_str_eq(difference_of("1,0,8,4,2,1"), ""); /* taken by a probe */
    ck_assert_str_eq(difference_of("0,1,8,4,2,0"), ""); /* a send asks for nothing */
    ck_assert_ptr_null(near_miss_read("1,0,7,4,2,0x"));
    ck_assert_ptr_null(near_miss_read("1,0,7,4,2,2"));
    ck_assert_ptr_null(near_miss_read("1,0,7,4,2"));
}
END_TEST

START_TEST(parts_of_collectives_are_near_by_their_number)
{
    enum { PART = WORLD + 1, NUMBER = 5, NEXT = NUMBER + (1 << BCS_STAND_NUMBER_BITS) };
    json_t *job = job_new(2), *of_this = near_miss_read("1,0,5,4,3,0,bcast");
    json_t *of_next = near_miss_read("1,0,6,4,3,0,bcast");
    json_t *wait =
        wait_new("MPI_Reduce", "prog.c:1", 1,
                 json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "receive", "peer", 1,
                           "tag", NEXT, "bytes", 4, "context", PART));

    ck_assert_str_eq(wait_collective(wait), "MPI_Reduce"); /* by its message */
    json_object_set_new(wait, "collective", json_string("reduce"));
    add_rank(job, wait);
    near_miss_find(job, of_this);
    ck_assert_str_eq(wait_text(of_this, "communicator"), "the grid");
    ck_assert_str_eq(
        wait_text(json_object_get(of_this, "near_miss"), "expected_part_of"), "reduce");
    near_miss_find(job, of_next);
    ck_assert_ptr_null(json_object_get(of_next, "near_miss"));
    json_decref(of_this);
    json_decref(of_next);
    json_decref(job);
}
END_TEST

START_TEST(ranks_that_have_ended_too_early_are_told)
{
    json_t *job = job_new(3);
    const char *text;

    add_rank(job, collective("MPI_Finalize", 0, 0, 0));
    add_rank(job, receive_at("prog.c:1", 0, TAG));
    add_rank(job, receive_at("prog.c:1", 1, TAG));
    text = printed(job, "0-2");
    expect_line(text,
                "  rank 0 is in MPI_Finalize at prog.c:9, while rank 1 waits for what "
                "has not been called\n");
}
END_TEST

START_TEST(roots_of_different_collectives_may_differ)
{
    json_t *job = job_new(2);

    add_rank(job, collective("MPI_Bcast", WORLD, 1, 0));
    add_rank(job, collective("MPI_Bcast", WORLD, 2, 1));
    expect_no(printed(job, "0,1"), "roots differ");
    job = job_new(2);
    add_rank(job, collective("MPI_Bcast", WORLD, 1, 0));
    add_rank(job, collective("MPI_Bcast", WORLD, 1, 1));
    expect_line(printed(job, "0,1"), "  roots differ: rank 0 says 0, rank 1 says 1, in "
                                     "MPI_Bcast on the grid\n");
}
END_TEST

START_TEST(a_request_is_of_its_collective)
{
    json_t *job = job_new(2);

    add_rank(job, collective("MPI_Waitall", WORLD, 1, 0));
    add_rank(job, collective("MPI_Barrier", WORLD, 1, 0));
    expect_line(printed(job, "0,1"),
                "  rank 0 is in alltoall on the grid, rank 1 is in "
                "MPI_Barrier\n");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("roll_call");

    tcase_add_test(tcase, of_a_large_ring_the_odd_ones_are_told);
    tcase_add_test(tcase, who_has_called_follows_the_place);
    tcase_add_test(tcase, ranks_of_one_place_are_one_line_whoever_has_called);
    tcase_add_test(tcase, a_program_without_lines_is_said_how_to_have_them);
    tcase_add_test(tcase, partners_that_are_as_far_from_each_are_told_so);
    tcase_add_test(tcase, of_many_partners_it_is_told_that_they_are_many);
    tcase_add_test(tcase, who_is_not_known_is_not_said_to_go_on);
    tcase_add_test(tcase, who_polls_is_told_with_the_last_call);
    tcase_add_test(tcase, of_few_ranks_each_partner_is_told);
    tcase_add_test(tcase, of_calls_that_fail_no_others_and_no_times_are_told);
    tcase_add_test(tcase, of_many_places_the_smallest_and_the_largest_are_told);
    tcase_add_test(tcase, of_many_collectives_the_odd_ones_are_told);
    tcase_add_test(tcase, a_collective_has_its_length);
    tcase_add_test(tcase, ranks_are_found_in_lists);
    tcase_add_test(tcase, a_near_miss_differs_in_one_thing);
    tcase_add_test(tcase, parts_of_collectives_are_near_by_their_number);
    tcase_add_test(tcase, ranks_that_have_ended_too_early_are_told);
    tcase_add_test(tcase, roots_of_different_collectives_may_differ);
    tcase_add_test(tcase, a_request_is_of_its_collective);
    return run_tcase("roll_call", tcase);
}
