/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go to the real library, and its progress hook: what is counted and what is
 * not, and that the hook runs the engine while the library waits, but not from within
 * our own looks at the library. The functions of Open MPI's lower library are played.
 */
#include <check.h>
#include <errno.h>

#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/notice.h"
#include "mpi_shim/real/fallback.h"
#include "mpi_shim/real/state.h"
#include "tests/unit/run_suite.h"

enum { HOOKS_A_TURN = 16 }; /* that of fallback.c */

static struct bcs_machine machine;
static const struct nic_config config;
static struct nic_engine engine = {.machine = &machine, .config = &config};
static struct bcs_context context = {.engine = &engine};

/* Open MPI, as it is played: its hook, what registering it gives, what it was told. */
static int (*hook)(void);
static int register_rc, hook_said, n_callbacks;
static bool yields;

int opal_progress_register(int (*function)(void));
void opal_progress_set_yield_when_idle(bool on);
void opal_progress(void);

int opal_progress_register(int (*function)(void))
{
    hook = function;
    return register_rc;
}

void opal_progress_set_yield_when_idle(bool on)
{
    yields = on;
}

void opal_progress(void)
{
    hook_said = hook();
    shim_progress_real(); /* not once more from within */
}

static int test_of_request(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)request;
    (void)status;
    opal_progress();
    *flag = 1;
    return MPI_SUCCESS;
}

static void callback(void)
{
    n_callbacks++;
}

static void set_up(void)
{
    shim_state.context = &context;
    shim_state.gate.is_active = true;
    shim_real.Test = test_of_request;
    context.n_short_sleeps = 0;
    context.meeting = (struct bcs_meeting){.n_processes = 2, .n_cpus = 2};
    machine.n_ports = 0;
    register_rc = n_callbacks = 0;
    hook = NULL;
    yields = false;
    bcs_log_setup(BCS_LOG_ERROR, -1);
}

static void call_hook(int n_times)
{
    for (int i = 0; i < n_times; i++) {
        ck_assert_int_eq(hook(), 0);
    }
}

static uint64_t count_of(enum shim_function function)
{
    uint64_t counts[SHIM_N_FUNCTIONS];

    shim_pass_counts(counts, SHIM_N_FUNCTIONS);
    return counts[function];
}

START_TEST(a_passed_call_counts_and_those_within_it_do_not)
{
    shim_pass_begin(SHIM_FN_Win_fence);
    shim_pass_begin(SHIM_FN_Barrier);
    shim_pass_end();
    shim_pass_end();
    shim_pass_begin(SHIM_FN_Win_fence);
    shim_pass_end();
    ck_assert_uint_eq(count_of(SHIM_FN_Win_fence), 2);
    ck_assert_uint_eq(count_of(SHIM_FN_Barrier), 0);
}
END_TEST

START_TEST(nothing_counts_outside_of_mpi)
{
    shim_state.gate.is_active = false;
    shim_pass_begin(SHIM_FN_Win_fence);
    shim_pass_end();
    ck_assert_uint_eq(count_of(SHIM_FN_Win_fence), 0);
}
END_TEST

START_TEST(a_passed_call_is_told_once)
{
    for (int i = 0; i < 2; i++) {
        shim_pass_begin(SHIM_FN_Win_fence);
        shim_pass_end();
    }
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_PASSED), 1);
}
END_TEST

START_TEST(whoever_may_have_partners_elsewhere_sleeps_short)
{
    static const enum shim_function connecting[] = {
        SHIM_FN_Comm_spawn, SHIM_FN_Comm_spawn_multiple, SHIM_FN_Comm_accept,
        SHIM_FN_Comm_connect, SHIM_FN_Comm_join};

    shim_pass_begin(SHIM_FN_Comm_dup);
    shim_pass_end();
    ck_assert_uint_eq(context.n_short_sleeps, 0);
    shim_pass_begin(connecting[_i]);
    shim_pass_end();
    ck_assert_uint_eq(context.n_short_sleeps, 1);
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_SHORT_SLEEPS), 1);
}
END_TEST

START_TEST(a_library_that_waits_runs_the_engine_now_and_then)
{
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    call_hook(HOOKS_A_TURN - 1);
    ck_assert_int_eq(n_callbacks, 0);
    call_hook(1 + HOOKS_A_TURN);
    ck_assert_int_eq(n_callbacks, 2);
}
END_TEST

START_TEST(where_cores_are_short_each_look_runs_the_engine)
{
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    machine.n_ports = UINT32_MAX;
    call_hook(3);
    ck_assert_int_eq(n_callbacks, 3);
}
END_TEST

START_TEST(a_library_that_waits_calls_those_that_sleep)
{
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    for (int i = 0; i < 1 << 20 && atomic_load(&machine.called_ns) == 0; i++) {
        call_hook(HOOKS_A_TURN);
    }
    ck_assert_uint_ne(atomic_load(&machine.called_ns), 0);
}
END_TEST

START_TEST(our_own_looks_do_not_come_back_to_us)
{
    MPI_Request request;

    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    machine.n_ports = UINT32_MAX;
    shim_progress_real();
    ck_assert_int_eq(hook_said, 1); /* so that the library does not yield */
    ck_assert(shim_test_real(&request));
    ck_assert_int_eq(hook_said, 1);
    ck_assert_int_eq(n_callbacks, 0);
    call_hook(1);
    ck_assert_int_eq(n_callbacks, 1);
}
END_TEST

START_TEST(the_library_yields_where_there_are_more_processes_than_cores)
{
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    ck_assert(!yields);
    context.meeting.n_processes = 3;
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    ck_assert(yields);
}
END_TEST

START_TEST(a_library_without_room_for_a_hook_says_so)
{
    register_rc = -1;
    ck_assert_int_eq(shim_progress_hook_install(callback), -ENOSYS);
    call_hook(HOOKS_A_TURN);
    ck_assert_int_eq(n_callbacks, 0);
}
END_TEST

START_TEST(the_hook_does_nothing_after_its_end)
{
    ck_assert_int_eq(shim_progress_hook_install(callback), 0);
    shim_progress_hook_remove();
    call_hook(HOOKS_A_TURN);
    hook_said = -1;
    shim_progress_real();
    ck_assert_int_eq(hook_said, -1);
    ck_assert_int_eq(n_callbacks, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("fallback");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_passed_call_counts_and_those_within_it_do_not);
    tcase_add_test(tcase, nothing_counts_outside_of_mpi);
    tcase_add_test(tcase, a_passed_call_is_told_once);
    tcase_add_loop_test(tcase, whoever_may_have_partners_elsewhere_sleeps_short, 0, 5);
    tcase_add_test(tcase, a_library_that_waits_runs_the_engine_now_and_then);
    tcase_add_test(tcase, where_cores_are_short_each_look_runs_the_engine);
    tcase_add_test(tcase, a_library_that_waits_calls_those_that_sleep);
    tcase_add_test(tcase, our_own_looks_do_not_come_back_to_us);
    tcase_add_test(tcase, the_library_yields_where_there_are_more_processes_than_cores);
    tcase_add_test(tcase, a_library_without_room_for_a_hook_says_so);
    tcase_add_test(tcase, the_hook_does_nothing_after_its_end);
    return run_tcase("fallback", tcase);
}
