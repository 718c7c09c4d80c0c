/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long MPI_Cancel waits. The ranks are contexts of this process, and only the
 * receiver acts. The clock is the test's: it goes on by a step whenever somebody looks
 * at it, and slices are run when it says so.
 */
#include <check.h>
#include <string.h>
#include <time.h>

#include "libbcs/fabric/base/clock.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum { SENDER, RECEIVER, N_RANKS };
enum {
    N_BYTES = 300000,
    STEP_NS = 1000,
    MOST_LOOKS =
        10,     /* at the clock, besides those that pass with the slices waited for */
    SLICES = 2, /* that a cancellation may wait once it has been carried out */
    NEVER = 0,
};

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever runs timed slices */
static uint8_t source[N_BYTES], target[N_BYTES];
static struct bcs_request sending, receiving;

static uint64_t now_ns = 1;
static uint64_t next_slice_ns;     /* when the next timed slice is run, NEVER: not */
static uint64_t between_slices_ns; /* and from one to the next */

int clock_gettime(clockid_t clock, struct timespec *time_out)
{
    (void)clock;
    now_ns += STEP_NS;
    if (next_slice_ns != NEVER && now_ns >= next_slice_ns) {
        next_slice_ns = NEVER; /* not again within it */
        nic_engine_run_slice(engine);
        next_slice_ns = now_ns + between_slices_ns;
    }
    time_out->tv_sec = (time_t)(now_ns / 1000000000);
    time_out->tv_nsec = (long)(now_ns % 1000000000);
    return 0;
}

static void open_job(bool is_timed)
{
    /* Long messages need both ends. */
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_threaded = true, .is_timed = is_timed};

    next_slice_ns = NEVER;
    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, true);
    pattern_fill(source, N_BYTES, 0);
}

static void close_job(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static void run_slices(uint64_t between_ns)
{
    between_slices_ns = between_ns;
    next_slice_ns = now_ns + between_ns;
}

static void post_receive(void)
{
    struct bcs_message in =
        rank_message(&ranks[RECEIVER], SENDER, 1, target, sizeof(target));

    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &in, NULL, &receiving), 0);
}

/** Post a receive and a message for it, and let them be matched. */
static void begin(void)
{
    struct bcs_message out =
        rank_message(&ranks[SENDER], RECEIVER, 1, source, sizeof(source));

    post_receive();
    ck_assert_int_eq(bcs_send(ranks[SENDER].context, &out, BCS_SEND_STANDARD, &sending),
                     0);
    if (engine->is_timed) {
        nic_engine_run_slice(engine);
    } else {
        nic_engine_turn_all(engine);
    }
}

/** As MPI_Cancel. @return how much time has passed */
static uint64_t cancel(void)
{
    uint64_t begin_ns = now_ns;

    bcs_cancel(ranks[RECEIVER].context, &receiving);
    bcs_cancel_wait(ranks[RECEIVER].context, &receiving);
    return now_ns - begin_ns;
}

/** The sender goes on, and the message arrives. */
static void finish(void)
{
    while (!bcs_is_done(&sending) || !bcs_is_done(&receiving)) {
        bcs_test(ranks[SENDER].context, &sending, false);
        bcs_test(ranks[RECEIVER].context, &receiving, false);
        bcs_clock_now_ns();
    }
    ck_assert_int_eq(receiving.result.error, 0);
    ck_assert_mem_eq(target, source, N_BYTES);
}

START_TEST(a_receive_without_a_message_is_taken_back_in_a_turn)
{
    open_job(false);
    post_receive();
    ck_assert_uint_le(cancel(), MOST_LOOKS * STEP_NS);
    ck_assert(bcs_is_done(&receiving));
    ck_assert_int_eq(receiving.result.error, BCS_E_CANCELLED);
    close_job();
}
END_TEST

START_TEST(a_long_message_under_way_is_left_after_two_slices)
{
    open_job(false);
    begin();
    ck_assert_uint_le(cancel(), SLICES * job.config.slice_ns + MOST_LOOKS * STEP_NS);
    ck_assert(!bcs_is_done(&receiving));
    finish();
    close_job();
}
END_TEST

/* However late the strobes are: the one that takes the cancellation, and the one that
 * tells. */
START_TEST(a_timed_cancellation_waits_for_the_strobe_that_tells)
{
    open_job(true);
    run_slices(10 * job.config.slice_ns);
    post_receive();
    ck_assert_uint_le(cancel(), 3 * between_slices_ns);
    ck_assert(bcs_is_done(&receiving));
    ck_assert_int_eq(receiving.result.error, BCS_E_CANCELLED);
    close_job();
}
END_TEST

START_TEST(a_timed_long_message_under_way_is_left_after_two_slices)
{
    open_job(true);
    begin();
    run_slices(job.config.slice_ns);
    ck_assert_uint_le(cancel(), (1 + SLICES) * (job.config.slice_ns + STEP_NS) +
                                    MOST_LOOKS * STEP_NS);
    ck_assert(!bcs_is_done(&receiving));
    finish();
    close_job();
}
END_TEST

/* No strobe is needed any more, since the sender does not go on, and none comes. */
START_TEST(a_timed_long_message_under_way_is_left_though_no_strobe_comes)
{
    uint64_t begin_ns;

    open_job(true);
    begin();
    bcs_cancel(ranks[RECEIVER].context, &receiving);
    for (int i = 0; i < 3; i++) {
        nic_engine_run_slice(engine);
    }
    atomic_store(&job.shared->machine.timer_rests, 1);
    begin_ns = now_ns;
    bcs_cancel_wait(ranks[RECEIVER].context, &receiving);
    ck_assert_uint_le(now_ns - begin_ns,
                      SLICES * job.config.slice_ns + MOST_LOOKS * STEP_NS);
    ck_assert(!bcs_is_done(&receiving));
    run_slices(job.config.slice_ns);
    finish();
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("cancel");

    tcase_add_test(tcase, a_receive_without_a_message_is_taken_back_in_a_turn);
    tcase_add_test(tcase, a_long_message_under_way_is_left_after_two_slices);
    tcase_add_test(tcase, a_timed_cancellation_waits_for_the_strobe_that_tells);
    tcase_add_test(tcase, a_timed_long_message_under_way_is_left_after_two_slices);
    tcase_add_test(tcase,
                   a_timed_long_message_under_way_is_left_though_no_strobe_comes);
    return run_tcase("cancel", tcase);
}
