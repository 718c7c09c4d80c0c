/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of nic_threads/reduce_ops: what each kernel computes, and that the tree
 * combines vectors in the one fixed order.
 */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/rules/reduce_ops.h"
#include "tests/unit/run_suite.h"

#define MAX_VECTORS 33

static int32_t combine_i32(enum nic_reduce_op op, int32_t left, int32_t right)
{
    nic_reduce_apply(nic_reduce_kernel(op, NIC_REDUCE_I32), &left, &right, 1);
    return right;
}

START_TEST(kernels_exist_where_the_operation_makes_sense)
{
    for (int type = 0; type < NIC_REDUCE_N_TYPES; type++) {
        for (int op = 0; op < NIC_REDUCE_N_OPS; op++) {
            int kernel = nic_reduce_kernel(op, type);
            int is_expected = type <= NIC_REDUCE_U64  ? 1
                              : type <= NIC_REDUCE_LD ? op <= NIC_REDUCE_MAX
                                                      : op <= NIC_REDUCE_PROD;

            ck_assert_int_eq(kernel, is_expected ? op * NIC_REDUCE_N_TYPES + type : -1);
        }
    }
    ck_assert_int_eq(nic_reduce_kernel(NIC_REDUCE_N_OPS, NIC_REDUCE_I8), -1);
    ck_assert_int_eq(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_N_TYPES), -1);
}
END_TEST

START_TEST(elements_have_the_size_of_their_type)
{
    static const size_t sizes[NIC_REDUCE_N_TYPES] = {
        1, 1, 2, 2, 4, 4, 8, 8, 4, 8, sizeof(long double), 8, 16};

    for (int type = 0; type < NIC_REDUCE_N_TYPES; type++) {
        ck_assert_uint_eq(
            nic_reduce_element_bytes(nic_reduce_kernel(NIC_REDUCE_SUM, type)),
            sizes[type]);
    }
}
END_TEST

START_TEST(integers_are_combined_as_c_does)
{
    ck_assert_int_eq(combine_i32(NIC_REDUCE_SUM, 5, -7), -2);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_PROD, 5, -7), -35);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_MIN, 5, -7), -7);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_MAX, 5, -7), 5);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LAND, 4, 2), 1);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LAND, 4, 0), 0);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LOR, 0, 2), 1);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LOR, 0, 0), 0);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LXOR, 4, 2), 0);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_LXOR, 0, 2), 1);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_BAND, 12, 10), 8);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_BOR, 12, 10), 14);
    ck_assert_int_eq(combine_i32(NIC_REDUCE_BXOR, 12, 10), 6);
}
END_TEST

START_TEST(integer_sums_and_products_wrap)
{
    int8_t small = 127, one = 1;
    uint16_t big = 65535, same = 65535;

    ck_assert_int_eq(combine_i32(NIC_REDUCE_SUM, INT32_MAX, 1), INT32_MIN);
    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I8), &small, &one, 1);
    ck_assert_int_eq(one, -128);
    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_PROD, NIC_REDUCE_U16), &big, &same,
                     1);
    ck_assert_uint_eq(same, 1);
}
END_TEST

START_TEST(signs_decide_minimum_and_maximum)
{
    int8_t left = -1, right = 1;

    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_MAX, NIC_REDUCE_I8), &left, &right,
                     1);
    ck_assert_int_eq(right, 1);
    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_MAX, NIC_REDUCE_U8), &left, &right,
                     1);
    ck_assert_int_eq(right, -1);
}
END_TEST

START_TEST(real_and_complex_numbers_are_combined_as_c_does)
{
    double a = 0.1, b = 0.2;
    long double c = 3.0L, d = -4.0L;
    float _Complex e = 1.0f + 2.0f * I, f = 3.0f - 1.0f * I;

    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_F64), &a, &b, 1);
    ck_assert(b == 0.1 + 0.2);
    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_MIN, NIC_REDUCE_LD), &c, &d, 1);
    ck_assert(d == -4.0L);
    nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_PROD, NIC_REDUCE_C32), &e, &f, 1);
    ck_assert(crealf(f) == 5.0f && cimagf(f) == 5.0f);
}
END_TEST

/* left and right */
static const double undecided[][2] = {{0.0, -0.0}, {-0.0, 0.0}, {1.0, NAN}, {NAN, 1.0}};

