/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts against their definition: each one is made together with the plain list of
 * the addresses of its bytes, and any range of it is packed and unpacked by both.
 */
#include "libbcs/fabric/base/layout_build.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_RANDOM = 50, /* of each seed */
    N_RANGES = 20,
    N_ELEMENTS = 5,
    MAX_BYTES = 3000, /* of one element */
    MIDDLE = 8192,
    MEMORY_BYTES = 32768,
};

/** The addresses of the bytes of an element. */
struct addresses {
    ptrdiff_t at[MAX_BYTES];
    size_t n;
};

static char memory[MEMORY_BYTES], expected[MEMORY_BYTES];
static uint64_t state;

static int between(int low, int high)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

static void add_block(struct bcs_layout_list *list, struct addresses *addresses,
                      ptrdiff_t offset, size_t n_bytes)
{
    bcs_layout_add_block(list, offset, n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        addresses->at[addresses->n++] = offset + (ptrdiff_t)i;
    }
}

static void add_copies(struct bcs_layout_list *list, struct addresses *addresses,
                       struct bcs_layout_list *bodies, struct bcs_layout_list *body,
                       const struct addresses *inner,
                       const struct bcs_layout_places *places)
{
    bcs_layout_add_copies(list, bodies, body, places);
    for (size_t copy = 0; copy < places->count; copy++) {
        for (size_t i = 0; i < inner->n; i++) {
            addresses->at[addresses->n++] =
                places->offset + (ptrdiff_t)copy * places->stride + inner->at[i];
        }
    }
}

static void make_random(struct bcs_layout_list *list, struct addresses *addresses,
                        struct bcs_layout_list *bodies, int depth)
{
    struct bcs_layout_list body = {0};
    struct addresses *inner = calloc(1, sizeof(*inner));
    int n_parts = between(1, 4);

    ck_assert_ptr_nonnull(inner);
    if (depth == 0) {
        for (int i = 0; i < n_parts; i++) {
            add_block(list, addresses, between(-40, 40), (size_t)between(0, 9));
        }
    } else {
        make_random(&body, inner, bodies, depth - 1);
        for (int i = 0; i < n_parts; i++) {
            const struct bcs_layout_places places = {
                between(-300, 300), between(-60, 60), (size_t)between(0, 5)};
            if (addresses->n + places.count * inner->n < MAX_BYTES) {
                add_copies(list, addresses, bodies, &body, inner, &places);
            }
        }
    }
    bcs_layout_list_fini(&body);
    free(inner);
}

static ptrdiff_t address_of(const struct addresses *addresses, ptrdiff_t extent,
                            size_t position)
{
    return MIDDLE + (ptrdiff_t)(position / addresses->n) * extent +
           addresses->at[position % addresses->n];
}

static void check_range(const struct bcs_layout *layout,
                        const struct addresses *addresses, ptrdiff_t extent,
                        size_t from, size_t n_bytes)
{
    char *packed = malloc(n_bytes + 1);

    ck_assert_ptr_nonnull(packed);
    pattern_fill(memory, MEMORY_BYTES, 0);
    packed[n_bytes] = 77;
    bcs_layout_pack(layout, memory + MIDDLE, from, n_bytes, packed);
    for (size_t i = 0; i < n_bytes; i++) {
        ck_assert_int_eq(packed[i], memory[address_of(addresses, extent, from + i)]);
    }
    ck_assert_int_eq(packed[n_bytes], 77);
    memcpy(expected, memory, sizeof(expected));
    for (size_t i = 0; i < n_bytes; i++) {
        packed[i] = (char)(i + 100);
        expected[address_of(addresses, extent, from + i)] = packed[i];
    }
    bcs_layout_unpack(layout, packed, from, n_bytes, memory + MIDDLE);
    ck_assert_mem_eq(memory, expected, sizeof(expected));
    free(packed);
}

START_TEST(any_range_of_any_layout_is_where_it_should_be)
{
    struct addresses *addresses = calloc(1, sizeof(*addresses));

    ck_assert_ptr_nonnull(addresses);
    state = (uint64_t)_i;
    for (int i = 0; i < N_RANDOM; i++) {
        struct bcs_layout_list list = {0}, bodies = {0};
        ptrdiff_t extent = between(-200, 2000);
        struct bcs_layout *layout;

        addresses->n = 0;
        make_random(&list, addresses, &bodies, between(0, 3));
        ck_assert_uint_eq(list.size, addresses->n);
        layout = bcs_layout_make(&bodies, &list, extent);
        ck_assert_ptr_nonnull(layout);
        for (int j = 0; addresses->n > 0 && j < N_RANGES; j++) {
            int total = (int)(N_ELEMENTS * addresses->n);
            int from = between(0, total - 1);
            check_range(layout, addresses, extent, (size_t)from,
                        (size_t)between(0, total - from));
        }
        free(layout);
        bcs_layout_list_fini(&list);
        bcs_layout_list_fini(&bodies);
    }
    free(addresses);
}
END_TEST

