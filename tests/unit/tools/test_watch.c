/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who leaves work behind wakes the background thread, once: calls of futex are counted,
 * as syscall is this file's. The ranks are contexts of this process, and no thread
 * sleeps; one is said to.
 */
#include <check.h>
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "nic_threads/drivers/driver.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, N_ARGUMENTS = 6 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine;
static unsigned int n_wakes; /* of who is parked there */

long syscall(long number, ...)
{
    static long (*real)(long number, ...);
    long a[N_ARGUMENTS];
    va_list arguments;

    va_start(arguments, number);
    for (int i = 0; i < N_ARGUMENTS; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    if (number == SYS_futex && engine != NULL &&
        a[0] == (long)(uintptr_t)&engine->machine->background_park &&
        a[1] == FUTEX_WAKE) {
        n_wakes += a[2] > 0;
    }
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/** As the background thread does before it looks at `watch`. */
static void park(void)
{
    bcs_park_announce(&engine->machine->background_park, NULL);
}

/** As many cores as ranks: none is idle. */
static void setup(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = true, .is_threaded = true};

    job_open(&job, &shape, ranks);
    engine = ranks[0].context->engine;
    engine->machine->n_cpus = N_RANKS;
    atomic_store(&engine->machine->watch, BCS_WATCH_NONE);
    n_wakes = 0;
    park();
}

static void teardown(void)
{
    engine = NULL;
    job_close(&job, ranks);
}

static uint32_t watch(void)
{
    return atomic_load(&engine->machine->watch);
}

START_TEST(the_first_who_leaves_work_wakes_the_thread)
{
    nic_driver_inline.leave(engine, engine->port);
    ck_assert_uint_eq(watch(), BCS_WATCH_LATE);
    ck_assert_uint_eq(n_wakes, 1);
    park();
    for (int i = 0; i < 3; i++) { /* it has been told */
        nic_driver_inline.leave(engine, engine->port);
    }
    ck_assert_uint_eq(n_wakes, 1);
}
END_TEST

START_TEST(a_core_that_becomes_idle_makes_it_look_sooner)
{
    nic_driver_inline.leave(engine, engine->port);
    park();
    engine->machine->n_cpus = N_RANKS + 1;
    nic_driver_inline.leave(engine, engine->port);
    ck_assert_uint_eq(watch(), BCS_WATCH_SOON);
    ck_assert_uint_eq(n_wakes, 2);
    park();
    engine->machine->n_cpus = N_RANKS; /* the thread itself looks later again */
    nic_driver_inline.leave(engine, engine->port);
    ck_assert_uint_eq(watch(), BCS_WATCH_SOON);
    ck_assert_uint_eq(n_wakes, 2);
}
END_TEST

START_TEST(who_holds_the_lock_does_it_instead)
{
    struct nic_view *other = nic_engine_view_at(ranks[1].context->engine, 0);

    ck_assert(nic_engine_try_lock(other));
    nic_driver_inline.leave(engine, engine->port);
    ck_assert(nic_engine_unlock(other));
    ck_assert_uint_eq(n_wakes, 0);
    ck_assert_uint_eq(watch(), BCS_WATCH_NONE);
}
END_TEST

/** Start a message of some chunks from rank 1 to rank 0; nobody waits for it. */
static void start_long_message(void)
{
    static char data[2][1 << 20];
    static struct bcs_request requests[2];
    struct bcs_message in = rank_message(&ranks[0], 1, 0, data[0], sizeof(data[0]));
    struct bcs_message out = rank_message(&ranks[1], 0, 0, data[1], sizeof(data[1]));

    ck_assert_int_eq(bcs_recv(ranks[0].context, &in, NULL, &requests[0]), 0);
    ck_assert_int_eq(bcs_send(ranks[1].context, &out, BCS_SEND_STANDARD, &requests[1]),
                     0);
}

START_TEST(a_long_message_that_nobody_waits_for_is_made_known)
{
    start_long_message();
    atomic_store(&engine->machine->watch, BCS_WATCH_NONE);
    n_wakes = 0;
    park();
    ck_assert(nic_engine_turn_all(engine));
    ck_assert_uint_eq(n_wakes, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("watch");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_first_who_leaves_work_wakes_the_thread);
    tcase_add_test(tcase, a_core_that_becomes_idle_makes_it_look_sooner);
    tcase_add_test(tcase, who_holds_the_lock_does_it_instead);
    tcase_add_test(tcase, a_long_message_that_nobody_waits_for_is_made_known);
    return run_tcase("watch", tcase);
}
