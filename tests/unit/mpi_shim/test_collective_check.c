/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of collective calls: which error class each wrong one has, what a rank
 * need not describe in its role, and what is found for the call. The communicator is
 * played, of one group or of two.
 */
#include "tests/unit/checked_calls.h"
#include "tests/unit/run_suite.h"

START_TEST(a_root_is_a_rank_of_the_group)
{
    ck_assert_int_eq(shim_collective_role(&comm, RANK), SHIM_ROLE_ROOT);
    ck_assert_int_eq(shim_collective_role(&comm, 0), SHIM_ROLE_MEMBER);
    ck_assert_int_eq(shim_collective_role(&comm, N - 1), SHIM_ROLE_MEMBER);
    ck_assert_int_eq(shim_collective_role(&comm, N), SHIM_ROLE_INVALID);
    ck_assert_int_eq(shim_collective_role(&comm, -1), SHIM_ROLE_INVALID);
    ck_assert_int_eq(shim_collective_role(&comm, MPI_ROOT), SHIM_ROLE_INVALID);
    ck_assert_int_eq(shim_collective_role(&comm, MPI_PROC_NULL), SHIM_ROLE_INVALID);
}
END_TEST

START_TEST(a_root_of_two_sides_is_one_of_the_others_or_has_a_name)
{
    make_inter();
    ck_assert_int_eq(shim_collective_role(&comm, MPI_ROOT), SHIM_ROLE_ROOT);
    ck_assert_int_eq(shim_collective_role(&comm, MPI_PROC_NULL), SHIM_ROLE_NONE);
    ck_assert_int_eq(shim_collective_role(&comm, RANK), SHIM_ROLE_MEMBER);
    ck_assert_int_eq(shim_collective_role(&comm, N), SHIM_ROLE_INVALID);
    ck_assert_int_eq(shim_collective_role(&comm, MPI_ANY_SOURCE), SHIM_ROLE_INVALID);
}
END_TEST

#define BCAST(its_root, ...)                                                           \
    CLASS_OF(.kind = SHIM_BCAST, .root = (its_root), .receive = __VA_ARGS__)

START_TEST(a_broadcast_has_one_buffer)
{
    ck_assert_int_eq(BCAST(0, WORDS(2)), MPI_SUCCESS);
    ck_assert_int_eq(BCAST(0, WORDS(-1)), MPI_ERR_COUNT);
    ck_assert_int_eq(BCAST(N, OF(buffer, 1, NULL)), MPI_ERR_TYPE);
    ck_assert_int_eq(BCAST(N, OF(MPI_IN_PLACE, 1, word)), MPI_ERR_ARG);
    ck_assert_int_eq(BCAST(N, WORDS(2)), MPI_ERR_ROOT);
    ck_assert_int_eq(BCAST(0, OF(NULL, 1, word)), MPI_ERR_BUFFER);
    ck_assert_int_eq(BCAST(0, OF(NULL, 0, word)), MPI_SUCCESS);
    comm.group.size = 1;
    comm.group.rank = 0;
    ck_assert_int_eq(BCAST(0, OF(NULL, 1, word)), MPI_SUCCESS);
}
END_TEST

START_TEST(who_has_no_part_in_a_broadcast_describes_nothing)
{
    make_inter();
    ck_assert_int_eq(BCAST(MPI_PROC_NULL, NOTHING), MPI_SUCCESS);
    ck_assert_int_eq(BCAST(MPI_ROOT, NOTHING), MPI_ERR_COUNT);
    ck_assert_int_eq(BCAST(MPI_ROOT, OF(NULL, 1, word)), MPI_ERR_BUFFER);
}
END_TEST

#define GATHER(its_root, its_send, ...)                                                \
    CLASS_OF(.kind = SHIM_GATHER, .root = (its_root), .send = its_send,                \
             .receive = __VA_ARGS__)
#define SCATTER(its_root, its_receive, ...)                                            \
    CLASS_OF(.kind = SHIM_SCATTER, .root = (its_root), .receive = its_receive,         \
             .send = __VA_ARGS__)
#define MY_NOTHING NOTHING

