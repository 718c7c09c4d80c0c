/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks stand: a record is whole whenever it is read; a wait tells what it waits
 * for when it has lasted for a while, also if it sleeps, and takes it back at its end.
 */
#include "libbcs/fabric/ring/stand.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/collective/near_collective.h"
#include "libbcs/api/message/turns.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 3, N_RECORDS = 20000, N_MANY = 130, MS = 1000000 };

/* ------------------------------------------------------------------ the record */

static struct bcs_stand *record_new(uint32_t n_ranks)
{
    return calloc(bcs_stand_words(n_ranks), sizeof(uint64_t));
}

static struct bcs_stand_slot *slot_new(uint32_t n_ranks)
{
    return calloc(1, bcs_stands_bytes(n_ranks));
}

static void *write_many(void *arg)
{
    struct bcs_stand *stand = record_new(N_MANY);

    for (uint64_t i = 1; i <= N_RECORDS; i++) {
        memset(stand, (int)(i % 255 + 1), bcs_stand_words(N_MANY) * sizeof(uint64_t));
        bcs_stand_write(arg, i % 5 == 0 ? NULL : stand, N_MANY);
    }
    bcs_stand_write(arg, NULL, N_MANY);
    free(stand);
    return NULL;
}

/** Whether all bytes of a record are the same, but for the ends of texts. */
static bool is_whole(const struct bcs_stand *stand)
{
    const unsigned char *bytes = (const unsigned char *)stand;
    unsigned char ranks[(N_MANY + 63) / 64 * 8];

    memset(ranks, bytes[0], sizeof(ranks));
    return memcmp(stand->operations, ranks, sizeof(ranks)) == 0 &&
           memcmp(stand + 1, ranks, sizeof(ranks)) == 0 &&
           stand->number == stand->since_ns;
}

START_TEST(a_record_is_read_whole_or_not_at_all)
{
    struct bcs_stand_slot *slot = slot_new(N_MANY);
    struct bcs_stand *stand = record_new(N_MANY);
    uint64_t sequence, last = 0;
    pthread_t thread;
    int rc = 0;

    ck_assert_int_eq(pthread_create(&thread, NULL, write_many, slot), 0);
    while (last < 2 * N_RECORDS + 2) {
        rc = bcs_stand_read(slot, N_MANY, stand, &sequence);
        if (rc == BCS_STAND_E_BUSY) {
            continue;
        }
        ck_assert(rc == BCS_STAND_E_NONE || is_whole(stand));
        ck_assert_uint_ge(sequence, last);
        last = sequence;
    }
    ck_assert_int_eq(rc, BCS_STAND_E_NONE);
    pthread_join(thread, NULL);
    free(stand);
    free(slot);
}
END_TEST

START_TEST(a_writer_that_died_leaves_nothing_to_read)
{
    struct bcs_stand_slot *slot = slot_new(1);
    struct bcs_stand *stand = record_new(1);
    uint64_t sequence;

    stand->is_waiting = 1;
    bcs_stand_write(slot, stand, 1);
    ck_assert_int_eq(bcs_stand_read(slot, 1, stand, &sequence), 0);
    ck_assert_uint_eq(sequence, 2);
    atomic_store(&slot->sequence, 3);
    ck_assert_int_eq(bcs_stand_read(slot, 1, stand, &sequence), BCS_STAND_E_BUSY);
    free(stand);
    free(slot);
}
END_TEST

START_TEST(texts_of_a_stranger_end)
{
    struct bcs_stand_slot *slot = slot_new(1);
    struct bcs_stand *stand = record_new(1);
    uint64_t sequence;

    memset(stand, 'x', bcs_stand_words(1) * sizeof(uint64_t));
    bcs_stand_write(slot, stand, 1);
    ck_assert_int_eq(bcs_stand_read(slot, 1, stand, &sequence), 0);
    ck_assert_uint_eq(strlen(stand->call), BCS_STAND_CALL_BYTES - 1);
    ck_assert_uint_eq(strlen(stand->collective), BCS_STAND_COLLECTIVE_BYTES - 1);
    ck_assert_uint_eq(strlen(stand->comm), BCS_STAND_COMM_BYTES - 1);
    ck_assert_uint_eq(strlen(stand->agent_words), BCS_AGENT_BYTES - 1);
    ck_assert_uint_eq(strlen(stand->lines), BCS_STAND_LINES_BYTES - 1);
    free(stand);
    free(slot);
}
END_TEST

