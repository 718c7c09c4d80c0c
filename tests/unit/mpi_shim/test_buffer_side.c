/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of collectives as contiguous bytes: used where they are if their data have no
 * gaps, else packed, and unpacked at the end if they are an output; and blocks by
 * counts and displacements.
 */
#include <check.h>
#include <string.h>

#include "mpi_shim/data/buffer_side.h"
#include "mpi_shim/real/state.h"
#include "mpi_shim/request/request.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

enum { N_MANY = SHIM_BLOCKS_SMALL + 1 };

static struct fake_type gapped_type, word_type, wide_type;
static const struct shim_datatype *gapped, *word, *wide;
static struct shim_buffers watching;

static void set_up(void)
{
    gapped_type = (struct fake_type){.size = 2, .extent = 4, .places = {0, 2}};
    word_type = (struct fake_type){.size = 2, .extent = 2, .places = {0, 1}};
    wide_type = (struct fake_type){.size = 3, .extent = 3, .places = {0, 1, 2}};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    gapped = shim_datatype_find(fake_type_handle(&gapped_type));
    word = shim_datatype_find(fake_type_handle(&word_type));
    wide = shim_datatype_find(fake_type_handle(&wide_type));
    shim_state.buffers = NULL;
}

static void tear_down(void)
{
    shim_state.buffers = NULL;
    shim_datatype_teardown();
}

START_TEST(data_without_gaps_are_used_where_they_are)
{
    struct shim_side side;
    char buf[] = "abcdef";

    for (int is_input = 0; is_input < 2; is_input++) {
        ck_assert_int_eq(shim_side_open(&side, buf, 3, word, is_input != 0), 0);
        ck_assert_ptr_eq(side.data, buf);
        ck_assert_uint_eq(side.n_bytes, 6);
        ck_assert_ptr_null(side.temporary);
        shim_side_close(&side, true);
        ck_assert_str_eq(buf, "abcdef");
    }
}
END_TEST

START_TEST(an_input_with_gaps_is_packed)
{
    struct shim_side side;
    char buf[] = "a.b.c.d.";

    ck_assert_int_eq(shim_side_open(&side, buf, 2, gapped, true), 0);
    ck_assert_uint_eq(side.n_bytes, 4);
    ck_assert_mem_eq(side.data, "abcd", 4);
    memcpy(side.data, "xxxx", 4);
    shim_side_close(&side, false); /* nothing is written back */
    ck_assert_ptr_null(side.temporary);
    ck_assert_str_eq(buf, "a.b.c.d.");
}
END_TEST

START_TEST(an_output_with_gaps_is_unpacked_if_it_has_been_received)
{
    struct shim_side side;
    char buf[] = "a.b.c.d.";

    ck_assert_int_eq(shim_side_open(&side, buf, 2, gapped, false), 0);
    memcpy(side.data, "wxyz", 4);
    ck_assert_str_eq(buf, "a.b.c.d.");
    shim_side_close(&side, true);
    ck_assert_str_eq(buf, "w.x.y.z.");
    ck_assert_int_eq(shim_side_open(&side, buf, 2, gapped, false), 0);
    memcpy(side.data, "abcd", 4);
    shim_side_close(&side, false);
    ck_assert_str_eq(buf, "w.x.y.z.");
}
END_TEST

START_TEST(no_data_need_no_memory)
{
    struct shim_side side;

    ck_assert_int_eq(shim_side_open(&side, NULL, 0, gapped, true), 0);
    ck_assert_ptr_null(side.temporary);
    ck_assert_uint_eq(side.n_bytes, 0);
    shim_side_close(&side, true);
}
END_TEST

START_TEST(a_watched_output_is_left_alone_until_the_end)
{
    struct shim_side side;
    char buf[] = "abcd";

    shim_state.buffers = &watching;
    ck_assert_int_eq(shim_side_open(&side, buf, 2, word, true), 0);
    ck_assert_ptr_eq(side.data, buf);
    shim_side_close(&side, false);
    ck_assert_int_eq(shim_side_open(&side, buf, 2, word, false), 0);
    ck_assert_ptr_ne(side.data, buf);
    memcpy(side.data, "wxyz", 4);
    shim_side_close(&side, true);
    ck_assert_str_eq(buf, "wxyz");
}
END_TEST

START_TEST(blocks_without_counts_follow_each_other)
{
    struct shim_layout layout = {.count = 2, .type = word};
    struct shim_blocks blocks;
    char buf[] = "abcdefgh";

    layout.buf = buf;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 2, SHIM_INPUT_ALL), 0);
    ck_assert_ptr_eq(blocks.blocks.data, buf);
    ck_assert_uint_eq(blocks.blocks.block_bytes, 4);
    ck_assert_ptr_null(blocks.blocks.n_bytes);
    ck_assert_ptr_null(blocks.blocks.displacements);
    ck_assert(!shim_blocks_is_open(&blocks));
    shim_blocks_close(&blocks, true);
}
END_TEST

