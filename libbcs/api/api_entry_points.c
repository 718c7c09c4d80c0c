/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of <bcs/bcs.h> that the MDS records, made from api_calls.def. They
 * are called by programs only, in the thread that uses the context: one test of a
 * pointer where nothing is recorded. A call within a call, as in a function that
 * combines, is part of the outer one, but its messages count.
 *
 * A message that is received with a request is counted by the call in which the request
 * is found done. Until then the last reserved word of the request, which is nobody
 * else's, has its group.
 */
#include "libbcs/api/context/api_calls.h"

#include <string.h>

#include "libbcs/api/api_job.h"
#include "libbcs/api/context/api_call_kinds.h"
#include "libbcs/api/context/context.h"
#include "mds/collect.h"

/** The number of a group for the MDS. */
static uint32_t number_of(struct mds_collect *collect, const struct bcs_group *group)
{
    struct bcs_job_group *mine = (struct bcs_job_group *)(uintptr_t)group;

    if (mine->recorded == 0) {
        mine->recorded =
            1 + mds_comm_number(collect, group->context_id, (uint32_t)group->size);
        if (group->slot == 0 && mine->recorded < MDS_COMMS) {
            strcpy(collect->comms.table[mine->recorded - 1].name, "bcs_world");
        }
    }
    return mine->recorded - 1;
}

static bool is_member(const struct bcs_group *group, int32_t rank)
{
    return (uint32_t)rank < (uint32_t)group->size;
}

/** The call under way is about a message, or waits for it. */
static void note_peer(struct mds_collect *collect, const struct bcs_message *message)
{
    const struct bcs_group *group = message->group;

    mds_call_with(collect,
                  is_member(group, message->peer) ? (int32_t)group->ranks[message->peer]
                                                  : -1,
                  message->tag < 0 ? -1 : message->tag, number_of(collect, group));
}

static void note_sent(struct mds_collect *collect, const struct bcs_message *message)
{
    const struct mds_message sent = {message->group->ranks[message->peer], message->tag,
                                     number_of(collect, message->group),
                                     message->n_bytes};

    mds_size_add_outermost(sent.n_bytes);
    mds_sent(collect, &sent);
}

/** What was sent counts: the sender knows no more. */
static void note_received(struct mds_collect *collect, const struct bcs_group *group,
                          const struct bcs_result *result)
{
    if (is_member(group, result->source)) {
        const struct mds_message received = {group->ranks[result->source], result->tag,
                                             number_of(collect, group),
                                             bcs_result_sent(result)};

        mds_received(collect, &received);
    }
}

/** Where a request has the group of a receive that was not counted yet. */
static uint64_t *word_of(struct bcs_request *request)
{
    enum { LAST = sizeof(request->reserved) / sizeof(request->reserved[0]) - 1 };

    _Static_assert(sizeof(struct bcs_request_state) <=
                       LAST * sizeof(request->reserved[0]),
                   "the last word is free");
    return &request->reserved[LAST];
}

/** A request stands for something, of which a message may have to be counted. */
static void watch(struct bcs_request *request, const struct bcs_group *group)
{
    if (request != NULL) {
        *word_of(request) = (uint64_t)(uintptr_t)group;
    }
}

/** Count the messages of receives that are done. */
static void note_done(struct mds_collect *collect, struct bcs_request requests[],
                      size_t n_requests)
{
    for (size_t i = 0; i < n_requests; i++) {
        const struct bcs_group *group =
            (const struct bcs_group *)(uintptr_t)*word_of(&requests[i]); // NOLINT

        if (group != NULL && bcs_is_done(&requests[i])) {
            *word_of(&requests[i]) = 0;
            note_received(collect, group, &requests[i].result);
        }
    }
}

static void note_collective(struct mds_collect *collect, const struct bcs_group *group,
                            uint64_t n_bytes)
{
    uint32_t number = number_of(collect, group);

    mds_call_on(collect, number);
    mds_collective(collect, number, n_bytes);
}

/** The same of one that has data. */
static void note_data(struct mds_collect *collect, const struct bcs_group *group,
                      uint64_t n_bytes)
{
    mds_size_add_outermost(n_bytes);
    note_collective(collect, group, n_bytes);
}

