/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes of a cBSP job, and of several jobs, in one process of the system:
 * each in a thread of its own, below <bcs/cbsp.h>; and one thread that is each of them
 * in turn.
 */
#include <errno.h>
#include <string.h>

#include "libbcs/cbsp/cbsp_job_state.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4, N_SUPERSTEPS = 50, N_ELEMENTS = 1000, LARGE_BYTES = 300000 };

/* What the handler of this thread has heard. */
static _Thread_local int64_t heard;

static void hear(int srcNode, void *destAddr, int nBytes)
{
    int64_t value;

    ck_assert_int_eq(nBytes, sizeof(value));
    memcpy(&value, destAddr, sizeof(value));
    heard += value * (srcNode + 1);
}

static void join(struct ranks_rank *rank)
{
    struct cbsp *cbsp;

    ck_assert_int_eq(cbsp_join(&rank->entry, &cbsp), 0);
    ck_assert_uint_eq(cbsp->pid, rank->entry.bootstrap.rank);
    rank->own = cbsp;
}

static void leave(struct ranks_rank *rank)
{
    ck_assert_int_eq(cbsp_leave(rank->own), 0);
}

/** What one process puts to another in a superstep. */
static int64_t value_of(uint64_t superstep, uint32_t from, uint32_t to)
{
    return (int64_t)(superstep * 10000 + from * 100 + to);
}

/** Each process puts a word to each, whose place it has imported. */
static void put_to_all(struct cbsp *cbsp, int64_t *slots, void *const *places)
{
    uint8_t bits;

    for (uint64_t step = 0; step < N_SUPERSTEPS; step++) {
        for (uint32_t to = 0; to < cbsp->n_procs; to++) {
            int64_t value = value_of(step, cbsp->pid, to);
            struct cbsp_message message = {
                .dest = (uint64_t)(uintptr_t)places[to] + cbsp->pid * sizeof(value),
                .data = &value,
                .n_bytes = sizeof(value),
            };

            ck_assert_int_eq(cbsp_send(cbsp, (int)to, &message, NULL), 0);
        }
        ck_assert_int_eq(cbsp_nsync(cbsp, (int)cbsp->n_procs), 0);
        for (uint32_t from = 0; from < cbsp->n_procs; from++) {
            ck_assert_int_eq(slots[from], value_of(step, from, cbsp->pid));
        }
        /* Nobody puts the next word before all have read this one. */
        ck_assert_int_eq(cbsp_gsync(cbsp, CBSP_IN_GSYNC, 0, &bits), 0);
    }
}

/** Each process tells its neighbour, through a handler. */
static void tell_neighbour(struct cbsp *cbsp)
{
    int64_t value = 1 + cbsp->pid;
    uint32_t left = (cbsp->pid + cbsp->n_procs - 1) % cbsp->n_procs;
    struct cbsp_message message = {.data = &value, .n_bytes = sizeof(value)};

    heard = 0;
    ck_assert_int_eq(
        cbsp_send(cbsp, (int)((cbsp->pid + 1) % cbsp->n_procs), &message, hear), 0);
    ck_assert_int_eq(cbsp_nsync(cbsp, 1), 0);
    ck_assert_int_eq(heard, (left + 1) * (left + 1));
}

/** A vector that goes whole, and one that goes in shares. */
static void reduce(struct cbsp *cbsp)
{
    static const size_t counts[] = {3, N_ELEMENTS};
    int64_t data[N_ELEMENTS];
    int64_t n = cbsp->n_procs;
    size_t n_wrong = 0;

    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < counts[i]; k++) {
            data[k] = (int64_t)((cbsp->pid + 1) * (k + 1));
        }
        ck_assert_int_eq(cbsp_reduce(cbsp,
                                     &(struct cbsp_vector){
                                         .data = (uint8_t *)data,
                                         .count = counts[i],
                                         .element_bytes = sizeof(data[0]),
                                         .combine = cBSP_add_int64,
                                     }),
                         0);
        for (size_t k = 0; k < counts[i]; k++) {
            n_wrong += data[k] != (int64_t)(k + 1) * n * (n + 1) / 2;
        }
    }
    ck_assert_uint_eq(n_wrong, 0);
}

