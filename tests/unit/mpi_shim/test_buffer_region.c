/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that pending operations use: a change of any of them is found, with its
 * place, one of a gap is not; and whether two operations have a byte in common.
 */
#include <check.h>
#include <string.h>

#include "mpi_shim/request/buffer_region.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

enum { N_LONG = SHIM_REGION_KEPT + 10000 };

static struct fake_type gapped_type, byte_type, backward_type;
static const struct shim_datatype *gapped, *byte, *backward;
static char memory[N_LONG];

static void set_up(void)
{
    gapped_type = (struct fake_type){.size = 2, .extent = 4, .places = {0, 2}};
    byte_type = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    backward_type = (struct fake_type){.size = 1, .extent = -2, .places = {0}};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    gapped = shim_datatype_find(fake_type_handle(&gapped_type));
    byte = shim_datatype_find(fake_type_handle(&byte_type));
    backward = shim_datatype_find(fake_type_handle(&backward_type));
    memset(memory, 'a', sizeof(memory));
}

static void tear_down(void)
{
    shim_datatype_teardown();
}

/* A region of n pieces, which are copied. */
static struct shim_region region_of(const struct shim_piece *pieces, size_t n)
{
    struct shim_region region = {.pieces = malloc(n * sizeof(*pieces)), .n = n};

    memcpy(region.pieces, pieces, n * sizeof(*pieces));
    return region;
}

#define REGION(...)                                                                    \
    region_of((const struct shim_piece[]){__VA_ARGS__},                                \
              sizeof((const struct shim_piece[]){__VA_ARGS__}) /                       \
                  sizeof(struct shim_piece))

/* A change of a byte of memory is found at a position, SIZE_MAX - 1: is not found. */
static void is_found_at(struct shim_region *region, size_t byte_at, size_t expected)
{
    size_t at = SIZE_MAX - 1;

    ck_assert(shim_region_is_same(region, &at));
    memory[byte_at] = 'b';
    ck_assert_int_eq(shim_region_is_same(region, &at), expected == SIZE_MAX - 1);
    ck_assert_uint_eq(at, expected);
    memory[byte_at] = 'a';
}

START_TEST(a_change_of_a_byte_is_found_where_it_is)
{
    struct shim_region region = REGION({memory + 8, 21, byte});

    shim_region_keep(&region);
    ck_assert_uint_eq(region.n_bytes, 21);
    is_found_at(&region, 7, SIZE_MAX - 1);
    is_found_at(&region, 8, 0);
    is_found_at(&region, 17, 9);
    is_found_at(&region, 28, 20);
    is_found_at(&region, 29, SIZE_MAX - 1);
    shim_region_fini(&region);
}
END_TEST

START_TEST(a_change_in_a_gap_is_none)
{
    struct shim_region region = REGION({memory, 3, gapped}, {memory + 20, 2, byte});

    shim_region_keep(&region);
    ck_assert_uint_eq(region.n_bytes, 8);
    is_found_at(&region, 1, SIZE_MAX - 1);
    is_found_at(&region, 2, 1);
    is_found_at(&region, 10, 5);
    is_found_at(&region, 12, SIZE_MAX - 1);
    is_found_at(&region, 21, 7); /* of the second piece */
    shim_region_fini(&region);
}
END_TEST

START_TEST(bytes_behind_the_copy_are_watched_by_their_hash)
{
    struct shim_region region = REGION({memory, N_LONG, byte});

    shim_region_keep(&region);
    is_found_at(&region, 5000, 5000); /* of the second part */
    is_found_at(&region, SHIM_REGION_KEPT - 1, SHIM_REGION_KEPT - 1);
    is_found_at(&region, SHIM_REGION_KEPT, SIZE_MAX);
    is_found_at(&region, N_LONG - 1, SIZE_MAX);
    shim_region_fini(&region);
}
END_TEST

START_TEST(the_first_of_several_changes_is_told)
{
    struct shim_region region = REGION({memory, 10000, byte});
    size_t at;

    shim_region_keep(&region);
    memory[9000] = memory[70] = memory[71] = 'b';
    ck_assert(!shim_region_is_same(&region, &at));
    ck_assert_uint_eq(at, 70);
    shim_region_fini(&region);
}
END_TEST

START_TEST(bytes_that_have_changed_places_are_not_the_same)
{
    struct shim_region region = REGION({memory, 8192, byte});
    size_t at;

    memory[3] = 'b';
    shim_region_keep(&region);
    memory[3] = 'a';
    memory[3 + 4096] = 'b'; /* in the same place of the next part */
    ck_assert(!shim_region_is_same(&region, &at));
    ck_assert_uint_eq(at, 3);
    shim_region_fini(&region);
}
END_TEST

