/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine under jobs of a few ranks, without any MPI: every pattern with every
 * number of ranks, layout of nodes, way of copying, kind of strobes, driver and kind of
 * rank. Without the argument --all only in half of their combinations. Those with
 * another mode than the default take longest: of them in a third. Built a second time
 * with ThreadSanitizer, which looks at the threads only.
 */
#include <check.h>
#include <string.h>
#ifdef __SANITIZE_THREAD__
#include <sys/uio.h>
#endif

#include "libbcs/fabric/base/log.h"
#include "tests/engine/patterns.h"
#include "tests/unit/run_suite.h"

enum { TIME_LIMIT_S = 120, FEW_DESCRIPTORS = 64, N_LATE_SEEDS = 4 };

static const uint32_t sizes[] = {2, 3, 5};
enum {
    N_SIZES = sizeof(sizes) / sizeof(sizes[0]),
    N_NODE_RANKS = 3, /* 0 (one node), 1, 2 */
    N_COPIES = 2,     /* pooled, direct */
    N_SHAPES = N_SIZES * N_NODE_RANKS * N_COPIES,
    N_MODES = 3, /* besides the default: timed strobes, a crew, both; slower */
    N_MODE_SHAPES = N_MODES * N_NODE_RANKS * N_COPIES,
#ifdef __SANITIZE_THREAD__
    N_JOBS = N_MODE_SHAPES + N_SHAPES,
    ONE_SHAPE_IN = 2,
#else
    ONE_SHAPE_IN = 1,
    N_JOBS = N_MODE_SHAPES + 2 * N_SHAPES, /* threads, then processes */
#endif
};

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not see what the kernel copies; the ranks are threads here, so
 * that copying is as good, and it finds a copy that is not ordered with its buffers'
 * other use.
 */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                         const struct iovec *remote, unsigned long n_remote,
                         unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    memcpy(local->iov_base, remote->iov_base, local->iov_len);
    return (ssize_t)local->iov_len;
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote,
                          unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    memcpy(remote->iov_base, local->iov_base, local->iov_len);
    return (ssize_t)local->iov_len;
}
#endif

/* The numbers of the shapes that are tried, and how many of them have another mode than
 * the default; those come first. */
static int chosen[N_JOBS];
static int n_jobs, n_mode_jobs;

/** Three ranks as threads, in another mode than the default. */
static struct job_shape mode_shape_of(int number)
{
    int mode = number / N_NODE_RANKS / N_COPIES + 1;

    return (struct job_shape){
        .n_ranks = 3,
        .node_ranks = (uint32_t)(number % N_NODE_RANKS),
        .is_direct = number / N_NODE_RANKS % N_COPIES != 0,
        .is_threaded = true,
        .is_timed = mode % 2 != 0,
        .has_crew = mode / 2 != 0,
    };
}

static struct job_shape shape_by_number(int number)
{
    if (number < N_MODE_SHAPES) {
        return mode_shape_of(number);
    }
    number -= N_MODE_SHAPES;
    return (struct job_shape){
        .n_ranks = sizes[number % N_SIZES],
        .node_ranks = (uint32_t)(number / N_SIZES % N_NODE_RANKS),
        .is_direct = number / N_SIZES / N_NODE_RANKS % N_COPIES != 0,
        .is_threaded = number < N_SHAPES,
    };
}

/** Whether a shape is one of the few in which all pairs of values meet. Of two that
 *  differ in one value only, one is at most. Each mode goes without one layout of
 *  nodes, which its strobes and its driver meet in another mode. */
static bool is_of_the_few(int number)
{
    const struct job_shape shape = shape_by_number(number);
    bool has_mode = number < N_MODE_SHAPES;
    int mode_or_size = has_mode ? number / N_NODE_RANKS / N_COPIES
                                : (number - N_MODE_SHAPES) % N_SIZES;
    int layout = mode_or_size + (int)shape.node_ranks;

    return (layout + shape.is_direct + shape.is_threaded) % 2 == 0 &&
           (!has_mode || layout % 3 != 2);
}