START_TEST(blocks_have_their_displacements_in_extents)
{
    const int counts[] = {2, 1, 0}, displs[] = {3, 0, 7};
    struct shim_layout layout = {
        .is_vector = true, .counts = counts, .displs = displs, .type = word};
    struct shim_blocks blocks;
    char buf[16];

    layout.buf = buf;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 3, SHIM_INPUT_NONE), 0);
    ck_assert_ptr_eq(blocks.blocks.data, buf);
    ck_assert_uint_eq(blocks.blocks.n_bytes[0], 4);
    ck_assert_uint_eq(blocks.blocks.n_bytes[1], 2);
    ck_assert_uint_eq(blocks.blocks.n_bytes[2], 0);
    ck_assert_uint_eq(blocks.blocks.displacements[0], 6);
    ck_assert_uint_eq(blocks.blocks.displacements[1], 0);
    ck_assert_uint_eq(blocks.blocks.displacements[2], 14);
    shim_blocks_close(&blocks, true);
}
END_TEST

START_TEST(blocks_from_the_bottom_of_memory_are_at_their_addresses)
{
    const int counts[] = {1, 1};
    char first[2], second[2];
    const MPI_Aint offsets[] = {(MPI_Aint)first, (MPI_Aint)second};
    struct shim_layout layout = {
        .is_vector = true, .counts = counts, .offsets = offsets, .type = word};
    struct shim_blocks blocks;

    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 2, SHIM_INPUT_ALL), 0);
    ck_assert_ptr_nonnull(blocks.blocks.data); /* NULL would be in place */
    ck_assert_uint_eq((uintptr_t)blocks.blocks.data + blocks.blocks.displacements[0],
                      (uintptr_t)first);
    ck_assert_uint_eq((uintptr_t)blocks.blocks.data + blocks.blocks.displacements[1],
                      (uintptr_t)second);
    shim_blocks_close(&blocks, true);
}
END_TEST

/* Two blocks, "ab" and "cd", behind each other, with gaps. */
static char spaced[9];
static struct shim_layout with_gaps;

static void set_gaps(void)
{
    strcpy(spaced, "a.b.c.d.");
    with_gaps = (struct shim_layout){.buf = spaced, .count = 1, .type = gapped};
}

START_TEST(all_blocks_or_one_are_packed)
{
    struct shim_blocks blocks;

    set_gaps();
    ck_assert_int_eq(shim_blocks_open(&blocks, &with_gaps, 2, SHIM_INPUT_ALL), 0);
    ck_assert(shim_blocks_is_open(&blocks));
    ck_assert_mem_eq(blocks.blocks.data, "abcd", 4);
    shim_blocks_close(&blocks, false);
    ck_assert_int_eq(shim_blocks_open(&blocks, &with_gaps, 2, 1), 0);
    ck_assert_mem_eq((char *)blocks.blocks.data + 2, "cd", 2);
    memcpy(blocks.blocks.data, "wxyz", 4);
    shim_blocks_close(&blocks, false);
    ck_assert_str_eq(spaced, "a.b.c.d.");
}
END_TEST

START_TEST(blocks_that_were_received_are_unpacked)
{
    struct shim_blocks blocks;

    set_gaps();
    ck_assert_int_eq(shim_blocks_open(&blocks, &with_gaps, 2, SHIM_INPUT_NONE), 0);
    memcpy(blocks.blocks.data, "wxyz", 4);
    shim_blocks_close(&blocks, true);
    ck_assert_str_eq(spaced, "w.x.y.z.");
}
END_TEST

START_TEST(blocks_of_several_types_are_each_as_theirs_is)
{
    const struct shim_datatype *types[] = {word, gapped, wide};
    const int counts[] = {1, 2, 1}, displs[] = {9, 0, 12}; /* bytes */
    struct shim_layout layout = {.is_vector = true,
                                 .has_types = true,
                                 .types = types,
                                 .counts = counts,
                                 .displs = displs};
    struct shim_blocks blocks;
    char buf[] = "a.b.c.d..ef.ghi";

    layout.buf = buf;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 3, SHIM_INPUT_ALL), 0);
    ck_assert_mem_eq(blocks.blocks.data, "efabcdghi", 9);
    ck_assert_uint_eq(blocks.blocks.n_bytes[0], 2);
    ck_assert_uint_eq(blocks.blocks.n_bytes[1], 4);
    ck_assert_uint_eq(blocks.blocks.n_bytes[2], 3);
    memcpy(blocks.blocks.data, "123456789", 9);
    shim_blocks_close(&blocks, true);
    ck_assert_str_eq(buf, "3.4.5.6..12.789");
}
END_TEST