START_TEST(what_a_record_lists_is_read)
{
    struct bcs_stand_slot *slot = slot_new(N_MANY);
    struct bcs_stand *stand = record_new(N_MANY), *read = record_new(N_MANY);
    size_t n_bytes = bcs_stand_words(N_MANY) * sizeof(uint64_t);
    uint64_t sequence;

    for (uint32_t n = 0; n <= BCS_STAND_OPERATIONS + 1; n++) {
        size_t n_listed = (n == 0                     ? 1
                           : n > BCS_STAND_OPERATIONS ? BCS_STAND_OPERATIONS
                                                      : n) *
                          sizeof(stand->operations[0]);

        memset(stand, (int)(n % 100 + 1), n_bytes);
        stand->n_listed = n;
        stand->first = 0;
        stand->call[BCS_STAND_CALL_BYTES - 1] = '\0';
        stand->collective[BCS_STAND_COLLECTIVE_BYTES - 1] = '\0';
        stand->comm[BCS_STAND_COMM_BYTES - 1] = '\0';
        stand->agent_words[BCS_AGENT_BYTES - 1] = '\0';
        stand->lines[BCS_STAND_LINES_BYTES - 1] = '\0';
        bcs_stand_write(slot, stand, N_MANY);
        ck_assert_int_eq(bcs_stand_read(slot, N_MANY, read, &sequence), 0);
        ck_assert_mem_eq(stand, read, offsetof(struct bcs_stand, operations));
        ck_assert_mem_eq(stand->operations, read->operations, n_listed);
        ck_assert_mem_eq(stand + 1, read + 1, n_bytes - sizeof(*stand));
    }
    free(read);
    free(stand);
    free(slot);
}
END_TEST

/* -------------------------------------------------------------------- the waits */

static struct bcs_stand_slot *slot_of(struct rank *me, uint32_t port)
{
    return bcs_stand_slot_at(nic_engine_stands(me->context->engine, port), 0,
                             (uint32_t)me->size);
}

/** Wait until a rank stands somewhere, and read that. Who sleeps is woken, as by
 *  apps/tools/look. */
static uint64_t await_stand(struct rank *me, uint32_t port, struct bcs_stand *stand_out)
{
    uint64_t sequence = 0;

    while (bcs_stand_read(slot_of(me, port), (uint32_t)me->size, stand_out,
                          &sequence) != 0) {
        bcs_word_wake(&nic_engine_port(me->context->engine, port)->park);
        sched_yield();
    }
    return sequence;
}

/** The same, of what the rank finds out from now on. */
static void await_answer(struct rank *me, uint32_t port, struct bcs_stand *stand_out)
{
    struct bcs_stand_slot *slot = slot_of(me, port);
    struct bcs_stands *stands = nic_engine_stands(me->context->engine, port);
    uint64_t asked = atomic_fetch_add(&stands->asked, 1) + 1;

    await_stand(me, port, stand_out);
    while (atomic_load(&slot->answered) != asked) {
        bcs_word_wake(&nic_engine_port(me->context->engine, port)->park);
        sched_yield();
    }
    await_stand(me, port, stand_out);
}

static void expect_nobody(struct rank *me, uint32_t port)
{
    struct bcs_stand *stand = record_new(N_RANKS);
    uint64_t sequence;

    rank_expect(me,
                bcs_stand_read(slot_of(me, port), N_RANKS, stand, &sequence) ==
                    BCS_STAND_E_NONE,
                "the wait is over, and still told");
    free(stand);
}

