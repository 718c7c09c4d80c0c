/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message, and a short collective, costs in cache lines, where each process
 * matches its own: between two ranks it writes no line that a third one reads or
 * writes, whatever that one does; and how many lines go from the one to the other.
 * Ranks are contexts of one thread, whose accesses are counted (line_trace.h).
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/wait.h"
#include "nic_threads/node/signature.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/unit/line_trace.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 6,
    N_MANY = 40, /* members of a group in three blocks */
    TAG = 5,
    N_ROUNDS = 40,
    N_POLLS = 200,
    N_BYTES = 8,
    LONGEST = 1024
};
enum { HEAP, SHARED, N_PIECES };

#define ANY_NUMBER SIZE_MAX /* of lines: by how the C library copies */

static struct job job;
static struct rank ranks[N_MANY];
static char data[LONGEST];

static void setup(void)
{
    job_open_awake(&job, N_RANKS, ranks);
}

static void setup_many(void)
{
    job_open_awake(&job, N_MANY, ranks);
}

static void teardown(void)
{
    job_close(&job, ranks);
}

static void start_receive(int rank, int source, struct bcs_request *request_out)
{
    struct bcs_message message = rank_message(&ranks[rank], source, TAG, data, N_BYTES);

    ck_assert_int_eq(bcs_recv(ranks[rank].context, &message, NULL, request_out), 0);
}

static void send_to(int from, int to, size_t n_bytes)
{
    struct bcs_message message = rank_message(&ranks[from], to, TAG, data, n_bytes);

    ck_assert_int_eq(bcs_send(ranks[from].context, &message, BCS_SEND_STANDARD, NULL),
                     0);
}

/** Wait for a message. */
static void receive_at(int rank, int source, size_t n_bytes)
{
    struct bcs_message wanted = rank_message(&ranks[rank], source, TAG, data, n_bytes);

    ck_assert_int_eq(bcs_recv(ranks[rank].context, &wanted, NULL, NULL), 0);
}

/** Wait for a message of rank 0 to rank 1. */
static void receive(size_t n_bytes)
{
    receive_at(1, 0, n_bytes);
}

/** A message from one rank to another, which gets it from `source`. */
static void pass(int from, int to, int source)
{
    struct bcs_request received;

    start_receive(to, source, &received);
    send_to(from, to, N_BYTES);
    ck_assert_int_eq(bcs_test(ranks[to].context, &received, true), 0);
}

static void pass_to_and_fro(int a, int b)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        pass(a, b, i % 2 == 0 ? a : BCS_ANY_SOURCE);
        pass(b, a, b);
    }
    send_to(a, b, N_BYTES);
    receive_at(b, a, N_BYTES);
}

/** A rank polls for a message that does not come, in its two ways. */
static void poll(int rank)
{
    struct bcs_context *context = ranks[rank].context;
    struct bcs_message wanted =
        rank_message(&ranks[rank], BCS_ANY_SOURCE, TAG + 1, NULL, 0);
    struct bcs_waiter waiter = {0};
    struct bcs_result result;
    struct bcs_request request;

    ck_assert_int_eq(bcs_recv(context, &wanted, NULL, &request), 0);
    for (int i = 0; i < N_POLLS; i++) {
        ck_assert_int_eq(bcs_test(context, &request, false), BCS_E_PENDING);
        ck_assert_int_eq(bcs_probe(context, &wanted, false, &result), BCS_E_PENDING);
        bcs_wait_turn(context, &waiter);
    }
    bcs_wait_stop(context, &waiter);
    bcs_cancel(context, &request);
    bcs_cancel_wait(context, &request);
}

static void make_traces(struct line_trace traces[N_PIECES])
{
    const struct nic_layout *layout = &ranks[0].context->engine->layout;

    line_trace_make(&traces[HEAP], bcs_memory_heap(job.memory, 0), layout->whole_bytes);
    line_trace_make(&traces[SHARED], job.shared, sizeof(*job.shared));
}

static void free_traces(struct line_trace traces[N_PIECES])
{
    line_trace_free(&traces[HEAP]);
    line_trace_free(&traces[SHARED]);
}

