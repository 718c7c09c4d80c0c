/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of reductions: operations and counts, which buffers a rank has and
 * where they may be, and what the library has to carry out.
 */
#include "tests/unit/checked_calls.h"
#include "tests/unit/run_suite.h"

static struct fake_op add;

#define USER .op_handle = fake_op_handle(&add)
#define REDUCTION(its_kind, its_send, ...)                                             \
    CLASS_OF(.kind = (its_kind), .root = RANK, USER, .send = its_send,                 \
             .receive = __VA_ARGS__)
#define FROM_ROOT(its_send, ...)                                                       \
    CLASS_OF(.kind = SHIM_REDUCE, .root = 0, USER, .send = its_send,                   \
             .receive = __VA_ARGS__)
#define MY_NULL OF(NULL, 1, word)

START_TEST(a_reduction_needs_an_operation_and_elements)
{
    struct shim_collective call = {
        .kind = SHIM_ALLREDUCE, USER, .send = WORDS(1), .receive = OTHERS(1)};

    ck_assert_int_eq(class_of(call), MPI_SUCCESS);
    call.receive.count = -1;
    ck_assert_int_eq(class_of(call), MPI_ERR_COUNT);
    call.receive.count = 1;
    call.receive.datatype = NULL;
    ck_assert_int_eq(class_of(call), MPI_ERR_TYPE);
    call.op_handle = (MPI_Op)(void *)fake_sum;
    ck_assert_int_eq(class_of(call), MPI_ERR_OP);
    call.op_handle = shim_handles.op_null;
    ck_assert_int_eq(class_of(call), MPI_ERR_OP);
}
END_TEST

START_TEST(a_reduction_of_the_library_is_counted_as_ours)
{
    struct shim_collective call = {.kind = SHIM_ALLREDUCE,
                                   .op_handle = (MPI_Op)(void *)fake_sum,
                                   .send = WORDS(1),
                                   .receive = OTHERS(1)};

    ck_assert_int_eq(shim_collective_check(&comm, &call), SHIM_COLLECTIVE_FOREIGN);
    ck_assert(call.is_counted);
    ck_assert_uint_eq(comm.group.n_started[0], 0);
    ck_assert_uint_eq(comm.group.n_started[1], 1);
    call.is_blocking = true;
    ck_assert_int_eq(shim_collective_check(&comm, &call), SHIM_COLLECTIVE_FOREIGN);
    ck_assert_uint_eq(comm.group.n_started[0], 1);
    ck_assert_uint_eq(comm.group.n_started[1], 1);
    call.op_handle = fake_op_handle(&add);
    call.is_counted = false;
    ck_assert_int_eq(shim_collective_check(&comm, &call), MPI_SUCCESS);
    ck_assert(!call.is_counted);
}
END_TEST

#define MY_SAME OTHERS(1)
#define MY_SAME_TWO OTHERS(2)

START_TEST(a_reduction_to_all_has_two_buffers_or_is_in_place)
{
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_HERE, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_WORDS, OF(MPI_IN_PLACE, 1, word)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_SAME, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_SAME_TWO, OTHERS(2)), MPI_ERR_BUFFER);
    make_inter();
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_HERE, OTHERS(1)), MPI_ERR_BUFFER);
    ck_assert_int_eq(REDUCTION(SHIM_REDUCE_SCATTER, MY_HERE, OTHERS(1)), MPI_ERR_ARG);
}
END_TEST

START_TEST(the_root_of_a_reduction_alone_may_be_in_place)
{
    ck_assert_int_eq(REDUCTION(SHIM_REDUCE, MY_HERE, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_REDUCE, MY_SAME, OTHERS(1)), MPI_ERR_ARG);
    ck_assert_int_eq(REDUCTION(SHIM_REDUCE, MY_WORDS, OF(MPI_IN_PLACE, 1, word)),
                     MPI_ERR_ARG);
    ck_assert_int_eq(FROM_ROOT(MY_HERE, OTHERS(1)), MPI_ERR_ARG);
    ck_assert_int_eq(FROM_ROOT(MY_WORDS, OF(MPI_IN_PLACE, 1, word)), MPI_SUCCESS);
    ck_assert_int_eq(FROM_ROOT(MY_SAME, OTHERS(1)), MPI_SUCCESS);
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_REDUCE, .root = N, USER, .send = WORDS(1),
                              .receive = OTHERS(1)),
                     MPI_ERR_ROOT);
}
END_TEST