static void expect_operation(struct rank *me, const struct bcs_stand *stand,
                             const struct bcs_stand_operation *expected)
{
    const struct bcs_stand_operation *found = &stand->operations[0];

    rank_expect(me, stand->n_operations == 1, "one operation");
    rank_expect(me, found->kind == expected->kind, "its kind");
    rank_expect(me, found->peer == expected->peer, "its peer");
    rank_expect(me, found->tag == expected->tag, "its tag");
    rank_expect(me, found->n_bytes == expected->n_bytes, "its length");
    rank_expect(me, found->context_id == me->world.context_id, "its group");
}

/* Rank 0 receives from rank 2, which sends when it has seen that. */
static void receive_late(struct rank *me)
{
    struct bcs_stand *stand = record_new(N_RANKS);
    struct bcs_message message;
    uint64_t now_ns, sequence;
    char text[5] = "late";

    rank_meet(me);
    message = rank_message(me, me->rank == 0 ? 2 : 0, 7, text, sizeof(text));
    if (me->rank == 0) {
        rank_expect(me, bcs_recv(me->context, &message, NULL, NULL) == 0, "receive");
        expect_nobody(me, 0);
    } else if (me->rank == 2) {
        sequence = await_stand(me, 0, stand);
        now_ns = bcs_clock_now_ns();
        expect_operation(me, stand,
                         &(struct bcs_stand_operation){.kind = BCS_STAND_RECEIVE,
                                                       .peer = 2,
                                                       .tag = 7,
                                                       .n_bytes = sizeof(text)});
        rank_expect(me, stand->needs_all, "it needs what it waits for");
        rank_expect(me, stand->operations[0].cell != BCS_CELL_NONE, "its cell");
        rank_expect(me, bcs_stand_has(stand, 2) && !bcs_stand_has(stand, 1),
                    "rank 2 alone can release it");
        rank_expect(me, stand->since_ns < now_ns && now_ns - stand->since_ns >= MS / 2,
                    "since a while");
        rank_expect(me, await_stand(me, 0, stand) == sequence, "the same wait");
        bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
    }
    rank_meet(me);
    free(stand);
}

/* Rank 0 waits for a message of rank 2, and a barrier of its own goes on meanwhile,
 * which the others come to when they have seen that. */
static void go_on_meanwhile(struct rank *me)
{
    struct bcs_stand *stand = record_new(N_RANKS);
    struct bcs_message message;
    struct bcs_request barrier;
    uint64_t sequence = 0;
    char text[5] = "late";

    rank_open_world(me);
    rank_meet(me);
    message = rank_message(me, me->rank == 0 ? 2 : 0, 7, text, sizeof(text));
    if (me->rank != 0) {
        sequence = await_stand(me, 0, stand);
    }
    rank_expect(me, bcs_barrier(me->context, &me->world, &barrier) == 0, "barrier");
    if (me->rank == 0) {
        rank_expect(me, bcs_recv(me->context, &message, NULL, NULL) == 0, "receive");
    }
    bcs_test(me->context, &barrier, true);
    if (me->rank == 2) {
        rank_expect(me, await_stand(me, 0, stand) != sequence,
                    "a barrier has gone on, and the record is what it was");
        expect_operation(me, stand,
                         &(struct bcs_stand_operation){.kind = BCS_STAND_RECEIVE,
                                                       .peer = 2,
                                                       .tag = 7,
                                                       .n_bytes = sizeof(text)});
        bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
    }
    rank_meet(me);
    free(stand);
}

/* Ranks 0 and 1 are in a barrier, to which rank 2 comes when it has seen that. */
static void come_late(struct rank *me)
{
    struct bcs_stand *stand = record_new(N_RANKS);
    uint64_t last;
    bool is_near;

    rank_open_world(me);
    rank_meet(me);
    bcs_barrier(me->context, &me->world, NULL);
    is_near = bcs_group_is_near(me->context, &me->world);
    last = is_near ? me->world.n_near : me->world.n_posted;
    for (uint32_t port = 0; me->rank == 2 && port < 2; port++) {
        await_answer(me, port, stand);
        rank_expect(me, stand->operations[0].kind == BCS_STAND_COLLECTIVE,
                    "collective");
        rank_expect(me, strcmp(stand->collective, "barrier") == 0, "a barrier");
        rank_expect(me, stand->number == last + 1, "the next one");
        rank_expect(me,
                    stand->comm_rank == (int32_t)port && stand->comm_size == N_RANKS,
                    "its group");
        rank_expect(me,
                    bcs_stand_has(stand, 2) && !bcs_stand_has(stand, port) &&
                        (port == 0 || bcs_stand_has(stand, 0) == !is_near),
                    "who has not come can release it, or any other one");
    }
    bcs_barrier(me->context, &me->world, NULL);
    if (me->rank < 2) {
        expect_nobody(me, (uint32_t)me->rank);
    }
    rank_meet(me);
    free(stand);
}

