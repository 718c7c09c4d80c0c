/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that only poll. Run by every rank of a job, process or thread.
 */
#include <bcs/status.h>

#include "tests/engine/patterns.h"

#ifdef __SANITIZE_THREAD__
enum { N_MESSAGES = 30 };
#else
enum { N_MESSAGES = 150 };
#endif

enum { TAG = 3, MAX_WORDS = 400 };

/** Words of the n-th message: within the descriptor, or in a block. */
static size_t n_words(uint32_t n)
{
    return n % 3 == 0 ? MAX_WORDS : 1 + n % 9;
}

static void send_all(struct rank *me, struct bcs_request requests[], uint32_t n,
                     uint64_t *words)
{
    for (int32_t peer = 0; peer < me->size; peer++) {
        struct bcs_message message =
            rank_message(me, peer, TAG, words, n_words(n) * sizeof(*words));

        words[0] = n;
        words[n_words(n) - 1] = n;
        rank_expect(
            me,
            bcs_send(me->context, &message, BCS_SEND_STANDARD, &requests[peer]) == 0,
            "a send failed");
    }
}

static void poll_until_done(struct rank *me, struct bcs_request *request)
{
    int rc;

    do {
        rc = bcs_test(me->context, request, false);
    } while (rc == BCS_E_PENDING);
    rank_expect(me, rc == 0, "a test failed");
}

/** Look for a message once, and receive it if there is one; taking: by its name.
 *  @return whether there was one; *result_out tells its source */
static bool poll_for_one(struct rank *me, bool taking, uint64_t *words,
                         struct bcs_result *result_out)
{
    struct bcs_message message =
        rank_message(me, BCS_ANY_SOURCE, TAG, words, MAX_WORDS * sizeof(*words));
    struct bcs_request request;
    uint32_t item = 0;
    int rc = taking ? bcs_mprobe(me->context, &message, false, result_out, &item)
                    : bcs_probe(me->context, &message, false, result_out);

    if (rc == BCS_E_PENDING) {
        return false;
    }
    message.peer = result_out->source;
    rc = rc < 0   ? rc
         : taking ? bcs_imrecv(me->context, &message, item, &request)
                  : bcs_recv(me->context, &message, NULL, &request);
    rank_expect(me, rc == 0, "a probe or receive failed");
    poll_until_done(me, &request);
    rank_expect(me, request.result.source == result_out->source, "another source");
    return true;
}

void pattern_polling(struct rank *me)
{
    uint64_t out[MAX_WORDS] = {0}, in[MAX_WORDS];
    uint32_t n_from[JOB_MAX_RANKS] = {0};
    struct bcs_request requests[JOB_MAX_RANKS];
    struct bcs_result result;
    uint32_t n_got = 0;

    for (uint32_t n = 0; n < N_MESSAGES; n++) {
        send_all(me, requests, n, out);
        for (; n_got < (n + 1) * (uint32_t)me->size / 2;
             n_got++) { /* half: a backlog */
            while (!poll_for_one(me, rank_random(me) % 2 == 0, in, &result)) {
            }
            uint32_t number = n_from[result.source]++;
            rank_expect(me,
                        result.n_bytes == n_words(number) * sizeof(in[0]) &&
                            in[0] == number && in[n_words(number) - 1] == number,
                        "a wrong message was polled for");
        }
        for (int32_t peer = 0; peer < me->size; peer++) {
            poll_until_done(me, &requests[peer]);
        }
    }
    for (; n_got < N_MESSAGES * (uint32_t)me->size; n_got++) {
        while (!poll_for_one(me, rank_random(me) % 2 == 0, in, &result)) {
        }
        rank_expect(me, in[0] == n_from[result.source]++, "a message was overtaken");
    }
    rank_expect(me, !poll_for_one(me, false, in, &result), "one message too many");
}
