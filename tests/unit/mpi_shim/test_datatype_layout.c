/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the data of types that the program has made are: each way to make a type,
 * packed and compared with the places that the standard gives. Memory holds its own
 * positions, so the packed bytes are the places.
 */
#include <check.h>
#include <string.h>

#include "mpi_shim/data/datatype.h"
#include "mpi_shim/real/state.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

enum { MOST = 64 };

#define N(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A number of two bytes; two bytes with a gap in between and one behind; and one
 * byte. */
static struct fake_type pair, gapped, byte, made, outer;

static void set_up(void)
{
    pair = (struct fake_type){.size = 2, .extent = 2, .places = {0, 1}};
    gapped = (struct fake_type){.size = 2, .extent = 4, .places = {0, 2}};
    byte = (struct fake_type){.size = 1, .extent = 1, .places = {0}};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
}

static void tear_down(void)
{
    shim_datatype_teardown();
}

/* One element of a type, from an address on, has its data in n places. */
static void are_at(struct fake_type *fake, const unsigned char *places, int n)
{
    const struct shim_datatype *type;
    unsigned char memory[MOST], packed[MOST];

    fake->size = (size_t)n;
    type = shim_datatype_find(fake_type_handle(fake));
    ck_assert_ptr_nonnull(type);
    for (int i = 0; i < MOST; i++) {
        memory[i] = (unsigned char)i;
    }
    shim_pack(memory, 1, type, packed);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(packed[i], places[i]);
    }
}

/* A type that is made of one other has its data there. */
#define MADE_OF(inner, way, its_integers, its_addresses, n_of_addresses, ...)          \
    do {                                                                               \
        const MPI_Datatype types[] = {fake_type_handle(inner)};                        \
        const struct fake_contents contents = {.combiner = (way),                      \
                                               .integers = (its_integers),             \
                                               .n_integers = N(its_integers),          \
                                               .addresses = (its_addresses),           \
                                               .n_addresses = (n_of_addresses),        \
                                               .types = types,                         \
                                               .n_types = 1};                          \
        const unsigned char places[] = {__VA_ARGS__};                                  \
                                                                                       \
        made = (struct fake_type){.extent = MOST, .contents = &contents};              \
        are_at(&made, places, N(places));                                              \
    } while (0)

START_TEST(a_contiguous_type_has_the_gaps_of_its_elements)
{
    const int integers[] = {3};

    MADE_OF(&gapped, MPI_COMBINER_CONTIGUOUS, integers, NULL, 0, 0, 2, 4, 6, 8, 10);
}
END_TEST

START_TEST(a_vector_has_its_stride_in_elements)
{
    const int integers[] = {3, 2, 4}; /* blocks, their length, stride */

    MADE_OF(&pair, MPI_COMBINER_VECTOR, integers, NULL, 0, 0, 1, 2, 3, 8, 9, 10, 11, 16,
            17, 18, 19);
}
END_TEST

START_TEST(an_hvector_has_its_stride_in_bytes)
{
    const int integers[] = {3, 1};
    const MPI_Aint addresses[] = {5};

    MADE_OF(&pair, MPI_COMBINER_HVECTOR, integers, addresses, 1, 0, 1, 5, 6, 10, 11);
}
END_TEST

START_TEST(an_indexed_type_has_its_displacements_in_elements)
{
    const int integers[] = {3, 1, 2, 1, 5, 0, 3}; /* blocks, lengths, displacements */

    MADE_OF(&pair, MPI_COMBINER_INDEXED, integers, NULL, 0, 10, 11, 0, 1, 2, 3, 6, 7);
}
END_TEST

START_TEST(an_hindexed_type_has_its_displacements_in_bytes)
{
    const int integers[] = {2, 1, 2};
    const MPI_Aint addresses[] = {9, 1};

    MADE_OF(&pair, MPI_COMBINER_HINDEXED, integers, addresses, 2, 9, 10, 1, 2, 3, 4);
}
END_TEST

START_TEST(indexed_blocks_have_one_length)
{
    const int integers[] = {3, 2, 7, 0, 3}; /* blocks, their length, displacements */
    const int h_integers[] = {2, 2};
    const MPI_Aint addresses[] = {11, 3};

    MADE_OF(&pair, MPI_COMBINER_INDEXED_BLOCK, integers, NULL, 0, 14, 15, 16, 17, 0, 1,
            2, 3, 6, 7, 8, 9);
    shim_datatype_free(&(MPI_Datatype){fake_type_handle(&made)});
    MADE_OF(&pair, MPI_COMBINER_HINDEXED_BLOCK, h_integers, addresses, 2, 11, 12, 13,
            14, 3, 4, 5, 6);
}
END_TEST

