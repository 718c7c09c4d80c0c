/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The background thread, look by look: it carries on all transfers that nobody waits
 * for, however many there are and whatever else passes. The ranks are contexts of this
 * process, and compute; what is counted is looks.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/service/background.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum {
    SENDER,
    RECEIVER,
    N_RANKS,
    N_MANY = 600, /* more than any table of the engine has room for */
    N_FEW = 8,
    N_BYTES = 10000,
    N_CHUNK_BYTES = 4096, /* and messages of more are long */
    MOST_LOOKS = 2, /* half a slice from each other: what docs/slices.md promises */
};

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine_params params;
static void *background;
static uint8_t source[N_BYTES], target[N_MANY][N_BYTES];
static struct bcs_request sending[N_MANY], receiving[N_MANY];
static void (*during_copy)(void); /* the next one of the thread's */

/** One core more than there are ranks is idle. */
static void open_job(const char *limits)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .is_direct = true,
        .is_threaded = true,
        .chunk_bytes = N_CHUNK_BYTES,
        .limits = limits,
        .n_cpus = N_RANKS + 1,
    };

    ck_assert_int_eq(setenv("BCS_EAGER_LIMIT", "4096", true), 0);
    job_open(&job, &shape, ranks);
    ck_assert_uint_eq(nic_config_chunk_bytes(&job.config), N_CHUNK_BYTES);
    params = (struct nic_engine_params){
        .memory = job.memory,
        .machine = &job.shared->machine,
        .n_ports = N_RANKS,
        .config = &job.config,
        .is_direct = true,
        .is_background = true,
    };
    ck_assert_int_eq(nic_background_worker.create(&params, &background), 0);
    pattern_fill(source, N_BYTES, 0);
}

static void close_job(void)
{
    nic_background_worker.destroy(background);
    job_close(&job, ranks);
}

/** Let the thread look, as soon as it means to. */
static void look(void)
{
    struct nic_rest rest;

    do {
        rest = nic_background_worker.look(background, 0);
        ck_assert(rest.kind == NIC_REST_NOT || rest.until_ns > 0); /* it would sleep */
    } while (rest.kind != NIC_REST_NOT);
}

/** Post some messages whose ends do something else then. */
static void begin(int first, int n)
{
    for (int i = first; i < first + n; i++) {
        struct bcs_message in =
            rank_message(&ranks[RECEIVER], SENDER, i, target[i], N_BYTES);
        struct bcs_message out =
            rank_message(&ranks[SENDER], RECEIVER, i, source, N_BYTES);

        memset(target[i], 0, N_BYTES);
        ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &in, NULL, &receiving[i]),
                         0);
        ck_assert_int_eq(
            bcs_send(ranks[SENDER].context, &out, BCS_SEND_STANDARD, &sending[i]), 0);
    }
    nic_engine_turn_all(ranks[SENDER].context->engine);
}

static uint64_t moved(int i)
{
    const struct bcs_cell *cell = bcs_poster_cell_at(
        &ranks[RECEIVER].context->poster, bcs_request_state(&receiving[i])->cell);

    return atomic_load(&cell->transfer.moved);
}

/** Nobody else has copied them, and they are what was sent. */
static void expect_carried_on(int first, int n)
{
    for (int i = first; i < first + n; i++) {
        ck_assert_uint_eq(moved(i), N_BYTES);
        ck_assert_mem_eq(target[i], source, N_BYTES);
    }
}

/** The ends come back. */
static void finish(int first, int n)
{
    for (int i = first; i < first + n; i++) {
        ck_assert_int_eq(bcs_test(ranks[RECEIVER].context, &receiving[i], true), 0);
        ck_assert_int_eq(bcs_test(ranks[SENDER].context, &sending[i], true), 0);
    }
}

static const char *const all_limits[] = {"usual", "least"};
enum { N_LIMITS = sizeof(all_limits) / sizeof(all_limits[0]) };

