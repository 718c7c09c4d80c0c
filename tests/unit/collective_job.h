/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job of five processes, which are threads, and vectors whose elements tell whose
 * they are. Included by one file of a program.
 */
#ifndef TEST_UNIT_COLLECTIVE_JOB_H
#define TEST_UNIT_COLLECTIVE_JOB_H

#include <bcs/bcs.h>
#include <check.h>

#include "libbcs/api/api_job.h"
#include "tests/unit/ranks.h"

enum { N_RANKS = 5 };

static inline struct bcs_context *join(struct ranks_rank *rank)
{
    struct bcs_context *context;

    ck_assert_int_eq(bcs_job_join(&rank->entry, ranks_map(rank), &context), 0);
    return context;
}

static inline void run(int node_ranks, void (*program)(struct ranks_rank *rank))
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];

    ranks_init(&job, ranks, N_RANKS, 0);
    for (int i = 0; i < N_RANKS; i++) {
        ranks[i].entry.settings.nic.node_ranks = (uint64_t)node_ranks;
    }
    ranks_run(ranks, N_RANKS, program);
    ranks_fini(&job);
}

/** Element i of a member's vector. */
static inline int64_t element(int32_t rank, size_t i)
{
    return 1000 * (rank + 1) + (int64_t)i;
}

static inline void fill(int64_t *vector, int32_t rank, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vector[i] = element(rank, i);
    }
}

/** Element i of the sum of the vectors of some members. */
static inline int64_t sum_of(int32_t from, int32_t to, size_t i)
{
    int64_t sum = 0;

    for (int32_t rank = from; rank < to; rank++) {
        sum += element(rank, i);
    }
    return sum;
}

static inline struct bcs_reduction sum(const int64_t *in, int64_t *out, size_t count)
{
    return (struct bcs_reduction){
        .in = in, .out = out, .count = count, .op = BCS_SUM, .type = BCS_INT64};
}

#endif
