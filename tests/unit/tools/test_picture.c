/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that show a job, at several widths.
 */
#include <check.h>
#include <string.h>

#include "tests/unit/picture_job.h"
#include "tests/unit/run_suite.h"

START_TEST(lines_tell_of_the_job)
{
    ck_assert_str_eq(
        line(PICTURE_TITLE, 80),
        "bcs-top: process 4711, 3 ranks, 1 node, inline, demand, for 12.0s");
    ck_assert_str_eq(line(PICTURE_PROGRAM, 80), "./prog?input");
    ck_assert_str_eq(
        line(PICTURE_RATES, 80),
        "computing 42%, communicating 25%, no core 33%; 1.5k msg/s 2.0MB/s "
        "3.0 coll/s");
    ck_assert_str_eq(line(PICTURE_WAITS, 80),
                     "2.5k slices/s; 1 of 3 ranks wait, in MPI_Recv 1");
    ck_assert_str_eq(line(PICTURE_PAIRS, 80), "heaviest pairs: 2>1 2.0MB/s, 2>0 32B/s");
    ck_assert_str_eq(line(PICTURE_MACHINE, 80),
                     "machine: 2 cores 25% busy, load 1.50 1.00 0.25; sorted by rank");
}
END_TEST

START_TEST(what_is_special_is_told)
{
    char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    picture.n_jobs = 3;
    picture.is_paused = true;
    ck_assert_str_eq(line(PICTURE_TITLE, 80),
                     "bcs-top: process 4711 (1 of 3), PAUSED, 3 ranks, 1 node, inline, "
                     "demand, for 12.0s");
    picture.has_ended = true;
    picture.number = 0;
    ck_assert_str_eq(line(PICTURE_TITLE, 80),
                     "bcs-top: process 4711 (0 of 3), ENDED, 3 ranks, 1 node, inline, "
                     "demand, for 12.0s");
    picture_add_foot(&words, &picture);
    ck_assert(strstr(room, "The job has ended") == room);
    picture.still_s = 95;
    ck_assert_str_eq(
        line(PICTURE_RATES, 80),
        "computing 42%, communicating 25%, no core 33%; nothing has moved for 95.0s");
    picture.before = NULL;
    make_rows(false);
    ck_assert_str_eq(line(PICTURE_RATES, 80), "rates come with the second look");
    ck_assert_str_eq(line(PICTURE_PAIRS, 80), "heaviest pairs: none");
}
END_TEST

START_TEST(columns_stand_below_their_heads)
{
    ck_assert_str_eq(line(PICTURE_HEAD, 80),
                     " RANK CORE CPU% COMM% MSG/S SINCE WAITS IN");
    ck_assert_str_eq(row(0, 80, 0), "    0    0   50     0     0       -");
    ck_assert_str_eq(row(1, 80, 0),
                     "    1    1   50    75     0 250ms MPI_Recv from 2, tag 7, "
                     "prog.c:28, on MPI_COMM_WORLD");
    ck_assert_str_eq(row(2, 80, 0), "    2    2   50     0  1.5k       -");
    ck_assert_str_eq(line(PICTURE_HEAD, 100),
                     " RANK CORE CPU% COMM% MSG/S BYTE/S SINCE WAITS IN");
    ck_assert_str_eq(row(2, 100, 0), "    2    2   50     0  1.5k   2.0M       -");
    ck_assert_str_eq(
        row(1, 120, 0),
        "    1    1   50    75     0      0 250ms MPI_Recv from 2, tag 7, main, "
        "prog.c:28, on MPI_COMM_WORLD");
    make_rows(true);
    ck_assert_str_eq(line(PICTURE_HEAD, 80),
                     "RANKS                N CPU% COMM% SINCE WAITS IN");
    ck_assert_str_eq(row(0, 80, 0), "0,2                  2   50     0       -");
    ck_assert_str_eq(row(1, 80, 0),
                     "1                    1   50    75 250ms MPI_Recv from 2, "
                     "tag 7, prog.c:28, on MPI_COMM_WORLD");
}
END_TEST

START_TEST(the_calls_with_most_ranks_come_first)
{
    static const char *const calls[] = {"MPI_Recv", "MPI_Wait", "MPI_Wait",
                                        "MPI_Send", "MPI_Wait", "MPI_Recv"};
    struct job_wait many[6];

    for (int i = 0; i < 6; i++) {
        many[i] = waits[0];
        strcpy(many[i].stand.call, calls[i]);
    }
    now.waits = many;
    now.n_waits = 6;
    ck_assert_str_eq(line(PICTURE_WAITS, 80),
                     "2.5k slices/s; 1 of 3 ranks wait, in MPI_Wait 3, MPI_Recv 2, "
                     "MPI_Send 1");
}
END_TEST

START_TEST(ranks_that_have_their_cores_want_none)
{
    rows.without_core = 0.004;
    ck_assert_str_eq(line(PICTURE_RATES, 80),
                     "computing 42%, communicating 25%; 1.5k msg/s 2.0MB/s 3.0 coll/s");
}
END_TEST

START_TEST(what_ranks_wait_in_can_be_shifted)
{
    ck_assert_str_eq(row(1, 80, 9), "    1    1   50    75     0 250ms from 2, tag 7, "
                                    "prog.c:28, on MPI_COMM_WORLD");
    ck_assert_str_eq(row(1, 80, 400), "    1    1   50    75     0 250ms ");
}
END_TEST

START_TEST(what_matters_fits_into_80_columns)
{
    for (uint32_t i = 0; picture_help(i) != NULL; i++) {
        ck_assert_msg(strlen(picture_help(i)) <= 80, "%s", picture_help(i));
        ck_assert_uint_lt(i, 23);
    }
    for (int i = 0; i < 4; i++) {
        char room[ROOM];
        struct words words = words_begin(room, sizeof(room));

        picture.has_ended = i == 3;
        picture.is_paused = i & 1;
        picture.is_grouped = i & 2;
        picture_add_foot(&words, &picture);
        ck_assert_msg(words.n < 80, "%s", room);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("picture");

    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, lines_tell_of_the_job);
    tcase_add_test(tests, what_is_special_is_told);
    tcase_add_test(tests, columns_stand_below_their_heads);
    tcase_add_test(tests, the_calls_with_most_ranks_come_first);
    tcase_add_test(tests, ranks_that_have_their_cores_want_none);
    tcase_add_test(tests, what_ranks_wait_in_can_be_shifted);
    tcase_add_test(tests, what_matters_fits_into_80_columns);
    return run_tcase("picture", tests);
}
