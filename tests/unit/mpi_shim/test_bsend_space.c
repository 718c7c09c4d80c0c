/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space of buffered sends: each message takes MPI_BSEND_OVERHEAD beside its bytes.
 */
#include <check.h>
#include <mpi.h>

#include "mpi_shim/request/bsend_space.h"
#include "tests/unit/run_suite.h"

START_TEST(messages_fill_the_space_to_the_last_byte)
{
    struct shim_bsend_space space = {0};
    char buffer[1];

    ck_assert(shim_bsend_attach(&space, buffer, 2 * (10 + MPI_BSEND_OVERHEAD)));
    ck_assert(shim_bsend_reserve(&space, 10));
    ck_assert(!shim_bsend_reserve(&space, 11));
    ck_assert(shim_bsend_reserve(&space, 10));
    ck_assert(!shim_bsend_reserve(&space, 0));
}
END_TEST

START_TEST(what_has_left_gives_its_space_back)
{
    struct shim_bsend_space space = {0};
    char buffer[1];

    ck_assert(shim_bsend_attach(&space, buffer, 30 + 2 * MPI_BSEND_OVERHEAD));
    ck_assert(shim_bsend_reserve(&space, 10));
    ck_assert(shim_bsend_reserve(&space, 20));
    shim_bsend_release(&space, 10);
    ck_assert(!shim_bsend_reserve(&space, 11));
    ck_assert(shim_bsend_reserve(&space, 10));
    shim_bsend_release(&space, 10);
    shim_bsend_release(&space, 20);
    ck_assert_uint_eq(space.used_bytes, 0);
}
END_TEST

START_TEST(there_is_one_buffer_at_a_time)
{
    struct shim_bsend_space space = {0};
    char first[1], second[1];

    ck_assert(!shim_bsend_reserve(&space, 0));
    ck_assert(shim_bsend_attach(&space, first, 1000));
    ck_assert(!shim_bsend_attach(&space, second, 2000));
    ck_assert_ptr_eq(space.base, first);
    ck_assert_uint_eq(space.n_bytes, 1000);
    shim_bsend_detach(&space);
    ck_assert(!shim_bsend_reserve(&space, 0));
    ck_assert(shim_bsend_attach(&space, second, 2000));
    ck_assert_uint_eq(space.n_bytes, 2000);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("space");

    tcase_add_test(tcase, messages_fill_the_space_to_the_last_byte);
    tcase_add_test(tcase, what_has_left_gives_its_space_back);
    tcase_add_test(tcase, there_is_one_buffer_at_a_time);
    return run_tcase("bsend_space", tcase);
}