/** A message that is longer than a buffer. */
static void broadcast(struct cbsp *cbsp)
{
    uint8_t *data = malloc(LARGE_BYTES);
    uint32_t root = cbsp->n_procs - 1;

    memset(data, cbsp->pid == root ? 'x' : 0, LARGE_BYTES);
    ck_assert_int_eq(cbsp_broadcast(cbsp, (int)root, data, LARGE_BYTES), 0);
    ck_assert(ranks_is_all(data, LARGE_BYTES, 'x'));
    free(data);
}

static void program(struct ranks_rank *rank)
{
    int64_t slots[RANKS_MOST];
    void *places[RANKS_MOST];
    struct cbsp *cbsp;
    uint8_t bits;

    join(rank);
    cbsp = rank->own;
    ck_assert_int_eq(cbsp_export(cbsp, 0, slots, sizeof(slots)), 0);
    ck_assert_int_eq(cbsp_gsync(cbsp, CBSP_IN_GSYNC, 0, &bits), 0);
    for (uint32_t i = 0; i < cbsp->n_procs; i++) {
        ck_assert_int_eq(cbsp_import(cbsp, (int)i, 0, &places[i], NULL), 0);
    }
    put_to_all(cbsp, slots, places);
    tell_neighbour(cbsp);
    reduce(cbsp);
    broadcast(cbsp);
    leave(rank);
}

START_TEST(threads_are_the_processes_of_a_job)
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];

    ranks_init(&job, ranks, N_RANKS, (uint64_t)_i);
    ranks_run(ranks, N_RANKS, program);
    ranks_fini(&job);
    ck_assert_ptr_null(cbsp_self);
}
END_TEST

/** Each process sends a long message to each; whose memory it cannot map has not read
 *  it there. */
static void send_long_to_all(struct ranks_rank *rank)
{
    static uint8_t data[LARGE_BYTES];
    struct cbsp *cbsp = rank->own;
    uint8_t bits;

    for (uint32_t to = 0; to < cbsp->n_procs; to++) {
        struct cbsp_message message = {
            .handler = 0, .data = data, .n_bytes = sizeof(data)};

        ck_assert_int_eq(cbsp_outbox_send(cbsp, to, &message), 0);
    }
    ck_assert_int_eq(cbsp_nsync(cbsp, (int)cbsp->n_procs), 0);
    ck_assert_int_eq(cbsp_gsync(cbsp, CBSP_IN_GSYNC, 0, &bits), 0);
    for (uint32_t to = 0; to < cbsp->n_procs; to++) {
        bool is_near = bcs_memory_heap(cbsp->meeting.memory, to) != NULL;

        ck_assert(is_near == (to / 2 == cbsp->pid / 2));
        ck_assert_uint_eq(cbsp->from[to].n_read, is_near && cbsp->is_direct);
    }
}

START_TEST(processes_of_several_machines_are_a_job)
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];

    ranks_init(&job, ranks, N_RANKS, (uint64_t)_i);
    ranks_set_far(ranks, N_RANKS, 2);
    ranks_run(ranks, N_RANKS, program);
    ranks_run(ranks, N_RANKS, join);
    ranks_run(ranks, N_RANKS, send_long_to_all);
    ranks_run(ranks, N_RANKS, leave);
    ranks_fini(&job);
}
END_TEST

START_TEST(the_last_machine_has_fewer_processes)
{
    static const struct bcs_node_range expected[] = {
        {0, 3}, {0, 3}, {0, 3}, {3, 2}, {3, 2}};
    static struct ranks_job job;
    struct ranks_rank ranks[5];

    ranks_init(&job, ranks, 5, 0);
    for (uint32_t i = 0; i < 5; i++) {
        struct bcs_node_range near = bcs_entry_near(&ranks[i].entry);

        ck_assert(near.first == 0 && near.n == 5);
    }
    ranks_set_far(ranks, 5, 2);
    for (uint32_t node_ranks = 0; node_ranks < 2; node_ranks++) {
        for (uint32_t i = 0; i < 5; i++) {
            struct bcs_node_range near;

            ranks[i].entry.settings.nic.node_ranks = node_ranks;
            near = bcs_entry_near(&ranks[i].entry);
            ck_assert(near.first == expected[i].first && near.n == expected[i].n);
        }
    }
    ranks_fini(&job);
}
END_TEST

