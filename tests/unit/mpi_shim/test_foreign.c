/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library's requests in a list with ours: gathered, completed by the library
 * all together, and put back to their places.
 */
#include <check.h>

#include "mpi_shim/real/real.h"
#include "mpi_shim/request/foreign.h"
#include "mpi_shim/request/request.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

enum { N = 5 };

static char theirs[N];           /* their addresses are handles */
static struct shim_request ours; /* the arena */
static MPI_Request list[N];
static MPI_Status statuses[N];
static int is_over, rc;

/* A library whose requests become null, with a status that says which they were. */
static void complete(MPI_Request *handle, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_TAG = (int)((char *)(void *)*handle - theirs);
    }
    *handle = shim_handles.request_null;
}

static int test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    *flag = is_over;
    if (is_over) {
        complete(handle, status);
    }
    return rc;
}

static int test_all(int n, MPI_Request *handles, int *flag, MPI_Status *status)
{
    *flag = is_over;
    for (int i = 0; is_over && i < n; i++) {
        complete(&handles[i], &status[i]);
    }
    return rc;
}

static void set_up(void)
{
    fake_library_set();
    shim_real.Test = test;
    shim_real.Testall = test_all;
    shim_state.requests = &ours;
    shim_state.requests_end = &ours + 1;
    is_over = 1;
    rc = MPI_SUCCESS;
    for (int i = 0; i < N; i++) {
        list[i] = (MPI_Request)(void *)&theirs[i];
        statuses[i] = (MPI_Status){.MPI_TAG = -9};
    }
    list[1] = shim_request_handle(&ours);
    list[2] = shim_handles.request_null;
}

START_TEST(theirs_are_those_that_are_neither_ours_nor_null)
{
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(shim_foreign_is(list[i]), i != 1 && i != 2);
    }
}
END_TEST

START_TEST(all_are_put_back_to_their_places)
{
    struct shim_foreign foreign;

    ck_assert_int_eq(shim_foreign_gather(&foreign, 3, N, list), MPI_SUCCESS);
    ck_assert_int_eq(foreign.n, 3);
    ck_assert(shim_foreign_test(&foreign));
    shim_foreign_scatter(&foreign, N, list, statuses);
    for (int i = 0; i < N; i++) {
        ck_assert_ptr_eq(list[i], i == 1 ? shim_request_handle(&ours)
                                         : shim_handles.request_null);
        ck_assert_int_eq(statuses[i].MPI_TAG, i == 1 || i == 2 ? -9 : i);
    }
    shim_foreign_fini(&foreign);
}
END_TEST

START_TEST(statuses_may_be_ignored)
{
    struct shim_foreign foreign;

    ck_assert_int_eq(shim_foreign_gather(&foreign, 3, N, list), MPI_SUCCESS);
    ck_assert(shim_foreign_test(&foreign));
    shim_foreign_scatter(&foreign, N, list, MPI_STATUSES_IGNORE);
    ck_assert_ptr_eq(list[N - 1], shim_handles.request_null);
    shim_foreign_fini(&foreign);
}
END_TEST

START_TEST(they_are_over_when_all_are_or_one_fails)
{
    struct shim_foreign foreign;

    ck_assert_int_eq(shim_foreign_gather(&foreign, 3, N, list), MPI_SUCCESS);
    is_over = 0;
    ck_assert(!shim_foreign_test(&foreign));
    rc = MPI_ERR_IN_STATUS;
    ck_assert(shim_foreign_test(&foreign));
    ck_assert_int_eq(foreign.rc, MPI_ERR_IN_STATUS);
    shim_foreign_fini(&foreign);
}
END_TEST

START_TEST(a_list_without_theirs_is_over)
{
    struct shim_foreign foreign;

    is_over = 0;
    ck_assert_int_eq(shim_foreign_gather(&foreign, 0, 2, &list[1]), MPI_SUCCESS);
    ck_assert(shim_foreign_test(&foreign));
    ck_assert_int_eq(foreign.rc, MPI_SUCCESS);
    shim_foreign_scatter(&foreign, 2, &list[1], &statuses[1]);
    ck_assert_int_eq(statuses[1].MPI_TAG, -9);
    shim_foreign_fini(&foreign);
}
END_TEST

START_TEST(one_is_completed_by_itself)
{
    int rc_out = -1;

    is_over = 0;
    ck_assert(!shim_foreign_complete(&list[0], &statuses[0], &rc_out));
    ck_assert_int_eq(rc_out, MPI_SUCCESS);
    rc = MPI_ERR_OTHER;
    ck_assert(shim_foreign_complete(&list[0], &statuses[0], &rc_out));
    ck_assert_int_eq(rc_out, MPI_ERR_OTHER);
    is_over = 1;
    rc = MPI_SUCCESS;
    ck_assert(shim_foreign_complete(&list[3], &statuses[3], &rc_out));
    ck_assert_int_eq(rc_out, MPI_SUCCESS);
    ck_assert_int_eq(statuses[3].MPI_TAG, 3);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("foreign");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, theirs_are_those_that_are_neither_ours_nor_null);
    tcase_add_test(tcase, all_are_put_back_to_their_places);
    tcase_add_test(tcase, statuses_may_be_ignored);
    tcase_add_test(tcase, they_are_over_when_all_are_or_one_fails);
    tcase_add_test(tcase, a_list_without_theirs_is_over);
    tcase_add_test(tcase, one_is_completed_by_itself);
    return run_tcase("foreign", tcase);
}
