/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls as the API gets them: which of its functions, with which buffers in
 * which role, and what becomes of the buffers at the end.
 */
#include <errno.h>

#include "tests/unit/played_collectives.h"
#include "tests/unit/run_suite.h"

START_TEST(a_barrier_is_of_all_members)
{
    START(.kind = SHIM_BARRIER);
    ck_assert_str_eq(seen.name, "api_barrier");
    ck_assert_ptr_eq(seen.group, &comm.group);
    make_inter();
    START(.kind = SHIM_BARRIER);
    ck_assert_str_eq(seen.name, "api_barrier");
    ck_assert_ptr_eq(seen.group, &comm.sides.both);
}
END_TEST

START_TEST(the_root_of_a_broadcast_keeps_its_buffer)
{
    START(.kind = SHIM_BCAST, .root = RANK, .receive = GAPPED(spaced, 2));
    is_called("api_bcast");
    ck_assert_int_eq(seen.root, RANK);
    ck_assert_uint_eq(seen.n_bytes, 4);
    ck_assert_mem_eq(seen.data, "abcd", 4);
    memcpy((char *)(uintptr_t)seen.data, "1234", 4);
    end();
    ck_assert_str_eq(spaced, "a.b.c.d.e.f.");
}
END_TEST

START_TEST(members_of_a_broadcast_get_it)
{
    START(.kind = SHIM_BCAST, .root = 0, .receive = GAPPED(spaced, 2));
    memcpy((char *)(uintptr_t)seen.data, "1234", 4);
    end();
    ck_assert_str_eq(spaced, "1.2.3.4.e.f.");
}
END_TEST

START_TEST(a_broadcast_across_has_roots_of_its_own)
{
    make_inter();
    START(.kind = SHIM_BCAST, .root = MPI_ROOT, .receive = BYTES(other, 5));
    is_called("across_bcast");
    ck_assert_int_eq(seen.root, BCS_ROOT_SELF);
    ck_assert_ptr_eq(seen.data, other);
    end();
    START(.kind = SHIM_BCAST, .root = MPI_PROC_NULL, .receive = BYTES(other, 5));
    ck_assert_int_eq(seen.root, BCS_ROOT_OUR_SIDE);
    ck_assert_ptr_null(seen.data);
    ck_assert_uint_eq(seen.n_bytes, 0);
    end();
    START(.kind = SHIM_BCAST, .root = 2, .receive = BYTES(other, 5));
    ck_assert_int_eq(seen.root, 2);
    ck_assert_uint_eq(seen.n_bytes, 5);
    end();
}
END_TEST

START_TEST(the_root_of_a_gather_has_a_block_and_gets_all)
{
    START(.kind = SHIM_GATHER, .root = RANK, .send = GAPPED(spaced, 1),
          .receive = GAPPED(other, 1));
    is_called("api_gather");
    ck_assert_int_eq(seen.root, RANK);
    ck_assert(seen.has_mine);
    ck_assert_mem_eq(seen.mine.data, "ab", 2);
    ck_assert_uint_eq(seen.mine.n_bytes, 2);
    ck_assert_uint_eq(seen.receive.block_bytes, 2);
    memcpy(seen.receive.data, "123456", 6);
    end();
    ck_assert_str_eq(other, "1-2-3-4-5-6-");
    ck_assert_str_eq(spaced, "a.b.c.d.e.f.");
}
END_TEST

START_TEST(the_own_block_of_a_gather_in_place_is_there)
{
    START(.kind = SHIM_GATHER, .root = RANK, .send = HERE, .receive = GAPPED(other, 1));
    ck_assert(!seen.has_mine);
    ck_assert_mem_eq((char *)seen.receive.data + 2, "wx", 2);
    memcpy(seen.receive.data, "12", 2);
    memcpy((char *)seen.receive.data + 4, "56", 2);
    end();
    ck_assert_str_eq(other, "1-2-w-x-5-6-");
}
END_TEST

START_TEST(members_of_a_gather_send_their_block)
{
    START(.kind = SHIM_GATHER, .root = 0, .send = BYTES(other, 3));
    ck_assert(seen.has_mine);
    ck_assert_ptr_eq(seen.mine.data, other);
    ck_assert_uint_eq(seen.mine.n_bytes, 3);
    end();
}
END_TEST

START_TEST(the_root_of_a_gather_across_has_no_block)
{
    make_inter();
    START(.kind = SHIM_GATHER, .root = MPI_ROOT, .send = BYTES(spaced, 9),
          .receive = BYTES(other, 2));
    is_called("across_gather");
    ck_assert_int_eq(seen.root, BCS_ROOT_SELF);
    ck_assert_ptr_null(seen.mine.data);
    ck_assert_uint_eq(seen.mine.n_bytes, 0);
    ck_assert_ptr_eq(seen.receive.data, other);
    end();
    START(.kind = SHIM_GATHER, .root = 0, .send = BYTES(spaced, 9));
    ck_assert_ptr_eq(seen.mine.data, spaced);
    ck_assert_uint_eq(seen.mine.n_bytes, 9);
    end();
}
END_TEST