static void choose(bool is_all)
{
    for (int i = 0; i < N_JOBS; i++) {
        if (is_all || is_of_the_few(i)) {
            chosen[n_jobs++] = i;
            n_mode_jobs += i < N_MODE_SHAPES;
        }
    }
}

static struct job_shape shape_of(int i)
{
    return shape_by_number(chosen[i]);
}

static void run(int number, rank_fn pattern)
{
    const struct job_shape shape = shape_of(number);

    job_run(&shape, pattern);
}

START_TEST(data_go_to_and_fro)
{
    run(_i, pattern_ping_pong);
}
END_TEST

START_TEST(messages_of_many_to_one_keep_their_order)
{
    run(_i, pattern_many_to_one);
}
END_TEST

START_TEST(random_messages_all_arrive)
{
    run(_i, pattern_random);
}
END_TEST

START_TEST(a_flood_of_messages_arrives_in_order)
{
    run(_i, pattern_flood);
}
END_TEST

static void run_with_few_descriptors(int number, rank_fn pattern)
{
    struct job_shape shape = shape_of(number);

    shape.descriptors = FEW_DESCRIPTORS;
    job_run(&shape, pattern);
}

START_TEST(a_flood_is_held_back_and_nothing_is_lost)
{
    run_with_few_descriptors(_i, pattern_flood);
}
END_TEST

START_TEST(as_many_receives_as_descriptors_can_pend)
{
    run_with_few_descriptors(_i, pattern_full_cells);
}
END_TEST

START_TEST(sleepers_are_woken_by_what_they_wait_for)
{
    run(_i, pattern_wake_sleepers);
}
END_TEST

START_TEST(a_long_message_moves_while_both_its_ends_are_busy)
{
    run(_i, pattern_busy_ends);
}
END_TEST

START_TEST(a_long_message_is_helped_within_a_slice_while_a_core_is_idle)
{
    struct job_shape shape = shape_of(_i);

    shape.n_cpus = 64;
    job_run(&shape, pattern_busy_ends);
}
END_TEST

START_TEST(a_slice_takes_many_blocks_of_a_message_between_nodes)
{
    const struct job_shape shape = {.n_ranks = 2,
                                    .node_ranks = 1,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .has_crew = true,
                                    .chunk_bytes = 4 << 20};

    job_run(&shape, pattern_long_between_nodes);
}
END_TEST

START_TEST(short_cancelled_and_probed_receives_get_what_they_should)
{
    run(_i, pattern_odd_receives);
}
END_TEST

START_TEST(of_sends_that_are_taken_back_nothing_is_left)
{
    run(_i, pattern_taken_back);
}
END_TEST

START_TEST(ranks_that_only_poll_get_everything_in_order)
{
    run(_i, pattern_polling);
}
END_TEST

static void run_unbuffered(int number, rank_fn pattern)
{
    struct job_shape shape = shape_of(number);

    shape.buffering = NIC_BUFFERING_NONE;
    job_run(&shape, pattern);
}

START_TEST(standard_sends_are_done_when_they_should)
{
    run(_i, pattern_standard_sends);
    run_unbuffered(_i, pattern_standard_sends);
    run(_i, pattern_sends_to_self);
    run_unbuffered(_i, pattern_sends_to_self);
}
END_TEST

START_TEST(buffered_sends_never_wait)
{
    run(_i, pattern_buffered_sends);
    run_unbuffered(_i, pattern_buffered_sends);
}
END_TEST

/** Whether a shape has its turn at one of several patterns: all have if all shapes run,
 *  else one in so many. */
static bool has_turn(int number, int pattern, int one_in)
{
    return n_jobs == N_JOBS || (number + pattern) % one_in == 0;
}