START_TEST(the_root_of_a_gather_describes_all_blocks)
{
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(RANK, MY_HERE, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, HERE), MPI_ERR_ARG);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, OTHERS(-1)), MPI_ERR_COUNT);
    ck_assert_int_eq(GATHER(RANK, MY_NOTHING, OTHERS(-1)), MPI_ERR_COUNT);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, OF(other, 1, NULL)), MPI_ERR_TYPE);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, OF(NULL, 1, word)), MPI_ERR_BUFFER);
    ck_assert_int_eq(GATHER(N, MY_WORDS, OTHERS(1)), MPI_ERR_ROOT);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(other, counts, displs)),
                     MPI_SUCCESS);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(other, counts, NULL)), MPI_ERR_ARG);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(other, NULL, displs)),
                     MPI_ERR_COUNT);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(other, negative, displs)),
                     MPI_ERR_COUNT);
}
END_TEST

START_TEST(members_of_a_gather_describe_their_own)
{
    ck_assert_int_eq(GATHER(0, MY_WORDS, NOTHING), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(0, MY_WORDS, HERE), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(0, MY_HERE, OTHERS(1)), MPI_ERR_ARG);
    ck_assert_int_eq(GATHER(0, MY_NOTHING, OTHERS(1)), MPI_ERR_COUNT);
}
END_TEST

START_TEST(a_scatter_is_a_gather_the_other_way)
{
    ck_assert_int_eq(SCATTER(RANK, MY_HERE, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(SCATTER(RANK, MY_WORDS, HERE), MPI_ERR_ARG);
    ck_assert_int_eq(SCATTER(RANK, MY_WORDS, VECTOR(other, counts, NULL)), MPI_ERR_ARG);
    ck_assert_int_eq(SCATTER(0, MY_HERE, OTHERS(1)), MPI_ERR_ARG);
    ck_assert_int_eq(SCATTER(0, MY_WORDS, NOTHING), MPI_SUCCESS);
    ck_assert_int_eq(SCATTER(0, MY_NOTHING, OTHERS(1)), MPI_ERR_COUNT);
}
END_TEST

START_TEST(the_root_of_two_sides_has_no_block_of_its_own)
{
    make_inter();
    ck_assert_int_eq(GATHER(MPI_ROOT, MY_NOTHING, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(MPI_ROOT, MY_NOTHING, OTHERS(-1)), MPI_ERR_COUNT);
    ck_assert_int_eq(GATHER(MPI_PROC_NULL, MY_NOTHING, NOTHING), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(0, MY_NOTHING, NOTHING), MPI_ERR_COUNT);
    ck_assert_int_eq(SCATTER(MPI_ROOT, MY_NOTHING, OTHERS(1)), MPI_SUCCESS);
}
END_TEST

START_TEST(blocks_at_null_are_empty_or_elsewhere)
{
    static const int elsewhere[N] = {1, 2, 3}, only_first[N] = {1, 0, 0};

    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(NULL, counts, displs)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(NULL, none, displs)), MPI_SUCCESS);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(NULL, counts, elsewhere)),
                     MPI_SUCCESS);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, VECTOR(NULL, only_first, none)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(GATHER(RANK, MY_WORDS, OF(NULL, 0, word)), MPI_SUCCESS);
}
END_TEST

#define ALLGATHER(its_send, ...)                                                       \
    CLASS_OF(.kind = SHIM_ALLGATHER, .send = its_send, .receive = __VA_ARGS__)
#define MY_BYTES OF(buffer, 2, byte)
#define MY_TWO WORDS(2)
#define MY_BAD OF(buffer, 1, NULL)

