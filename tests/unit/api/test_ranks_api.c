/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes of a job, and of several jobs, in one process of the system, as
 * bcs_init would join them: each has a context of its own.
 */
#include <bcs/bcs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/api/api_job.h"
#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/board.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 4, N_TURNS = 30, LONG_BYTES = 200000 };

static void join(struct ranks_rank *rank)
{
    struct bcs_context *context;

    ck_assert_int_eq(bcs_job_join(&rank->entry, ranks_map(rank), &context), 0);
    ck_assert_int_eq(bcs_group_rank(bcs_world(context)),
                     (int32_t)rank->entry.bootstrap.rank);
    rank->own = context;
}

static void leave(struct ranks_rank *rank)
{
    ck_assert_int_eq(bcs_finalize(rank->own), 0);
}

/** Pass a message of each process on to its neighbour, short or long. */
static void pass_on(struct bcs_context *context, size_t n_bytes, int32_t tag)
{
    struct bcs_group *world = bcs_world(context);
    int32_t rank = bcs_group_rank(world), size = bcs_group_size(world);
    int32_t left = (rank + size - 1) % size;
    uint8_t *mine = malloc(n_bytes), *got = malloc(n_bytes);
    struct bcs_request request = {0};
    struct bcs_result result;
    struct bcs_message message = {.group = world, .n_bytes = n_bytes, .tag = tag};

    memset(mine, rank + 1, n_bytes);
    message.peer = left;
    message.data = got;
    ck_assert_int_eq(bcs_recv(context, &message, NULL, &request), 0);
    message.peer = (rank + 1) % size;
    message.data = mine;
    ck_assert_int_eq(bcs_send(context, &message, BCS_SEND_STANDARD, NULL), 0);
    ck_assert_int_eq(bcs_test(context, &request, true), 0);
    result = request.result;
    ck_assert_int_eq(result.source, left);
    ck_assert_uint_eq(result.n_bytes, n_bytes);
    ck_assert(ranks_is_all(got, n_bytes, (uint8_t)(left + 1)));
    free(mine);
    free(got);
}

static void program(struct ranks_rank *rank)
{
    struct bcs_context *context;
    struct bcs_group *world;

    join(rank);
    context = rank->own;
    world = bcs_world(context);
    for (int32_t turn = 0; turn < N_TURNS; turn++) {
        int64_t value =
            bcs_group_rank(world) == turn % bcs_group_size(world) ? turn : -1;

        pass_on(context, 8, turn);
        ck_assert_int_eq(bcs_bcast(context, world, &value, sizeof(value),
                                   turn % bcs_group_size(world), NULL),
                         0);
        ck_assert_int_eq(value, turn);
    }
    pass_on(context, LONG_BYTES, N_TURNS);
    leave(rank);
}

START_TEST(threads_are_the_processes_of_a_job)
{
    static struct ranks_job job;
    struct ranks_rank ranks[N_RANKS];

    ranks_init(&job, ranks, N_RANKS, 0);
    for (int i = 0; i < N_RANKS; i++) {
        ranks[i].entry.settings.nic.node_ranks = (uint64_t)_i;
    }
    ranks_run(ranks, N_RANKS, program);
    ranks_fini(&job);
}
END_TEST

START_TEST(two_jobs_in_one_process_do_not_meet)
{
    ranks_run_two_jobs(program);
}
END_TEST

START_TEST(one_thread_is_each_process_in_turn)
{
    static struct ranks_job job;
    struct ranks_rank ranks[2];

    ranks_init(&job, ranks, 2, 0);
    ranks_run(ranks, 2, join);
    for (int32_t turn = 0; turn < N_TURNS; turn++) {
        struct bcs_context *from = ranks[turn % 2].own, *to = ranks[1 - turn % 2].own;
        int32_t value = turn, got = -1;
        struct bcs_message message = {
            .group = bcs_world(from),
            .data = &value,
            .n_bytes = sizeof(value),
            .peer = bcs_group_rank(bcs_world(to)),
        };

        ck_assert_int_eq(bcs_send(from, &message, BCS_SEND_STANDARD, NULL), 0);
        message.group = bcs_world(to);
        message.peer = bcs_group_rank(bcs_world(from));
        message.data = &got;
        ck_assert_int_eq(bcs_recv(to, &message, NULL, NULL), 0);
        ck_assert_int_eq(got, turn);
    }
    ranks_run(ranks, 2, leave);
    ranks_fini(&job);
}
END_TEST

