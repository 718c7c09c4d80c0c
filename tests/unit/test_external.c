/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process that waits outside of us calls the others: late enough, not too often,
 * and less often the longer it waits. The clock is the real one; what has happened
 * before is set to times that lie far enough from every limit.
 */
#include "libbcs/api/external.h"

#include <check.h>

#include "libbcs/api/context.h"
#include "libbcs/base/clock.h"
#include "tests/unit/run_suite.h"

enum { MS = 1000000, S = 1000 * MS };

/* Shorter than any machine is up by now, as times before its start are none. */
#define LONG_NS (10ull * S)

static struct bcs_machine machine;
static struct nic_engine engine = {.machine = &machine};
static const struct bcs_context context = {.engine = &engine};

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

    atomic_store(&machine.called_ns, 0);
    bcs_external_call(&context, &since_ns);
    ck_assert_uint_ne(since_ns, 0);
    ck_assert_uint_eq(atomic_load(&machine.called_ns), 0);
    ck_assert(!bcs_external_is_called(&context));
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
    atomic_store(&machine.called_ns, bcs_clock_now_ns() + MS);
    ck_assert(bcs_external_is_called(&context));
    atomic_store(&machine.called_ns, bcs_clock_now_ns() - MS);
    ck_assert(!bcs_external_is_called(&context));
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
    return run_tcase("external", tcase);
}
