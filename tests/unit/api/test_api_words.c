/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the API calls collectives and its own functions, and what it says of members
 * that do not agree.
 */
#include <bcs/status.h>
#include <check.h>
#include <string.h>

#include "libbcs/api/collective/collective_args.h"
#include "libbcs/api/collective/disagreement.h"
#include "libbcs/api/context/api_call_kinds.h"
#include "libbcs/api/context/plan_tag.h"
#include "libbcs/api/record/collective_words.h"
#include "nic_threads/node/signature.h"
#include "tests/engine/job.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, NUMBER = 5 };

/* ------------------------------------------------------------------ names */

static void expect_call(int number, const char *name, enum mds_timing timing)
{
    const struct mmds_plan plan = bcs_calls_plan();

    ck_assert_str_eq(plan.names[number], name);
    ck_assert_int_eq(plan.timings[number], timing);
    ck_assert_int_eq(bcs_call_timings[number], timing);
}

START_TEST(calls_that_may_block_have_two_names)
{
    ck_assert_uint_eq(bcs_calls_plan().n_primitives, BCS_N_CALLS);
    expect_call(BCS_CALL_group_create, "bcs_group_create", MDS_INSTANT);
    expect_call(BCS_CALL_send, "bcs_send", MDS_BLOCKING);
    expect_call(BCS_CALL_send_marked, "bcs_send(request)", MDS_INSTANT);
    expect_call(BCS_CALL_test_marked, "bcs_test(no wait)", MDS_INSTANT);
    expect_call(BCS_CALL_barrier, "bcs_barrier", MDS_BLOCKING);
}
END_TEST

static void expect_kernel(int kernel, const char *expected)
{
    char words[BCS_KERNEL_WORDS_BYTES] = "?";

    bcs_kernel_words(kernel, words);
    ck_assert_str_eq(words, expected);
}

START_TEST(reductions_have_names_of_operation_and_type)
{
    const int n_kernels = NIC_REDUCE_N_OPS * NIC_REDUCE_N_TYPES;

    expect_kernel(-1, "");
    expect_kernel(nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I8), "sum of int8");
    expect_kernel(nic_reduce_kernel(NIC_REDUCE_MAX, NIC_REDUCE_F64),
                  "maximum of double");
    expect_kernel(n_kernels - 1, "bitwise xor of double complex");
    expect_kernel(n_kernels, "");
    ck_assert_str_eq(bcs_type_words(NIC_REDUCE_U64), "uint64");
}
END_TEST

static int32_t tag_of(enum bcs_plan_kind kind, int32_t root, int kernel)
{
    return (int32_t)(bcs_plan_agreed(kind, root, kernel) << BCS_PLAN_NUMBER_BITS |
                     NUMBER);
}

static void expect_part(enum bcs_plan_kind kind, int32_t root, int kernel,
                        const char *expected)
{
    char words[BCS_PART_WORDS_BYTES];

    bcs_part_words(tag_of(kind, root, kernel), words);
    ck_assert_str_eq(words, expected);
}

START_TEST(parts_of_collectives_have_names_of_their_kind_root_and_reduction)
{
    int sum = nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I32);

    expect_part(BCS_PLAN_BARRIER, 0, -1, "barrier");
    expect_part(BCS_PLAN_BCAST, 0, -1, "broadcast, root 0");
    expect_part(BCS_PLAN_GATHER, 300, -1, "gather, root 300");
    expect_part(BCS_PLAN_REDUCE, 3, sum, "reduction, root 3, sum of int32");
    expect_part(BCS_PLAN_REDUCE, 3, -1, "reduction, root 3");
    expect_part(BCS_PLAN_ALLREDUCE, 0, sum, "allreduce, sum of int32");
    expect_part(BCS_PLAN_NEIGHBORS, 0, -1, "with neighbours");
    ck_assert_str_eq(bcs_plan_words(INT32_MAX),
                     "collective"); /* of none that there is */
}
END_TEST

/* ------------------------------------------------------------------ disagreement */

static struct job job;
static struct rank ranks[N_RANKS];

static void begin(void)
{
    const struct job_shape shape = {.n_ranks = N_RANKS, .is_threaded = true};

    job_open(&job, &shape, ranks);
    caught_stderr_begin();
}

