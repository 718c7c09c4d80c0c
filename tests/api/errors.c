/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the calls of the BCS API must refuse, and messages longer than their buffers.
 * After each everything must work as before. Run by every rank of the group.
 */
#include <errno.h>
#include <string.h>

#include "tests/api/calls.h"

static void refuse_messages(struct place *me)
{
    char data[8] = "";
    struct bcs_message no_peer = message_of(me, me->size, 1, data, sizeof(data));
    struct bcs_message no_tag = message_of(me, 0, -2, data, sizeof(data));
    struct bcs_message any = message_of(me, BCS_ANY_SOURCE, 1, data, sizeof(data));
    struct bcs_message any_tag = message_of(me, 0, BCS_ANY_TAG, data, sizeof(data));
    struct bcs_request request = BCS_REQUEST_DONE;
    struct bcs_result result;

    EXPECT(me, bcs_send(me->context, &no_peer, BCS_SEND_STANDARD, NULL) == -EINVAL);
    EXPECT(me, bcs_send(me->context, &no_tag, BCS_SEND_STANDARD, &request) == -EINVAL);
    EXPECT(me, bcs_send(me->context, &any, BCS_SEND_STANDARD, NULL) == -EINVAL);
    EXPECT(me, bcs_send(me->context, &any_tag, BCS_SEND_STANDARD, NULL) == -EINVAL);
    EXPECT(me, bcs_recv(me->context, &no_peer, NULL, &request) == -EINVAL);
    EXPECT(me, bcs_recv(me->context, &no_tag, &result, NULL) == -EINVAL);
    EXPECT(me, bcs_probe(me->context, &no_peer, false, &result) == -EINVAL);
    EXPECT(me, bcs_test(me->context, &request, true) == 0);
}

static void refuse_collectives(struct place *me)
{
    double in = 1, out = 0;
    struct bcs_blocks blocks = {.data = &out, .block_bytes = sizeof(out)};
    struct bcs_reduction bits = {
        .in = &in, .out = &out, .count = 1, .op = BCS_BAND, .type = BCS_DOUBLE};
    struct bcs_reduction unknown = {
        .in = &in, .out = &out, .count = 1, .op = (enum bcs_op)99, .type = BCS_DOUBLE};
    const struct bcs_part part = {&in, sizeof(in)};
    struct bcs_context *context = me->context;

    EXPECT(me, bcs_bcast(context, me->group, &out, 8, me->size, NULL) == -EINVAL);
    EXPECT(me, bcs_bcast(context, me->group, &out, 8, -1, NULL) == -EINVAL);
    EXPECT(me, bcs_gather(context, me->group, &part, &blocks, -1, NULL) == -EINVAL);
    EXPECT(me,
           bcs_scatter(context, me->group, &part, &blocks, me->size, NULL) == -EINVAL);
    EXPECT(me, bcs_reduce(context, me->group, &bits, BCS_ROOT_ALL, NULL) == -EINVAL);
    EXPECT(me, bcs_reduce(context, me->group, &unknown, 0, NULL) == -EINVAL);
    bits.op = BCS_SUM;
    EXPECT(me, bcs_reduce(context, me->group, &bits, -2, NULL) == -EINVAL);
    EXPECT(me, bcs_scan(context, me->group, &unknown, false, NULL) == -EINVAL);
    EXPECT(me, bcs_reduce_scatter(context, me->group, &unknown, NULL, NULL) == -EINVAL);
    bits.type = (enum bcs_type)99;
    EXPECT(me, bcs_reduce(context, me->group, &bits, 0, NULL) == -EINVAL);
}

/** A message of n_bytes into room for half of them. */
static void truncate_message(struct place *me, size_t n_bytes, bool is_blocking)
{
    static char out[100000], in[100000];
    int32_t right = (me->rank + 1) % me->size,
            left = (me->rank + me->size - 1) % me->size;
    struct bcs_message send = message_of(me, right, 2, out, n_bytes);
    struct bcs_message receive = message_of(me, left, 2, in, n_bytes / 2);
    struct bcs_request requests[2];
    struct bcs_result result;

    memset(in, 0, sizeof(in));
    fill(out, n_bytes, me->rank);
    EXPECT(me, bcs_send(me->context, &send, BCS_SEND_STANDARD, &requests[0]) == 0);
    if (is_blocking) {
        EXPECT(me, bcs_recv(me->context, &receive, &result, NULL) == BCS_E_TRUNCATED);
        EXPECT(me, bcs_testall(me->context, requests, 1, true) == 0);
    } else {
        EXPECT(me, bcs_recv(me->context, &receive, NULL, &requests[1]) == 0);
        EXPECT(me, bcs_testall(me->context, requests, 2, true) == BCS_E_TRUNCATED);
        EXPECT(me, bcs_test(me->context, &requests[1], true) == BCS_E_TRUNCATED);
        result = requests[1].result;
    }
    EXPECT(me, result.error == BCS_E_TRUNCATED && result.n_bytes == n_bytes / 2);
    EXPECT(me, is_filled(in, n_bytes / 2, left));
    EXPECT(me, in[n_bytes / 2] == 0);
}

/** A member gives more than the root has room for; the other way round as well. */
static void truncate_collectives(struct place *me, size_t n_bytes)
{
    static char mine[1000], all[16 * 1000];
    struct bcs_blocks blocks = {.data = all, .block_bytes = n_bytes / 2};
    struct bcs_part part = {mine, n_bytes};
    int rc;

    rc = bcs_gather(me->context, me->group, &part, &blocks, 0, request_of(me));
    rc = result_of(me, rc);
    EXPECT(me, rc == (me->rank == 0 ? BCS_E_TRUNCATED : 0));
    EXPECT(me, bcs_barrier(me->context, me->group, NULL) == 0);
    blocks.block_bytes = n_bytes;
    part.n_bytes = n_bytes / 2;
    rc = bcs_scatter(me->context, me->group, &part, &blocks, 0, request_of(me));
    rc = result_of(me, rc);
    EXPECT(me, rc == BCS_E_TRUNCATED);
}

void test_errors(struct place *me)
{
    static const size_t lengths[] = {8, 60, 500, 20000, 100000};

    refuse_messages(me);
    refuse_collectives(me);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        truncate_message(me, lengths[i], true);
        truncate_message(me, lengths[i], false);
    }
    truncate_collectives(me, 60);
    truncate_collectives(me, 1000);
    EXPECT(me, bcs_barrier(me->context, me->group, NULL) == 0);
}