static uint64_t sum_of(const size_t counts[], int32_t n, size_t count)
{
    uint64_t sum = counts == NULL ? (uint64_t)n * count : 0;

    for (int32_t i = 0; counts != NULL && i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

static uint64_t bytes_of_reduction(const struct bcs_reduction *reduction,
                                   uint64_t count)
{
    static const size_t sizes[] = {
        [BCS_INT8] = 1,
        [BCS_UINT8] = 1,
        [BCS_INT16] = 2,
        [BCS_UINT16] = 2,
        [BCS_INT32] = 4,
        [BCS_UINT32] = 4,
        [BCS_INT64] = 8,
        [BCS_UINT64] = 8,
        [BCS_FLOAT] = sizeof(float),
        [BCS_DOUBLE] = sizeof(double),
        [BCS_LONG_DOUBLE] = sizeof(long double),
        [BCS_FLOAT_COMPLEX] = 2 * sizeof(float),
        [BCS_DOUBLE_COMPLEX] = 2 * sizeof(double),
    };

    if (reduction->op == BCS_OP_COMBINE) {
        return count * reduction->element_bytes;
    }
    return reduction->type < sizeof(sizes) / sizeof(sizes[0])
               ? count * sizes[reduction->type]
               : 0;
}

static uint64_t bytes_of_block(const struct bcs_blocks *blocks, int32_t i)
{
    return blocks->n_bytes == NULL ? blocks->block_bytes : blocks->n_bytes[i];
}

static uint64_t bytes_of_blocks(const struct bcs_blocks *blocks, int32_t n)
{
    return sum_of(blocks->n_bytes, n, blocks->block_bytes);
}

/* What is recorded of a call beside its time; rc is what it has returned. */
#define CALL_NOTHING
#define CALL_WITH_PEER note_peer(collect, message);
#define CALL_FOR_RESULT                                                                \
    struct bcs_result own;                                                             \
                                                                                       \
    note_peer(collect, message);                                                       \
    result_out = result_out == NULL ? &own : result_out;
#define CALL_SENT                                                                      \
    if (rc == 0) {                                                                     \
        note_sent(collect, message);                                                   \
    }                                                                                  \
    watch(request, NULL);
#define CALL_RECEIVED                                                                  \
    mds_size_add_outermost(request == NULL && rc >= 0 ? result_out->n_bytes            \
                                                      : message->n_bytes);             \
    watch(request, rc == 0 ? message->group : NULL);                                   \
    if (request == NULL && rc >= 0) {                                                  \
        note_received(collect, message->group, result_out);                            \
    }
#define CALL_DONE(requests, n) note_done(collect, requests, n);
#define CALL_BARRIER note_collective(collect, group, 0);
#define CALL_DATA(length) note_data(collect, group, length);
#define CALL_NO_MESSAGE watch(request, NULL);

/* The recorded way stands apart, so that the other one needs no registers. */
#define BCS_CALL(name, mark, blocks, parameters, arguments, BEFORE, AFTER)             \
    static __attribute__((noinline, cold)) int recorded_##name parameters              \
    {                                                                                  \
        struct mds_collect *collect = context->collect;                                \
        enum bcs_call call = BCS_CALL_##name + (sizeof(mark) > 1 && !(blocks));        \
        uint64_t began = mds_begin(collect, call, bcs_call_timings[call]);             \
        int rc;                                                                        \
                                                                                       \
        BEFORE                                                                         \
        rc = bcs_api_##name arguments;                                                 \
        AFTER                                                                          \
        mds_end(collect, call, bcs_call_timings[call], began);                         \
        return rc;                                                                     \
    }                                                                                  \
    BCS_PUBLIC int bcs_##name parameters                                               \
    {                                                                                  \
        if (__builtin_expect(context->collect != NULL, 0)) {                           \
            mds_call_from(__builtin_return_address(0));                                \
            return recorded_##name arguments;                                          \
        }                                                                              \
        return bcs_api_##name arguments;                                               \
    }
#include "libbcs/api/context/api_calls.def"
