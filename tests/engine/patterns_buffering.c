/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns of the engine tests: when sends are done, with and without buffering. Run by
 * every rank.
 */
#include <sched.h>
#include <string.h>

#include "libbcs/api/message/post.h"
#include "tests/engine/patterns.h"

enum {
    LONGEST = 32768, /* that is buffered */
    N_TESTS = 300,
    FIRST_TAG = 10,
    TAG_A_LENGTH = 10,
    SENT = 0,      /* words: how often rank 0 has let rank 1 go on ... */
    RECEIVING = 1, /* and rank 1 has begun to receive */
};

static const size_t lengths[] = {0, 8, 80, 81, 4096, LONGEST};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static void raise_word(struct rank *me, int word)
{
    atomic_fetch_add(&me->job->shared->words[word], 1);
}

static uint64_t word_of(struct rank *me, int word)
{
    return atomic_load(&me->job->shared->words[word]);
}

/** Wait outside of the engine, as a process that computes. */
static void await_word(struct rank *me, int word, uint64_t value)
{
    while (word_of(me, word) < value) {
        sched_yield();
    }
}

static bool is_buffered(const struct rank *me)
{
    return me->job->config.buffering == NIC_BUFFERING_EAGER;
}

/** Start a send to rank 1, which receives it only when it is told to. */
static void send_by_request(struct rank *me, struct bcs_message *message)
{
    struct bcs_request request;
    bool is_early = false;

    bcs_send(me->context, message, BCS_SEND_STANDARD, &request);
    if (is_buffered(me)) {
        rank_expect(me, bcs_is_done(&request), "a buffered send is not done at once");
    } else {
        for (int i = 0; i < N_TESTS; i++) {
            is_early |= bcs_test(me->context, &request, false) != BCS_E_PENDING;
        }
        rank_expect(me, !is_early, "a send is done before it is received");
    }
    raise_word(me, SENT);
    rank_expect(me, bcs_test(me->context, &request, true) == 0, "a send fails");
}

/** A blocking send to rank 1; n_before: receives that come before its own. */
static void send_and_block(struct rank *me, struct bcs_message *message,
                           uint64_t n_before)
{
    if (is_buffered(me)) {
        bcs_send(me->context, message, BCS_SEND_STANDARD, NULL);
        rank_expect(me, word_of(me, RECEIVING) <= n_before,
                    "a buffered send has waited");
        raise_word(me, SENT);
    } else {
        raise_word(me, SENT);
        bcs_send(me->context, message, BCS_SEND_STANDARD, NULL);
        rank_expect(me, word_of(me, RECEIVING) > n_before,
                    "a send has not waited for its receive");
    }
}

static void receive_when_told(struct rank *me, struct bcs_message *message,
                              uint64_t n_before)
{
    struct bcs_message probe = *message;
    struct bcs_result result;

    await_word(me, SENT, n_before + 1);
    /* The message is in NIC memory then; to be found there does not complete it. */
    rank_expect(me, bcs_probe(me->context, &probe, true, &result) == 0,
                "a message is not found");
    rank_expect(me, result.n_bytes == message->n_bytes, "a probe finds another length");
    raise_word(me, RECEIVING);
    rank_expect(me, bcs_recv(me->context, message, &result, NULL) == 0,
                "a receive fails");
}

void pattern_standard_sends(struct rank *me)
{
    static const char zeros[LONGEST];
    char data[LONGEST];
    uint64_t n = 0;

    for (int i = 0; i < N_LENGTHS && me->rank < 2; i++) {
        struct bcs_message message =
            rank_message(me, 1 - me->rank, FIRST_TAG + i, data, lengths[i]);

        for (int is_blocking = 0; is_blocking < 2; is_blocking++, n++) {
            memset(data, me->rank == 0 ? 0 : 1, sizeof(data));
            if (me->rank == 1) {
                receive_when_told(me, &message, n);
                rank_expect(me, memcmp(data, zeros, lengths[i]) == 0,
                            "a message has other data");
            } else if (is_blocking) {
                send_and_block(me, &message, n);
            } else {
                send_by_request(me, &message);
            }
        }
    }
    rank_meet(me);
}

void pattern_buffered_sends(struct rank *me)
{
    enum { N = 20 };
    int32_t right = (me->rank + 1) % me->size;
    int32_t left = (me->rank + me->size - 1) % me->size;
    char data[100];

    for (int i = 0; i < N; i++) {
        struct bcs_message message = rank_message(me, right, i, data, 5 * (size_t)i);

        memset(data, i, sizeof(data));
        bcs_send(me->context, &message, BCS_SEND_BUFFERED, NULL);
    }
    rank_meet(me); /* nobody has received anything yet */
    for (int i = N - 1; i >= 0; i--) {
        struct bcs_message message = rank_message(me, left, i, data, sizeof(data));
        struct bcs_result result;

        memset(data, -1, sizeof(data));
        bcs_recv(me->context, &message, &result, NULL);
        rank_expect(me, result.n_bytes == 5 * (size_t)i,
                    "a message has another length");
        rank_expect(me, i == 0 || (data[0] == i && data[5 * i - 1] == i),
                    "a message has other data");
    }
}

void pattern_sends_to_self(struct rank *me)
{
    long out = 7;
    long in = 0;
    struct bcs_message from = rank_message(me, me->rank, 1, &in, sizeof(in));
    struct bcs_message to = rank_message(me, me->rank, 1, &out, sizeof(out));
    struct bcs_request request;

    bcs_send(me->context, &to, BCS_SEND_STANDARD, &request);
    rank_expect(me, (bcs_test(me->context, &request, false) == 0) == is_buffered(me),
                "a send to self is done too early or too late");
    bcs_recv(me->context, &from, NULL, NULL);
    rank_expect(me, bcs_test(me->context, &request, true) == 0 && in == 7,
                "a message to self is lost");

    in = 0;
    bcs_recv(me->context, &from, NULL, &request);
    bcs_send(me->context, &to, BCS_SEND_STANDARD, NULL); /* its receive is posted */
    rank_expect(me, bcs_test(me->context, &request, true) == 0 && in == 7,
                "a message to self is lost");
}