static void have_common(struct shim_region a, struct shim_region b, bool is_common)
{
    ck_assert_int_eq(shim_region_overlap(&a, &b), is_common);
    ck_assert_int_eq(shim_region_overlap(&b, &a), is_common);
    shim_region_fini(&a);
    shim_region_fini(&b);
}

START_TEST(neighbours_have_no_byte_in_common)
{
    have_common(REGION({memory, 10, byte}), REGION({memory + 10, 10, byte}), false);
    have_common(REGION({memory, 11, byte}), REGION({memory + 10, 10, byte}), true);
    have_common(REGION({memory, 30, byte}), REGION({memory + 10, 1, byte}), true);
}
END_TEST

START_TEST(what_lies_in_the_gaps_is_not_common)
{
    have_common(REGION({memory, 4, gapped}), REGION({memory + 1, 4, gapped}), false);
    have_common(REGION({memory, 4, gapped}), REGION({memory + 2, 4, gapped}), true);
    have_common(REGION({memory, 4, gapped}), REGION({memory + 3, 1, byte}), false);
    have_common(REGION({memory, 4, gapped}), REGION({memory + 14, 1, byte}), true);
    have_common(REGION({memory, 4, gapped}), REGION({memory + 15, 1, byte}), false);
}
END_TEST

START_TEST(pieces_in_any_order_are_compared)
{
    have_common(REGION({memory + 40, 4, byte}, {memory, 4, byte}),
                REGION({memory + 20, 4, byte}, {memory + 2, 1, byte}), true);
    have_common(REGION({memory + 40, 4, byte}, {memory, 4, byte}),
                REGION({memory + 20, 4, byte}, {memory + 43, 1, byte}), true);
    have_common(REGION({memory + 40, 4, byte}, {memory, 4, byte}),
                REGION({memory + 20, 4, byte}, {memory + 5, 1, byte}), false);
}
END_TEST

START_TEST(blocks_within_a_block_hide_none)
{
    have_common(REGION({memory, 50, byte}, {memory + 10, 2, byte}),
                REGION({memory + 45, 1, byte}, {memory + 60, 1, byte}), true);
}
END_TEST

START_TEST(elements_that_go_backward_are_compared)
{
    have_common(REGION({memory + 20, 4, backward}), REGION({memory + 14, 1, byte}),
                true);
    have_common(REGION({memory + 20, 4, backward}), REGION({memory + 13, 1, byte}),
                false);
    have_common(REGION({memory + 20, 4, backward}), REGION({memory + 15, 1, byte}),
                false);
}
END_TEST

START_TEST(no_elements_have_nothing_in_common)
{
    have_common(REGION({memory, 0, byte}, {memory + 30, 1, byte}),
                REGION({memory, 10, byte}), false);
    have_common(REGION({memory, 0, gapped}), REGION({memory, 10, byte}), false);
}
END_TEST

START_TEST(too_many_blocks_are_not_compared)
{
    static char wide[4 * (SHIM_REGION_BLOCKS_MOST + 1)];

    have_common(REGION({wide, SHIM_REGION_BLOCKS_MOST / 2 + 1, gapped}),
                REGION({wide, 1, byte}), false);
    have_common(REGION({wide, SHIM_REGION_BLOCKS_MOST / 2, gapped}),
                REGION({wide, 1, byte}), true);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("buffer_region");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_change_of_a_byte_is_found_where_it_is);
    tcase_add_test(tcase, a_change_in_a_gap_is_none);
    tcase_add_test(tcase, bytes_behind_the_copy_are_watched_by_their_hash);
    tcase_add_test(tcase, the_first_of_several_changes_is_told);
    tcase_add_test(tcase, bytes_that_have_changed_places_are_not_the_same);
    tcase_add_test(tcase, neighbours_have_no_byte_in_common);
    tcase_add_test(tcase, what_lies_in_the_gaps_is_not_common);
    tcase_add_test(tcase, pieces_in_any_order_are_compared);
    tcase_add_test(tcase, blocks_within_a_block_hide_none);
    tcase_add_test(tcase, elements_that_go_backward_are_compared);
    tcase_add_test(tcase, no_elements_have_nothing_in_common);
    tcase_add_test(tcase, too_many_blocks_are_not_compared);
    return run_tcase("buffer_region", tcase);
}
