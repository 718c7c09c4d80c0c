/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point calls of the BCS API. Every rank sends to its right neighbour and
 * receives from its left one, which may be itself. Run by every rank of the group.
 */
#include <stdlib.h>

#include "tests/api/calls.h"

static const size_t lengths[] = {0, 1, 8, 80, 81, 3000, 70000, 1 << 20};

enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]), MAX_BYTES = 1 << 20 };

static int32_t left_of(const struct place *me)
{
    return (me->rank + me->size - 1) % me->size;
}

static int32_t right_of(const struct place *me)
{
    return (me->rank + 1) % me->size;
}

static void expect_result(struct place *me, const struct bcs_result *result,
                          int32_t tag, size_t n_bytes)
{
    EXPECT(me, result->source == left_of(me));
    EXPECT(me, result->tag == tag);
    EXPECT(me, result->n_bytes == n_bytes);
    EXPECT(me, result->error == 0);
}

/** A receive that is started first, then a blocking send. */
static void exchange(struct place *me, char *out, char *in, size_t n_bytes,
                     enum bcs_send_mode mode)
{
    struct bcs_message receive = message_of(me, left_of(me), 5, in, n_bytes);
    struct bcs_message send = message_of(me, right_of(me), 5, out, n_bytes);
    struct bcs_request request;

    EXPECT(me, bcs_recv(me->context, &receive, NULL, &request) == 0);
    fill(out, n_bytes, me->rank);
    EXPECT(me, bcs_send(me->context, &send, mode, NULL) == 0);
    EXPECT(me, bcs_test(me->context, &request, true) == 0);
    EXPECT(me, bcs_test(me->context, &request, true) == 0);
    EXPECT(me, bcs_test(me->context, &request, false) == 0);
    expect_result(me, &request.result, 5, n_bytes);
    EXPECT(me, is_filled(in, n_bytes, left_of(me)));
}

/** A send that is started first, a probe, then a blocking receive of what it found. */
static void probe_and_receive(struct place *me, char *out, char *in, size_t n_bytes)
{
    struct bcs_message send = message_of(me, right_of(me), 6, out, n_bytes);
    struct bcs_message any = message_of(me, BCS_ANY_SOURCE, BCS_ANY_TAG, in, n_bytes);
    struct bcs_request request;
    struct bcs_result result;

    fill(out, n_bytes, me->rank + 1);
    send.will_wait = true;
    EXPECT(me, bcs_send(me->context, &send, BCS_SEND_STANDARD, &request) == 0);
    EXPECT(me, bcs_probe(me->context, &any, true, &result) == 0);
    expect_result(me, &result, 6, n_bytes);
    EXPECT(me, bcs_probe(me->context, &any, false, &result) == 0);
    any.peer = result.source;
    any.tag = result.tag;
    EXPECT(me, bcs_recv(me->context, &any, &result, NULL) == 0);
    expect_result(me, &result, 6, n_bytes);
    EXPECT(me, is_filled(in, n_bytes, left_of(me) + 1));
    while (bcs_test(me->context, &request, false) == BCS_E_PENDING) {
    }
    EXPECT(me, bcs_test(me->context, &request, false) == 0);
}

/** Nothing is there: a probe and a test of a receive say so. */
static void expect_nothing(struct place *me)
{
    int32_t data = 0, value = me->rank;
    struct bcs_message any = message_of(me, BCS_ANY_SOURCE, 7, &data, sizeof(data));
    struct bcs_message send = message_of(me, right_of(me), 7, &value, sizeof(value));
    struct bcs_request requests[3] = {BCS_REQUEST_DONE, BCS_REQUEST_DONE,
                                      BCS_REQUEST_DONE};
    struct bcs_result result;

    EXPECT(me, bcs_testall(me->context, requests, 3, false) == 0);
    EXPECT(me, bcs_testall(me->context, requests, 0, true) == 0);
    EXPECT(me, bcs_probe(me->context, &any, false, &result) == BCS_E_PENDING);
    EXPECT(me, bcs_recv(me->context, &any, NULL, &requests[1]) == 0);
    EXPECT(me, bcs_test(me->context, &requests[1], false) == BCS_E_PENDING);
    EXPECT(me, bcs_testall(me->context, requests, 3, false) == BCS_E_PENDING);
    EXPECT(me, bcs_barrier(me->context, me->group, NULL) == 0);
    EXPECT(me, bcs_send(me->context, &send, BCS_SEND_STANDARD, NULL) == 0);
    EXPECT(me, bcs_testall(me->context, requests, 3, true) == 0);
    EXPECT(me, data == left_of(me));
}

enum { N_PARTS = 8 };

/** Many at once, in all lengths; messages of one tag keep their order. */
static void exchange_many(struct place *me)
{
    struct bcs_request requests[2 * N_PARTS];
    char *in[N_PARTS], *out[N_PARTS];

    for (int32_t i = 0; i < N_PARTS; i++) {
        size_t n_bytes = lengths[i % N_LENGTHS];
        struct bcs_message receive, send;

        in[i] = calloc(1, MAX_BYTES);
        out[i] = malloc(n_bytes + 1);
        fill(out[i], n_bytes, me->rank + i);
        receive = message_of(me, left_of(me), BCS_ANY_TAG, in[i], MAX_BYTES);
        send = message_of(me, right_of(me), i / 2, out[i], n_bytes);
        EXPECT(me, bcs_recv(me->context, &receive, NULL, &requests[2 * i]) == 0);
        EXPECT(me, bcs_send(me->context, &send,
                            i % 3 == 0 ? BCS_SEND_SYNCHRONOUS : BCS_SEND_STANDARD,
                            &requests[2 * i + 1]) == 0);
    }
    while (bcs_testall(me->context, requests, N_PARTS, false) == BCS_E_PENDING) {
    }
    EXPECT(me, bcs_testall(me->context, requests, 2 * N_PARTS, true) == 0);
    for (int32_t i = 0; i < N_PARTS; i++) {
        expect_result(me, &requests[2 * i].result, i / 2, lengths[i % N_LENGTHS]);
        EXPECT(me, is_filled(in[i], lengths[i % N_LENGTHS], left_of(me) + i));
        free(in[i]);
        free(out[i]);
    }
}

/** A receive without interest in its result; a message of the group and no other. */
static void receive_plainly(struct place *me)
{
    int32_t data = -1, value = me->rank;
    struct bcs_message receive = message_of(me, left_of(me), 8, &data, sizeof(data));
    struct bcs_message send = message_of(me, right_of(me), 8, &value, sizeof(value));

    EXPECT(me, bcs_send(me->context, &send, BCS_SEND_BUFFERED, NULL) == 0);
    EXPECT(me, bcs_recv(me->context, &receive, NULL, NULL) == 0);
    EXPECT(me, data == left_of(me));
}

void test_messages(struct place *me)
{
    char *out = malloc(MAX_BYTES), *in = malloc(MAX_BYTES);

    for (size_t i = 0; i < N_LENGTHS; i++) {
        exchange(me, out, in, lengths[i], BCS_SEND_STANDARD);
        /* A synchronous send to oneself would wait for a receive that is there. */
        exchange(me, out, in, lengths[i], BCS_SEND_SYNCHRONOUS);
        probe_and_receive(me, out, in, lengths[i]);
        EXPECT(me, bcs_barrier(me->context, me->group, NULL) == 0);
    }
    expect_nothing(me);
    exchange_many(me);
    receive_plainly(me);
    free(out);
    free(in);
}