START_TEST(blocks_of_dense_types_are_used_where_they_are)
{
    const struct shim_datatype *types[] = {word, wide};
    const int counts[] = {2, 1}, displs[] = {3, 0}; /* bytes */
    struct shim_layout layout = {.is_vector = true,
                                 .has_types = true,
                                 .types = types,
                                 .counts = counts,
                                 .displs = displs};
    struct shim_blocks blocks;
    char buf[8];

    layout.buf = buf;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 2, SHIM_INPUT_ALL), 0);
    ck_assert_ptr_eq(blocks.blocks.data, buf);
    ck_assert_uint_eq(blocks.blocks.displacements[0], 3);
    ck_assert_uint_eq(blocks.blocks.displacements[1], 0);
    shim_blocks_close(&blocks, true);
    shim_state.buffers = &watching;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, 2, SHIM_INPUT_ALL), 0);
    ck_assert_ptr_ne(blocks.blocks.data, buf);
    shim_blocks_close(&blocks, false);
}
END_TEST

START_TEST(many_blocks_have_numbers_of_their_own)
{
    int counts[N_MANY], displs[N_MANY];
    struct shim_layout layout = {
        .is_vector = true, .counts = counts, .displs = displs, .type = word};
    struct shim_blocks blocks;
    char buf[2 * N_MANY];

    for (int i = 0; i < N_MANY; i++) {
        counts[i] = 1;
        displs[i] = N_MANY - 1 - i;
    }
    layout.buf = buf;
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, N_MANY, SHIM_INPUT_ALL), 0);
    ck_assert(shim_blocks_is_open(&blocks)); /* there is something to free */
    for (int i = 0; i < N_MANY; i++) {
        ck_assert_uint_eq(blocks.blocks.n_bytes[i], 2);
        ck_assert_uint_eq(blocks.blocks.displacements[i],
                          (size_t)(2 * (N_MANY - 1 - i)));
    }
    shim_blocks_close(&blocks, true);
    ck_assert_int_eq(shim_blocks_open(&blocks, &layout, N_MANY - 1, SHIM_INPUT_ALL), 0);
    ck_assert(!shim_blocks_is_open(&blocks));
    shim_blocks_close(&blocks, true);
}
END_TEST

START_TEST(what_describes_blocks_is_kept)
{
    int counts[] = {1, 2}, displs[] = {5, 6};
    MPI_Aint offsets[] = {7, 8};
    struct shim_layout layout = {
        .is_vector = true, .n_blocks = 2, .counts = counts, .displs = displs};
    struct shim_layout far = {
        .is_vector = true, .n_blocks = 2, .counts = counts, .offsets = offsets};
    struct shim_layout none = {.is_vector = true, .counts = counts};

    shim_layout_keep(&layout);
    shim_layout_keep(&far);
    shim_layout_keep(&none); /* this rank has no use for them */
    ck_assert_ptr_null(none.kept);
    counts[0] = counts[1] = displs[0] = displs[1] = 99;
    offsets[0] = offsets[1] = 99;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(layout.counts[i], 1 + i);
        ck_assert_int_eq(layout.displs[i], 5 + i);
        ck_assert_int_eq(far.counts[i], 1 + i);
        ck_assert_int_eq(far.offsets[i], 7 + i);
    }
    ck_assert_ptr_null(layout.offsets);
    ck_assert_ptr_null(far.displs);
    free(layout.kept);
    free(far.kept);
}
END_TEST

START_TEST(a_block_is_told_with_its_place_and_elements)
{
    const int counts[] = {2, 5}, displs[] = {3, 4};
    struct shim_layout layout = {
        .is_vector = true, .counts = counts, .displs = displs, .type = gapped};
    const struct shim_datatype *type;
    char buf[1];
    size_t count;

    layout.buf = buf;
    ck_assert_ptr_eq(shim_layout_block(&layout, 1, &count, &type), buf + 16);
    ck_assert_uint_eq(count, 5);
    ck_assert_ptr_eq(type, gapped);
    layout = (struct shim_layout){.buf = buf, .count = 3, .type = gapped};
    ck_assert_ptr_eq(shim_layout_block(&layout, 2, &count, &type), buf + 24);
    ck_assert_uint_eq(count, 3);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("buffer_side");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, data_without_gaps_are_used_where_they_are);
    tcase_add_test(tcase, an_input_with_gaps_is_packed);
    tcase_add_test(tcase, an_output_with_gaps_is_unpacked_if_it_has_been_received);
    tcase_add_test(tcase, no_data_need_no_memory);
    tcase_add_test(tcase, a_watched_output_is_left_alone_until_the_end);
    tcase_add_test(tcase, blocks_without_counts_follow_each_other);
    tcase_add_test(tcase, blocks_have_their_displacements_in_extents);
    tcase_add_test(tcase, blocks_from_the_bottom_of_memory_are_at_their_addresses);
    tcase_add_test(tcase, all_blocks_or_one_are_packed);
    tcase_add_test(tcase, blocks_that_were_received_are_unpacked);
    tcase_add_test(tcase, blocks_of_several_types_are_each_as_theirs_is);
    tcase_add_test(tcase, blocks_of_dense_types_are_used_where_they_are);
    tcase_add_test(tcase, many_blocks_have_numbers_of_their_own);
    tcase_add_test(tcase, what_describes_blocks_is_kept);
    tcase_add_test(tcase, a_block_is_told_with_its_place_and_elements);
    return run_tcase("buffer_side", tcase);
}
