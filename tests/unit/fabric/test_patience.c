/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For how long a waiter polls before it sleeps, with strobes on demand: two ranks are
 * contexts of this process, and one of them waits for nothing, turn by turn.
 */
#include <check.h>

#include "libbcs/fabric/base/clock.h"
#include "nic_threads/drivers/driver.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 2,
    FIRST_TURNS = 60,  /* before it has taken the engine's lock */
    MANY_TURNS = 1000, /* a waiter looks at the clock now and then */
};

#define LONG (UINT64_C(1) << 60) /* ticks */

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *own; /* of the one that waits */

static void setup(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = true, .is_threaded = true};

    job_open(&job, &shape, ranks);
    own = ranks[0].context->engine;
    own->machine->n_cpus = N_RANKS;
}

static void teardown(void)
{
    job_close(&job, ranks);
}

/** Turns until the waiter has announced that it will sleep, at most so many. */
static int n_turns(uint64_t spin_ticks, uint64_t stay_ticks, int at_most)
{
    struct bcs_waiter waiter = {0};
    int n = 0;

    own->spin_ticks = spin_ticks;
    own->stay_ticks = stay_ticks;
    while (n < at_most && !waiter.spell.is_announced) {
        nic_driver_inline.turn(own, &waiter);
        n++;
    }
    nic_driver_inline.stop(own, &waiter);
    ck_assert(!waiter.spell.is_announced);
    return n;
}

START_TEST(a_waiter_with_a_core_stays_awake_for_its_time)
{
    ck_assert_int_eq(n_turns(LONG, LONG, MANY_TURNS), MANY_TURNS);
    ck_assert_int_eq(n_turns(0, LONG, MANY_TURNS), MANY_TURNS);
    ck_assert_int_lt(n_turns(0, 0, MANY_TURNS), MANY_TURNS);
}
END_TEST

START_TEST(a_waiter_without_a_core_sleeps_soon)
{
    own->machine->n_cpus = N_RANKS - 1;
    ck_assert_int_lt(n_turns(0, LONG, MANY_TURNS), MANY_TURNS);
}
END_TEST

/** Whether a waiter keeps the engine's lock over so many turns. */
static bool keeps_lock(uint64_t spin_ticks, int n)
{
    struct bcs_waiter waiter = {0};
    bool has_kept = true;

    own->spin_ticks = spin_ticks;
    own->stay_ticks = LONG;
    for (int i = 0; i < n; i++) {
        nic_driver_inline.turn(own, &waiter);
        has_kept &= waiter.holds_lock || i < FIRST_TURNS;
    }
    nic_driver_inline.stop(own, &waiter);
    return has_kept;
}

START_TEST(a_waiter_offers_its_core_without_the_lock)
{
    ck_assert(keeps_lock(LONG, MANY_TURNS));
    ck_assert(!keeps_lock(0, MANY_TURNS));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("patience");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_waiter_with_a_core_stays_awake_for_its_time);
    tcase_add_test(tcase, a_waiter_without_a_core_sleeps_soon);
    tcase_add_test(tcase, a_waiter_offers_its_core_without_the_lock);
    return run_tcase("patience", tcase);
}
