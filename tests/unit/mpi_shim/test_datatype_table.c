/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shim knows of datatypes: found at first use, held while something needs
 * them, and forgotten when the program has freed them.
 */
#include <check.h>
#include <string.h>

#include "mpi_shim/data/datatype.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/run_suite.h"

/* More than the table has chains. */
enum { N_MANY = 2000 };

static struct fake_type gapped, dense, uncommitted, many[N_MANY];
static MPI_Datatype handle;

static void set_up(void)
{
    gapped = (struct fake_type){.size = 3, .extent = 8, .places = {0, 1, 4}};
    dense = (struct fake_type){.size = 4, .extent = 4, .places = {0, 1, 2, 3}};
    uncommitted = (struct fake_type){.size = 1, .extent = 1, .is_uncommitted = true};
    fake_library_set();
    ck_assert_int_eq(shim_datatype_setup(), 0);
    handle = fake_type_handle(&gapped);
}

static void tear_down(void)
{
    shim_datatype_teardown();
}

START_TEST(a_type_is_described_once)
{
    const struct shim_datatype *type = shim_datatype_find(handle);

    ck_assert_ptr_nonnull(type);
    ck_assert_ptr_eq(type->handle, handle);
    ck_assert_uint_eq(type->size, 3);
    ck_assert_int_eq(type->extent, 8);
    ck_assert_int_eq(type->true_extent, 5);
    ck_assert(!type->is_dense);
    ck_assert(!type->is_predefined);
    ck_assert_int_eq(type->reduce_type, -1);
    gapped.size = 2; /* nobody asks again */
    ck_assert_ptr_eq(shim_datatype_find(handle), type);
    ck_assert_uint_eq(type->size, 3);
}
END_TEST

START_TEST(types_without_gaps_are_dense)
{
    struct fake_type moved = {.size = 4, .extent = 4, .places = {1, 0, 2, 3}};
    struct fake_type padded = {.size = 2, .extent = 4, .places = {0, 1}};
    struct fake_type behind = {.size = 4, .extent = 4, .places = {4, 5, 6, 7}};
    struct fake_type empty = {.size = 0, .extent = 16};

    ck_assert(shim_datatype_find(fake_type_handle(&dense))->is_dense);
    ck_assert_ptr_null(shim_datatype_find(fake_type_handle(&dense))->layout);
    ck_assert(!shim_datatype_find(fake_type_handle(&moved))->is_dense);
    ck_assert(!shim_datatype_find(fake_type_handle(&padded))->is_dense);
    ck_assert(!shim_datatype_find(fake_type_handle(&behind))->is_dense);
    ck_assert(shim_datatype_find(fake_type_handle(&empty))->is_dense);
}
END_TEST

START_TEST(what_cannot_be_used_is_not_found)
{
    ck_assert_ptr_null(shim_datatype_find(NULL));
    ck_assert_ptr_null(shim_datatype_find(shim_handles.datatype_null));
    ck_assert_ptr_null(shim_datatype_find(fake_type_handle(&uncommitted)));
    uncommitted.is_uncommitted = false; /* MPI_Type_commit */
    ck_assert_ptr_nonnull(shim_datatype_find(fake_type_handle(&uncommitted)));
}
END_TEST

START_TEST(a_freed_type_is_forgotten)
{
    shim_datatype_find(handle);
    ck_assert_int_eq(shim_datatype_free(&handle), MPI_SUCCESS);
    ck_assert_int_eq(gapped.n_frees, 1);
    ck_assert_ptr_eq(handle, shim_handles.datatype_null);
    handle = fake_type_handle(&gapped); /* the library gives it to another type */
    gapped.size = 2;
    ck_assert_uint_eq(shim_datatype_find(handle)->size, 2);
}
END_TEST

START_TEST(a_held_type_lives_until_the_last_lets_go)
{
    const struct shim_datatype *type = shim_datatype_find(handle);
    MPI_Datatype copy = handle;

    shim_datatype_hold(type);
    shim_datatype_hold(type);
    ck_assert_int_eq(shim_datatype_free(&handle), MPI_SUCCESS);
    ck_assert_ptr_eq(handle, shim_handles.datatype_null);
    ck_assert_ptr_null(shim_datatype_find(copy));
    shim_datatype_release(type);
    ck_assert_int_eq(gapped.n_frees, 0);
    ck_assert_ptr_nonnull(type->layout);
    ck_assert_int_eq(shim_datatype_free(&copy), MPI_ERR_TYPE);
    ck_assert_int_eq(fake_error_class, MPI_ERR_TYPE);
    ck_assert_int_eq(gapped.n_frees, 0);
    shim_datatype_release(type);
    ck_assert_int_eq(gapped.n_frees, 1);
    ck_assert_ptr_nonnull(shim_datatype_find(copy));
}
END_TEST