static void end(void)
{
    caught_stderr_end();
    job_close(&job, ranks);
}

static uint64_t terms(unsigned int operation, int32_t root, uint32_t n_bytes)
{
    return nic_signature(&(struct bcs_descriptor){
        .operation = (uint16_t)operation, .tag = root, .n_bytes = n_bytes});
}

/** What is said of rank 0 in a barrier and rank 1 in something else. */
static void expect_said(uint64_t other_signature, bool is_length_only, int status,
                        const char *expected)
{
    static uint64_t sequence = 1;
    struct nic_refusal refusal = {.sequence = ++sequence,
                                  .signature = terms(BCS_COLLECTIVE_BARRIER, -1, 0),
                                  .other_signature = other_signature,
                                  .other_rank = 1,
                                  .is_length_only = is_length_only};

    ck_assert_int_eq(bcs_disagreement(ranks[0].context, &ranks[0].world, &refusal),
                     status);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), expected));
    /* Who asks later on that node is told, and says no more. */
    ck_assert_int_eq(bcs_disagreement(ranks[1].context, &ranks[1].world, &refusal),
                     status);
    refusal.sequence = ++sequence;
    refusal.node = 1; /* where it is told */
    ck_assert_int_eq(bcs_disagreement(ranks[0].context, &ranks[0].world, &refusal),
                     status);
    ck_assert_str_eq(caught_stderr_next(), "");
}

START_TEST(members_that_disagree_are_named_once_with_their_collectives)
{
    unsigned int reduce =
        bcs_operation(BCS_COLLECTIVE_REDUCE,
                      (unsigned int)nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I32));

    expect_said(
        terms(BCS_COLLECTIVE_BCAST, 1, 8), false, BCS_E_DISAGREED,
        "collectives differ on a group of 2: rank 0: barrier, rank 1: broadcast of 8 "
        "bytes from rank 1\n  MPI-3.1, 5.1 and 5.13: ");
    expect_said(terms(reduce, -1, 8), false, BCS_E_DISAGREED,
                "rank 1: allreduce of 8 bytes (sum of int32)\n");
    expect_said(terms(reduce, 0, 8), false, BCS_E_DISAGREED,
                "rank 1: reduce of 8 bytes (sum of int32) to rank 0\n");
    expect_said(terms(BCS_COLLECTIVE_ALLGATHER, -1, 16), true, BCS_E_TRUNCATED,
                "rank 1: allgather of 16 bytes in all\n");
    expect_said(terms(bcs_operation(BCS_COLLECTIVE_BARRIER, BCS_KERNEL_END), -1, 0),
                false, BCS_E_DISAGREED, "rank 1: MPI_Finalize\n");
}
END_TEST

START_TEST(lengths_that_differ_are_named)
{
    struct bcs_result result = {.source = 1, .n_bytes = 8};

    bcs_result_truncate(&result, 24);
    ck_assert_int_eq(bcs_wrong_length(ranks[0].context, &ranks[0].world,
                                      &ranks[0].world, &result, 8),
                     BCS_E_TRUNCATED);
    ck_assert_ptr_nonnull(
        strstr(caught_stderr_next(),
               "rank 1 sends 24 bytes, rank 0 expects 8\n  MPI-3.1, 5.1: "));
    bcs_wrong_own_length(ranks[0].context, &ranks[0].world, 0, 16, 8);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(),
                                 "rank 0 sends 16 bytes where it expects 8 itself\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("api_words");
    TCase *names = tcase_create("names"), *said = tcase_create("disagreement");

    tcase_add_test(names, calls_that_may_block_have_two_names);
    tcase_add_test(names, reductions_have_names_of_operation_and_type);
    tcase_add_test(names,
                   parts_of_collectives_have_names_of_their_kind_root_and_reduction);
    suite_add_tcase(suite, names);
    tcase_add_checked_fixture(said, begin, end);
    tcase_add_test(said, members_that_disagree_are_named_once_with_their_collectives);
    tcase_add_test(said, lengths_that_differ_are_named);
    suite_add_tcase(suite, said);
    return run_suite(suite);
}