START_TEST(a_scatter_is_unpacked_where_it_arrives)
{
    START(.kind = SHIM_SCATTER, .root = RANK, .send = GAPPED(spaced, 1),
          .receive = GAPPED(other, 1));
    is_called("api_scatter");
    ck_assert_int_eq(seen.root, RANK);
    ck_assert_mem_eq(seen.send.data, "abcdef", 6);
    memcpy(seen.mine.data, "12", 2);
    memcpy(seen.send.data, "______", 6);
    end();
    ck_assert_str_eq(other, "1-2-w-x-y-z-");
    ck_assert_str_eq(spaced, "a.b.c.d.e.f.");
    START(.kind = SHIM_SCATTER, .root = RANK, .send = BYTES(spaced, 1),
          .receive = HERE);
    ck_assert(!seen.has_mine);
    end();
    START(.kind = SHIM_SCATTER, .root = 0, .receive = BYTES(other, 1));
    ck_assert_ptr_eq(seen.mine.data, other);
    end();
    make_inter();
    START(.kind = SHIM_SCATTER, .root = MPI_PROC_NULL, .receive = BYTES(other, 1));
    is_called("across_scatter");
    ck_assert_int_eq(seen.root, BCS_ROOT_OUR_SIDE);
    ck_assert_ptr_null(seen.mine.data);
    end();
}
END_TEST

START_TEST(an_allgather_has_the_own_block_apart_or_in_place)
{
    START(.kind = SHIM_ALLGATHER, .send = BYTES(spaced, 2), .receive = BYTES(other, 2));
    is_called("api_allgather");
    ck_assert_ptr_eq(seen.data, spaced);
    ck_assert_ptr_eq(seen.receive.data, other);
    end();
    START(.kind = SHIM_ALLGATHER, .send = HERE, .receive = GAPPED(other, 1));
    ck_assert_ptr_null(seen.data);
    ck_assert_mem_eq((char *)seen.receive.data + 2, "wx", 2);
    end();
    make_inter();
    START(.kind = SHIM_ALLGATHER, .send = BYTES(spaced, 4), .receive = BYTES(other, 2));
    is_called("across_allgather");
    ck_assert_ptr_eq(seen.mine.data, spaced);
    ck_assert_uint_eq(seen.mine.n_bytes, 4);
    end();
}
END_TEST

START_TEST(an_alltoall_in_place_has_all_its_blocks_there)
{
    START(.kind = SHIM_ALLTOALL, .send = HERE, .receive = GAPPED(other, 1));
    is_called("api_alltoall");
    ck_assert_ptr_null(seen.send.data);
    ck_assert_mem_eq(seen.receive.data, "uvwxyz", 6);
    memcpy(seen.receive.data, "123456", 6);
    end();
    ck_assert_str_eq(other, "1-2-3-4-5-6-");
    START(.kind = SHIM_ALLTOALL, .send = GAPPED(spaced, 1),
          .receive = GAPPED(other, 1));
    ck_assert_mem_eq(seen.send.data, "abcdef", 6);
    memcpy(seen.receive.data, "abcdef", 6);
    end();
    ck_assert_str_eq(other, "a-b-c-d-e-f-");
    make_inter();
    START(.kind = SHIM_ALLTOALL, .send = BYTES(spaced, 1), .receive = BYTES(other, 2));
    is_called("across_alltoall");
    ck_assert_ptr_eq(seen.send.data, spaced);
    ck_assert_ptr_eq(seen.receive.data, other);
    end();
}
END_TEST

START_TEST(all_neighbours_get_the_same_block)
{
    START(.kind = SHIM_NEIGHBOR_ALLGATHER, .send = GAPPED(spaced, 2),
          .receive = BYTES(other, 4));
    is_called("neighbor_exchange");
    ck_assert_ptr_eq(seen.data, &neighbors);
    ck_assert_mem_eq(seen.send.data, "abcd", 4);
    ck_assert_uint_eq(seen.send.block_bytes, 4);
    ck_assert_ptr_null(seen.send.n_bytes);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(seen.send.displacements[i], 0);
    }
    ck_assert_ptr_eq(seen.receive.data, other);
    end();
}
END_TEST

START_TEST(neighbours_have_a_block_each)
{
    START(.kind = SHIM_NEIGHBOR_ALLTOALL, .send = GAPPED(spaced, 1),
          .receive = GAPPED(other, 1));
    ck_assert_mem_eq(seen.send.data, "abcd", 4); /* of two targets */
    memcpy(seen.receive.data, "12", 2);
    end();
    ck_assert_str_eq(other, "1-2-w-x-y-z-"); /* of one source */
}
END_TEST

START_TEST(who_is_no_neighbour_leaves_its_block_as_it_was)
{
    neighbors.n_sources = 2; /* the second is nobody */
    START(.kind = SHIM_NEIGHBOR_ALLTOALL, .send = GAPPED(spaced, 1),
          .receive = GAPPED(other, 1));
    memcpy(seen.receive.data, "12", 2);
    end();
    ck_assert_str_eq(other, "1-2-w-x-y-z-");
}
END_TEST

