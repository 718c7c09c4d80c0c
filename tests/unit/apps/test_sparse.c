/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse matrices of channel_triangle: the factors multiply to the matrix where it has
 * entries, a row's level is above those that it needs, and what cannot be divided by is
 * refused.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "apps/channel/sparse.h"
#include "apps/common/message.h"
#include "tests/unit/run_suite.h"

static double entry(const struct sparse *matrix, size_t row, size_t column)
{
    for (size_t e = matrix->starts[row]; e < matrix->starts[row + 1]; e++) {
        if (matrix->columns[e] == column) {
            return matrix->values[e];
        }
    }
    return 0;
}

/** (L U) of a place, the factors being in one matrix. */
static double product(const struct sparse *factors, size_t row, size_t column)
{
    double sum = 0;

    for (size_t k = 0; k <= row && k <= column; k++) {
        sum += (k == row ? 1 : entry(factors, row, k)) * entry(factors, k, column);
    }
    return sum;
}

START_TEST(a_grid_has_its_neighbours)
{
    const long points[3] = {3, 2, 2};
    struct sparse matrix;

    ck_assert_int_eq(sparse_make_poisson(points, &matrix), 0);
    ck_assert_uint_eq(matrix.n_rows, 12);
    for (size_t i = 0; i < 12; i++) {
        for (size_t j = 0; j < 12; j++) {
            int distance = abs((int)(i % 3) - (int)(j % 3)) +
                           abs((int)(i / 3 % 2) - (int)(j / 3 % 2)) +
                           abs((int)(i / 6) - (int)(j / 6));
            double value = distance == 0 ? 6 : distance == 1 ? -1 : 0;

            ck_assert_double_eq(entry(&matrix, i, j), value);
        }
    }
    sparse_fini(&matrix);
}
END_TEST

START_TEST(factors_multiply_to_the_matrix_where_it_has_entries)
{
    const long points[3] = {4, 3, _i == 0 ? 1 : 3};
    char message[MESSAGE_BYTES];
    struct sparse matrix, factors;

    ck_assert_int_eq(sparse_make_poisson(points, &matrix), 0);
    ck_assert_int_eq(sparse_make_poisson(points, &factors), 0);
    ck_assert_int_eq(sparse_factorize(&factors, message), 0);
    for (size_t row = 0; row < matrix.n_rows; row++) {
        for (size_t e = matrix.starts[row]; e < matrix.starts[row + 1]; e++) {
            double value = product(&factors, row, matrix.columns[e]);

            ck_assert_double_eq_tol(value, matrix.values[e], 1e-14);
        }
    }
    sparse_fini(&matrix);
    sparse_fini(&factors);
}
END_TEST

/** A matrix of two rows with a 1 at the top left, the other entries as given; 0: no
 *  entry. */
static void make_small(double left, double diagonal, struct sparse *matrix)
{
    ck_assert_int_eq(sparse_init(matrix, 2, 4), 0);
    matrix->columns[0] = 0;
    matrix->values[0] = 1;
    matrix->columns[1] = 1;
    matrix->values[1] = 1;
    matrix->starts[1] = 2;
    matrix->columns[2] = 0;
    matrix->values[2] = left;
    matrix->columns[3] = 1;
    matrix->values[3] = diagonal;
    matrix->starts[2] = diagonal == 0 ? 3 : 4;
}

START_TEST(what_cannot_be_divided_by_is_refused)
{
    char message[MESSAGE_BYTES];
    struct sparse matrix;

    make_small(1, 0, &matrix);
    ck_assert_int_eq(sparse_factorize(&matrix, message), -EINVAL);
    ck_assert_str_eq(message, "row 2 has no entry on the diagonal, which is needed");
    ck_assert_int_eq(sparse_scale(&matrix, message), -EINVAL);
    sparse_fini(&matrix);
    make_small(3, 3, &matrix); /* 3 - 3 * 1 */
    ck_assert_int_eq(sparse_factorize(&matrix, message), -EINVAL);
    ck_assert_str_eq(message, "the pivot of row 2 is 0; it must be finite and not 0");
    sparse_fini(&matrix);
    make_small(1e308, 1e-308, &matrix);
    ck_assert_int_eq(sparse_scale(&matrix, message), -EINVAL);
    ck_assert_str_eq(message, "an entry of the factor is not finite");
    sparse_fini(&matrix);
}
END_TEST

START_TEST(a_row_is_scaled_by_its_diagonal)
{
    char message[MESSAGE_BYTES];
    struct sparse matrix;

    make_small(3, 4, &matrix);
    ck_assert_int_eq(sparse_scale(&matrix, message), 0);
    sparse_keep_lower(&matrix);
    ck_assert_uint_eq(matrix.starts[1], 0);
    ck_assert_uint_eq(matrix.starts[2], 1);
    ck_assert_double_eq(matrix.values[0], 0.75);
    sparse_fini(&matrix);
}
END_TEST

START_TEST(a_level_is_one_above_the_highest_below)
{
    const long points[3] = {5, 4, 1};
    struct sparse matrix;
    uint32_t levels[20];

    ck_assert_int_eq(sparse_make_poisson(points, &matrix), 0);
    sparse_keep_lower(&matrix);
    ck_assert_uint_eq(sparse_levels(&matrix, levels), 8);
    for (uint32_t i = 0; i < 20; i++) {
        ck_assert_uint_eq(levels[i], i % 5 + i / 5);
    }
    sparse_fini(&matrix);
}
END_TEST

START_TEST(a_level_is_that_of_the_longest_way)
{
    /* Row 1 needs row 0, row 3 rows 1 and 2. */
    size_t starts[5] = {0, 0, 1, 1, 3};
    uint32_t columns[3] = {0, 1, 2}, levels[4];
    const struct sparse matrix = {.n_rows = 4, .starts = starts, .columns = columns};

    ck_assert_uint_eq(sparse_levels(&matrix, levels), 3);
    ck_assert_uint_eq(levels[1], 1);
    ck_assert_uint_eq(levels[2], 0);
    ck_assert_uint_eq(levels[3], 2);
}
END_TEST

START_TEST(a_solve_gives_what_was_multiplied)
{
    const long points[3] = {5, 4, 3};
    double y[60], rhs[60], found[60];
    struct sparse matrix;

    ck_assert_int_eq(sparse_make_poisson(points, &matrix), 0);
    sparse_keep_lower(&matrix);
    for (size_t i = 0; i < 60; i++) {
        y[i] = (double)(i * 7 % 11);
        rhs[i] = y[i];
        for (size_t j = 0; j < i; j++) {
            rhs[i] += entry(&matrix, i, j) * y[j];
        }
    }
    sparse_solve(&matrix, rhs, found);
    ck_assert_mem_eq(found, y, sizeof(y));
    sparse_fini(&matrix);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sparse");

    tcase_add_test(tcase, a_grid_has_its_neighbours);
    tcase_add_loop_test(tcase, factors_multiply_to_the_matrix_where_it_has_entries, 0,
                        2);
    tcase_add_test(tcase, what_cannot_be_divided_by_is_refused);
    tcase_add_test(tcase, a_row_is_scaled_by_its_diagonal);
    tcase_add_test(tcase, a_level_is_one_above_the_highest_below);
    tcase_add_test(tcase, a_level_is_that_of_the_longest_way);
    tcase_add_test(tcase, a_solve_gives_what_was_multiplied);
    return run_tcase("sparse", tcase);
}
