/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of the symmetric heap.
 */
#include <check.h>
#include <stdlib.h>

#include <bcs/primitives.h>

#include "tests/unit/run_suite.h"

#define HEAP_BYTES 65536

START_TEST(the_first_object_lies_behind_the_reserved_bytes)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, HEAP_BYTES);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, 8), BCS_HEAP_RESERVED_BYTES);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, 8), BCS_HEAP_RESERVED_BYTES + 8);
}
END_TEST

START_TEST(objects_are_aligned_and_apart)
{
    struct bcs_heap heap;
    uint64_t end = BCS_HEAP_RESERVED_BYTES;

    srand(1);
    bcs_heap_init(&heap, HEAP_BYTES);
    for (;;) {
        size_t align = (size_t)1 << rand() % 9;
        size_t n_bytes = (size_t)rand() % 200;
        uint64_t gva = bcs_heap_reserve(&heap, n_bytes, align);

        if (gva == 0) {
            break;
        }
        ck_assert_uint_eq(gva % align, 0);
        ck_assert_uint_ge(gva, end);
        ck_assert_uint_lt(gva, end + align);
        end = gva + n_bytes;
    }
    ck_assert_uint_gt(end, HEAP_BYTES - 512);
    ck_assert_uint_le(end, HEAP_BYTES);
}
END_TEST

START_TEST(the_same_calls_give_the_same_addresses)
{
    struct bcs_heap a, b;

    bcs_heap_init(&a, HEAP_BYTES);
    bcs_heap_init(&b, 2 * HEAP_BYTES);
    for (size_t i = 1; i < 100; i++) {
        uint64_t gva = bcs_heap_reserve(&a, i, 16);

        ck_assert_uint_ne(gva, 0);
        ck_assert_uint_eq(gva, bcs_heap_reserve(&b, i, 16));
    }
}
END_TEST

START_TEST(the_last_byte_can_be_reserved_and_not_one_more)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, HEAP_BYTES);
    ck_assert_uint_ne(bcs_heap_reserve(&heap, HEAP_BYTES - BCS_HEAP_RESERVED_BYTES, 64),
                      0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 1, 1), 0);
}
END_TEST

START_TEST(a_failed_reservation_changes_nothing)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, HEAP_BYTES);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, HEAP_BYTES, 1), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, SIZE_MAX, 64), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, SIZE_MAX - 100, 1), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, 8), BCS_HEAP_RESERVED_BYTES);
}
END_TEST

START_TEST(a_bad_alignment_is_refused)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, HEAP_BYTES);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, 0), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, 24), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, (size_t)2 * BCS_HEAP_ALIGN), 0);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 8, BCS_HEAP_ALIGN), BCS_HEAP_ALIGN);
}
END_TEST

START_TEST(a_heap_smaller_than_the_reserved_bytes_is_full)
{
    struct bcs_heap heap;

    bcs_heap_init(&heap, BCS_HEAP_RESERVED_BYTES - 1);
    ck_assert_uint_eq(bcs_heap_reserve(&heap, 0, 1), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("heap");

    tcase_add_test(tcase, the_first_object_lies_behind_the_reserved_bytes);
    tcase_add_test(tcase, objects_are_aligned_and_apart);
    tcase_add_test(tcase, the_same_calls_give_the_same_addresses);
    tcase_add_test(tcase, the_last_byte_can_be_reserved_and_not_one_more);
    tcase_add_test(tcase, a_failed_reservation_changes_nothing);
    tcase_add_test(tcase, a_bad_alignment_is_refused);
    tcase_add_test(tcase, a_heap_smaller_than_the_reserved_bytes_is_full);
    return run_tcase("heap", tcase);
}
