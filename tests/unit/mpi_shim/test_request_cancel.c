/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a request back: what the API is asked for, and what a buffered send has to do
 * with what carries it.
 */
#include "mpi_shim/request/request_cancel.h"
#include "tests/unit/played_messages.h"
#include "tests/unit/run_suite.h"

START_TEST(a_receive_is_taken_back_and_waited_for)
{
    struct shim_request *request = start(SHIM_RECEIVE, byte, 1);

    shim_request_cancel(request);
    ck_assert_str_eq(asked, "cw");
    request->is_proc_null = true;
    shim_request_cancel(request);
    request->is_proc_null = false;
    request->is_active = false;
    shim_request_cancel(request);
    ck_assert_str_eq(asked, "cw");
}
END_TEST

START_TEST(a_send_is_taken_back_from_its_receiver)
{
    struct shim_request *request = start(SHIM_SEND, byte, 1);

    can_take_back = true;
    shim_request_cancel(request);
    ck_assert_str_eq(asked, "s");
    ck_assert_ptr_eq(taken_back, &request->base);
    ck_assert_uint_eq(taken_back_from, 9); /* the port of rank 1 */
    finish(request, MPI_SUCCESS, true);
    status_is(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
}
END_TEST

START_TEST(a_buffered_send_is_taken_back_by_what_carries_it)
{
    struct shim_request *first, *second;
    const struct bcs_request *carrier;

    attach(2);
    first = start(SHIM_SEND_BUFFERED, byte, 1);
    carrier = posted;
    second = start(SHIM_SEND_BUFFERED, byte, 1);
    shim_request_cancel(first); /* it cannot be */
    ck_assert_ptr_eq(taken_back, carrier);
    ck_assert_int_eq(first->base.result.error, 0);
    can_take_back = true;
    shim_request_cancel(first);
    ck_assert_ptr_eq(taken_back, carrier);
    ck_assert_int_eq(first->base.result.error, BCS_E_CANCELLED);
    ck_assert_uint_eq(shim_state.arena->n_used, 3); /* its carrier has gone */
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 1 + MPI_BSEND_OVERHEAD);
    strcpy(asked, "");
    shim_request_cancel(first); /* nothing is under way */
    ck_assert_str_eq(asked, "");
    ck_assert_int_eq(second->base.result.error, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("request_cancel");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_receive_is_taken_back_and_waited_for);
    tcase_add_test(tcase, a_send_is_taken_back_from_its_receiver);
    tcase_add_test(tcase, a_buffered_send_is_taken_back_by_what_carries_it);
    return run_tcase("request_cancel", tcase);
}
