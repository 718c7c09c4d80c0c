/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The point-to-point patterns. Run by every rank of a job, process or thread.
 */
#include <bcs/status.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/message/external.h"
#include "nic_threads/machine/waking.h"
#include "tests/engine/patterns.h"
#include "tests/pattern.h"

#ifdef __SANITIZE_THREAD__
enum { N_ROUNDS = 3, N_FLOOD = 300, N_SLEEPS = 20 }; /* a ring has 256 */
#else
enum { N_ROUNDS = 4, N_FLOOD = 400, N_SLEEPS = 30 };
#endif

static void send_to(struct rank *me, int32_t peer, int32_t tag, void *data,
                    size_t n_bytes)
{
    struct bcs_message message = rank_message(me, peer, tag, data, n_bytes);
    enum bcs_send_mode mode =
        rank_random(me) % 4 == 0 ? BCS_SEND_SYNCHRONOUS : BCS_SEND_STANDARD;

    rank_expect(me, bcs_send(me->context, &message, mode, NULL) == 0, "a send failed");
}

static struct bcs_result receive(struct rank *me, int32_t peer, int32_t tag, void *data,
                                 size_t n_bytes)
{
    struct bcs_message message = rank_message(me, peer, tag, data, n_bytes);
    struct bcs_result result = {0};
    int rc = bcs_recv(me->context, &message, &result, NULL);

    rank_expect(me, rc == 0, "a receive failed");
    rank_expect(me, peer == BCS_ANY_SOURCE || result.source == peer, "a wrong source");
    rank_expect(me, tag == BCS_ANY_TAG || result.tag == tag, "a wrong tag");
    return result;
}

void pattern_ping_pong(struct rank *me)
{
    static const size_t lengths[] = {0,     1,     8,     24,     25,
                                     80,    81,    4096,  16384,  32768,
                                     32769, 49152, 65536, 131073, 300000};
    uint8_t *data = malloc(300000);

    for (uint32_t i = 0; me->rank < 2 && i < sizeof(lengths) / sizeof(lengths[0]);
         i++) {
        for (uint32_t round = 0; round < N_ROUNDS; round++) {
            uint32_t key = 1000 * i + round;

            if (me->rank == 0) {
                pattern_fill(data, lengths[i], pattern_seed(key));
                send_to(me, 1, (int32_t)round, data, lengths[i]);
                key++;
            }
            memset(data, 0, lengths[i]);
            rank_expect(
                me,
                receive(me, 1 - me->rank, (int32_t)round, data, lengths[i]).n_bytes ==
                    lengths[i],
                "a wrong length");
            rank_expect(me, pattern_is_filled(data, lengths[i], pattern_seed(key)),
                        "a wrong ping-pong");
            if (me->rank == 1) {
                pattern_fill(data, lengths[i], pattern_seed(key + 1));
                send_to(me, 0, (int32_t)round, data, lengths[i]);
            }
        }
    }
    free(data);
}

void pattern_bells(struct rank *me)
{
    const struct nic_engine *engine = me->context->engine;
    const uint64_t *n_rings = &nic_engine_own(engine)->node->bell.count;
    bool is_told = nic_engine_has_bells(engine);
    uint8_t byte = 0;

    for (int32_t to = 0; to < me->size; to++) {
        for (int32_t from = 0; from < me->size; from++) {
            if (from != to && from == me->rank) {
                send_to(me, to, 1, &byte, 1);
            } else if (from != to && to == me->rank) {
                receive(me, from, 1, &byte, 1);
            }
        }
    }
    rank_meet(me);
    /* acquire: pairs with the signal of who has put something here from afar */
    rank_expect(me, (__atomic_load_n(n_rings, __ATOMIC_ACQUIRE) > 0) == is_told,
                is_told ? "no bell for what has come" : "a bell that nobody hears");
}

/* Of this process, which a test of processes has for one rank. */
static struct rank *called;

/** The first call that is heard is told, in the word of rank 0. */
static void hear_call(void)
{
    if (called != NULL) {
        atomic_fetch_add(&called->job->shared->words[0], 1);
        called = NULL;
    }
}

void pattern_calls(struct rank *me)
{
    uint64_t since_ns = 0;
    uint8_t byte = 0;

    me->context->hooks.move_external = hear_call;
    if (me->rank != 0) {
        called = me;
        receive(me, 0, 1, &byte, 1);
        rank_expect(me, called == NULL, "nobody called");
    } else {
        while (atomic_load(&me->job->shared->words[0]) + 1 < (uint64_t)me->size) {
            bcs_external_call(me->context, &since_ns);
        }
        for (int32_t to = 1; to < me->size; to++) {
            send_to(me, to, 1, &byte, 1);
        }
    }
}

