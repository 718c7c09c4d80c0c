/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of exports, as one process has it: what it is to put into the heaps of all,
 * and from when on a number is free again.
 */
#include "libbcs/session/exports.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/run_suite.h"

enum { RANK = 2, NUMBER = 3, TABLE = 4096, UNTIL = 5 };

static struct bcs_exports exports;
static struct bcs_node_set all;
static struct bcs_xfer xfers[2];

static void begin(void)
{
    all = bcs_node_set_range(0, 4);
    exports = (struct bcs_exports){
        .all = &all, .table_gva = TABLE, .rank = RANK, .until = "step 5"};
}

static int add(uint64_t address, uint64_t n_bytes, uint64_t now)
{
    const struct bcs_export export = {
        .address = address, .n_bytes = n_bytes, .until = 99, .serial = 99};

    return bcs_exports_add(&exports, "test", NUMBER, export, now, xfers);
}

/** Carry a put out, into the row of a table. */
static void put(const struct bcs_xfer *xfer, struct bcs_export *table)
{
    uint64_t row_gva = TABLE + RANK * BCS_EXPORTS * sizeof(struct bcs_export);

    ck_assert_ptr_eq(xfer->dests, &all);
    memcpy((uint8_t *)table + (xfer->dest_gva - row_gva), xfer->src, xfer->n_bytes);
}

START_TEST(an_export_is_put_before_it_is_said_to_be_there)
{
    static struct bcs_export table[BCS_EXPORTS];
    const struct bcs_export *there = &table[NUMBER];

    ck_assert_int_eq(add(1000, 8, 0), 0);
    put(&xfers[0], table);
    ck_assert_uint_eq(there->address, 1000);
    ck_assert_uint_eq(there->n_bytes, 8);
    ck_assert_uint_eq(bcs_export_serial(there), 0);
    put(&xfers[1], table);
    ck_assert_uint_eq(there->until, 0);
    ck_assert_uint_eq(bcs_export_serial(there), 1);
    ck_assert(bcs_export_is_valid(there, UINT64_MAX));
    ck_assert_int_eq(bcs_exports_remove(&exports, "test", NUMBER, UNTIL, xfers), 0);
    put(&xfers[0], table);
    ck_assert_uint_eq(there->until, UNTIL);
    ck_assert_uint_eq(xfers[0].n_bytes, sizeof(there->until));
}
END_TEST

START_TEST(an_export_that_was_taken_back_holds_up_to_its_end)
{
    ck_assert_int_eq(add(1000, 8, 0), 0);
    ck_assert_int_eq(add(1000, 8, 0), -EEXIST);
    ck_assert_int_eq(bcs_exports_remove(&exports, "test", NUMBER, UNTIL, xfers), 0);
    ck_assert(bcs_export_is_valid(&exports.own[NUMBER], UNTIL - 1));
    ck_assert(!bcs_export_is_valid(&exports.own[NUMBER], UNTIL));
    ck_assert_int_eq(add(2000, 8, UNTIL - 1), -EEXIST);
    ck_assert_int_eq(add(2000, 8, UNTIL), 0);
    ck_assert_uint_eq(exports.own[NUMBER].serial, 2);
    ck_assert_uint_eq(exports.own[NUMBER].until, 0);
}
END_TEST

START_TEST(what_is_not_exported_is_not_taken_back)
{
    ck_assert_int_eq(bcs_exports_remove(&exports, "test", NUMBER, UNTIL, xfers),
                     -EINVAL);
    ck_assert_int_eq(add(0, 8, 0), -EINVAL);
    ck_assert_int_eq(add(0, 0, 0), 0);
    ck_assert_int_eq(bcs_exports_remove(&exports, "test", NUMBER, UNTIL, xfers), 0);
    ck_assert_int_eq(bcs_exports_remove(&exports, "test", NUMBER, UNTIL + 1, xfers),
                     -EINVAL);
    ck_assert_uint_eq(exports.own[NUMBER].until, UNTIL);
}
END_TEST

START_TEST(numbers_end_before_the_size_of_the_table)
{
    ck_assert_int_eq(bcs_exports_check("test", 0), 0);
    ck_assert_int_eq(bcs_exports_check("test", BCS_EXPORTS - 1), 0);
    ck_assert_int_eq(bcs_exports_check("test", BCS_EXPORTS), -EINVAL);
    ck_assert_int_eq(bcs_exports_check("test", -1), -EINVAL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("exports");

    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_test(tcase, an_export_is_put_before_it_is_said_to_be_there);
    tcase_add_test(tcase, an_export_that_was_taken_back_holds_up_to_its_end);
    tcase_add_test(tcase, what_is_not_exported_is_not_taken_back);
    tcase_add_test(tcase, numbers_end_before_the_size_of_the_table);
    return run_tcase("exports", tcase);
}
