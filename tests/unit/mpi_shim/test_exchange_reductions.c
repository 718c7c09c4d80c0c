/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions as the API gets them: operation and type, the buffers of each role, the
 * parts of a reduce-scatter, and what combines that no kernel does.
 */
#include <errno.h>

#include "tests/unit/played_collectives.h"
#include "tests/unit/run_suite.h"

START_TEST(the_root_of_a_reduction_gets_the_result)
{
    START(.kind = SHIM_REDUCE, .root = RANK, SUM, .send = NUMBERS(spaced, 3),
          .receive = NUMBERS(other, 3));
    is_called("api_reduce");
    ck_assert_int_eq(seen.root, RANK);
    ck_assert_ptr_eq(seen.reduction.in, spaced);
    ck_assert_ptr_eq(seen.reduction.out, other);
    ck_assert_uint_eq(seen.reduction.count, 3);
    ck_assert_int_eq(seen.reduction.op, BCS_SUM);
    ck_assert_int_eq(seen.reduction.type, NIC_REDUCE_I32);
    ck_assert_uint_eq(seen.reduction.element_bytes, 4);
    end();
    START(.kind = SHIM_REDUCE, .root = 0, SUM, .send = NUMBERS(spaced, 3),
          .receive = NUMBERS(other, 3));
    ck_assert_int_eq(seen.root, 0);
    ck_assert_ptr_eq(seen.reduction.in, spaced);
    ck_assert_ptr_null(seen.reduction.out);
    end();
}
END_TEST

START_TEST(a_reduction_in_place_has_one_buffer)
{
    START(.kind = SHIM_ALLREDUCE, SUM, .send = HERE, .receive = NUMBERS(other, 2));
    is_called("api_reduce");
    ck_assert_int_eq(seen.root, BCS_ROOT_ALL);
    ck_assert_ptr_eq(seen.reduction.in, other);
    ck_assert_ptr_eq(seen.reduction.out, other);
    end();
}
END_TEST

START_TEST(an_operation_of_the_program_combines_packed_data)
{
    START(.kind = SHIM_ALLREDUCE, USER, .send = GAPPED(spaced, 2),
          .receive = GAPPED(other, 2));
    ck_assert_int_eq(seen.reduction.op, BCS_OP_COMBINE);
    ck_assert_uint_eq(seen.reduction.element_bytes, 2);
    ck_assert_mem_eq(seen.reduction.in, "abcd", 4);
    memcpy(seen.reduction.out, "\1\1\1\1", 4);
    seen.reduction.combine(seen.reduction.arg, seen.reduction.in, seen.reduction.out,
                           2);
    ck_assert_int_eq(add.n_calls, 1);
    end();
    ck_assert_str_eq(other, "b-c-d-e-y-z-");
    ck_assert_str_eq(spaced, "a.b.c.d.e.f.");
}
END_TEST

START_TEST(a_combination_that_fails_is_told_at_the_end)
{
    add.rc = MPI_ERR_OP;
    START(.kind = SHIM_ALLREDUCE, USER, .send = BYTES(spaced, 2),
          .receive = BYTES(other, 2));
    seen.reduction.combine(seen.reduction.arg, spaced, other, 2);
    ck_assert(shim_exchange_is_open(&x));
    ck_assert_int_eq(shim_exchange_close(&x, 0), -EIO);
    ck_assert(!shim_exchange_is_open(&x));
    ck_assert_int_eq(shim_exchange_close(&x, 0), -EIO);
}
END_TEST

START_TEST(a_prefix_has_no_root)
{
    START(.kind = SHIM_SCAN, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    is_called("api_scan");
    ck_assert(!seen.is_exclusive);
    ck_assert_ptr_eq(seen.reduction.out, other);
    end();
    START(.kind = SHIM_EXSCAN, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    is_called("api_scan");
    ck_assert(seen.is_exclusive);
    ck_assert_ptr_eq(seen.reduction.out, other);
    end();
    comm.group.rank = 0;
    START(.kind = SHIM_EXSCAN, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    ck_assert_ptr_null(seen.reduction.out);
    end();
    START(.kind = SHIM_SCAN, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    ck_assert_ptr_eq(seen.reduction.out, other);
    end();
}
END_TEST

START_TEST(a_reduce_scatter_combines_all_and_gets_a_part)
{
    static const int parts[N] = {1, 2, 0};

    START(.kind = SHIM_REDUCE_SCATTER, USER, .send = {.buf = spaced},
          .receive = {
              .is_vector = true, .buf = other, .counts = parts, .datatype = gapped});
    is_called("api_reduce_scatter");
    ck_assert(seen.has_counts);
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(seen.counts[i], (size_t)parts[i]);
    }
    ck_assert_uint_eq(seen.reduction.count, 2);
    ck_assert_mem_eq(seen.reduction.in, "abcdef", 6);
    memcpy(seen.reduction.out, "1234", 4);
    end();
    ck_assert_str_eq(other, "1-2-3-4-y-z-");
    START(.kind = SHIM_REDUCE_SCATTER, USER, .send = {.buf = spaced},
          .receive = GAPPED(other, 1));
    ck_assert(!seen.has_counts);
    ck_assert_uint_eq(seen.reduction.count, 1);
    ck_assert_mem_eq(seen.reduction.in, "abcdef", 6); /* for all three */
    end();
    make_inter();
    START(.kind = SHIM_REDUCE_SCATTER, USER, .send = {.buf = spaced},
          .receive = GAPPED(other, 1));
    is_called("across_reduce_scatter");
    ck_assert_uint_eq(x.in.n_bytes, 4); /* for the two of this side */
    end();
}
END_TEST

START_TEST(a_reduction_across_goes_to_the_other_side)
{
    make_inter();
    START(.kind = SHIM_REDUCE, .root = 2, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    is_called("across_reduce");
    ck_assert_int_eq(seen.root, 2);
    ck_assert_ptr_eq(seen.reduction.in, spaced);
    ck_assert_ptr_null(seen.reduction.out);
    end();
    START(.kind = SHIM_REDUCE, .root = MPI_ROOT, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    ck_assert_int_eq(seen.root, BCS_ROOT_SELF);
    ck_assert_ptr_eq(seen.reduction.out, other);
    ck_assert_uint_eq(seen.reduction.count, 2);
    end();
    START(.kind = SHIM_REDUCE, .root = MPI_PROC_NULL, SUM);
    ck_assert_int_eq(seen.root, BCS_ROOT_OUR_SIDE);
    ck_assert_ptr_null(seen.reduction.in);
    ck_assert_int_eq(seen.reduction.op, BCS_OP_COMBINE);
    end();
    START(.kind = SHIM_ALLREDUCE, SUM, .send = NUMBERS(spaced, 2),
          .receive = NUMBERS(other, 2));
    ck_assert_int_eq(seen.root, BCS_ROOT_ALL);
    ck_assert_ptr_eq(seen.reduction.in, spaced);
    ck_assert_ptr_eq(seen.reduction.out, other);
    end();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("exchange_reductions");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_root_of_a_reduction_gets_the_result);
    tcase_add_test(tcase, a_reduction_in_place_has_one_buffer);
    tcase_add_test(tcase, an_operation_of_the_program_combines_packed_data);
    tcase_add_test(tcase, a_combination_that_fails_is_told_at_the_end);
    tcase_add_test(tcase, a_prefix_has_no_root);
    tcase_add_test(tcase, a_reduce_scatter_combines_all_and_gets_a_part);
    tcase_add_test(tcase, a_reduction_across_goes_to_the_other_side);
    return run_tcase("exchange_reductions", tcase);
}