/** The layout of a column of n doubles in rows of 100. */
static struct bcs_layout *column(size_t n, ptrdiff_t extent)
{
    const struct bcs_layout_places places = {0, 800, n};
    struct bcs_layout_list number = {0}, list = {0}, bodies = {0};
    struct bcs_layout *layout;

    bcs_layout_add_block(&number, 0, 8);
    bcs_layout_add_copies(&list, &bodies, &number, &places);
    ck_assert_uint_eq(bodies.n_parts, 0);
    layout = bcs_layout_make(&bodies, &list, extent);
    bcs_layout_list_fini(&number);
    bcs_layout_list_fini(&list);
    bcs_layout_list_fini(&bodies);
    return layout;
}

START_TEST(a_loop_is_one_part_however_long_it_is)
{
    struct bcs_layout *layout = column(1000000000, 8);

    ck_assert_ptr_nonnull(layout);
    ck_assert_int_eq(bcs_layout_is_block(layout), false);
    free(layout);
}
END_TEST

START_TEST(elements_that_continue_a_loop_become_one_loop)
{
    struct bcs_layout *layout = column(100, 80000);

    ck_assert_ptr_nonnull(layout);
    ck_assert_uint_eq(layout->elements.n_parts, 0);
    ck_assert_uint_eq(layout->elements.size, 8);
    ck_assert_int_eq(layout->elements.stride, 800);
    free(layout);
}
END_TEST

START_TEST(neighbours_become_one_block)
{
    struct bcs_layout_list list = {0}, bodies = {0};
    struct bcs_layout *layout;

    for (int i = 0; i < 100; i++) {
        bcs_layout_add_block(&list, 4 * i, 4);
    }
    layout = bcs_layout_make(&bodies, &list, 400);
    ck_assert_ptr_nonnull(layout);
    ck_assert_int_eq(bcs_layout_is_block(layout), true);
    ck_assert_uint_eq(layout->elements.size, 400);
    free(layout);
    bcs_layout_list_fini(&list);
}
END_TEST

START_TEST(equal_distances_become_a_loop)
{
    struct bcs_layout_list list = {0};

    for (int i = 0; i < 100; i++) {
        bcs_layout_add_block(&list, -12 * i, 4);
    }
    ck_assert_uint_eq(list.n_parts, 1);
    ck_assert_uint_eq(list.size, 400);
    bcs_layout_list_fini(&list);
}
END_TEST

START_TEST(positions_beyond_4_gib_are_found)
{
    const struct bcs_layout_places pairs = {.stride = 0, .count = 1 << 20};
    struct bcs_layout_list list = {0}, bodies = {0}, pair = {0};
    struct bcs_layout *layout;
    char packed[8];

    bcs_layout_add_block(&pair, 3, 4096);
    bcs_layout_add_block(&pair, 8000, 3);
    bcs_layout_add_copies(&list, &bodies, &pair, &pairs);
    ck_assert_uint_eq(list.size, (size_t)4099 << 20);
    layout = bcs_layout_make(&bodies, &list, 0);
    ck_assert_ptr_nonnull(layout);
    memcpy(memory + 3, "start", 5);
    memcpy(memory + 8000, "end", 3);
    for (size_t i = 1; i < 5; i++) { /* at the end of 4 GiB elements, and of a part */
        bcs_layout_pack(layout, memory, i * list.size - 3, sizeof(packed), packed);
        ck_assert_mem_eq(packed, "endstart", sizeof(packed));
        bcs_layout_pack(layout, memory, i * list.size - 4099 * 5 - 3, sizeof(packed),
                        packed);
        ck_assert_mem_eq(packed, "endstart", sizeof(packed));
    }
    free(layout);
    bcs_layout_list_fini(&list);
    bcs_layout_list_fini(&bodies);
    bcs_layout_list_fini(&pair);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("layout");

    tcase_add_loop_test(tcase, any_range_of_any_layout_is_where_it_should_be, 1, 9);
    tcase_add_test(tcase, a_loop_is_one_part_however_long_it_is);
    tcase_add_test(tcase, elements_that_continue_a_loop_become_one_loop);
    tcase_add_test(tcase, neighbours_become_one_block);
    tcase_add_test(tcase, equal_distances_become_a_loop);
    tcase_add_test(tcase, positions_beyond_4_gib_are_found);
    return run_tcase("layout", tcase);
}