START_TEST(an_allgather_has_blocks_as_long_as_the_own_one)
{
    ck_assert_int_eq(ALLGATHER(MY_WORDS, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(ALLGATHER(MY_BYTES, OTHERS(1)), MPI_SUCCESS);
    ck_assert_uint_eq(n_refused_sent, 0);
    ck_assert_int_eq(ALLGATHER(MY_WORDS, OTHERS(2)), MPI_ERR_TRUNCATE);
    ck_assert_uint_eq(n_refused_sent, 2);
    ck_assert_uint_eq(n_refused_expected, 4);
    ck_assert_int_eq(ALLGATHER(MY_TWO, VECTOR(other, counts, displs)), MPI_SUCCESS);
    ck_assert_int_eq(ALLGATHER(MY_WORDS, VECTOR(other, counts, displs)),
                     MPI_ERR_TRUNCATE);
    make_inter();
    ck_assert_int_eq(ALLGATHER(MY_WORDS, OTHERS(2)), MPI_SUCCESS);
}
END_TEST

START_TEST(what_is_sent_in_an_allgather_may_be_in_place)
{
    ck_assert_int_eq(ALLGATHER(MY_HERE, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(ALLGATHER(MY_WORDS, HERE), MPI_ERR_ARG);
    make_inter();
    ck_assert_int_eq(ALLGATHER(MY_HERE, OTHERS(1)), MPI_ERR_ARG);
}
END_TEST

START_TEST(the_first_fault_of_an_allgather_is_told)
{
    ck_assert_int_eq(ALLGATHER(MY_BAD, VECTOR(other, counts, NULL)), MPI_ERR_TYPE);
    ck_assert_int_eq(ALLGATHER(MY_WORDS, VECTOR(other, counts, NULL)), MPI_ERR_BUFFER);
    ck_assert_int_eq(ALLGATHER(MY_WORDS, VECTOR(other, NULL, displs)), MPI_ERR_COUNT);
}
END_TEST

#define ALLTOALL(its_send, ...)                                                        \
    CLASS_OF(.kind = SHIM_ALLTOALL, .send = its_send, .receive = __VA_ARGS__)
#define SENT VECTOR(buffer, counts, displs)
#define SENT_NOWHERE VECTOR(buffer, counts, NULL)

START_TEST(an_alltoall_has_blocks_both_ways)
{
    static const int more[N] = {5, 2, 6}, less[N] = {1, 1, 3};

    ck_assert_int_eq(ALLTOALL(SENT, VECTOR(other, more, displs)), MPI_SUCCESS);
    ck_assert_int_eq(ALLTOALL(SENT, VECTOR(other, less, displs)), MPI_ERR_TRUNCATE);
    ck_assert_uint_eq(n_refused_sent, 4);
    ck_assert_uint_eq(n_refused_expected, 2);
    ck_assert_int_eq(ALLTOALL(SENT_NOWHERE, VECTOR(other, counts, displs)),
                     MPI_ERR_ARG);
    ck_assert_int_eq(ALLTOALL(SENT, VECTOR(other, NULL, displs)), MPI_ERR_ARG);
    ck_assert_int_eq(ALLTOALL(MY_HERE, VECTOR(other, counts, displs)), MPI_SUCCESS);
    ck_assert_int_eq(ALLTOALL(SENT, HERE), MPI_ERR_ARG);
    ck_assert_int_eq(ALLTOALL(MY_WORDS, OTHERS(2)), MPI_ERR_TRUNCATE);
}
END_TEST

START_TEST(blocks_have_types_of_their_own)
{
    const MPI_Datatype types[N] = {word, byte, word}, bad[N] = {word, NULL, word};
    struct shim_collective call = {
        .kind = SHIM_ALLTOALL,
        .send = {.buf = MPI_IN_PLACE},
        .receive = {.is_vector = true,
                    .has_types = true,
                    .buf = buffer,
                    .counts = counts,
                    .displs = displs,
                    .datatypes = types},
    };

    ck_assert_int_eq(shim_collective_check(&comm, &call), MPI_SUCCESS);
    ck_assert_int_eq(call.receive.n_types, N);
    ck_assert_int_eq(call.receive.n_blocks, N);
    ck_assert_ptr_eq(call.receive.types[0]->handle, word);
    ck_assert_ptr_eq(call.receive.types[1]->handle, byte);
    shim_collective_forget(&call);
    ck_assert_ptr_null(call.receive.types);
    call.receive.counts = negative;
    ck_assert_int_eq(class_of(call), MPI_ERR_COUNT);
    call.receive.counts = counts;
    call.receive.datatypes = bad;
    call.receive.n_types = 0;
    ck_assert_int_eq(shim_collective_check(&comm, &call), MPI_ERR_TYPE);
    ck_assert_int_eq(call.receive.n_types, 1); /* so many were found */
    shim_collective_forget(&call);
    call.receive.datatypes = NULL;
    ck_assert_int_eq(class_of(call), MPI_ERR_ARG);
}
END_TEST

START_TEST(neighbours_are_as_many_as_the_topology_says)
{
    struct shim_collective call = {
        .kind = SHIM_NEIGHBOR_ALLTOALL,
        .send = VECTOR(buffer, counts, displs),
        .receive = VECTOR(other, counts, displs),
    };

    ck_assert_int_eq(shim_collective_check(&comm, &call), MPI_SUCCESS);
    ck_assert_int_eq(call.send.n_blocks, N);
    ck_assert_int_eq(call.receive.n_blocks, 1);
    call.send.counts = negative; /* the last is of the last target */
    ck_assert_int_eq(class_of(call), MPI_ERR_COUNT);
    call.send.counts = counts;
    call.receive.counts = negative; /* only the first is of a source */
    ck_assert_int_eq(class_of(call), MPI_SUCCESS);
    call.send.buf = MPI_IN_PLACE;
    ck_assert_int_eq(class_of(call), MPI_ERR_ARG);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_NEIGHBOR_ALLTOALL, .send = WORDS(1),
                              .receive = OTHERS(2)),
                     MPI_ERR_TRUNCATE);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_NEIGHBOR_ALLGATHER, .send = WORDS(1),
                              .receive = OTHERS(2)),
                     MPI_SUCCESS);
}
END_TEST