START_TEST(two_jobs_in_one_process_do_not_meet)
{
    ranks_run_two_jobs(program);
}
END_TEST

/** Send to all, by what programs call. */
static void send_to_all(int64_t offset)
{
    for (int to = 0; to < cBSP_nprocs(); to++) {
        int64_t value = cBSP_pid() + offset;

        ck_assert_int_eq(cBSP_send(to, NULL, &value, sizeof(value), hear), 0);
    }
}

START_TEST(one_thread_is_each_process_in_turn)
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];

    ranks_init(&job, ranks, N_RANKS, 0);
    ranks_run(ranks, N_RANKS, join);
    for (int64_t step = 0; step < N_SUPERSTEPS; step++) {
        for (int i = 0; i < N_RANKS; i++) {
            cbsp_self = ranks[i].own;
            ck_assert_int_eq(cBSP_pid(), i);
            send_to_all(step);
        }
        for (int i = 0; i < N_RANKS; i++) {
            int64_t sum = 0;

            cbsp_self = ranks[i].own;
            heard = 0;
            ck_assert_int_eq(cBSP_nsync(N_RANKS), 0);
            for (int from = 0; from < N_RANKS; from++) {
                sum += (from + step) * (from + 1);
            }
            ck_assert_int_eq(heard, sum);
        }
    }
    cbsp_self = NULL;
    ranks_run(ranks, N_RANKS, leave);
    ranks_fini(&job);
}
END_TEST

/** The root gives half of what the others want. */
static void broadcast_too_little(struct ranks_rank *rank)
{
    int64_t data[2] = {0};
    struct cbsp *cbsp;

    join(rank);
    cbsp = rank->own;
    if (cbsp->pid == 0) {
        ck_assert_int_eq(cbsp_broadcast(cbsp, 0, data, sizeof(data) / 2), 0);
    } else {
        ck_assert_int_eq(cbsp_broadcast(cbsp, 0, data, sizeof(data)), -EPROTO);
    }
    ck_assert_int_eq(cbsp_leave(cbsp), -EPROTO);
}

START_TEST(who_wants_more_than_is_broadcast_ends_the_job)
{
    static struct ranks_job job;
    struct ranks_rank ranks[2];

    ranks_init(&job, ranks, 2, 0);
    ranks_run(ranks, 2, broadcast_too_little);
    ranks_fini(&job);
}
END_TEST

START_TEST(a_message_for_a_handler_needs_imported_memory_too)
{
    static struct ranks_job job;
    struct ranks_rank rank;
    int64_t value = 1;
    struct cbsp_message message = {
        .dest = (uint64_t)(uintptr_t)&value, .data = &value, .n_bytes = sizeof(value)};

    ranks_init(&job, &rank, 1, 0);
    join(&rank);
    ck_assert_int_eq(cbsp_send(rank.own, 0, &message, hear), -EACCES);
    leave(&rank);
    ranks_fini(&job);
}
END_TEST

static void meet(struct ranks_rank *rank)
{
    uint8_t bits;

    ck_assert_int_eq(cbsp_gsync(rank->own, CBSP_IN_GSYNC, 0, &bits), 0);
}

START_TEST(who_rings_several_bells_counts_each)
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];
    uint64_t n_rings = 0, n_rung = 0;

    ranks_init(&job, ranks, N_RANKS, 0);
    ranks_run(ranks, N_RANKS, join);
    ranks_run(ranks, N_RANKS, meet);
    for (int i = 0; i < N_RANKS; i++) {
        const struct cbsp *cbsp = ranks[i].own;

        n_rings += cbsp->n_rings;
        n_rung += __atomic_load_n(&cbsp->bell.event->count, __ATOMIC_ACQUIRE);
    }
    ck_assert_uint_gt(n_rings, N_RANKS);
    ck_assert_uint_eq(n_rings, n_rung);
    ranks_run(ranks, N_RANKS, leave);
    ranks_fini(&job);
}
END_TEST

/** The process wants to be rung by itself, alone in its job, when it has come to a
 *  superstep. */