START_TEST(random_messages_and_collectives_do_without_buffering)
{
    static const rank_fn patterns[] = {pattern_random, pattern_reductions,
                                       pattern_exchanges};
    enum { N_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

    for (int i = 0; i < N_PATTERNS; i++) {
        if (has_turn(_i, i, N_PATTERNS)) {
            run_unbuffered(_i, patterns[i]);
        }
    }
}
END_TEST

START_TEST(nobody_leaves_a_barrier_early)
{
    run(_i, pattern_barriers);
}
END_TEST

START_TEST(broadcasts_and_reductions_give_the_right_words)
{
    run(_i, pattern_reductions);
}
END_TEST

START_TEST(exchanges_give_the_right_words)
{
    run(_i, pattern_exchanges);
}
END_TEST

static void run_with_limits(int number, const char *limits, rank_fn pattern)
{
    struct job_shape shape = shape_of(number);

    shape.limits = limits;
    job_run(&shape, pattern);
}

START_TEST(collectives_go_on_while_the_ring_is_full)
{
    run_with_limits(_i, "ring=2,link=2,plans=2", pattern_pending_collectives);
}
END_TEST

START_TEST(calls_cost_the_messages_that_the_header_tells)
{
    run_with_limits(_i, "tree=32,link=256", pattern_costs);
}
END_TEST

START_TEST(the_least_sizes_do)
{
    static const rank_fn patterns[] = {
        pattern_pending_collectives, pattern_many_to_one, pattern_odd_receives,
        pattern_reductions,          pattern_exchanges,   pattern_late_opening};
    enum { N_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

    for (int i = 0; i < N_PATTERNS; i++) {
        if (has_turn(_i, i, 2)) {
            run_with_limits(_i, "least", patterns[i]);
        }
    }
}
END_TEST

START_TEST(a_reduction_may_begin_before_all_have_opened_the_group)
{
    run(_i, pattern_late_opening);
}
END_TEST

START_TEST(a_collective_that_not_all_members_mean_is_refused)
{
    run(_i, pattern_disagreements);
    run(_i, pattern_unequal_lengths);
}
END_TEST

/* Each job runs two of them, another two than the next one. */
START_TEST(what_nodes_put_may_come_late)
{
    static const rank_fn patterns[] = {pattern_ping_pong, pattern_random,
                                       pattern_reductions, pattern_exchanges,
                                       pattern_odd_receives};
    enum { N_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };
    struct job_shape shape = shape_of(_i);

    shape.defer = (uint64_t)_i + 1;
    if (shape.node_ranks != 0) { /* else nobody puts anything */
        job_run(&shape, patterns[_i % N_PATTERNS]);
        job_run(&shape, patterns[(_i + 2) % N_PATTERNS]);
    }
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which sees one process, and a word at one address */
/* Each job of processes runs two of them, another two than the next one. */
START_TEST(nodes_may_be_on_several_machines)
{
    static const rank_fn patterns[] = {pattern_ping_pong,    pattern_random,
                                       pattern_reductions,   pattern_exchanges,
                                       pattern_odd_receives, pattern_many_to_one,
                                       pattern_disagreements};
    enum { N_PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };
    struct job_shape shape = shape_of(_i);

    shape.far = 2 + (uint64_t)_i % 2;
    shape.far_map = (enum nic_far_map)(_i % (NIC_FAR_FALLING + 1));
    shape.defer = (uint64_t)_i % 3; /* what is put may be late, too */
    if (!shape.is_threaded || shape.is_timed || shape.has_crew) {
        shape.is_threaded = false; /* else all is near */
        job_run(&shape, patterns[_i % N_PATTERNS]);
        job_run(&shape, patterns[(_i + 3) % N_PATTERNS]);
        job_run(&shape, pattern_taken_back);
        job_run(&shape, pattern_calls);
        shape.defer = 0;
        job_run(&shape, pattern_bells);
        shape.far = 0;
        job_run(&shape, pattern_bells);
    }
}
END_TEST
#endif

START_TEST(blocks_that_come_late_are_whole)
{
    const struct job_shape shape = {.n_ranks = 2,
                                    .node_ranks = 1,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .has_crew = true,
                                    .is_timed = _i % 2 != 0,
                                    .chunk_bytes = 4 << 20,
                                    .defer = (uint64_t)_i + 1};

    job_run(&shape, pattern_long_between_nodes);
}
END_TEST

/** Add a test for the chosen shapes from the first on. With ThreadSanitizer, where a
 *  crew takes long, each test has every second of the few only, and the next test the
 *  others. The shapes of each mode take turns, too. */
static void add_for_shapes(TCase *tcase, const TTest *test, int first)
{
    static int n_added;

    for (int i = first; i < n_jobs; i++) {
        if (has_turn(i + i / 2, n_added, ONE_SHAPE_IN)) {
            tcase_add_loop_test(tcase, test, i, i + 1);
        }
    }
    n_added++;
}

static TCase *late_tcase(void)
{
    TCase *tcase = tcase_create("late transport");

    add_for_shapes(tcase, what_nodes_put_may_come_late, 0);
    tcase_add_loop_test(tcase, blocks_that_come_late_are_whole, 0, N_LATE_SEEDS);
    return tcase;
}

static TCase *far_tcase(void)
{
    TCase *tcase = tcase_create("far nodes");

#ifndef __SANITIZE_THREAD__
    add_for_shapes(tcase, nodes_may_be_on_several_machines, 0);
#endif
    return tcase;
}

static TCase *costs_tcase(void)
{
    TCase *tcase = tcase_create("costs");

    add_for_shapes(tcase, calls_cost_the_messages_that_the_header_tells, 0);
    return tcase;
}

/** Without the notices of limits, which are met here. */
static void log_errors_only(void)
{
    bcs_log_setup(BCS_LOG_ERROR, -1);
}

static TCase *small_sizes_tcase(void)
{
    TCase *tcase = tcase_create("small sizes");

    tcase_add_checked_fixture(tcase, log_errors_only, NULL);
    add_for_shapes(tcase, collectives_go_on_while_the_ring_is_full, 0);
    add_for_shapes(tcase, the_least_sizes_do, 0);
    return tcase;
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("engine");

    choose(argc > 1 && strcmp(argv[1], "--all") == 0);
    add_for_shapes(tcase, data_go_to_and_fro, 0);
    add_for_shapes(tcase, messages_of_many_to_one_keep_their_order, 0);
    add_for_shapes(tcase, random_messages_all_arrive, 0);
    add_for_shapes(tcase, a_flood_of_messages_arrives_in_order, 0);
    add_for_shapes(tcase, a_flood_is_held_back_and_nothing_is_lost, 0);
    add_for_shapes(tcase, as_many_receives_as_descriptors_can_pend, 0);
    add_for_shapes(tcase, sleepers_are_woken_by_what_they_wait_for, 0);
    add_for_shapes(tcase, a_long_message_moves_while_both_its_ends_are_busy, 0);
    add_for_shapes(tcase, a_long_message_is_helped_within_a_slice_while_a_core_is_idle,
                   n_mode_jobs);
    tcase_add_test(tcase, a_slice_takes_many_blocks_of_a_message_between_nodes);
    add_for_shapes(tcase, short_cancelled_and_probed_receives_get_what_they_should, 0);
    add_for_shapes(tcase, of_sends_that_are_taken_back_nothing_is_left, 0);
    add_for_shapes(tcase, ranks_that_only_poll_get_everything_in_order, 0);
    add_for_shapes(tcase, standard_sends_are_done_when_they_should, 0);
    add_for_shapes(tcase, buffered_sends_never_wait, 0);
    add_for_shapes(tcase, random_messages_and_collectives_do_without_buffering, 0);
    add_for_shapes(tcase, nobody_leaves_a_barrier_early, 0);
    add_for_shapes(tcase, broadcasts_and_reductions_give_the_right_words, 0);
    add_for_shapes(tcase, exchanges_give_the_right_words, 0);
    add_for_shapes(tcase, a_reduction_may_begin_before_all_have_opened_the_group, 0);
    add_for_shapes(tcase, a_collective_that_not_all_members_mean_is_refused, 0);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, small_sizes_tcase());
    suite_add_tcase(suite, late_tcase());
    suite_add_tcase(suite, far_tcase());
    suite_add_tcase(suite, costs_tcase());
    return run_suite(suite);
}
