/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether JSON of a job tells what the screen shows: the screen's lines are made of it
 * again.
 */
#include <check.h>
#include <string.h>

#include "apps/tools/top/picture_json.h"
#include "tests/unit/picture_job.h"
#include "tests/unit/run_suite.h"

static json_t *job;

/* As job_json_of makes one, of as many ranks. */
static void begin_json(void)
{
    json_t *list = json_array();

    begin();
    for (uint32_t i = 0; i < N_RANKS; i++) {
        json_array_append_new(list, json_pack("{s:i}", "rank", (int)i));
    }
    job = json_pack("{s:o}", "ranks", list);
    picture_json_add(job, &picture);
}

static void end_json(void)
{
    json_decref(job);
    end();
}

/* Make it anew of a changed picture. */
static void again(void)
{
    make_rows(false);
    picture_json_add(job, &picture);
}

static double number(const json_t *of, const char *name)
{
    const json_t *value = json_object_get(of, name);

    ck_assert_msg(json_is_number(value), "%s", name);
    return json_number_value(value);
}

static void add_number(struct words *words, const json_t *of, const char *name,
                       const char *unit)
{
    words_add_number(words, number(of, name));
    words_add(words, "%s", unit);
}

static void assert_line(struct words words, enum picture_line which)
{
    ck_assert_str_eq(words.text, line(which, 80));
}

START_TEST(rates_and_shares_are_those_of_the_screen)
{
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    words_add(&words, "computing %.0f%%, communicating %.0f%%, no core %.0f%%; ",
              100 * number(job, "computing"), 100 * number(job, "communicating"),
              100 * number(job, "without_core"));
    add_number(&words, job, "messages_per_second", " msg/s ");
    add_number(&words, job, "bytes_per_second", "B/s ");
    add_number(&words, job, "collectives_per_second", " coll/s");
    assert_line(words, PICTURE_RATES);
    ck_assert(json_is_true(json_object_get(job, "has_moved")));
    ck_assert_double_eq(number(job, "interval"), 2);
}
END_TEST

START_TEST(slices_and_who_waits_are_those_of_the_screen)
{
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    add_number(&words, job, "slices_per_second", " slices/s; ");
    words_add(&words, "%.0f of 3 ranks wait, in MPI_Recv 1", number(job, "n_waiting"));
    assert_line(words, PICTURE_WAITS);
}
END_TEST

START_TEST(pairs_are_those_of_the_screen)
{
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));
    json_t *pair;
    size_t i;

    words_add(&words, "heaviest pairs: ");
    json_array_foreach(json_object_get(job, "pairs"), i, pair)
    {
        words_add(&words, "%s%.0f>%.0f ", i > 0 ? ", " : "", number(pair, "from"),
                  number(pair, "to"));
        add_number(&words, pair, "bytes_per_second", "B/s");
    }
    assert_line(words, PICTURE_PAIRS);
    pair = json_array_get(json_object_get(job, "pairs"), 0);
    ck_assert_double_eq(number(pair, "messages_per_second"), 1500);
}
END_TEST

START_TEST(the_machine_is_that_of_the_screen)
{
    const json_t *machine = json_object_get(job, "machine");
    const json_t *load = json_object_get(machine, "load");
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    words_add(&words, "machine: %.0f cores %.0f%% busy, load", number(machine, "cores"),
              100 * number(machine, "busy"));
    for (size_t i = 0; i < 3; i++) {
        words_add(&words, " %.2f", json_number_value(json_array_get(load, i)));
    }
    words_add(&words, "; sorted by rank");
    assert_line(words, PICTURE_MACHINE);
}
END_TEST

START_TEST(title_and_program_are_those_of_the_screen)
{
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    ck_assert_str_eq(json_string_value(json_object_get(job, "program")),
                     "./prog\tinput");
    words_add(&words, "bcs-top: process 4711, 3 ranks, 1 node, %s, %s, for ",
              json_string_value(json_object_get(job, "driver")),
              json_string_value(json_object_get(job, "strobe")));
    words_add_time(&words, number(job, "seconds"));
    assert_line(words, PICTURE_TITLE);
    picture.program = "\xff";
    again();
    ck_assert_str_eq(json_string_value(json_object_get(job, "program")), "?");
}
END_TEST

START_TEST(ranks_are_those_of_the_screen)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        const json_t *rank = json_array_get(json_object_get(job, "ranks"), i);
        char made[ROOM], messages[16], bytes[16];
        struct words of_messages = words_begin(messages, sizeof(messages));
        struct words of_bytes = words_begin(bytes, sizeof(bytes));

        add_number(&of_messages, rank, "messages_per_second", "");
        add_number(&of_bytes, rank, "bytes_per_second", "");
        snprintf(made, sizeof(made), "%5u %4.0f %4.0f %5.0f %5s %6s", i,
                 number(rank, "core"), 100 * number(rank, "cpu"),
                 100 * number(rank, "communicating"), messages, bytes);
        ck_assert_mem_eq(row(i, 100, 0), made, strlen(made));
    }
}
END_TEST

START_TEST(what_is_not_known_is_null)
{
    static const char *const of_job[] = {"interval",
                                         "has_moved",
                                         "messages_per_second",
                                         "bytes_per_second",
                                         "collectives_per_second",
                                         "slices_per_second",
                                         "computing",
                                         "communicating",
                                         "without_core"};
    const json_t *rank = json_array_get(json_object_get(job, "ranks"), 0);

    picture.still_s = 2;
    again();
    ck_assert(json_is_false(json_object_get(job, "has_moved")));
    ranks[0].core = -1;
    ranks[0].cpu_ns = 0;
    again();
    ck_assert(json_is_null(json_object_get(rank, "core")));
    ck_assert(json_is_null(json_object_get(rank, "cpu")));
    ck_assert(json_is_null(json_object_get(job, "computing")));
    picture.before = NULL;
    machine_now.load[0] = -1;
    again();
    for (size_t i = 0; i < sizeof(of_job) / sizeof(of_job[0]); i++) {
        ck_assert_msg(json_is_null(json_object_get(job, of_job[i])), "%s", of_job[i]);
    }
    ck_assert(json_is_null(json_object_get(rank, "messages_per_second")));
    ck_assert(json_is_null(json_object_get(json_object_get(job, "machine"), "load")));
    ck_assert(json_is_null(json_object_get(json_object_get(job, "machine"), "busy")));
    ck_assert_uint_eq(json_array_size(json_object_get(job, "pairs")), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("picture_json");

    tcase_add_checked_fixture(tests, begin_json, end_json);
    tcase_add_test(tests, rates_and_shares_are_those_of_the_screen);
    tcase_add_test(tests, slices_and_who_waits_are_those_of_the_screen);
    tcase_add_test(tests, pairs_are_those_of_the_screen);
    tcase_add_test(tests, the_machine_is_that_of_the_screen);
    tcase_add_test(tests, title_and_program_are_those_of_the_screen);
    tcase_add_test(tests, ranks_are_those_of_the_screen);
    tcase_add_test(tests, what_is_not_known_is_null);
    return run_tcase("picture_json", tests);
}
