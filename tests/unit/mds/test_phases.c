/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: phases of a program.
 */
#include <check.h>

#include "mds/live.h"
#include "mds/mmds.h"
#include "tests/unit/run_suite.h"

enum { SEND, ISEND, N_PRIMITIVES };

/* Where calls are recorded. */
static struct mds_collect *collect;

static void start(void)
{
    static const char *const names[N_PRIMITIVES] = {"MPI_Send", "MPI_Isend"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_INSTANT};
    const struct mmds_plan plan = {
        .shape = {.n_ranks = 4, .bits = 1},
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
    };

    ck_assert_int_eq(mmds_start(&plan, &collect), 0);
}

static void calls(uint32_t primitive, enum mds_timing timing, int n)
{
    for (int i = 0; i < n; i++) {
        mds_end(collect, primitive, timing, mds_begin(collect, primitive, timing));
    }
}

static const struct mds_phase *phase_of(int32_t level)
{
    for (uint32_t i = 0; i < collect->phases.n_used; i++) {
        if (collect->phases.table[i].level == level) {
            return &collect->phases.table[i];
        }
    }
    return NULL;
}

START_TEST(phases_come_to_the_run)
{
    uint64_t ticks = 0, blocked = 0, instant = 0;

    start();
    calls(SEND, MDS_BLOCKING, 100);
    mds_phase_begin(collect, 2);
    calls(ISEND, MDS_INSTANT, 100);
    mds_phase_begin(collect, 2); /* again */
    calls(ISEND, MDS_INSTANT, 100);
    mds_phase_begin(collect, -5);
    mds_phase_begin(collect, 2);
    calls(ISEND, MDS_INSTANT, 100);
    mds_phase_begin(collect, 1);
    mmds_stop(collect);
    ck_assert_uint_eq(collect->phases.n_used, 3);
    ck_assert_uint_eq(phase_of(1)->n, 2);
    ck_assert_uint_eq(phase_of(2)->n, 2);
    ck_assert_uint_eq(phase_of(-5)->n, 1);
    ck_assert_uint_eq(phase_of(1)->instant, 0);
    ck_assert_uint_eq(phase_of(2)->blocked, 0);
    ck_assert_uint_eq(phase_of(1)->blocked, collect->communication.total_ticks);
    ck_assert_uint_eq(phase_of(2)->instant, collect->instant_ticks);
    for (uint32_t i = 0; i < collect->phases.n_used; i++) {
        ticks += collect->phases.table[i].ticks;
        blocked += collect->phases.table[i].blocked;
        instant += collect->phases.table[i].instant;
    }
    ck_assert_uint_eq(ticks, collect->stop_ticks - collect->start_ticks);
    ck_assert_uint_eq(blocked, collect->communication.total_ticks);
    ck_assert_uint_eq(instant, collect->instant_ticks);
    mds_live_drop(collect, NULL);
}
END_TEST

START_TEST(levels_without_room_are_together)
{
    uint32_t n = 0;

    start();
    for (int32_t level = 1; level <= 2 * MDS_PHASES; level++) {
        mds_phase_begin(collect, level);
    }
    mds_phase_begin(collect, 3);
    mmds_stop(collect);
    ck_assert_uint_eq(collect->phases.n_used, MDS_PHASES);
    ck_assert_uint_eq(phase_of(3)->n, 2);
    ck_assert_ptr_null(phase_of(2 * MDS_PHASES));
    for (uint32_t i = 0; i < MDS_PHASES; i++) {
        n += collect->phases.table[i].n;
    }
    ck_assert_uint_eq(n, MDS_PHASES + 1); /* those together are one */
    mds_live_drop(collect, NULL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("phases");

    tcase_add_test(tcase, phases_come_to_the_run);
    tcase_add_test(tcase, levels_without_room_are_together);
    return run_tcase("phases", tcase);
}