START_TEST(a_structure_has_a_type_for_each_block)
{
    const int integers[] = {4, 1, 2, 1, 2};
    const MPI_Aint addresses[] = {20, 0, 8, 30};
    const MPI_Datatype types[] = {fake_type_handle(&pair), fake_type_handle(&gapped),
                                  fake_type_handle(&gapped), fake_type_handle(&byte)};
    const struct fake_contents contents = {MPI_COMBINER_STRUCT, 5,    4, 4, integers,
                                           addresses,           types};
    const unsigned char places[] = {20, 21, 0, 2, 4, 6, 8, 10, 30, 31};

    made = (struct fake_type){.extent = MOST, .contents = &contents};
    are_at(&made, places, N(places));
}
END_TEST

START_TEST(a_subarray_is_a_part_of_each_dimension)
{
    /* Of 3 times 5, two times three from 1, 2 on. */
    const int integers[] = {2, 3, 5, 2, 3, 1, 2, MPI_ORDER_C};

    MADE_OF(&byte, MPI_COMBINER_SUBARRAY, integers, NULL, 0, 7, 8, 9, 12, 13, 14);
}
END_TEST

START_TEST(a_subarray_of_fortran_has_its_first_dimension_inside)
{
    const int integers[] = {2, 3, 5, 2, 3, 1, 2, MPI_ORDER_FORTRAN};

    MADE_OF(&byte, MPI_COMBINER_SUBARRAY, integers, NULL, 0, 7, 8, 10, 11, 13, 14);
}
END_TEST

START_TEST(an_array_without_dimensions_has_no_data)
{
    const int sub[] = {0, MPI_ORDER_C}, distributed[] = {1, 0, 0, MPI_ORDER_C};
    const struct fake_contents array = {MPI_COMBINER_SUBARRAY,
                                        2,
                                        0,
                                        1,
                                        sub,
                                        NULL,
                                        &(MPI_Datatype){fake_type_handle(&gapped)}};
    const struct fake_contents share = {MPI_COMBINER_DARRAY,
                                        4,
                                        0,
                                        1,
                                        distributed,
                                        NULL,
                                        &(MPI_Datatype){fake_type_handle(&gapped)}};
    const struct shim_datatype *type;

    made = (struct fake_type){.extent = 0, .contents = &array};
    outer = (struct fake_type){.extent = 0, .contents = &share};
    type = shim_datatype_find(fake_type_handle(&made));
    ck_assert_ptr_nonnull(type);
    ck_assert(type->is_dense);
    ck_assert_ptr_nonnull(shim_datatype_find(fake_type_handle(&outer)));
}
END_TEST

/* Rank, of a grid of 2 times 3 processes; sizes, distributions, arguments, the grid. */
START_TEST(a_share_of_an_array_is_that_of_the_rank_in_the_grid)
{
    const int integers[] = {6,
                            4, /* row 1, column 1 */
                            2,
                            3,
                            5,
                            MPI_DISTRIBUTE_BLOCK,
                            MPI_DISTRIBUTE_CYCLIC,
                            MPI_DISTRIBUTE_DFLT_DARG,
                            MPI_DISTRIBUTE_DFLT_DARG,
                            2,
                            3,
                            MPI_ORDER_C};

    MADE_OF(&byte, MPI_COMBINER_DARRAY, integers, NULL, 0, 11, 14); /* row 2 */
}
END_TEST

START_TEST(the_last_block_of_a_cyclic_share_may_be_short)
{
    const int integers[] = {2, 0, 1, 7, MPI_DISTRIBUTE_CYCLIC, 2, 2, MPI_ORDER_C};
    const int next[] = {2, 1, 1, 7, MPI_DISTRIBUTE_CYCLIC, 2, 2, MPI_ORDER_C};

    MADE_OF(&byte, MPI_COMBINER_DARRAY, integers, NULL, 0, 0, 1, 4, 5);
    shim_datatype_free(&(MPI_Datatype){fake_type_handle(&made)});
    MADE_OF(&byte, MPI_COMBINER_DARRAY, next, NULL, 0, 2, 3, 6);
}
END_TEST

