/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process that waits outside of us calls the others: late enough, not too often,
 * and less often the longer it waits; and that each call is heard, once at least,
 * however late. The clock stands still; what has happened before is set to times before
 * its.
 */
#include "libbcs/api/message/external.h"

#include <check.h>
#include <time.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "tests/unit/run_suite.h"

enum { MS = 1000000, S = 1000 * MS };

#define LONG_NS (10ull * S)

static struct bcs_machine machine;
static const struct nic_config config;
static struct nic_engine engine = {.machine = &machine, .config = &config};
static struct bcs_context context = {.engine = &engine};

/* What a process that waits or tests has besides. */
static struct bcs_port port;
static const bcs_mover_fn no_movers[] = {NULL};
static int n_moves;
static bool is_woken;

static void count_move(void)
{
    n_moves++;
}

/* A turn of a driver: who is to sleep does so, until it is woken. */
static void sleep_turn(struct nic_engine *unused, struct bcs_waiter *waiter)
{
    (void)unused;
    waiter->spell.is_announced = !is_woken;
}

static void stop_announcement(struct nic_engine *unused, struct bcs_waiter *waiter)
{
    (void)unused;
    waiter->spell.is_announced = false;
}

static const struct nic_driver_ops sleeper = {.turn = sleep_turn,
                                              .stop = stop_announcement};

int clock_gettime(clockid_t clock, struct timespec *time_out)
{
    (void)clock;
    *time_out = (struct timespec){.tv_sec = 1000};
    return 0;
}

/* Nobody has called, and this process has looked at nothing yet. */
static void begin(void)
{
    atomic_store(&machine.called_ns, 0);
    bcs_stand_fini(&context);
    context = (struct bcs_context){
        .engine = &engine,
        .driver = &sleeper,
        .poster.port = &port,
        .movers = no_movers,
        .hooks.move_external = count_move,
    };
    ck_assert_int_eq(bcs_stand_init(&context), 0);
    n_moves = 0;
    is_woken = false;
}

/* Some process calls; longer ago than those who are called stay awake. */
static void call_long_ago(void)
{
    atomic_store(&machine.called_ns, bcs_clock_now_ns() - 50 * MS);
}

/* A process has waited for so long, and the last call came so long ago. @return whether
 * it calls now */
static bool calls(uint64_t waited_ns, uint64_t last_call_ns)
{
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t since_ns = now_ns - waited_ns;
    uint64_t before_ns = now_ns - last_call_ns;

    atomic_store(&machine.called_ns, before_ns);
    bcs_external_call(&context, &since_ns);
    ck_assert_uint_eq(since_ns, now_ns - waited_ns);
    return atomic_load(&machine.called_ns) != before_ns;
}

START_TEST(a_wait_begins_without_a_call)
{
    uint64_t since_ns = 0;

    begin();
    bcs_external_call(&context, &since_ns);
    ck_assert_uint_ne(since_ns, 0);
    ck_assert_uint_eq(atomic_load(&machine.called_ns), 0);
    ck_assert(!bcs_external_listen(&context));
}
END_TEST

START_TEST(a_wait_that_lasts_calls)
{
    ck_assert(calls(MS, S));
    ck_assert(calls(S, S));
    ck_assert(calls(LONG_NS, S));
}
END_TEST

START_TEST(calls_of_a_long_wait_come_after_an_eighth_of_it)
{
    ck_assert(!calls(40 * MS, 2 * MS));
    ck_assert(calls(40 * MS, 6 * MS));
}
END_TEST

START_TEST(even_the_longest_wait_calls_a_hundred_times_a_second)
{
    ck_assert(!calls(LONG_NS, 5 * MS));
    ck_assert(calls(LONG_NS, 11 * MS));
}
END_TEST

START_TEST(a_call_is_heard_for_a_while)
{
    begin();
    atomic_store(&machine.called_ns, bcs_clock_now_ns() + LONG_NS);
    ck_assert(bcs_external_listen(&context));
    ck_assert(bcs_external_listen(&context));
}
END_TEST

START_TEST(a_call_long_ago_is_heard_once)
{
    begin();
    call_long_ago();
    ck_assert(bcs_external_listen(&context));
    ck_assert(!bcs_external_listen(&context));
}
END_TEST

START_TEST(who_is_woken_late_by_a_call_looks_before_it_sleeps_again)
{
    struct bcs_waiter waiter = {.spell.is_announced = true};

    begin();
    bcs_wait_turn(&context, &waiter); /* sleeps on */
    ck_assert_int_eq(n_moves, 0);
    call_long_ago();
    is_woken = true;
    bcs_wait_turn(&context, &waiter); /* hears it before it sleeps on */
    ck_assert_int_eq(n_moves, 1);
    begin();
    waiter.spell.is_announced = true;
    is_woken = true;
    bcs_wait_turn(&context, &waiter); /* sleeps, and is woken by a call */
    ck_assert_int_eq(n_moves, 0);
    call_long_ago();
    bcs_wait_turn(&context, &waiter);
    ck_assert_int_eq(n_moves, 1);
    bcs_wait_turn(&context, &waiter);
    ck_assert_int_eq(n_moves, 1);
}
END_TEST

START_TEST(who_polls_and_yields_hears_a_call_at_once)
{
    begin();
    machine.n_ports = machine.n_cpus + 1;
    bcs_wait_in_vain(&context);
    ck_assert_int_eq(n_moves, 0);
    call_long_ago();
    bcs_wait_in_vain(&context);
    ck_assert_int_eq(n_moves, 1);
    bcs_wait_in_vain(&context);
    ck_assert_int_eq(n_moves, 1);
    machine.n_ports = 0;
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("external");

    tcase_add_test(tcase, a_wait_begins_without_a_call);
    tcase_add_test(tcase, a_wait_that_lasts_calls);
    tcase_add_test(tcase, calls_of_a_long_wait_come_after_an_eighth_of_it);
    tcase_add_test(tcase, even_the_longest_wait_calls_a_hundred_times_a_second);
    tcase_add_test(tcase, a_call_is_heard_for_a_while);
    tcase_add_test(tcase, a_call_long_ago_is_heard_once);
    tcase_add_test(tcase, who_is_woken_late_by_a_call_looks_before_it_sleeps_again);
    tcase_add_test(tcase, who_polls_and_yields_hears_a_call_at_once);
    return run_tcase("external", tcase);
}
