/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the program: held while calls need them, and applied to data in the
 * layout of their type, a piece at a time, without a touch of what is between the data.
 */
#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/data/op.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

static struct fake_type gapped, backward, wide;
static struct fake_op add;
static MPI_Op op;

static void set_up(void)
{
    gapped = (struct fake_type){.size = 3, .extent = 8, .places = {0, 1, 4}};
    backward = (struct fake_type){.size = 2, .extent = -4, .places = {2, 0}};
    wide = (struct fake_type){.size = 2, .extent = 100000, .places = {0, 7}};
    add = (struct fake_op){.rc = MPI_SUCCESS};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    ck_assert_int_eq(shim_op_setup(), 0);
    op = fake_op_handle(&add);
}

static void tear_down(void)
{
    shim_op_teardown();
    shim_datatype_teardown();
}

/* Combine count elements of a type, 1, 2, 3 ... with ones. @return what has come of
 * it */
static int combine(struct fake_type *fake, size_t count)
{
    const struct shim_datatype *type = shim_datatype_find(fake_type_handle(fake));
    size_t n = count * fake->size;
    signed char *left = malloc(n), *right = malloc(n);
    struct shim_combine combination;
    int status;

    ck_assert_int_eq(shim_op_prepare(&combination, op, SHIM_OP_USER, type, count), 0);
    for (size_t i = 0; i < n; i++) {
        left[i] = (signed char)(i % 100);
        right[i] = 1;
    }
    shim_op_combine(&combination, left, right, count);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(left[i], (signed char)(i % 100));
        ck_assert_int_eq(right[i], left[i] + 1);
    }
    status = shim_op_finish(&combination);
    free(left);
    free(right);
    return status;
}

START_TEST(data_with_gaps_are_combined)
{
    ck_assert_int_eq(combine(&gapped, 5), 0);
    ck_assert_int_eq(add.n_calls, 1);
}
END_TEST

START_TEST(data_that_go_backward_are_combined)
{
    ck_assert_int_eq(combine(&backward, 3), 0);
    ck_assert_int_eq(combine(&backward, 1), 0);
    ck_assert_int_eq(combine(&backward, 16), 0); /* the vectors are side by side */
}
END_TEST

START_TEST(long_vectors_are_combined_in_pieces)
{
    ck_assert_int_eq(combine(&gapped, 3 * 8192 + 1), 0); /* of 64 KB */
    ck_assert_int_eq(add.n_calls, 4);
    ck_assert_int_eq(add.n_most, 8192);
}
END_TEST

START_TEST(a_wide_element_is_a_piece)
{
    ck_assert_int_eq(combine(&wide, 3), 0);
    ck_assert_int_eq(add.n_calls, 3);
}
END_TEST

START_TEST(numbers_are_combined_by_kernels)
{
    const struct shim_datatype type = {
        .size = sizeof(int32_t), .is_dense = true, .reduce_type = NIC_REDUCE_I32};
    int32_t left[] = {7, -3}, right[] = {1, -2};
    struct shim_combine combination;

    ck_assert_int_eq(
        shim_op_prepare(&combination, NULL, (enum shim_op)NIC_REDUCE_MAX, &type, 2), 0);
    ck_assert_int_ge(combination.kernel, 0);
    shim_op_combine(&combination, left, right, 2);
    ck_assert_int_eq(right[0], 7);
    ck_assert_int_eq(right[1], -2);
    ck_assert_int_eq(shim_op_finish(&combination), 0);
}
END_TEST

START_TEST(a_failure_of_any_piece_is_told)
{
    add.rc = MPI_ERR_OP;
    ck_assert_int_lt(combine(&gapped, 2), 0);
}
END_TEST

START_TEST(an_operation_of_the_program_is_found)
{
    ck_assert_int_eq(shim_op_find(op), SHIM_OP_USER);
    ck_assert_int_eq(shim_op_find(shim_handles.op_null), SHIM_OP_NONE);
}
END_TEST

START_TEST(types_say_which_operations_they_have)
{
    struct shim_datatype pair = {.reduce_ops = 1u << SHIM_OP_MINLOC};

    ck_assert(shim_op_is_valid(SHIM_OP_MINLOC, &pair));
    ck_assert(!shim_op_is_valid(SHIM_OP_MAXLOC, &pair));
    ck_assert(shim_op_is_valid(SHIM_OP_USER, &pair));
    ck_assert(!shim_op_is_valid(SHIM_OP_NONE, &pair));
}
END_TEST

START_TEST(a_free_waits_for_the_last_holder)
{
    MPI_Op copy = op;

    shim_op_hold(op);
    shim_op_hold(op);
    ck_assert_int_eq(shim_op_free(&op), MPI_SUCCESS);
    ck_assert_ptr_eq(op, shim_handles.op_null);
    shim_op_release(copy);
    ck_assert_int_eq(add.n_frees, 0);
    op = copy;
    ck_assert_int_eq(shim_op_free(&op), MPI_ERR_OP);
    ck_assert_int_eq(fake_error_class, MPI_ERR_OP);
    ck_assert_int_eq(add.n_frees, 0);
    shim_op_release(copy);
    ck_assert_int_eq(add.n_frees, 1);
}
END_TEST

START_TEST(what_is_not_held_is_freed_at_once)
{
    struct fake_op other = {0};
    MPI_Op held = fake_op_handle(&other);

    shim_op_hold(op);
    shim_op_hold(held);
    shim_op_release(op);
    ck_assert_int_eq(add.n_frees, 0);
    ck_assert_int_eq(shim_op_free(&op), MPI_SUCCESS);
    ck_assert_int_eq(add.n_frees, 1);
    ck_assert_int_eq(shim_op_free(&held), MPI_SUCCESS);
    ck_assert_int_eq(other.n_frees, 0);
    shim_op_release(fake_op_handle(&other));
    ck_assert_int_eq(other.n_frees, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("op");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, data_with_gaps_are_combined);
    tcase_add_test(tcase, data_that_go_backward_are_combined);
    tcase_add_test(tcase, long_vectors_are_combined_in_pieces);
    tcase_add_test(tcase, a_wide_element_is_a_piece);
    tcase_add_test(tcase, numbers_are_combined_by_kernels);
    tcase_add_test(tcase, a_failure_of_any_piece_is_told);
    tcase_add_test(tcase, an_operation_of_the_program_is_found);
    tcase_add_test(tcase, types_say_which_operations_they_have);
    tcase_add_test(tcase, a_free_waits_for_the_last_holder);
    tcase_add_test(tcase, what_is_not_held_is_freed_at_once);
    return run_tcase("op", tcase);
}
