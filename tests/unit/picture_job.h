/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of three ranks as the screen shows it, for tests of what is made of it.
 * Included by one file of a program.
 */
#ifndef TEST_UNIT_PICTURE_JOB_H
#define TEST_UNIT_PICTURE_JOB_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/top/picture.h"

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

#endif
