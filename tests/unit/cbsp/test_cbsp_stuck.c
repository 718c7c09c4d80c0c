/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that no process of cBSP can go on: what the records must say, and that each
 * part of it is needed.
 */
#include <check.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "tests/unit/run_suite.h"

enum { N_PROCS = 3 };

static struct cbsp_from from[N_PROCS];

/** All wait, and what two have rung the third has heard. */
static void setup(void)
{
    for (int i = 0; i < N_PROCS; i++) {
        from[i] = (struct cbsp_from){.record = {.state = 2 * (uint64_t)i + 1}};
    }
    from[0].record.n_rings = 2;
    from[1].record.n_rings = 1;
    from[2].record.n_heard = 3;
}

START_TEST(all_who_wait_and_have_heard_all_rings_are_stuck)
{
    ck_assert(cbsp_stuck_is_proved(from, N_PROCS));
}
END_TEST

START_TEST(a_ring_that_was_not_heard_yet_may_help)
{
    from[1].record.n_rings++;
    ck_assert(!cbsp_stuck_is_proved(from, N_PROCS));
}
END_TEST

START_TEST(a_process_that_has_taken_its_record_back_may_help)
{
    from[_i].record.state++;
    ck_assert(!cbsp_stuck_is_proved(from, N_PROCS));
}
END_TEST

START_TEST(a_process_that_has_said_nothing_may_help)
{
    from[_i].record.state = 0;
    ck_assert(!cbsp_stuck_is_proved(from, N_PROCS));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("proof");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, all_who_wait_and_have_heard_all_rings_are_stuck);
    tcase_add_test(tcase, a_ring_that_was_not_heard_yet_may_help);
    tcase_add_loop_test(tcase, a_process_that_has_taken_its_record_back_may_help, 0,
                        N_PROCS);
    tcase_add_loop_test(tcase, a_process_that_has_said_nothing_may_help, 0, N_PROCS);
    return run_tcase("cbsp_stuck", tcase);
}
