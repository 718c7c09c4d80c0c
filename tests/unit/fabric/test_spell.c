/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits look by look (patience.h), and sleeping at their end (park.h): in what order a
 * policy gives its steps, and that two threads that wake each other lose no wake-up.
 * Who sleeps for ever fails by the time limit.
 */
#include <check.h>
#include <pthread.h>

#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/patience.h"
#include "tests/unit/run_suite.h"

enum { N_ROUNDS = 20000 };

/** The steps of a wait, a letter each, as many as the text has; then the wait goes
 *  on. */
static void expect_steps(struct bcs_spell *spell, const struct bcs_patience *patience,
                         const char *steps)
{
    static const char letters[] = {
        [BCS_WAIT_LOOK] = '.',     [BCS_WAIT_HALT] = 'h',  [BCS_WAIT_YIELD] = 'y',
        [BCS_WAIT_ANNOUNCE] = 'a', [BCS_WAIT_SLEEP] = 's',
    };

    for (int i = 0; steps[i] != '\0'; i++) {
        ck_assert_msg(letters[bcs_spell_next(spell, patience)] == steps[i],
                      "step %d is not %c", i, steps[i]);
    }
}

START_TEST(a_wait_halts_now_and_then)
{
    const struct bcs_patience patience = {
        .n_a_halt = 4,
        .yield_ticks = BCS_PATIENCE_ENDLESS,
        .sleep_ticks = BCS_PATIENCE_ENDLESS,
    };
    struct bcs_spell spell = {0};

    expect_steps(&spell, &patience, "...h...h...h");
}
END_TEST

START_TEST(a_wait_may_begin_without_halts)
{
    const struct bcs_patience patience = {
        .n_first = 6,
        .n_a_halt = 2,
        .sleep_ticks = BCS_PATIENCE_ENDLESS,
    };
    struct bcs_spell spell = {0};

    expect_steps(&spell, &patience, ".......y.y.y");
}
END_TEST

START_TEST(a_wait_yields_before_it_announces_and_sleeps_from_then_on)
{
    const struct bcs_patience patience = {.n_a_halt = 1, .n_yields = 3};
    struct bcs_spell spell = {0};

    expect_steps(&spell, &patience, "yyyasss");
    spell = (struct bcs_spell){0};
    expect_steps(&spell, &patience, "yyya");
}
END_TEST

START_TEST(a_wait_whose_time_is_up_begins_anew)
{
    const struct bcs_patience patience = {.n_a_halt = 1, .sleep_ticks = 1000};
    struct bcs_spell spell = {.since_ticks = 1}; /* long ago */

    expect_steps(&spell, &patience, "as");
    spell.is_announced = false;
    expect_steps(&spell, &patience, "a");
    spell.is_announced = false;
    spell.since_ticks = 0; /* since the next look */
    expect_steps(&spell, &patience, "y");
}
END_TEST

/* ---- two threads that take turns */

struct player {
    _Atomic uint32_t park;
    _Atomic uint32_t n_balls; /* that it has got */
    struct player *other;
};

/** Wait as all waits do, with no patience at all. */
static void await_ball(struct player *me, uint32_t n)
{
    const struct bcs_patience patience = {.n_a_halt = 1};
    struct bcs_spell spell = {.since_ticks = 1};
    uint32_t announced = 0;

    while (atomic_load_explicit(&me->n_balls, memory_order_acquire) < n) {
        switch (bcs_spell_next(&spell, &patience)) {
        case BCS_WAIT_ANNOUNCE:
            announced = bcs_park_announce(&me->park, NULL);
            break;
        case BCS_WAIT_SLEEP:
            bcs_park_sleep(&me->park, announced, 0);
            spell.is_announced = bcs_park_is_announced(&me->park);
            break;
        default:
            break;
        }
    }
    bcs_park_end(&me->park);
}

static void throw_ball(struct player *to)
{
    atomic_fetch_add_explicit(&to->n_balls, 1, memory_order_seq_cst);
    bcs_park_wake(&to->park);
}

static void *play(void *argument)
{
    struct player *me = argument;

    for (uint32_t i = 1; i <= N_ROUNDS; i++) {
        await_ball(me, i);
        throw_ball(me->other);
    }
    return NULL;
}

START_TEST(two_threads_that_wake_each_other_lose_no_wake_up)
{
    static struct player players[2];
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        players[i].other = &players[1 - i];
    }
    throw_ball(&players[0]);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, play, &players[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_eq(players[1].n_balls, N_ROUNDS);
    ck_assert(!bcs_park_is_announced(&players[0].park));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("spell");

    tcase_add_test(tcase, a_wait_halts_now_and_then);
    tcase_add_test(tcase, a_wait_may_begin_without_halts);
    tcase_add_test(tcase, a_wait_yields_before_it_announces_and_sleeps_from_then_on);
    tcase_add_test(tcase, a_wait_whose_time_is_up_begins_anew);
    tcase_add_test(tcase, two_threads_that_wake_each_other_lose_no_wake_up);
    return run_tcase("spell", tcase);
}