/** Lines that some have written, and others used. */
static int n_common(const struct line_trace written[N_PIECES],
                    const struct line_trace used[N_PIECES])
{
    int n = 0;

    for (int piece = 0; piece < N_PIECES; piece++) {
        for (size_t i = 0; i < used[piece].n_bytes / LINE_BYTES; i++) {
            bool is_common = (written[piece].lines[i] & LINE_WRITTEN) != 0 &&
                             used[piece].lines[i] != 0;

            n += is_common;
            if (is_common) {
                fprintf(stderr, "line %zu of piece %d\n", i, piece);
            }
        }
    }
    return n;
}

/** Once they know each other, and what they use is there. */
static void warm_up(void)
{
    for (int i = 0; i < N_RANKS; i++) {
        for (int j = 0; j < N_RANKS; j++) {
            pass(i, j, i);
        }
    }
    pass_to_and_fro(0, 1);
    pass_to_and_fro(2, 3);
    poll(4);
}

START_TEST(a_message_writes_no_line_that_a_third_rank_uses)
{
    struct line_trace ours[N_PIECES], theirs[N_PIECES];

    make_traces(ours);
    make_traces(theirs);
    warm_up();
    line_trace_begin(ours, N_PIECES);
    pass_to_and_fro(0, 1);
    line_trace_end();
    line_trace_begin(theirs, N_PIECES);
    pass_to_and_fro(2, 3);
    poll(4);
    line_trace_end();
    ck_assert_uint_gt(line_trace_count(&ours[HEAP], LINE_WRITTEN), 0);
    ck_assert_uint_gt(line_trace_count(&theirs[HEAP], LINE_WRITTEN), 0);
    ck_assert_int_eq(n_common(ours, theirs), 0);
    ck_assert_int_eq(n_common(theirs, ours), 0);
    free_traces(ours);
    free_traces(theirs);
}
END_TEST

/* The line of the descriptor: what the sender writes, and the receiver uses. */
START_TEST(a_short_message_takes_one_line_from_its_sender_to_its_receiver)
{
    struct line_trace sender[N_PIECES], receiver[N_PIECES];

    make_traces(sender);
    make_traces(receiver);
    warm_up();
    line_trace_begin(sender, N_PIECES);
    send_to(0, 1, N_BYTES);
    line_trace_end();
    line_trace_begin(receiver, N_PIECES);
    receive(N_BYTES);
    line_trace_end();
    ck_assert_int_eq(n_common(sender, receiver), 1);
    ck_assert_int_eq(n_common(receiver, sender), 0);
    free_traces(sender);
    free_traces(receiver);
}
END_TEST

/* ---- what calls cost */

static struct bcs_request request;

static void send_short(void)
{
    send_to(0, 1, N_BYTES);
}

static void receive_short(void)
{
    receive(N_BYTES);
}

static void receive_any(void)
{
    receive_at(1, BCS_ANY_SOURCE, N_BYTES);
}

static void send_block(void)
{
    send_to(0, 1, LONGEST);
}

static void receive_block(void)
{
    receive(LONGEST);
}

static void post_receive(void)
{
    start_receive(1, 0, &request);
}

static void test_in_vain(void)
{
    ck_assert_int_eq(bcs_test(ranks[1].context, &request, false), BCS_E_PENDING);
}

static void test_at_last(void)
{
    ck_assert_int_eq(bcs_test(ranks[1].context, &request, false), 0);
}

static void send_and_probe(void)
{
    struct bcs_message wanted = rank_message(&ranks[1], BCS_ANY_SOURCE, TAG, NULL, 0);
    struct bcs_result result;

    send_short();
    ck_assert_int_eq(bcs_probe(ranks[1].context, &wanted, false, &result), 0);
}

static void probe_in_vain(void)
{
    struct bcs_message wanted =
        rank_message(&ranks[1], BCS_ANY_SOURCE, TAG + 2, NULL, 0);
    struct bcs_result result;

    ck_assert_int_eq(bcs_probe(ranks[1].context, &wanted, false, &result),
                     BCS_E_PENDING);
}

/** The block of lines of ranks' groups with a number, in their next collective. */
static struct bcs_near_block *next_block(uint32_t number)
{
    return nic_view_near_block(nic_engine_own(ranks[0].context->engine),
                               ranks[0].world.slot, number);
}

