/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse tables: zero at first, whatever their length, and as much memory as was
 * touched of them.
 */
#include "libbcs/fabric/base/sparse_table.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/address_space.h"
#include "tests/resident.h"
#include "tests/unit/run_suite.h"

enum { N_TABLES = 1000, LONG_BYTES = 1 << 16 };

static const size_t lengths[] = {1, 8191, 8192, 8193, 8216, 100000, LONG_BYTES};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

START_TEST(a_table_is_zero_and_can_be_written)
{
    enum { N = 3 };
    size_t n_bytes = lengths[_i];

    for (int round = 0; round < 20; round++) { /* of memory that was used before, too */
        uint8_t *table = bcs_sparse_new(N, n_bytes);

        ck_assert_ptr_nonnull(table);
        for (size_t i = 0; i < N * n_bytes; i++) {
            if (table[i] != 0) {
                ck_abort_msg("byte %zu is not zero", i);
            }
        }
        memset(table, 1, N * n_bytes);
        bcs_sparse_free(table, N, n_bytes);
    }
}
END_TEST

START_TEST(a_table_costs_what_is_touched)
{
    static uint8_t *tables[N_TABLES];
    uint64_t before = resident_bytes(), space = address_space();

    for (int i = 0; i < N_TABLES; i++) {
        tables[i] = bcs_sparse_new(LONG_BYTES / 16, 16);
        ck_assert_ptr_nonnull(tables[i]);
        tables[i][LONG_BYTES / 2] = 1;
    }
    ck_assert_uint_lt(resident_bytes() - before, N_TABLES * UINT64_C(16384));
    for (int i = 0; i < N_TABLES; i++) {
        bcs_sparse_free(tables[i], LONG_BYTES / 16, 16);
    }
    ck_assert_uint_lt(address_space() - space, 10 * LONG_BYTES); /* given back */
}
END_TEST

START_TEST(what_no_memory_holds_is_refused)
{
    ck_assert_ptr_null(bcs_sparse_new(SIZE_MAX / 8, 16));
    ck_assert_ptr_null(bcs_sparse_new(SIZE_MAX / 16 + 2, 16)); /* 16 bytes, it seems */
    ck_assert_ptr_null(bcs_sparse_new(1, SIZE_MAX / 2));
    bcs_sparse_free(NULL, 1000000, 16);
    bcs_sparse_free(NULL, 0, 16);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sparse_table");

    tcase_add_loop_test(tcase, a_table_is_zero_and_can_be_written, 0, N_LENGTHS);
    tcase_add_test(tcase, a_table_costs_what_is_touched);
    tcase_add_test(tcase, what_no_memory_holds_is_refused);
    return run_tcase("sparse_table", tcase);
}