/* A message of pattern_many_to_one: its number, then bytes that depend on it. */
static size_t numbered_length(uint32_t number)
{
    return sizeof(number) + (number % 7 == 0 ? 60000 : number * 37 % 3000);
}

void pattern_many_to_one(struct rank *me)
{
    const uint32_t n_each = 10 * N_ROUNDS;
    uint32_t n_from[JOB_MAX_RANKS] = {0};
    uint8_t *data = malloc(64000);

    for (uint32_t i = 0; me->rank > 0 && i < n_each; i++) {
        memcpy(data, &i, sizeof(i));
        pattern_fill(data + sizeof(i), numbered_length(i) - sizeof(i),
                     pattern_seed(i + (uint32_t)me->rank));
        send_to(me, 0, 5, data, numbered_length(i));
    }
    for (uint32_t i = 0; me->rank == 0 && i < n_each * ((uint32_t)me->size - 1); i++) {
        struct bcs_result result = receive(me, BCS_ANY_SOURCE, 5, data, 64000);
        uint32_t number = n_from[result.source]++;

        rank_expect(me, memcmp(data, &number, sizeof(number)) == 0,
                    "a message has overtaken another");
        rank_expect(me, result.n_bytes == numbered_length(number), "a wrong length");
        rank_expect(me,
                    pattern_is_filled(data + sizeof(number),
                                      result.n_bytes - sizeof(number),
                                      pattern_seed(number + (uint32_t)result.source)),
                    "wrong bytes");
    }
    free(data);
}

/* ---- random messages: all ranks make the same list and each does its part */

enum { MAX_LISTED = 8 * JOB_MAX_RANKS };

struct listed {
    int32_t from, to, tag;
    bool is_synchronous;
    size_t n_bytes;
};

struct part {
    const struct listed *listed;
    uint32_t key;
    uint8_t *data;
    struct bcs_request request;
};

static size_t random_length(struct rank *list)
{
    static const size_t limits[] = {81, 81, 3000, 16385, 16385, 70000, 200000};

    return rank_random(list) % limits[rank_random(list) % 7];
}

static uint32_t make_list(struct rank *me, uint64_t seed, struct listed *listed)
{
    struct rank list = {.seed = seed};
    uint32_t n = 8 * (uint32_t)me->size;

    for (uint32_t i = 0; i < n; i++) {
        listed[i] = (struct listed){
            .from = (int32_t)(rank_random(&list) % (uint32_t)me->size),
            .to = (int32_t)(rank_random(&list) % (uint32_t)me->size),
            .tag = (int32_t)(rank_random(&list) % 3),
            .is_synchronous = rank_random(&list) % 4 == 0,
            .n_bytes = random_length(&list),
        };
    }
    return n;
}

static void part_start(struct rank *me, struct part *part, bool is_send)
{
    const struct listed *listed = part->listed;
    struct bcs_message message = rank_message(me, is_send ? listed->to : listed->from,
                                              listed->tag, part->data, listed->n_bytes);
    int rc;

    if (is_send) {
        pattern_fill(part->data, listed->n_bytes, pattern_seed(part->key));
        rc = bcs_send(me->context, &message,
                      listed->is_synchronous ? BCS_SEND_SYNCHRONOUS : BCS_SEND_STANDARD,
                      &part->request);
    } else {
        rc = bcs_recv(me->context, &message, NULL, &part->request);
    }
    rank_expect(me, rc == 0, "a message cannot be started");
}

/** Start all messages of the list that this rank sends, or receives. @return how many
 */
static uint32_t parts_start(struct rank *me, const struct listed *listed, uint32_t n,
                            struct part *parts, bool is_send)
{
    uint32_t n_parts = 0;

    for (uint32_t i = 0; i < n; i++) {
        if ((is_send ? listed[i].from : listed[i].to) == me->rank) {
            struct part *part = &parts[n_parts++];

            *part = (struct part){
                .listed = &listed[i], .key = i, .data = malloc(listed[i].n_bytes + 1)};
            part_start(me, part, is_send);
        }
    }
    return n_parts;
}

static void part_finish(struct rank *me, struct part *part)
{
    if (rank_random(me) % 2 == 0) {
        rank_expect(me, bcs_test(me->context, &part->request, true) == 0,
                    "waiting failed");
    }
    while (bcs_test(me->context, &part->request, false) == BCS_E_PENDING) {
    }
    if (!bcs_request_state(&part->request)->is_send) {
        rank_expect(me, part->request.result.n_bytes == part->listed->n_bytes,
                    "a message of wrong length");
    }
    rank_expect(
        me,
        pattern_is_filled(part->data, part->listed->n_bytes, pattern_seed(part->key)),
        "a message of wrong bytes");
    free(part->data);
}