static uint32_t next_turn(void)
{
    return (ranks[0].world.n_near + 1) % BCS_NEAR_TURNS;
}

/** Let lines of the next collective say: a barrier. */
static void say_barrier(struct bcs_near_line *lines, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        lines[i].said.signature = nic_signature(&(struct bcs_descriptor){
            .operation = bcs_operation(BCS_COLLECTIVE_BARRIER, 0), .tag = -1});
        atomic_store(&lines[i].number, ranks[0].world.n_near + 1);
    }
}

/** The others have come, as their lines say. */
static void come_to_barrier(void)
{
    say_barrier(&next_block(0)->arrivals[next_turn()][1], N_RANKS - 1);
}

static void end_barrier(void)
{
    ck_assert_int_eq(bcs_barrier(ranks[0].context, &ranks[0].world, NULL), 0);
}

static void nothing(void)
{
}

/* Each call, after what has to be before it is counted: what it does to memory that
 * other processes have mapped, where nobody sleeps. docs/performance.md has this table;
 * print it by the argument --table. */
static const struct cost {
    const char *call;
    void (*before)(void);
    void (*act)(void);
    size_t n_atomic, n_written;
} costs[] = {
    {"send of 8 bytes", nothing, send_short, 1, 1},
    {"receive of 8 bytes that have come", nothing, receive_short, 2, 3},
    {"the same, of any source", send_short, receive_any, 3, 9},
    {"receive of 8 bytes that a probe has found", send_and_probe, receive_any, 2, 5},
    {"send of 1 KB", nothing, send_block, 1, ANY_NUMBER},
    {"receive of 1 KB that have come", nothing, receive_block, 2, 4},
    {"non-blocking receive posted", nothing, post_receive, 1, 2},
    {"test in vain", test_in_vain, test_in_vain, 0, 0},
    {"test that finds 8 bytes", send_short, test_at_last, 2, 7},
    {"probe in vain", nothing, probe_in_vain, 0, 0},
    {"barrier of 6, the last to come", come_to_barrier, end_barrier, 1, 1},
};

enum { N_COSTS = sizeof(costs) / sizeof(costs[0]) };

/** Count each call in turn, as they belong together. */
static void count_all(struct cost counted[N_COSTS])
{
    warm_up();
    for (int i = 0; i < N_RANKS; i++) {
        rank_open_world(&ranks[i]);
    }
    for (int repeat = 0; repeat < 2; repeat++) { /* once more with all that is there */
        for (int i = 0; i < N_COSTS; i++) {
            struct line_trace traces[N_PIECES];

            make_traces(traces);
            costs[i].before();
            line_trace_begin(traces, N_PIECES);
            costs[i].act();
            line_trace_end();
            counted[i] = costs[i];
            counted[i].n_atomic = traces[HEAP].n_atomic + traces[SHARED].n_atomic;
            counted[i].n_written = line_trace_count(&traces[HEAP], LINE_WRITTEN) +
                                   line_trace_count(&traces[SHARED], LINE_WRITTEN);
            free_traces(traces);
        }
    }
}

static bool is_table_wanted;

static void print_table(const struct cost counted[N_COSTS])
{
    puts("| call | atomic read-modify-writes | cache lines written |\n"
         "| --- | ---: | ---: |");
    for (int i = 0; i < N_COSTS; i++) {
        printf("| %s | %zu | %zu |\n", counted[i].call, counted[i].n_atomic,
               counted[i].n_written);
    }
}

START_TEST(calls_cost_what_the_table_says)
{
    struct cost counted[N_COSTS];

    count_all(counted);
    if (is_table_wanted) {
        print_table(counted);
        return;
    }
    for (int i = 0; i < N_COSTS; i++) {
        ck_assert_msg(counted[i].n_atomic == costs[i].n_atomic &&
                          (counted[i].n_written == costs[i].n_written ||
                           costs[i].n_written == ANY_NUMBER),
                      "%s: %zu atomic instructions, %zu lines written", costs[i].call,
                      counted[i].n_atomic, counted[i].n_written);
    }
}
END_TEST

