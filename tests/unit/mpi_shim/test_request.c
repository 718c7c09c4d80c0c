/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a request: what the API gets when it starts, what the program gets when
 * it is over, and what it holds until then; buffered sends and their space; requests
 * without a handle.
 */
#include <errno.h>

#include "tests/unit/played_messages.h"
#include "tests/unit/run_suite.h"

START_TEST(a_send_without_gaps_is_described_as_it_is)
{
    struct shim_request *request = start(SHIM_SEND, byte, 5);

    ck_assert_ptr_eq(posted, &request->base);
    ck_assert_ptr_eq(message.group, &comm->group);
    ck_assert_ptr_eq(message.data, spaced);
    ck_assert_uint_eq(message.n_bytes, 5);
    ck_assert_int_eq(message.peer, 1);
    ck_assert_int_eq(message.tag, 7);
    ck_assert_int_eq(mode, BCS_SEND_STANDARD);
    ck_assert_ptr_null(bcs_message_layout(&message));
    come(request, 5, 0);
    finish(request, MPI_SUCCESS, true);
    status_is(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

START_TEST(a_send_with_gaps_is_a_copy_or_has_a_layout)
{
    struct shim_request *request = start(SHIM_SEND_SYNCHRONOUS, gapped, 2);

    ck_assert_int_eq(mode, BCS_SEND_SYNCHRONOUS);
    ck_assert_mem_eq(message.data, "abcd", 4);
    come(request, 4, 0);
    finish(request, MPI_SUCCESS, true);
    wants_copy = false;
    request = start(SHIM_SEND, gapped, 2);
    ck_assert_ptr_eq(message.data, spaced);
    ck_assert_ptr_eq(bcs_message_layout(&message), gapped->layout);
    ck_assert(free_is_put_off());
    come(request, 4, 0);
    finish(request, MPI_SUCCESS, true);
    ck_assert_int_eq(gapped_type.n_frees, 1);
}
END_TEST

START_TEST(a_send_that_is_over_at_once_holds_nothing)
{
    struct shim_request *request;

    is_done_at_once = true;
    request = start(SHIM_SEND, gapped, 2);
    ck_assert_ptr_null(request->copy);
    ck_assert(!free_is_put_off());
    finish(request, MPI_SUCCESS, true);
}
END_TEST

START_TEST(a_send_of_a_copy_may_change_its_buffer)
{
    struct shim_request *request = start(SHIM_SEND_OF_COPY, byte, 8);

    ck_assert_ptr_ne(message.data, spaced);
    memset(spaced, 'x', 8);
    ck_assert_mem_eq(message.data, "a.b.c.d.", 8);
    come(request, 8, 0);
    finish(request, MPI_SUCCESS, true);
}
END_TEST

START_TEST(a_receive_with_gaps_is_unpacked_at_its_end)
{
    struct shim_request *request = start(SHIM_RECEIVE, gapped, 2);

    ck_assert_uint_eq(message.n_bytes, 4);
    memcpy(message.data, "wxyz", 4);
    ck_assert(free_is_put_off());
    ck_assert_str_eq(spaced, "a.b.c.d.");
    come(request, 3, 0);
    finish(request, MPI_SUCCESS, true);
    status_is(2, 8, 3, false);
    ck_assert_str_eq(spaced, "w.x.y.d.");
    ck_assert_int_eq(gapped_type.n_frees, 1);
}
END_TEST

/* Over at once, but its data are still in the copy. */
START_TEST(a_receive_that_is_over_at_once_keeps_its_copy)
{
    struct shim_request *request;

    is_done_at_once = true;
    request = start(SHIM_RECEIVE, gapped, 2);
    memcpy(message.data, "wxyz", 4);
    come(request, 4, 0);
    finish(request, MPI_SUCCESS, true);
    ck_assert_str_eq(spaced, "w.x.y.z.");
}
END_TEST

START_TEST(a_watched_receive_comes_into_a_copy)
{
    struct shim_buffers watching = {0};
    struct shim_request *request;

    shim_state.buffers = &watching;
    request = start(SHIM_RECEIVE, byte, 4);
    shim_state.buffers = NULL;
    ck_assert_ptr_ne(message.data, spaced);
    memcpy(message.data, "wxyz", 4);
    come(request, 4, 0);
    finish(request, MPI_SUCCESS, true);
    ck_assert_str_eq(spaced, "wxyzc.d.");
}
END_TEST

START_TEST(a_matched_message_has_its_item)
{
    struct shim_request *request = make(SHIM_RECEIVE_MESSAGE, byte, 4);

    request->message_item = 17;
    comm->n_users++;
    ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
    ck_assert_uint_eq(item, 17);
    come(request, 4, 0);
    finish(request, MPI_SUCCESS, true);
    ck_assert_uint_eq(comm->n_users, 1); /* it had its communicator */
}
END_TEST

START_TEST(what_cannot_be_started_holds_nothing)
{
    struct shim_request *request = make(SHIM_RECEIVE, gapped, 2);

    api_rc = -ENOMEM;
    ck_assert_int_eq(shim_request_start(request), MPI_ERR_NO_MEM);
    ck_assert(!request->is_active);
    ck_assert_ptr_null(request->copy);
    ck_assert(!free_is_put_off());
    shim_request_delete(request);
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_told)
{
    struct shim_request *request = start(SHIM_RECEIVE, gapped, 1);

    memcpy(message.data, "wx", 2);
    come(request, 2, BCS_E_TRUNCATED);
    finish(request, MPI_ERR_TRUNCATE, true);
    ck_assert_int_eq(n_truncations, 1);
    ck_assert_ptr_eq(truncated_of, &comm->group);
    ck_assert_str_eq(spaced, "w.x.c.d.");
    request = start(SHIM_RECEIVE, byte, 1);
    request->error_comm = NULL; /* its communicator has been freed */
    come(request, 1, BCS_E_TRUNCATED);
    finish(request, MPI_ERR_TRUNCATE, true);
    ck_assert_int_eq(n_truncations, 2);
    ck_assert_ptr_null(truncated_of);
}
END_TEST

START_TEST(nobody_is_sent_nothing)
{
    struct shim_request *request = make(SHIM_RECEIVE, byte, 4);

    request->is_proc_null = true;
    bcs_request_state(&request->base)->is_pending = true;
    ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
    ck_assert(shim_request_look(request));
    finish(request, MPI_SUCCESS, true);
    status_is(MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    request = make(SHIM_SEND, byte, 4);
    request->is_proc_null = true;
    ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
    finish(request, MPI_SUCCESS, true);
    status_is(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    ck_assert_int_eq(n_posted, 0);
}
END_TEST

START_TEST(a_cancelled_request_says_so)
{
    struct shim_request *request = start(SHIM_RECEIVE, byte, 4);

    come(request, 0, BCS_E_CANCELLED);
    finish(request, MPI_SUCCESS, true);
    status_is(2, 8, 0, true);
    request = start(SHIM_SEND, byte, 4);
    come(request, 0, BCS_E_CANCELLED);
    finish(request, MPI_SUCCESS, true);
    status_is(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
}
END_TEST

START_TEST(a_persistent_request_serves_again)
{
    struct shim_request *request = make(SHIM_RECEIVE, gapped, 1);

    request->is_persistent = true;
    shim_datatype_hold(gapped);
    comm->n_users++;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
        memcpy(message.data, "wx", 2);
        come(request, 2, 0);
        finish(request, MPI_SUCCESS, false);
        ck_assert(!request->is_active);
        ck_assert_ptr_null(request->copy);
    }
    finish(request, MPI_SUCCESS, false); /* inactive */
    status_is(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    ck_assert(free_is_put_off());
    shim_request_free(request);
    ck_assert_int_eq(gapped_type.n_frees, 1);
    ck_assert_uint_eq(comm->n_users, 1);
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

START_TEST(a_request_without_a_handle_goes_on)
{
    struct shim_request *request = start(SHIM_RECEIVE, gapped, 2);

    memcpy(message.data, "wxyz", 4);
    shim_request_free(request);
    ck_assert(!shim_request_is_live(request));
    ck_assert(shim_state.leaving.has_work != 0);
    shim_request_reap();
    ck_assert_uint_eq(shim_state.arena->n_used, 1);
    ck_assert(shim_state.leaving.has_work != 0);
    request->base.result.n_bytes = 4;
    is_over = true;
    shim_request_reap();
    ck_assert_str_eq(spaced, "w.x.y.z."); /* what has come is in its buffer */
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
    ck_assert(shim_state.leaving.has_work == 0);
    ck_assert(!free_is_put_off());
}
END_TEST

START_TEST(both_halves_of_an_exchange_go_their_own_ways)
{
    struct shim_request *receive = start(SHIM_RECEIVE, byte, 2);

    receive->partner = start(SHIM_SEND, byte, 2);
    come(receive, 2, 0);
    ck_assert(!shim_request_look(receive)); /* its send is not over */
    shim_request_free(receive);
    ck_assert_uint_eq(shim_state.arena->n_used, 2);
    shim_request_reap(); /* of the receive */
    ck_assert_uint_eq(shim_state.arena->n_used, 1);
    is_over = true;
    shim_request_reap();
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

START_TEST(a_partner_is_deleted_along)
{
    struct shim_request *receive = start(SHIM_RECEIVE, byte, 2);

    receive->partner = start(SHIM_SEND, byte, 2);
    come(receive->partner, 2, 0);
    come(receive, 2, 0);
    ck_assert(shim_request_look(receive));
    finish(receive, MPI_SUCCESS, true);
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

START_TEST(a_buffered_send_is_over_and_its_data_go_on)
{
    struct shim_request *request;

    attach(1);
    request = start(SHIM_SEND_BUFFERED, byte, 1);
    ck_assert(shim_request_look(request));
    ck_assert_ptr_ne(posted, &request->base);
    ck_assert_int_eq(mode, BCS_SEND_BUFFERED);
    ck_assert_int_eq(message.peer, 1);
    ck_assert_int_eq(message.tag, 7);
    ck_assert_ptr_ne(message.data, spaced);
    ck_assert_mem_eq(message.data, "a", 1);
    ck_assert_uint_eq(request->number, 1);
    finish(request, MPI_SUCCESS, true);
    ck_assert_uint_eq(shim_state.arena->n_used, 1); /* what carries it */
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 1 + MPI_BSEND_OVERHEAD);
    is_over = true;
    shim_request_reap();
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 0);
}
END_TEST

START_TEST(a_buffered_send_that_has_left_needs_no_room)
{
    struct shim_request *request;

    attach(1);
    is_done_at_once = true;
    request = start(SHIM_SEND_BUFFERED, byte, 1);
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 0);
    ck_assert_uint_eq(request->number, 0);
    ck_assert_uint_eq(shim_state.arena->n_used, 1);
}
END_TEST

START_TEST(without_room_a_buffered_send_is_refused)
{
    struct shim_request *request = make(SHIM_SEND_BUFFERED, byte, 1);

    ck_assert_int_eq(shim_request_start(request), MPI_ERR_BUFFER); /* no buffer */
    attach(1);
    ck_assert_int_eq(shim_request_start(request), MPI_SUCCESS);
    ck_assert_int_eq(shim_request_start(make(SHIM_SEND_BUFFERED, byte, 1)),
                     MPI_ERR_BUFFER);
    ck_assert_uint_eq(shim_state.arena->n_used, 3); /* nothing is left of it */
    is_over = true; /* the first one gives its room back */
    ck_assert_int_eq(shim_request_start(make(SHIM_SEND_BUFFERED, byte, 1)),
                     MPI_SUCCESS);
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 1 + MPI_BSEND_OVERHEAD);
}
END_TEST

START_TEST(a_buffered_send_that_fails_gives_its_room_back)
{
    attach(1);
    api_rc = -ENOMEM;
    ck_assert_int_eq(shim_request_start(make(SHIM_SEND_BUFFERED, byte, 1)),
                     MPI_ERR_NO_MEM);
    ck_assert_uint_eq(shim_state.arena->space.used_bytes, 0);
    ck_assert_uint_eq(shim_state.arena->n_used, 1);
}
END_TEST

START_TEST(numbers_of_buffered_sends_leave_0_out)
{
    attach(3);
    shim_state.arena->n_carriers = UINT32_MAX - 1;
    ck_assert_uint_eq(start(SHIM_SEND_BUFFERED, byte, 1)->number, UINT32_MAX);
    ck_assert_uint_eq(start(SHIM_SEND_BUFFERED, byte, 1)->number, 1);
}
END_TEST

START_TEST(the_end_waits_for_sends_without_a_handle)
{
    shim_request_free(start(SHIM_RECEIVE, byte, 1));
    shim_request_drain(); /* a receive is not waited for */
    ck_assert_int_eq(n_turns, 0);
    ck_assert_uint_eq(shim_state.arena->n_used, 1);
    shim_request_free(start(SHIM_SEND, byte, 1));
    shim_request_drain();
    ck_assert_int_eq(n_turns, 3);
    ck_assert_uint_eq(shim_state.arena->n_used, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("request");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_send_without_gaps_is_described_as_it_is);
    tcase_add_test(tcase, a_send_with_gaps_is_a_copy_or_has_a_layout);
    tcase_add_test(tcase, a_send_that_is_over_at_once_holds_nothing);
    tcase_add_test(tcase, a_send_of_a_copy_may_change_its_buffer);
    tcase_add_test(tcase, a_receive_with_gaps_is_unpacked_at_its_end);
    tcase_add_test(tcase, a_receive_that_is_over_at_once_keeps_its_copy);
    tcase_add_test(tcase, a_watched_receive_comes_into_a_copy);
    tcase_add_test(tcase, a_matched_message_has_its_item);
    tcase_add_test(tcase, what_cannot_be_started_holds_nothing);
    tcase_add_test(tcase, a_message_that_is_too_long_is_told);
    tcase_add_test(tcase, nobody_is_sent_nothing);
    tcase_add_test(tcase, a_cancelled_request_says_so);
    tcase_add_test(tcase, a_persistent_request_serves_again);
    tcase_add_test(tcase, a_request_without_a_handle_goes_on);
    tcase_add_test(tcase, both_halves_of_an_exchange_go_their_own_ways);
    tcase_add_test(tcase, a_partner_is_deleted_along);
    tcase_add_test(tcase, a_buffered_send_is_over_and_its_data_go_on);
    tcase_add_test(tcase, a_buffered_send_that_has_left_needs_no_room);
    tcase_add_test(tcase, without_room_a_buffered_send_is_refused);
    tcase_add_test(tcase, a_buffered_send_that_fails_gives_its_room_back);
    tcase_add_test(tcase, numbers_of_buffered_sends_leave_0_out);
    tcase_add_test(tcase, the_end_waits_for_sends_without_a_handle);
    return run_tcase("request", tcase);
}
