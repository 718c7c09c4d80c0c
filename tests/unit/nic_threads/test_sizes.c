/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What jobs of thousands of nodes take in one process, which has all their ranks: the
 * first parts of heaps grow by some bytes for each node, and memory with the nodes that
 * talk to each other. The command of docs/scaling.md is this program.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/roles/turn.h"
#include "tests/resident.h"
#include "tests/unit/collective_parts.h"
#include "tests/unit/run_suite.h"

enum {
    MOST_RANKS = 4096,
    N_PARTNERS = 3,        /* that each rank sends to; as many send to it */
    MOST_BYTES_A_NODE = 8, /* of a first part, for each node of the job */
    N_SLICES = 4,          /* of timed ones, after which all that is pending is done */
    N_HELPERS = 64,        /* ranks that look after all nodes */
};

/* With ThreadSanitizer each byte of memory takes several, and each step longer. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { N_RANKS = 512, BYTES_OF_A_SUM = 1 << 20 };
#else
enum { N_RANKS = MOST_RANKS, BYTES_OF_A_SUM = 64 << 10 }; /* a rank; most of it heap */
#endif

#define MOST_BYTES (UINT64_C(2) << 30)

static const struct job_shape shapes[] = {
    {.n_ranks = N_RANKS, .node_ranks = 1},
    {.n_ranks = 1000, .node_ranks = 16}, /* fewer on the last one */
    {.n_ranks = N_RANKS, .node_ranks = 1, .defer = 7},
    {.n_ranks = N_RANKS, .node_ranks = 1, .limits = "least,window=1048576"},
    {.n_ranks = N_RANKS, .node_ranks = 1, .has_crew = true},
    {.n_ranks = N_RANKS, .node_ranks = 1, .is_timed = true},
};

enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static struct job job;
static struct rank ranks[MOST_RANKS];
static uint64_t before;

static void open_job(int i)
{
    struct job_shape shape = shapes[i];

    before = resident_bytes();
    shape.is_direct = true;
    shape.is_threaded = true;
    job_open(&job, &shape, ranks);
}

static void close_job(void)
{
    ck_assert_uint_eq(atomic_load(&job.shared->n_errors), 0);
    job_close(&job, ranks);
}

/** Tell what the job takes by now. @return how much, in bytes */
static uint64_t tell(const char *when)
{
    uint64_t n_bytes = resident_bytes() - before;

    printf("%u nodes of %u%s%s%s, %s: %.1f MB, %.1f KB a node\n",
           ranks[0].context->engine->n_nodes, job.shape.node_ranks,
           job.shape.has_crew ? ", threads" : "", job.shape.is_timed ? ", timed" : "",
           job.shape.defer != 0 ? ", late" : "", when, (double)n_bytes / 1048576,
           (double)n_bytes / 1024 / ranks[0].context->engine->n_nodes);
    return n_bytes;
}

/** The rank that another one sends to. */
static uint32_t partner_of(uint32_t rank, uint32_t number)
{
    uint32_t n = job.shape.n_ranks;
    const uint32_t steps[N_PARTNERS] = {1, n / 2, n - n / 3};

    return (rank + steps[number]) % n;
}

/** Let all nodes go on, where ranks do not run the engine. */
static void turn_all(void)
{
    struct nic_engine *engine = ranks[0].context->engine;

    for (int i = 0; engine->is_timed && i < N_SLICES; i++) {
        nic_engine_run_slice(engine);
    }
    while (!engine->is_timed && nic_engine_turn_all(engine)) {
    }
}

static void send_all(uint32_t number)
{
    for (uint32_t i = 0; i < job.shape.n_ranks; i++) {
        struct bcs_message message = rank_message(
            &ranks[i], (int32_t)partner_of(i, number), (int32_t)number, &i, sizeof(i));

        ck_assert_int_eq(bcs_send(ranks[i].context, &message, BCS_SEND_STANDARD, NULL),
                         0);
    }
}

static uint32_t got[MOST_RANKS];

static void receive_all(uint32_t number, struct bcs_request requests[])
{
    for (uint32_t i = 0; i < job.shape.n_ranks; i++) {
        uint32_t to = partner_of(i, number);
        struct bcs_message message = rank_message(
            &ranks[to], (int32_t)i, (int32_t)number, &got[to], sizeof(got[to]));

        ck_assert_int_eq(bcs_recv(ranks[to].context, &message, NULL, &requests[to]), 0);
    }
}