START_TEST(on_a_tie_or_a_nan_the_right_operand_stays)
{
    static const enum nic_reduce_op ops[] = {NIC_REDUCE_MIN, NIC_REDUCE_MAX};

    for (int i = 0; i < 2; i++) {
        double right = undecided[_i][1];

        nic_reduce_apply(nic_reduce_kernel(ops[i], NIC_REDUCE_F64), &undecided[_i][0],
                         &right, 1);
        ck_assert_mem_eq(&right, &undecided[_i][1], sizeof(right));
    }
}
END_TEST

START_TEST(vectors_need_no_alignment_and_nothing_else_is_touched)
{
    char memory[2][80];

    for (size_t shift = 0; shift < 8; shift++) {
        for (size_t n = 0; n <= 8; n++) {
            int64_t value = 40, result;

            memset(memory, 0x55, sizeof(memory));
            for (size_t i = 0; i < n; i++) {
                memcpy(memory[0] + shift + 8 * i, &value, 8);
                memcpy(memory[1] + shift + 8 * i, &value, 8);
            }
            nic_reduce_apply(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I64),
                             memory[0] + shift, memory[1] + shift, n);
            for (size_t i = 0; i < n; i++) {
                memcpy(&result, memory[1] + shift + 8 * i, 8);
                ck_assert_int_eq(result, 80);
            }
            ck_assert_int_eq(memory[1][shift + 8 * n], 0x55);
        }
    }
}
END_TEST

/* Element j of member i, chosen so that every order of summing rounds differently. */
static double sample(uint32_t i, size_t j)
{
    return ldexp(1.0 + (double)((i * 7919u + j * 104729u) % 10007u) / 10007.0,
                 (int)((i * 5 + j) % 60));
}

/* The sum of members [first, first + n) as the tree of that many members makes it. */
static double sum_of_block(uint32_t first, uint32_t n, size_t j)
{
    uint32_t half = 1;

    if (n == 1) {
        return sample(first, j);
    }
    while (2 * half < n) {
        half *= 2;
    }
    return sum_of_block(first, half, j) + sum_of_block(first + half, n - half, j);
}

START_TEST(the_tree_adds_aligned_blocks_of_ranks)
{
    enum { COUNT = 5, STRIDE = 48 };
    char memory[MAX_VECTORS * STRIDE];
    double value;

    for (uint32_t n = 1; n <= MAX_VECTORS; n++) {
        for (uint32_t i = 0; i < n; i++) {
            for (size_t j = 0; j < COUNT; j++) {
                value = sample(i, j);
                memcpy(memory + i * STRIDE + j * sizeof(value), &value, sizeof(value));
            }
        }
        nic_reduce_tree(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_F64), memory, n,
                        COUNT, STRIDE);
        for (size_t j = 0; j < COUNT; j++) {
            double expected = sum_of_block(0, n, j);

            ck_assert_mem_eq(memory + j * sizeof(value), &expected, sizeof(expected));
        }
    }
}
END_TEST

START_TEST(long_vectors_give_the_bits_of_short_ones)
{
    enum { COUNT = 1003 };
    float *long_left = malloc(COUNT * sizeof(*long_left));
    float *long_right = malloc(COUNT * sizeof(*long_right));
    int kernel = nic_reduce_kernel(NIC_REDUCE_PROD, NIC_REDUCE_F32);

    ck_assert(long_left != NULL && long_right != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        long_left[i] = (float)sample(1, i);
        long_right[i] = (float)sample(2, i);
    }
    nic_reduce_apply(kernel, long_left, long_right, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        float left = (float)sample(1, i), right = (float)sample(2, i);

        nic_reduce_apply(kernel, &left, &right, 1);
        ck_assert_mem_eq(&long_right[i], &right, sizeof(right));
    }
    free(long_left);
    free(long_right);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reduce_ops");

    tcase_add_test(tests, kernels_exist_where_the_operation_makes_sense);
    tcase_add_test(tests, elements_have_the_size_of_their_type);
    tcase_add_test(tests, integers_are_combined_as_c_does);
    tcase_add_test(tests, integer_sums_and_products_wrap);
    tcase_add_test(tests, signs_decide_minimum_and_maximum);
    tcase_add_test(tests, real_and_complex_numbers_are_combined_as_c_does);
    tcase_add_loop_test(tests, on_a_tie_or_a_nan_the_right_operand_stays, 0,
                        sizeof(undecided) / sizeof(undecided[0]));
    tcase_add_test(tests, vectors_need_no_alignment_and_nothing_else_is_touched);
    tcase_add_test(tests, the_tree_adds_aligned_blocks_of_ranks);
    tcase_add_test(tests, long_vectors_give_the_bits_of_short_ones);
    return run_tcase("reduce_ops", tests);
}