/* A pending request must stay where it is, so only the order is shuffled. */
static void parts_finish(struct rank *me, struct part *parts, uint32_t n)
{
    uint32_t order[2 * MAX_LISTED];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = rank_random(me) % (i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        part_finish(me, &parts[order[i]]);
    }
}

void pattern_random(struct rank *me)
{
    struct part *parts = malloc(2 * MAX_LISTED * sizeof(*parts));
    struct listed listed[MAX_LISTED];

    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        uint32_t n = make_list(me, round + 1, listed);
        bool is_send_first = (round + (uint32_t)me->rank) % 2 == 0;
        uint32_t n_parts = parts_start(me, listed, n, parts, is_send_first);

        n_parts += parts_start(me, listed, n, &parts[n_parts], !is_send_first);
        parts_finish(me, parts, n_parts);
    }
    free(parts);
}

static void flood(struct rank *me)
{
    for (uint64_t i = 0; i < N_FLOOD; i++) {
        uint64_t data[3] = {i, 0, ~i};
        struct bcs_message message = rank_message(me, 0, 1, data, sizeof(data));

        rank_expect(me, bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL) == 0,
                    "a send failed");
        if (i == 3) {
            rank_meet(me); /* rank 0 begins while the flood is running */
        }
    }
}

void pattern_flood(struct rank *me)
{
    uint64_t n_from[JOB_MAX_RANKS] = {0};

    if (me->rank > 0) {
        flood(me);
        return;
    }
    rank_meet(me);
    for (int32_t i = 0; i < (me->size - 1) * N_FLOOD; i++) {
        uint64_t data[3];
        struct bcs_result result = receive(me, BCS_ANY_SOURCE, 1, data, sizeof(data));
        uint64_t number = n_from[result.source]++;

        rank_expect(me, data[0] == number && data[2] == ~number,
                    "a message of the flood is wrong");
    }
}

/** Wait until all ranks but this one are asleep. */
static void await_sleepers(struct rank *me)
{
    const struct bcs_machine *machine = me->context->engine->machine;

    while (atomic_load(&machine->n_asleep) < (uint32_t)me->size - 1) {
        me->context->driver->progress(me->context->engine);
        sched_yield();
    }
}

void pattern_wake_sleepers(struct rank *me)
{
    uint8_t data[20000];

    for (uint32_t i = 0; i < N_SLEEPS; i++) {
        size_t n_bytes = i % 2 == 0 ? 8 : sizeof(data);

        if (me->rank > 0) {
            receive(me, 0, 3, data, sizeof(data));
            rank_expect(me, pattern_is_filled(data, n_bytes, pattern_seed(i)),
                        "a sleeper got wrong bytes");
            continue;
        }
        pattern_fill(data, n_bytes, pattern_seed(i));
        await_sleepers(me);
        for (int32_t to = 1; to < me->size; to++) {
            struct bcs_message message = rank_message(me, to, 3, data, n_bytes);

            bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
        }
    }
}

void pattern_long_between_nodes(struct rank *me)
{
    enum { N_BYTES = 8 << 20, MOST_SLICES = 64 };
    uint8_t *data = calloc(1, N_BYTES);
    struct bcs_message message = rank_message(me, 1 - me->rank, 1, data, N_BYTES);
    uint64_t n_before = bcs_context_slices(me->context);

    if (me->rank == 0) {
        pattern_fill(data, N_BYTES, pattern_seed(1));
        bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
    } else {
        bcs_recv(me->context, &message, NULL, NULL);
    }
    rank_expect(me, pattern_is_filled(data, N_BYTES, pattern_seed(1)),
                "a wrong message");
    rank_expect(me,
                !me->context->engine->is_timed ||
                    bcs_context_slices(me->context) - n_before < MOST_SLICES,
                "a slice for each stage block");
    free(data);
}

static void receive_too_short(struct rank *me)
{
    uint8_t data[600] = {0};
    struct bcs_message message = rank_message(me, 1, 1, data, 500);
    struct bcs_result result;

    rank_expect(me, bcs_recv(me->context, &message, &result, NULL) == BCS_E_TRUNCATED,
                "no truncation");
    rank_expect(me,
                result.n_bytes == 500 && pattern_is_filled(data, 500, pattern_seed(1)),
                "a wrong part");
    rank_expect(me, data[500] == 0, "bytes beyond the buffer");
}

