/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that show a job, at several widths.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/tools/top/picture.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, ROOM = 512 };
#define S UINT64_C(1000000000)

static struct job_rank ranks_before[N_RANKS], ranks[N_RANKS];
static struct job_wait waits[1];
static uint64_t released_by[1];
static struct bcs_flow flows[2];
static struct job_look before, now;
static struct machine_look machine_before, machine_now;
static struct rows rows;
static struct picture picture;

static void make_rows(bool is_grouped)
{
    rows_fini(&rows);
    ck_assert_int_eq(rows_make(picture.before, &now, is_grouped, picture.order, &rows),
                     0);
    picture.is_grouped = is_grouped;
}

/** Rank 1 waits for rank 2, which has sent to it and to rank 0 for two seconds. */
static void begin(void)
{
    before = (struct job_look){
        .now_ns = 10 * S, .n_ranks = N_RANKS, .n_words = 1, .ranks = ranks_before};
    now = before;
    now.now_ns = 12 * S;
    now.ranks = ranks;
    now.waits = waits;
    now.n_waits = 1;
    now.released_by = released_by;
    memset(ranks, 0, sizeof(ranks));
    for (uint32_t i = 0; i < N_RANKS; i++) {
        ranks_before[i] = (struct job_rank){.cpu_ns = S, .n_glances = 20};
        ranks[i].cpu_ns = 2 * S;
        ranks[i].core = (int32_t)i;
    }
    ranks_before[1].n_waiting = 15;
    ranks[1].n_waits = 1;
    waits[0] = (struct job_wait){
        .rank = 1,
        .stand = {.since_ns = 12 * S - S / 4,
                  .n_operations = 1,
                  .call = "MPI_Recv",
                  .comm = "MPI_COMM_WORLD",
                  .operations[0] = {.peer = 2, .tag = 7, .kind = BCS_STAND_RECEIVE}},
    };
    flows[0] =
        (struct bcs_flow){.from = 2, .to = 1, .n_messages = 3000, .n_bytes = 4e6};
    flows[1] = (struct bcs_flow){.from = 2, .to = 0, .n_messages = 2, .n_bytes = 64};
    now.flows = flows;
    now.n_flows = 2;
    now.n_collectives = 6;
    now.n_slices = 5000;
    machine_before = (struct machine_look){.busy = 100, .passed = 1000, .n_cores = 2};
    machine_now = (struct machine_look){
        .busy = 150, .passed = 1200, .n_cores = 2, .load = {1.5, 1, 0.25}};
    picture = (struct picture){
        .number = 1,
        .n_jobs = 1,
        .pid = 4711,
        .n_ranks = N_RANKS,
        .n_nodes = 1,
        .program = "./prog\tinput",
        .driver = "inline",
        .strobe = "demand",
        .age_s = 12,
        .before = &before,
        .now = &now,
        .rows = &rows,
        .machine_before = &machine_before,
        .machine_now = &machine_now,
    };
    make_rows(false);
}

static void end(void)
{
    rows_fini(&rows);
}

static const char *line(enum picture_line number, uint32_t width)
{
    static char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    picture_add_line(&words, &picture, number, width);
    return room;
}

static const char *row(uint32_t number, uint32_t width, uint32_t n_left_out)
{
    static char room[ROOM];
    struct words words = words_begin(room, sizeof(room));

    picture_add_row(&words, &picture, &rows.rows[number], "main, prog.c:28", width,
                    n_left_out);
    return room;
}

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
    tcase_add_test(tests, what_ranks_wait_in_can_be_shifted);
    tcase_add_test(tests, what_matters_fits_into_80_columns);
    return run_tcase("picture", tests);
}