START_TEST(what_has_failed_changes_no_buffer)
{
    START(.kind = SHIM_ALLTOALL, .send = BYTES(spaced, 2), .receive = GAPPED(other, 1));
    memcpy(seen.receive.data, "123456", 6);
    ck_assert_int_eq(shim_exchange_close(&x, -ENOMEM), -ENOMEM);
    ck_assert_str_eq(other, "u-v-w-x-y-z-");
    ck_assert_int_eq(shim_exchange_close(&x, 0), -ENOMEM); /* once more does nothing */
    START(.kind = SHIM_ALLTOALL, .send = BYTES(spaced, 2), .receive = GAPPED(other, 1));
    memcpy(seen.receive.data, "123456", 6);
    ck_assert_int_eq(shim_exchange_close(&x, BCS_E_TRUNCATED), BCS_E_TRUNCATED);
    ck_assert_str_eq(other, "1-2-3-4-5-6-"); /* what has come is there */
}
END_TEST

START_TEST(a_start_that_fails_says_so)
{
    api_rc = -ENOMEM;
    ck_assert_int_eq(start((struct shim_collective){.kind = SHIM_ALLREDUCE,
                                                    SUM,
                                                    .send = NUMBERS(spaced, 2),
                                                    .receive = NUMBERS(other, 2)}),
                     -ENOMEM);
    ck_assert_int_eq(shim_exchange_close(&x, -ENOMEM), -ENOMEM);
    api_rc = 0;
    START(.kind = SHIM_BARRIER); /* the exchange serves again */
    end();
}
END_TEST

START_TEST(what_an_exchange_holds_outlives_its_free)
{
    struct shim_exchange *held = calloc(1, sizeof(*held));
    MPI_Datatype sent = gapped, received = byte;
    const MPI_Datatype types[N] = {gapped, byte, gapped};
    MPI_Op op = fake_op_handle(&add);
    static const int counts[N] = {1, 1, 1};

    held->call = (struct shim_collective){
        .kind = SHIM_ALLREDUCE, USER, .send = HERE, .receive = GAPPED(other, 1)};
    ck_assert_int_eq(shim_collective_check(&comm, &held->call), MPI_SUCCESS);
    shim_exchange_hold(held);
    ck_assert_int_eq(shim_datatype_free(&sent), MPI_SUCCESS);
    ck_assert_int_eq(shim_op_free(&op), MPI_SUCCESS);
    ck_assert_int_eq(gapped_type.n_frees, 0);
    ck_assert_int_eq(add.n_frees, 0);
    shim_exchange_free(held);
    ck_assert_int_eq(gapped_type.n_frees, 1);
    ck_assert_int_eq(add.n_frees, 1);

    held = calloc(1, sizeof(*held));
    held->call = (struct shim_collective){.kind = SHIM_ALLTOALL,
                                          .send = HERE,
                                          .receive = {.is_vector = true,
                                                      .has_types = true,
                                                      .buf = other,
                                                      .counts = counts,
                                                      .displs = counts,
                                                      .datatypes = types}};
    ck_assert_int_eq(shim_collective_check(&comm, &held->call), MPI_SUCCESS);
    shim_exchange_hold(held);
    ck_assert_ptr_ne(held->call.receive.counts, counts);
    ck_assert_int_eq(shim_datatype_free(&received), MPI_SUCCESS);
    ck_assert_int_eq(byte_type.n_frees, 0);
    shim_exchange_free(held);
    ck_assert_int_eq(byte_type.n_frees, 1);
    shim_exchange_free(NULL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("exchange_forms");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_barrier_is_of_all_members);
    tcase_add_test(tcase, the_root_of_a_broadcast_keeps_its_buffer);
    tcase_add_test(tcase, members_of_a_broadcast_get_it);
    tcase_add_test(tcase, a_broadcast_across_has_roots_of_its_own);
    tcase_add_test(tcase, the_root_of_a_gather_has_a_block_and_gets_all);
    tcase_add_test(tcase, the_own_block_of_a_gather_in_place_is_there);
    tcase_add_test(tcase, members_of_a_gather_send_their_block);
    tcase_add_test(tcase, the_root_of_a_gather_across_has_no_block);
    tcase_add_test(tcase, a_scatter_is_unpacked_where_it_arrives);
    tcase_add_test(tcase, an_allgather_has_the_own_block_apart_or_in_place);
    tcase_add_test(tcase, an_alltoall_in_place_has_all_its_blocks_there);
    tcase_add_test(tcase, all_neighbours_get_the_same_block);
    tcase_add_test(tcase, neighbours_have_a_block_each);
    tcase_add_test(tcase, who_is_no_neighbour_leaves_its_block_as_it_was);
    tcase_add_test(tcase, what_has_failed_changes_no_buffer);
    tcase_add_test(tcase, a_start_that_fails_says_so);
    tcase_add_test(tcase, what_an_exchange_holds_outlives_its_free);
    return run_tcase("exchange_forms", tcase);
}