/** A job of three, of nodes of two; on their own thread one process after the other. */
static void begin_three(struct ranks_job *job, struct ranks_rank ranks[], bool is_timed)
{
    ranks_init(job, ranks, 3, 0);
    for (int i = 0; i < 3; i++) {
        ranks[i].entry.settings.nic.node_ranks = 2;
        ranks[i].entry.settings.nic.strobe =
            is_timed ? NIC_STROBE_TIMED : NIC_STROBE_DEMAND;
    }
    ranks_run(ranks, 3, join);
}

START_TEST(the_board_says_where_the_job_is)
{
    static struct ranks_job job;
    struct ranks_rank ranks[3];
    const struct bcs_context *context;
    const struct bcs_machine *machine;
    const struct bcs_board *board;

    begin_three(&job, ranks, _i == 1);
    context = ranks[0].own;
    machine = context->engine->machine;
    board = (const void *)(machine + 1);
    ck_assert_uint_eq(atomic_load(&machine->sign.is_ready), 1);
    ck_assert_mem_eq(machine->sign.magic, BCS_SIGN_MAGIC, sizeof(machine->sign.magic));
    ck_assert_uint_eq(machine->sign.layout, bcs_board_layout());
    ck_assert_uint_eq(board->shape.n_ports, 3);
    ck_assert_uint_eq(board->n_nodes, 2);
    ck_assert_str_eq(board->driver, "inline");
    ck_assert_str_eq(board->strobe, _i == 1 ? "timed" : "demand");
    ck_assert_uint_eq(board->slice_offset, offsetof(struct nic_desk, slice));
    ck_assert_uint_eq(board->lock_offset, offsetof(struct nic_desk, lock));
    ck_assert_uint_le(board->began_ns, bcs_clock_now_ns());
    for (uint32_t node = 0; node < 2; node++) {
        struct bcs_memory_address address =
            bcs_memory_address(context->meeting.memory, node);

        ck_assert_uint_eq(atomic_load(&board->nodes[node].is_ready), 1);
        if (node == 0) { /* which this process has made */
            ck_assert_mem_eq(&board->nodes[node].memory, &address, sizeof(address));
        }
    }
    ranks_run(ranks, 3, leave);
    ranks_fini(&job);
}
END_TEST

/** What a forked child calls. */
static void call_in_child(struct bcs_context *context, int which)
{
    int32_t value = 1;
    struct bcs_request request = {0};
    struct bcs_message message = {.group = bcs_world(context),
                                  .data = &value,
                                  .n_bytes = sizeof(value),
                                  .peer = 1};

    switch (which) {
    case 0:
        bcs_send(context, &message, BCS_SEND_STANDARD, NULL);
        break;
    case 1:
        bcs_recv(context, &message, NULL, &request);
        bcs_test(context, &request, false);
        break;
    case 2:
        bcs_recv(context, &message, NULL, NULL);
        break;
    default:
        bcs_barrier(context, bcs_world(context), NULL);
    }
}

START_TEST(a_forked_child_is_ended_and_the_job_goes_on)
{
    static struct ranks_job job;
    struct ranks_rank ranks[3];
    int status = -1;
    pid_t child;

    begin_three(&job, ranks, false);
    for (int which = 0; which < 4; which++) {
        child = fork();
        if (child == 0) {
            call_in_child(ranks[0].own, which);
            _exit(EXIT_SUCCESS);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
    }
    for (int i = 0; i < 3; i++) { /* nothing has come of it */
        struct bcs_message any = {.group = bcs_world(ranks[i].own),
                                  .peer = BCS_ANY_SOURCE,
                                  .tag = BCS_ANY_TAG};
        struct bcs_result result;

        ck_assert_int_eq(bcs_probe(ranks[i].own, &any, false, &result), BCS_E_PENDING);
    }
    ranks_run(ranks, 3, leave);
    ranks_fini(&job);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ranks_api");

    /* Processes of a node: all, one, two. */
    tcase_add_loop_test(tests, threads_are_the_processes_of_a_job, 0, 3);
    tcase_add_test(tests, two_jobs_in_one_process_do_not_meet);
    tcase_add_test(tests, one_thread_is_each_process_in_turn);
    tcase_add_loop_test(tests, the_board_says_where_the_job_is, 0, 2);
    tcase_add_test(tests, a_forked_child_is_ended_and_the_job_goes_on);
    return run_tcase("ranks_api", tests);
}
