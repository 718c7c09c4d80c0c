/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of requests: their numbers, when one serves again, how many there may be,
 * and what happens to them when their communicator is freed.
 */
#include <check.h>

#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/notice.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/request/request.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

/* Into the third slab. */
enum { N_MANY = 2 * SHIM_FIRST_SLAB + 3 };

static struct bcs_context context;
static struct shim_comm comm, other;
static struct shim_request *requests[N_MANY];
static char handles[2]; /* of communicators */

static void set_up(void)
{
    fake_library_set();
    context = (struct bcs_context){.config.limits.requests = N_MANY};
    shim_state.context = &context;
    ck_assert_int_eq(shim_request_setup(), 0);
    comm = (struct shim_comm){.handle = (MPI_Comm)(void *)&handles[0], .n_users = 1};
    other = (struct shim_comm){.handle = (MPI_Comm)(void *)&handles[1], .n_users = 1};
    shim_state.last_comm = &comm;
}

static void tear_down(void)
{
    shim_request_teardown();
}

static void make(int n)
{
    for (int i = 0; i < n; i++) {
        requests[i] = shim_request_new();
        ck_assert_ptr_nonnull(requests[i]);
    }
}

START_TEST(each_request_has_a_number)
{
    make(N_MANY);
    for (int i = 0; i < N_MANY; i++) {
        ck_assert_int_eq(requests[i]->fortran_handle, SHIM_FORTRAN_BASE + i);
        ck_assert_ptr_eq(shim_request_of_fortran(SHIM_FORTRAN_BASE + i), requests[i]);
        ck_assert_ptr_eq(shim_request_find(shim_request_handle(requests[i])),
                         requests[i]);
    }
    ck_assert_ptr_null(shim_request_of_fortran(SHIM_FORTRAN_BASE + N_MANY));
    ck_assert_ptr_null(shim_request_of_fortran(SHIM_FORTRAN_BASE - 1));
}
END_TEST

START_TEST(handles_of_others_are_none_of_ours)
{
    struct shim_arena *arena;

    make(N_MANY);
    arena = shim_state.arena;
    ck_assert_uint_eq(arena->n_slabs, 3);
    ck_assert_ptr_null(shim_request_find(shim_handles.request_null));
    ck_assert_ptr_null(shim_request_find_later(arena->slabs[1] - 1));
    ck_assert_ptr_nonnull(shim_request_find_later(arena->slabs[2]));
    ck_assert_ptr_nonnull(
        shim_request_find_later(arena->slabs[2] + 2 * SHIM_FIRST_SLAB - 1));
    ck_assert_ptr_null(shim_request_find_later(arena->slabs[2] + 2 * SHIM_FIRST_SLAB));
}
END_TEST

START_TEST(a_deleted_request_rests_for_a_while)
{
    make(SHIM_N_RESTING + 1);
    requests[0]->is_persistent = true;
    for (int i = 0; i < SHIM_N_RESTING; i++) {
        shim_request_rest(requests[i]);
        ck_assert_int_eq(shim_request_new()->fortran_handle,
                         SHIM_FORTRAN_BASE + SHIM_N_RESTING + 1 + i);
    }
    shim_request_rest(requests[SHIM_N_RESTING]);
    ck_assert_ptr_eq(shim_request_new(), requests[0]);
    ck_assert(!requests[0]->is_persistent);
    ck_assert_int_eq(requests[0]->fortran_handle, SHIM_FORTRAN_BASE);
}
END_TEST

START_TEST(there_are_as_many_as_may_be)
{
    make(N_MANY);
    ck_assert_ptr_null(shim_request_new());
    ck_assert_uint_eq(bcs_notice_count(BCS_NOTICE_REQUESTS_USED), 1);
    ck_assert_uint_eq(shim_state.arena->n_used, N_MANY);
}
END_TEST

START_TEST(when_all_are_used_the_one_that_rests_longest_serves)
{
    make(N_MANY);
    shim_request_rest(requests[7]);
    shim_request_rest(requests[5]);
    ck_assert_ptr_eq(shim_request_new(), requests[7]);
    ck_assert_ptr_eq(shim_request_new(), requests[5]);
    ck_assert_ptr_null(shim_request_new());
}
END_TEST

START_TEST(requests_outlive_their_communicator)
{
    make(5);
    for (int i = 0; i < 5; i++) {
        requests[i]->comm = &comm;
        requests[i]->error_comm = comm.handle;
        requests[i]->is_plain = true;
    }
    requests[0]->kind = SHIM_SEND;
    requests[1]->kind = SHIM_RECEIVE;
    requests[1]->holds_comm = true;
    requests[2]->kind = SHIM_RECEIVE;
    requests[2]->is_persistent = true;
    requests[3]->kind = SHIM_RECEIVE_MESSAGE;
    requests[4]->kind = SHIM_SEND;
    requests[4]->comm = &other;
    requests[4]->error_comm = other.handle;
    shim_request_outlive(comm.handle);
    ck_assert_uint_eq(comm.n_users, 2);
    ck_assert(requests[0]->holds_comm);
    ck_assert(!requests[0]->is_plain);
    for (int i = 1; i < 5; i++) {
        ck_assert(requests[i]->is_plain);
        ck_assert_int_eq(requests[i]->holds_comm, i == 1);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_eq(requests[i]->error_comm, shim_handles.comm_world);
    }
    ck_assert_ptr_eq(requests[4]->error_comm, &handles[1]);
    ck_assert_uint_eq(other.n_users, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("arena");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, each_request_has_a_number);
    tcase_add_test(tcase, handles_of_others_are_none_of_ours);
    tcase_add_test(tcase, a_deleted_request_rests_for_a_while);
    tcase_add_test(tcase, there_are_as_many_as_may_be);
    tcase_add_test(tcase, when_all_are_used_the_one_that_rests_longest_serves);
    tcase_add_test(tcase, requests_outlive_their_communicator);
    return run_tcase("arena", tcase);
}