/* The cells of one round serve the next one. */
START_TEST(however_many_messages_are_left_all_are_carried_on)
{
    open_job(all_limits[_i]);
    for (int round = 0; round < 3; round++) {
        begin(0, N_MANY);
        for (int i = 0; i < MOST_LOOKS; i++) {
            look();
        }
        expect_carried_on(0, N_MANY);
        finish(0, N_MANY);
    }
    close_job();
}
END_TEST

START_TEST(a_message_is_carried_on_though_many_others_pass_between_two_looks)
{
    open_job(all_limits[_i]);
    begin(0, 1);
    for (int i = 0; i < N_MANY; i++) {
        begin(1, 1);
        finish(1, 1);
    }
    ck_assert_uint_lt(moved(0), N_BYTES);
    for (int i = 0; i < MOST_LOOKS; i++) {
        look();
    }
    expect_carried_on(0, 1);
    finish(0, 1);
    close_job();
}
END_TEST

START_TEST(messages_are_carried_on_that_come_while_others_are)
{
    open_job(all_limits[_i]);
    begin(0, 1);
    look();
    begin(1, N_FEW);
    look();
    expect_carried_on(0, 1);
    look();
    expect_carried_on(1, N_FEW);
    finish(0, 1 + N_FEW);
    close_job();
}
END_TEST

/** As the kernel's. */
ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote,
                          unsigned long flags)
{
    void (*act)(void) = during_copy;

    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    memcpy(remote->iov_base, local->iov_base, local->iov_len);
    during_copy = NULL;
    if (act != NULL) {
        act();
    }
    return (ssize_t)local->iov_len;
}

static void begin_another(void)
{
    begin(1, 1);
}

/* The thread had been told when it had looked what there is, and so is not told
 * again. */
START_TEST(a_message_that_comes_during_the_last_copy_does_not_wait_for_a_late_look)
{
    open_job("usual");
    begin(0, 1);
    look();
    during_copy = begin_another;
    look();
    expect_carried_on(0, 1);
    ck_assert_ptr_null(during_copy);
    ck_assert_uint_eq(atomic_load(&job.shared->machine.watch), BCS_WATCH_SOON);
    for (int i = 0; i < MOST_LOOKS; i++) {
        look();
    }
    expect_carried_on(1, 1);
    finish(0, 2);
    close_job();
}
END_TEST

/* Who polls keeps the lock of its desk, so that the engine takes no notice of what is
 * given back before it lets go. */
START_TEST(no_chunk_is_lost_while_the_engine_takes_no_notice)
{
    struct nic_view *view;
    uint64_t n_moved = 0;

    open_job("returned=1");
    view = nic_engine_view(ranks[RECEIVER].context->engine, RECEIVER);
    begin(0, N_FEW);
    look();
    ck_assert(nic_engine_try_lock(view));
    for (int i = 0; i < 3; i++) {
        look();
    }
    for (int i = 0; i < N_FEW; i++) {
        n_moved += moved(i);
    }
    ck_assert_uint_eq(n_moved, N_CHUNK_BYTES);
    ck_assert(nic_engine_unlock(view));
    for (int i = 0; i < MOST_LOOKS; i++) {
        look();
    }
    expect_carried_on(0, N_FEW);
    finish(0, N_FEW);
    close_job();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("background");

    tcase_add_loop_test(tcase, however_many_messages_are_left_all_are_carried_on, 0,
                        N_LIMITS);
    tcase_add_loop_test(
        tcase, a_message_is_carried_on_though_many_others_pass_between_two_looks, 0,
        N_LIMITS);
    tcase_add_loop_test(tcase, messages_are_carried_on_that_come_while_others_are, 0,
                        N_LIMITS);
    tcase_add_test(
        tcase, a_message_that_comes_during_the_last_copy_does_not_wait_for_a_late_look);
    tcase_add_test(tcase, no_chunk_is_lost_while_the_engine_takes_no_notice);
    return run_tcase("background", tcase);
}