static int topo_test(MPI_Comm asked, int *topology)
{
    (void)asked;
    *topology = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

START_TEST(neighbours_need_a_topology)
{
    comm.neighbors = NULL;
    shim_real.Topo_test = topo_test;
    ck_assert_int_eq(
        CLASS_OF(.kind = SHIM_NEIGHBOR_ALLGATHER, .send = HERE, .receive = OTHERS(1)),
        MPI_ERR_TOPOLOGY);
}
END_TEST

START_TEST(two_sides_have_no_prefix)
{
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_BARRIER), MPI_SUCCESS);
    make_inter();
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_BARRIER), MPI_SUCCESS);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_SCAN), SHIM_COLLECTIVE_FOREIGN);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_EXSCAN), SHIM_COLLECTIVE_FOREIGN);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_NEIGHBOR_ALLTOALL), SHIM_COLLECTIVE_FOREIGN);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_NEIGHBOR_ALLGATHER),
                     SHIM_COLLECTIVE_FOREIGN);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("collective_check");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_root_is_a_rank_of_the_group);
    tcase_add_test(tcase, a_root_of_two_sides_is_one_of_the_others_or_has_a_name);
    tcase_add_test(tcase, a_broadcast_has_one_buffer);
    tcase_add_test(tcase, who_has_no_part_in_a_broadcast_describes_nothing);
    tcase_add_test(tcase, the_root_of_a_gather_describes_all_blocks);
    tcase_add_test(tcase, members_of_a_gather_describe_their_own);
    tcase_add_test(tcase, a_scatter_is_a_gather_the_other_way);
    tcase_add_test(tcase, the_root_of_two_sides_has_no_block_of_its_own);
    tcase_add_test(tcase, blocks_at_null_are_empty_or_elsewhere);
    tcase_add_test(tcase, an_allgather_has_blocks_as_long_as_the_own_one);
    tcase_add_test(tcase, what_is_sent_in_an_allgather_may_be_in_place);
    tcase_add_test(tcase, the_first_fault_of_an_allgather_is_told);
    tcase_add_test(tcase, an_alltoall_has_blocks_both_ways);
    tcase_add_test(tcase, blocks_have_types_of_their_own);
    tcase_add_test(tcase, neighbours_are_as_many_as_the_topology_says);
    tcase_add_test(tcase, neighbours_need_a_topology);
    tcase_add_test(tcase, two_sides_have_no_prefix);
    return run_tcase("collective_check", tcase);
}