/* Anybody may send what rank 0 probes for. */
static void probe_for_any(struct rank *me)
{
    struct bcs_stand *stand = record_new(N_RANKS);
    struct bcs_message any = rank_message(me, BCS_ANY_SOURCE, BCS_ANY_TAG, NULL, 0);
    struct bcs_message message = rank_message(me, 0, 3, NULL, 0);
    struct bcs_result result;

    rank_meet(me);
    if (me->rank == 0) {
        rank_expect(me, bcs_probe(me->context, &any, true, &result) == 0, "probe");
        expect_nobody(me, 0);
    } else if (me->rank == 1) {
        await_stand(me, 0, stand);
        expect_operation(
            me, stand,
            &(struct bcs_stand_operation){
                .kind = BCS_STAND_PROBE, .peer = -1, .tag = -1, .n_bytes = 0});
        rank_expect(me,
                    bcs_stand_has(stand, 0) && bcs_stand_has(stand, 1) &&
                        bcs_stand_has(stand, 2),
                    "all can release it");
        bcs_send(me->context, &message, BCS_SEND_STANDARD, NULL);
    }
    rank_meet(me);
    free(stand);
}

/* A call that a handler makes within another one tells nothing, however long it waits:
 * the outer one's record stays. */
static void wait_nested(struct rank *me)
{
    struct bcs_waiter waiter = {.since_ticks = 1};

    bcs_context_nest(me->context, true);
    rank_expect(me, !bcs_stand_is_due(me->context, &waiter),
                "a nested call would tell");
    bcs_context_nest(me->context, false);
    rank_expect(me, bcs_stand_is_due(me->context, &waiter),
                "a long wait tells nothing");
}

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .is_threaded = true, .n_cpus = 8},
    {.n_ranks = N_RANKS, .is_threaded = true, .n_cpus = 1},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 1},
    {.n_ranks = N_RANKS, .is_threaded = true, .node_ranks = 2, .has_crew = true},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

START_TEST(a_receive_tells_whom_it_waits_for)
{
    job_run(&shapes[_i], receive_late);
}
END_TEST

START_TEST(a_wait_tells_that_a_collective_goes_on)
{
    job_run(&shapes[_i], go_on_meanwhile);
}
END_TEST

START_TEST(a_collective_tells_who_has_come)
{
    job_run(&shapes[_i], come_late);
}
END_TEST

START_TEST(a_probe_for_any_tells_that_all_may_send)
{
    job_run(&shapes[_i], probe_for_any);
}
END_TEST

START_TEST(a_nested_call_tells_nothing)
{
    job_run(&shapes[0], wait_nested);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("stand");

    tcase_add_test(tcase, a_record_is_read_whole_or_not_at_all);
    tcase_add_test(tcase, a_writer_that_died_leaves_nothing_to_read);
    tcase_add_test(tcase, texts_of_a_stranger_end);
    tcase_add_test(tcase, what_a_record_lists_is_read);
    tcase_add_loop_test(tcase, a_receive_tells_whom_it_waits_for, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_wait_tells_that_a_collective_goes_on, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_collective_tells_who_has_come, 0, N_SHAPES);
    tcase_add_loop_test(tcase, a_probe_for_any_tells_that_all_may_send, 0, N_SHAPES);
    tcase_add_test(tcase, a_nested_call_tells_nothing);
    return run_tcase("stand", tcase);
}