START_TEST(blocks_of_a_share_are_as_long_as_they_are_said_to_be)
{
    const int integers[] = {2, 1, 1, 7, MPI_DISTRIBUTE_BLOCK, 5, 2, MPI_ORDER_C};
    const int next[] = {2, 1, 1, 7, MPI_DISTRIBUTE_NONE, 5, 1, MPI_ORDER_C};

    MADE_OF(&byte, MPI_COMBINER_DARRAY, integers, NULL, 0, 5, 6);
    shim_datatype_free(&(MPI_Datatype){fake_type_handle(&made)});
    MADE_OF(&byte, MPI_COMBINER_DARRAY, next, NULL, 0, 0, 1, 2, 3, 4, 5, 6);
}
END_TEST

/* Its extent is what the library says. */
START_TEST(a_resized_type_is_that_of_which_it_is_made)
{
    const struct fake_contents contents = {
        .combiner = MPI_COMBINER_RESIZED,
        .addresses = (const MPI_Aint[]){0, 7},
        .n_addresses = 2,
        .types = (const MPI_Datatype[]){fake_type_handle(&gapped)},
        .n_types = 1};
    const struct shim_datatype *type;
    char packed[4];

    made = (struct fake_type){.size = 2, .extent = 7, .contents = &contents};
    type = shim_datatype_find(fake_type_handle(&made));
    ck_assert_ptr_nonnull(type);
    shim_pack("a.b....c.d", 2, type, packed);
    ck_assert_mem_eq(packed, "abcd", 4);
}
END_TEST

START_TEST(types_within_are_freed_but_those_with_a_name)
{
    const struct fake_contents inside = {
        .combiner = MPI_COMBINER_DUP,
        .types = (const MPI_Datatype[]){fake_type_handle(&gapped)},
        .n_types = 1};
    const int integers[] = {2};

    outer = (struct fake_type){.size = 2, .extent = 4, .contents = &inside};
    MADE_OF(&outer, MPI_COMBINER_CONTIGUOUS, integers, NULL, 0, 0, 2, 4, 6);
    ck_assert_int_eq(outer.n_frees, 1);
    ck_assert_int_eq(gapped.n_frees, 0);
}
END_TEST

START_TEST(what_has_other_bytes_than_the_library_says_is_not_used)
{
    const int integers[] = {3};
    const struct fake_contents contents = {
        .combiner = MPI_COMBINER_CONTIGUOUS,
        .integers = integers,
        .n_integers = 1,
        .types = (const MPI_Datatype[]){fake_type_handle(&pair)},
        .n_types = 1};
    const struct fake_contents unknown = {
        .combiner = 12345,
        .types = (const MPI_Datatype[]){fake_type_handle(&pair)},
        .n_types = 1};

    made = (struct fake_type){.size = 7, .extent = 7, .contents = &contents};
    ck_assert_ptr_null(shim_datatype_find(fake_type_handle(&made)));
    outer = (struct fake_type){.size = 2, .extent = 2, .contents = &unknown};
    ck_assert_ptr_null(shim_datatype_find(fake_type_handle(&outer)));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("layout");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_contiguous_type_has_the_gaps_of_its_elements);
    tcase_add_test(tcase, a_vector_has_its_stride_in_elements);
    tcase_add_test(tcase, an_hvector_has_its_stride_in_bytes);
    tcase_add_test(tcase, an_indexed_type_has_its_displacements_in_elements);
    tcase_add_test(tcase, an_hindexed_type_has_its_displacements_in_bytes);
    tcase_add_test(tcase, indexed_blocks_have_one_length);
    tcase_add_test(tcase, a_structure_has_a_type_for_each_block);
    tcase_add_test(tcase, a_subarray_is_a_part_of_each_dimension);
    tcase_add_test(tcase, a_subarray_of_fortran_has_its_first_dimension_inside);
    tcase_add_test(tcase, an_array_without_dimensions_has_no_data);
    tcase_add_test(tcase, a_share_of_an_array_is_that_of_the_rank_in_the_grid);
    tcase_add_test(tcase, the_last_block_of_a_cyclic_share_may_be_short);
    tcase_add_test(tcase, blocks_of_a_share_are_as_long_as_they_are_said_to_be);
    tcase_add_test(tcase, a_resized_type_is_that_of_which_it_is_made);
    tcase_add_test(tcase, types_within_are_freed_but_those_with_a_name);
    tcase_add_test(tcase, what_has_other_bytes_than_the_library_says_is_not_used);
    return run_tcase("datatype_layout", tcase);
}