START_TEST(a_prefix_may_be_anywhere)
{
    ck_assert_int_eq(REDUCTION(SHIM_SCAN, MY_WORDS, OF(MPI_IN_PLACE, 1, word)),
                     MPI_ERR_ARG);
    ck_assert_int_eq(REDUCTION(SHIM_EXSCAN, MY_WORDS, OF(MPI_IN_PLACE, 1, word)),
                     MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_SCAN, MY_HERE, OTHERS(1)), MPI_SUCCESS);
}
END_TEST

START_TEST(data_of_a_reduction_are_not_at_null)
{
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_NULL, OTHERS(1)), MPI_ERR_BUFFER);
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_WORDS, OF(NULL, 1, word)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(REDUCTION(SHIM_ALLREDUCE, MY_NULL, OF(NULL, 0, word)),
                     MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_REDUCE, MY_WORDS, OF(NULL, 1, word)),
                     MPI_ERR_BUFFER);
    ck_assert_int_eq(FROM_ROOT(MY_WORDS, OF(NULL, 1, word)), MPI_SUCCESS);
    ck_assert_int_eq(FROM_ROOT(MY_NULL, OTHERS(1)), MPI_ERR_BUFFER);
    make_inter();
    ck_assert_int_eq(CLASS_OF(.kind = SHIM_REDUCE, .root = MPI_ROOT, USER,
                              .send = OF(NULL, 1, word), .receive = OTHERS(1)),
                     MPI_SUCCESS);
    ck_assert_int_eq(
        CLASS_OF(.kind = SHIM_REDUCE, .root = MPI_PROC_NULL, USER, .receive = NOTHING),
        MPI_SUCCESS);
}
END_TEST

START_TEST(the_first_of_an_exclusive_prefix_gets_nothing)
{
    ck_assert_int_eq(REDUCTION(SHIM_EXSCAN, MY_WORDS, OF(NULL, 1, word)),
                     MPI_ERR_BUFFER);
    comm.group.rank = 0;
    ck_assert_int_eq(REDUCTION(SHIM_EXSCAN, MY_WORDS, OF(NULL, 1, word)), MPI_SUCCESS);
    ck_assert_int_eq(REDUCTION(SHIM_EXSCAN, MY_NULL, OTHERS(1)), MPI_ERR_BUFFER);
    comm.group.size = 1;
    ck_assert_int_eq(REDUCTION(SHIM_EXSCAN, MY_NULL, OTHERS(1)), MPI_SUCCESS);
}
END_TEST

START_TEST(parts_of_a_reduce_scatter_have_counts)
{
    static const int not_mine[N] = {4, 0, 4};
    struct shim_collective call = {.kind = SHIM_REDUCE_SCATTER,
                                   USER,
                                   .send = {.buf = buffer},
                                   .receive = VECTOR(other, not_mine, NULL)};

    ck_assert_int_eq(shim_collective_check(&comm, &call), MPI_SUCCESS);
    ck_assert_int_eq(call.receive.n_blocks, N);
    call.receive.buf = NULL; /* this rank gets none */
    ck_assert_int_eq(class_of(call), MPI_SUCCESS);
    call.receive.counts = counts;
    ck_assert_int_eq(class_of(call), MPI_ERR_BUFFER);
    call.receive.buf = other;
    call.receive.counts = negative;
    ck_assert_int_eq(class_of(call), MPI_ERR_COUNT);
    make_inter(); /* of two members only on this side */
    ck_assert_int_eq(class_of(call), MPI_SUCCESS);
    call.receive.counts = NULL;
    ck_assert_int_eq(class_of(call), MPI_ERR_COUNT);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("reduction_check");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_reduction_needs_an_operation_and_elements);
    tcase_add_test(tcase, a_reduction_of_the_library_is_counted_as_ours);
    tcase_add_test(tcase, a_reduction_to_all_has_two_buffers_or_is_in_place);
    tcase_add_test(tcase, the_root_of_a_reduction_alone_may_be_in_place);
    tcase_add_test(tcase, a_prefix_may_be_anywhere);
    tcase_add_test(tcase, data_of_a_reduction_are_not_at_null);
    tcase_add_test(tcase, the_first_of_an_exclusive_prefix_gets_nothing);
    tcase_add_test(tcase, parts_of_a_reduce_scatter_have_counts);
    return run_tcase("reduction_check", tcase);
}