static void want(struct cbsp *cbsp, uint64_t superstep)
{
    ck_assert_int_eq(
        cbsp_tell(cbsp, 0,
                  cbsp_from_gva(&cbsp->layout, 0) + offsetof(struct cbsp_from, wanted),
                  superstep),
        0);
    ck_assert_int_eq(bcs_signal_event(cbsp->core, cbsp->layout.wants_gva), 0);
}

START_TEST(who_wants_to_be_rung_is_when_it_is_time)
{
    static struct ranks_job job;
    struct ranks_rank rank;
    struct cbsp *cbsp;
    uint64_t n_rings;

    ranks_init(&job, &rank, 1, 0);
    join(&rank);
    meet(&rank);
    cbsp = rank.own;
    want(cbsp, cbsp->superstep + 1); /* too early */
    n_rings = cbsp->n_rings;
    ck_assert_int_eq(cbsp_serve(cbsp), 0);
    ck_assert_uint_eq(cbsp->n_rings, n_rings);
    want(cbsp, cbsp->superstep);
    n_rings = cbsp->n_rings;
    cbsp->is_told = true; /* it has said that it does nothing */
    ck_assert_int_eq(cbsp_serve(cbsp), 0);
    ck_assert_uint_eq(cbsp->n_rings, n_rings);
    cbsp->is_told = false;
    ck_assert_int_eq(cbsp_serve(cbsp), 0);
    ck_assert_uint_eq(cbsp->n_rings, n_rings + 1);
    leave(&rank);
    ranks_fini(&job);
}
END_TEST

START_TEST(a_part_that_nobody_expects_is_wrong)
{
    struct cbsp cbsp = {.n_procs = 2};
    uint64_t word = 1, part = 2;

    ck_assert_int_eq(cbsp_parts_begin(&cbsp), 0);
    cbsp_parts_expect(&cbsp, 1, &part, sizeof(part));
    cbsp_parts_take(&cbsp, 1, &word, sizeof(word));
    ck_assert_uint_eq(part, word);
    ck_assert(!cbsp.taking.is_wrong);
    cbsp_parts_take(&cbsp, 0, &word, 0);
    ck_assert(cbsp.taking.is_wrong);
    cbsp_parts_end(&cbsp);
    cbsp_parts_take(&cbsp, 1, &word, 0); /* nothing is expected any more */
    ck_assert_int_eq(cbsp_parts_begin(&cbsp), 0);
    ck_assert(!cbsp.taking.is_wrong);
    cbsp_parts_end(&cbsp);
}
END_TEST

START_TEST(the_first_error_is_what_a_job_ends_with)
{
    static struct ranks_job job;
    struct ranks_rank rank;
    const struct bcs_verdict *verdict;

    ranks_init(&job, &rank, 1, 0);
    join(&rank);
    verdict = &((struct cbsp *)rank.own)->verdict;
    ck_assert_int_eq(bcs_verdict_end(verdict, -EPROTO), -EPROTO);
    ck_assert_int_eq(bcs_verdict_end(verdict, -EINVAL), -EPROTO);
    ck_assert_int_eq(bcs_verdict_look(verdict), -EPROTO);
    leave(&rank);
    ranks_fini(&job);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ranks_cbsp");

    /* As shared memory is, and with what is put coming late. */
    tcase_add_loop_test(tests, threads_are_the_processes_of_a_job, 0, 2);
    tcase_add_loop_test(tests, processes_of_several_machines_are_a_job, 0, 3);
    tcase_add_test(tests, the_last_machine_has_fewer_processes);
    tcase_add_test(tests, two_jobs_in_one_process_do_not_meet);
    tcase_add_test(tests, one_thread_is_each_process_in_turn);
    tcase_add_test(tests, who_wants_more_than_is_broadcast_ends_the_job);
    tcase_add_test(tests, a_message_for_a_handler_needs_imported_memory_too);
    tcase_add_test(tests, who_rings_several_bells_counts_each);
    tcase_add_test(tests, who_wants_to_be_rung_is_when_it_is_time);
    tcase_add_test(tests, a_part_that_nobody_expects_is_wrong);
    tcase_add_test(tests, the_first_error_is_what_a_job_ends_with);
    return run_tcase("ranks_cbsp", tests);
}
