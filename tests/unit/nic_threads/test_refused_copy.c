/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages whose direct copy is refused, at their two ends, in an order that the
 * test decides. The system calls that copy are the test's.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/ring/pieces.h"
#include "nic_threads/machine/node_copy.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/two_ends.h"

/* What the next copy gives: an errno, if not 0; one copy in so many is cut short. */
static int refusal;
static int one_in;

static ssize_t copy(void *to, const void *from, size_t n_bytes)
{
    if (one_in > 0 && rand() % one_in == 0) {
        n_bytes = 1 + (size_t)rand() % n_bytes;
        memcpy(to, from, n_bytes);
        refusal = rand() % 2 == 0 ? EPERM : ENOSYS; /* for the rest */
        return (ssize_t)n_bytes;
    }
    if (refusal != 0) {
        errno = refusal;
        refusal = one_in > 0 ? 0 : refusal;
        return -1;
    }
    memcpy(to, from, n_bytes);
    return (ssize_t)n_bytes;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                         const struct iovec *remote, unsigned long n_remote,
                         unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    return copy(local->iov_base, remote->iov_base, local->iov_len);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote,
                          unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    return copy(remote->iov_base, local->iov_base, local->iov_len);
}

static bool is_streamed(void)
{
    return cell_of(RECEIVER, &receiving)->transfer.is_streamed;
}

/** As if nothing had ever been refused. */
static void forget_refusals(void)
{
    refusal = 0;
    for (uint32_t i = 0; i < N_RANKS; i++) {
        atomic_store(
            &nic_engine_view_at(ranks[0].context->engine, 0)->per_node.apart[i], 0);
    }
}

/** Both ends wait for something else. */
static void progress_both(void)
{
    bcs_progress(ranks[RECEIVER].context);
    bcs_progress(ranks[SENDER].context);
}

static void finish(void)
{
    while (!bcs_is_done(&receiving) || !bcs_is_done(&sending)) {
        progress_both();
        bcs_look(ranks[SENDER].context, &sending);
        bcs_look(ranks[RECEIVER].context, &receiving);
    }
}

static void finish_whole(void)
{
    finish();
    expect_all_copied();
}

START_TEST(what_the_receiver_may_not_copy_is_streamed)
{
    begin();
    refusal = EPERM;
    ck_assert(!pull());
    ck_assert_int_eq(state_of(RECEIVER, &receiving), BCS_CELL_PENDING);
    turn();
    ck_assert(is_streamed());
    finish_whole();
}
END_TEST

START_TEST(what_the_sender_may_not_copy_is_streamed_though_the_receiver_looks_elsewhere)
{
    begin();
    refusal = EPERM;
    ck_assert(!push());
    for (int i = 0; i < 100 && !is_streamed(); i++) {
        progress_both();
    }
    ck_assert(is_streamed());
    finish_whole();
}
END_TEST

START_TEST(a_copy_that_is_refused_in_a_later_chunk_begins_that_chunk_anew)
{
    uint64_t granted;

    begin();
    ck_assert(!pull());
    turn();
    granted = atomic_load(&cell_of(RECEIVER, &receiving)->transfer.moved);
    ck_assert_uint_gt(granted, 0);
    refusal = EACCES;
    ck_assert(!push());
    memset(target, 0xee, granted); /* these bytes are the receiver's by now */
    while (!is_streamed()) {
        progress_both();
    }
    finish();
    ck_assert_int_eq(target[granted - 1], 0xee);
    ck_assert_mem_eq(target + granted, source + granted, N_BYTES - granted);
}
END_TEST

START_TEST(two_that_were_refused_do_not_try_again)
{
    begin();
    refusal = EPERM;
    ck_assert(!pull());
    finish_whole();
    refusal = 0;
    begin();
    ck_assert(is_streamed());
    finish_whole();
}
END_TEST

START_TEST(a_message_to_one_that_has_gone_stays_as_it_is)
{
    begin();
    refusal = ESRCH;
    ck_assert(!push());
    ck_assert(!pull());
    progress_both();
    ck_assert_int_eq(state_of(RECEIVER, &receiving), BCS_CELL_TRANSFER);
    ck_assert(!is_streamed());
    ck_assert_int_eq(
        nic_ports_are_apart(ranks[SENDER].context->engine, SENDER, RECEIVER), 0);
}
END_TEST

START_TEST(a_receiver_waits_for_a_thread_that_holds_its_cell)
{
    struct bcs_cell *cell;
    uint32_t generation;

    begin();
    cell = cell_of(RECEIVER, &receiving);
    generation = atomic_load(&cell->state) >> BCS_CELL_STATE_BITS;
    ck_assert(bcs_transfer_hold(cell, generation));
    refusal = EPERM;
    ck_assert(!pull());
    for (int i = 0; i < 3; i++) {
        progress_both();
        ck_assert_int_eq(state_of(RECEIVER, &receiving), BCS_CELL_AWAITED);
    }
    ck_assert(bcs_transfer_let_go(cell, generation)); /* and must wake the receiver */
    for (int i = 0; i < 3; i++) {
        progress_both();
    }
    ck_assert(is_streamed());
    finish_whole();
}
END_TEST

START_TEST(in_any_order_of_steps_and_refusals_every_byte_arrives)
{
    int n_streamed = 0;

    srand(3);
    one_in = 5;
    for (int i = 0; i < 1000; i++) {
        size_t n_sent = (size_t)(rand() % N_BYTES);

        forget_refusals();
        run_at_random(n_sent, rand() % 2 == 0 ? N_BYTES : (size_t)(rand() % N_BYTES));
        n_streamed +=
            nic_ports_are_apart(ranks[SENDER].context->engine, SENDER, RECEIVER);
    }
    ck_assert_int_gt(n_streamed, 300);
    ck_assert_int_lt(n_streamed, 1000);
}
END_TEST

static void setup_refused(void)
{
    setup_job(true);
    refusal = 0;
    one_in = 0;
    bcs_log_setup(BCS_LOG_ERROR, -1);
}

int main(void)
{
    TCase *tcase = tcase_create("refused_copy");

    tcase_add_checked_fixture(tcase, setup_refused, teardown);
    tcase_add_test(tcase, what_the_receiver_may_not_copy_is_streamed);
    tcase_add_test(
        tcase,
        what_the_sender_may_not_copy_is_streamed_though_the_receiver_looks_elsewhere);
    tcase_add_test(tcase,
                   a_copy_that_is_refused_in_a_later_chunk_begins_that_chunk_anew);
    tcase_add_test(tcase, two_that_were_refused_do_not_try_again);
    tcase_add_test(tcase, a_message_to_one_that_has_gone_stays_as_it_is);
    tcase_add_test(tcase, a_receiver_waits_for_a_thread_that_holds_its_cell);
    tcase_add_test(tcase, in_any_order_of_steps_and_refusals_every_byte_arrives);
    return run_tcase("refused_copy", tcase);
}