START_TEST(memory_grows_with_the_nodes_that_talk)
{
    static struct bcs_request requests[MOST_RANKS];
    bool is_own; /* each rank turns its desk */

    open_job(_i);
    is_own = !job.shape.has_crew && !job.shape.is_timed;
    tell("at the start");
    for (uint32_t number = 0; number < N_PARTNERS; number++) {
        receive_all(number, requests);
        send_all(number);
        if (!is_own) {
            turn_all();
        }
        for (uint32_t i = 0; i < job.shape.n_ranks; i++) {
            uint32_t to = partner_of(i, number);

            ck_assert_int_eq(bcs_test(ranks[to].context, &requests[to], is_own), 0);
            ck_assert_uint_eq(got[to], i);
        }
    }
    ck_assert_uint_lt(tell("three partners each"), MOST_BYTES);
    close_job();
}
END_TEST

/** All ranks of the job add their numbers. */
static void add_all(void)
{
    static uint32_t cells[MOST_RANKS];
    int64_t n = job.shape.n_ranks;

    for (uint32_t i = 0; i < n; i++) {
        rank_open_world(&ranks[i]);
        cells[i] = post_part(&ranks[i], 0, sum_of_words(), -1, i);
    }
    for (uint32_t i = 0; i < N_HELPERS; i++) {
        nic_engine_turn(ranks[i * n / N_HELPERS].context->engine);
    }
    turn_all();
    for (uint32_t i = 0; i < n; i++) {
        expect_part(&ranks[i], cells[i], n * (n - 1) / 2);
    }
}

START_TEST(who_helps_all_nodes_needs_no_table_of_them)
{
    uint64_t n_bytes;

    open_job(_i);
    n_bytes = resident_bytes();
    add_all();
    n_bytes = resident_bytes() - n_bytes;
    printf("a sum: %.1f KB a rank more\n", (double)n_bytes / 1024 / job.shape.n_ranks);
    ck_assert_uint_lt(n_bytes, (uint64_t)job.shape.n_ranks * BYTES_OF_A_SUM);
    ck_assert_uint_lt(tell("after a sum of all"), MOST_BYTES);
    close_job();
}
END_TEST

/** The first part of a heap of a job. */
static uint64_t first_part(uint32_t n_ranks, uint32_t node_ranks, bool is_timed)
{
    struct nic_config config;
    struct nic_layout layout;
    char error[256];

    ck_assert_int_eq(bcs_config_read(&nic_config_table, &config, error, sizeof(error)),
                     0);
    config.communicators = 4096; /* as many ranks may lead so few */
    config.node_ranks = node_ranks;
    config.strobe = is_timed ? NIC_STROBE_TIMED : NIC_STROBE_DEMAND;
    config.limits = bcs_limits_usual();
    ck_assert_int_eq(nic_engine_layout(n_ranks, &config, &layout), 0);
    printf("%u nodes of %u%s: first part %lu bytes: node %zu, %u desks of %zu, a port "
           "%lu, %u slots of %u\n",
           layout.n_nodes, node_ranks, is_timed ? ", timed" : "",
           (unsigned long)layout.whole_bytes, layout.shape.n_node_bytes, layout.n_desks,
           layout.shape.n_desk_bytes, (unsigned long)layout.port_stride_bytes,
           layout.slots.n_first, layout.shape.n_slot_bytes);
    return layout.whole_bytes;
}

START_TEST(a_first_part_grows_by_some_bytes_for_a_node)
{
    static const uint32_t n_nodes[] = {64, 1024, 4096, 16384};
    bool is_timed = _i != 0;
    uint64_t least = first_part(64, 1, is_timed);

    for (size_t i = 1; i < sizeof(n_nodes) / sizeof(n_nodes[0]); i++) {
        ck_assert_uint_le(first_part(n_nodes[i], 1, is_timed),
                          least + (uint64_t)n_nodes[i] * MOST_BYTES_A_NODE);
    }
    first_part(64 * 16, 16, is_timed);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sizes");

    tcase_add_loop_test(tcase, a_first_part_grows_by_some_bytes_for_a_node, 0, 2);
    tcase_add_loop_test(tcase, memory_grows_with_the_nodes_that_talk, 0, N_SHAPES);
    tcase_add_loop_test(tcase, who_helps_all_nodes_needs_no_table_of_them, 0, 3);
    return run_tcase("sizes", tcase);
}