static void take_back(struct rank *me)
{
    uint8_t data[8];
    struct bcs_message message = rank_message(me, 1, 99, data, sizeof(data));
    struct bcs_request request;

    rank_expect(me, bcs_recv(me->context, &message, NULL, &request) == 0, "no receive");
    bcs_cancel(me->context, &request);
    rank_expect(me, bcs_test(me->context, &request, true) == BCS_E_CANCELLED,
                "not taken back");
}

/** Take one message by a probe, and receive it after the later one of the same kind. */
static void receive_probed(struct rank *me, size_t n_bytes, uint32_t key)
{
    uint8_t *data = calloc(2, n_bytes);
    struct bcs_message any =
        rank_message(me, BCS_ANY_SOURCE, BCS_ANY_TAG, data, n_bytes);
    struct bcs_request request;
    struct bcs_result result;
    uint32_t item;

    rank_expect(me, bcs_mprobe(me->context, &any, true, &result, &item) == 0,
                "no message found");
    rank_expect(me, result.source == 1 && result.tag == 2 && result.n_bytes == n_bytes,
                "a wrong message found");
    receive(me, 1, 2, data + n_bytes, n_bytes);
    rank_expect(me, bcs_imrecv(me->context, &any, item, &request) == 0, "no receive");
    rank_expect(me, bcs_test(me->context, &request, true) == 0, "waiting failed");
    rank_expect(me, pattern_is_filled(data, n_bytes, pattern_seed(key)),
                "the probed message is wrong");
    rank_expect(me, pattern_is_filled(data + n_bytes, n_bytes, pattern_seed(key + 1)),
                "the later one is wrong");
    free(data);
}

static void expect_nothing(struct rank *me)
{
    struct bcs_message any = rank_message(me, BCS_ANY_SOURCE, BCS_ANY_TAG, NULL, 0);
    struct bcs_result result;

    rank_expect(me, bcs_probe(me->context, &any, false, &result) == BCS_E_PENDING,
                "a message where there is none");
}

void pattern_odd_receives(struct rank *me)
{
    static const size_t lengths[] = {8, 80, 1000, 16000, 40000, 200000};

    for (uint32_t i = 0; me->rank < 2 && i < sizeof(lengths) / sizeof(lengths[0]);
         i++) {
        if (me->rank == 0) {
            take_back(me);
            receive_too_short(me);
            receive_probed(me, lengths[i], 10 * i);
            expect_nothing(me);
            send_to(me, 1, 4, NULL, 0);
        } else {
            uint8_t *data = malloc(lengths[i] + 600);
            struct bcs_request requests[2];

            pattern_fill(data, 600, pattern_seed(1));
            send_to(me, 0, 1, data, 600);
            for (uint32_t k = 0; k < 2; k++) {
                uint8_t *part = malloc(lengths[i]);
                struct bcs_message message = rank_message(me, 0, 2, part, lengths[i]);

                pattern_fill(part, lengths[i], pattern_seed(10 * i + k));
                bcs_send(me->context, &message, BCS_SEND_STANDARD, &requests[k]);
            }
            for (uint32_t k = 0; k < 2; k++) {
                bcs_test(me->context, &requests[k], true);
                free(bcs_request_state(&requests[k])->data);
            }
            receive(me, 0, 4, NULL, 0);
            free(data);
        }
    }
}

void pattern_full_cells(struct rank *me)
{
    const uint32_t n = (uint32_t)me->context->config.descriptors;
    struct bcs_request *requests = calloc(n + 1, sizeof(*requests));
    uint32_t *data = calloc(n + 1, sizeof(*data));

    for (uint32_t i = 0; me->rank == 0 && i <= n; i++) {
        struct bcs_message message = rank_message(me, 1, (int32_t)i, &data[i], 4);
        int rc = bcs_recv(me->context, &message, NULL, &requests[i]);

        rank_expect(me, rc == (i < n ? 0 : -ENOMEM), "a wrong number of receives");
        me->context->driver->progress(me->context->engine);
    }
    rank_meet(me);
    for (uint32_t i = 0; me->rank == 1 && i < n; i++) {
        struct bcs_message message = rank_message(me, 0, (int32_t)i, &i, sizeof(i));

        bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
    }
    for (uint32_t i = 0; me->rank == 0 && i < n; i++) {
        bcs_test(me->context, &requests[i], true);
        rank_expect(me, data[i] == i, "a wrong message");
    }
    free(requests);
    free(data);
}