START_TEST(a_type_that_nobody_holds_any_more_stays)
{
    const struct shim_datatype *type = shim_datatype_find(handle);

    shim_datatype_hold(type);
    shim_datatype_release(type);
    ck_assert_int_eq(gapped.n_frees, 0);
    ck_assert_ptr_eq(shim_datatype_find(handle), type);
}
END_TEST

START_TEST(memory_of_a_held_type_serves_another)
{
    const struct shim_datatype *type = shim_datatype_find(handle), *other;
    MPI_Datatype next = fake_type_handle(&many[0]);

    shim_datatype_hold(type);
    shim_datatype_free(&handle);
    ck_assert_int_eq(gapped.n_frees, 0);
    shim_datatype_release(type);
    ck_assert_int_eq(gapped.n_frees, 1);
    many[0] = (struct fake_type){.size = 3, .extent = 8, .places = {0, 1, 4}};
    other = shim_datatype_find(next);
    ck_assert_ptr_eq(other, type);
    shim_datatype_hold(other);
    shim_datatype_release(other); /* it is not freed itself */
    ck_assert_int_eq(many[0].n_frees, 0);
    shim_datatype_free(&next);
    ck_assert_int_eq(many[0].n_frees, 1);
}
END_TEST

START_TEST(many_types_are_told_apart)
{
    for (int i = 0; i < N_MANY; i++) {
        many[i] = (struct fake_type){
            .size = (size_t)(1 + i % 4), .extent = 8 + i, .places = {0, 1, 2, 3}};
        ck_assert_int_eq(shim_datatype_find(fake_type_handle(&many[i]))->extent, 8 + i);
    }
    for (int i = 0; i < N_MANY; i += 2) {
        MPI_Datatype freed = fake_type_handle(&many[i]);

        shim_datatype_free(&freed);
    }
    for (int i = 0; i < N_MANY; i++) {
        ck_assert_int_eq(many[i].n_frees, 1 - i % 2);
        many[i].extent = 1;
    }
    for (int i = 1; i < N_MANY; i += 2) {
        ck_assert_int_eq(shim_datatype_find(fake_type_handle(&many[i]))->extent, 8 + i);
    }
}
END_TEST

START_TEST(data_with_gaps_are_packed_and_unpacked)
{
    const struct shim_datatype *type = shim_datatype_find(handle);
    char memory[16] = "ab..c...de..f...", packed[6], back[16];

    shim_pack(memory, 2, type, packed);
    ck_assert_mem_eq(packed, "abcdef", 6);
    memset(back, '.', sizeof(back));
    shim_unpack(packed, 6, back, type);
    ck_assert_mem_eq(back, memory, sizeof(back));
    shim_unpack("xyzu", 4, back, type); /* the rest of an element is left as it is */
    ck_assert_mem_eq(back, "xy..z...ue..f...", sizeof(back));
}
END_TEST

START_TEST(dense_data_are_copied)
{
    const struct shim_datatype *type = shim_datatype_find(fake_type_handle(&dense));
    char packed[10] = "..........";

    shim_pack("abcdefgh", 2, type, packed);
    ck_assert_mem_eq(packed, "abcdefgh..", 10);
    shim_unpack("xyz", 3, packed, type);
    ck_assert_mem_eq(packed, "xyzdefgh..", 10);
    shim_pack(NULL, 0, type, NULL);
    shim_unpack(NULL, 0, NULL, type);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("table");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_type_is_described_once);
    tcase_add_test(tcase, types_without_gaps_are_dense);
    tcase_add_test(tcase, what_cannot_be_used_is_not_found);
    tcase_add_test(tcase, a_freed_type_is_forgotten);
    tcase_add_test(tcase, a_held_type_lives_until_the_last_lets_go);
    tcase_add_test(tcase, a_type_that_nobody_holds_any_more_stays);
    tcase_add_test(tcase, memory_of_a_held_type_serves_another);
    tcase_add_test(tcase, many_types_are_told_apart);
    tcase_add_test(tcase, data_with_gaps_are_packed_and_unpacked);
    tcase_add_test(tcase, dense_data_are_copied);
    return run_tcase("datatype_table", tcase);
}