START_TEST(who_comes_to_a_collective_writes_its_own_line_and_reads_those_of_all)
{
    struct line_trace traces[N_PIECES];

    for (int i = 0; i < N_RANKS; i++) {
        rank_open_world(&ranks[i]);
    }
    make_traces(traces);
    come_to_barrier();
    line_trace_begin(traces, N_PIECES);
    end_barrier();
    line_trace_end();
    ck_assert_uint_eq(line_trace_count(&traces[HEAP], LINE_WRITTEN), 1);
    ck_assert_uint_eq(line_trace_count(&traces[HEAP], LINE_READ), N_RANKS);
    ck_assert_uint_eq(line_trace_count(&traces[SHARED], LINE_WRITTEN), 0);
    free_traces(traces);
}
END_TEST

/* ---- groups in a tree of blocks */

/* The same table: once all that the rank waits for is there. Each line written takes an
 * atomic instruction. Rank 0, the first of its block, writes its line, that of the
 * block in the upper one, and the one that the others of its block wait for. */
static const struct {
    const char *call;
    uint32_t rank;
    size_t n_read, n_written;
} many_costs[] = {
    {"barrier of 40, the last to come, not the first of its block", 17, 1, 1},
    {"barrier of 40, the last to come, the first of all", 0, 16 + 3, 3},
};

START_TEST(who_comes_to_a_barrier_of_many_writes_a_line_for_each_level_and_block)
{
    const struct bcs_limits *limits = &ranks[0].context->config.limits;
    const uint32_t n_blocks = bcs_near_n_blocks(N_MANY, BCS_NEAR_MOST);
    const uint32_t upper = bcs_near_n_first(limits, N_MANY);

    for (uint32_t i = 0; i < N_MANY; i++) {
        rank_open_world(&ranks[i]);
    }
    say_barrier(&next_block(0)->arrivals[next_turn()][1], BCS_NEAR_MOST - 1);
    say_barrier(&next_block(upper)->arrivals[next_turn()][1], n_blocks - 1);
    say_barrier(next_block(1)->release + next_turn(), 1);
    for (size_t i = 0; i < sizeof(many_costs) / sizeof(many_costs[0]); i++) {
        struct rank *me = &ranks[many_costs[i].rank];
        struct line_trace traces[N_PIECES];
        size_t n_written;

        make_traces(traces);
        line_trace_begin(traces, N_PIECES);
        ck_assert_int_eq(bcs_barrier(me->context, &me->world, NULL), 0);
        line_trace_end();
        n_written = line_trace_count(&traces[HEAP], LINE_WRITTEN);
        if (is_table_wanted) {
            printf("| %s | %zu | %zu |\n", many_costs[i].call, traces[HEAP].n_atomic,
                   n_written);
        } else {
            ck_assert_uint_eq(n_written, many_costs[i].n_written);
            ck_assert_uint_eq(traces[HEAP].n_atomic, many_costs[i].n_written);
            ck_assert_uint_eq(line_trace_count(&traces[HEAP], LINE_READ),
                              many_costs[i].n_read);
        }
        free_traces(traces);
    }
}
END_TEST

int main(int argc, char **argv)
{
    TCase *tcase, *many;
    Suite *suite;

    if (!line_trace_is_possible()) {
        puts("skipped: accesses can be counted on x86-64, without sanitizers");
        return 77;
    }
    suite = suite_create("lines");
    tcase = tcase_create("lines");
    many = tcase_create("many");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_checked_fixture(many, setup_many, teardown);
    is_table_wanted = argc > 1 && strcmp(argv[1], "--table") == 0;
    if (!is_table_wanted) {
        tcase_add_test(tcase, a_message_writes_no_line_that_a_third_rank_uses);
        tcase_add_test(tcase,
                       a_short_message_takes_one_line_from_its_sender_to_its_receiver);
        tcase_add_test(
            tcase,
            who_comes_to_a_collective_writes_its_own_line_and_reads_those_of_all);
    }
    tcase_add_test(tcase, calls_cost_what_the_table_says);
    tcase_add_test(
        many, who_comes_to_a_barrier_of_many_writes_a_line_for_each_level_and_block);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, many);
    return run_suite(suite);
}
