/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct copies that the kernel refuses from some moment on, or now and then:
 * everything arrives all the same, whoever copies, with any layout of nodes. The system
 * calls are the test's, which count and refuse; tests/unit/api/test_transfer.c takes
 * the same step by step.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/notice.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum {
    N_NODE_RANKS = 3, /* 0 (one node), 1, 2 */
    N_DRIVERS = 4,    /* demand or timed, inline or threads */
    N_SHAPES = 2 * N_NODE_RANKS * N_DRIVERS,
};

/* Which copies of a process are refused: from this one on, and then one in so many. The
 * first one is the trial at the start, of a rank that is a process. */
static const struct {
    int first, one_in;
} rules[] = {{2, 1}, {5, 1}, {3, 3}};
enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

static int rule;
static _Atomic int n_copies;

static bool is_refused(void)
{
    int n = atomic_fetch_add(&n_copies, 1) + 1 - rules[rule].first;

    errno = EPERM;
    return n >= 0 && n % rules[rule].one_in == 0;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                         const struct iovec *remote, unsigned long n_remote,
                         unsigned long flags)
{
    return is_refused() ? -1
                        : syscall(SYS_process_vm_readv, pid, local, n_local, remote,
                                  n_remote, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote,
                          unsigned long flags)
{
    return is_refused() ? -1
                        : syscall(SYS_process_vm_writev, pid, local, n_local, remote,
                                  n_remote, flags);
}

static void run(int number, rank_fn pattern)
{
    int driver = number / N_NODE_RANKS % N_DRIVERS;
    const struct job_shape shape = {
        .n_ranks = 3,
        .node_ranks = (uint32_t)(number % N_NODE_RANKS),
        .is_direct = true,
        .is_timed = driver % 2 != 0,
        .has_crew = driver / 2 != 0,
        .is_threaded = number / N_NODE_RANKS / N_DRIVERS % 2 != 0,
    };

    rule = number / N_NODE_RANKS % N_RULES;
    bcs_log_setup(BCS_LOG_ERROR, -1);
    job_run(&shape, pattern);
}

/** All send long messages to their neighbour, one after another. */
static void ring(struct rank *me, size_t n_bytes, int32_t n_rounds)
{
    uint8_t *out = malloc(n_bytes), *in = malloc(n_bytes);
    int32_t next = (me->rank + 1) % me->size;
    int32_t previous = (me->rank + me->size - 1) % me->size;

    for (int32_t round = 0; round < n_rounds; round++) {
        struct bcs_message send = rank_message(me, next, round, out, n_bytes);
        struct bcs_message receive = rank_message(me, previous, round, in, n_bytes);
        struct bcs_request request;

        pattern_fill(out, n_bytes, pattern_seed((uint32_t)(me->rank + round)));
        memset(in, 0, n_bytes);
        bcs_recv(me->context, &receive, NULL, &request);
        bcs_send(me->context, &send, BCS_SEND_STANDARD, NULL);
        bcs_test(me->context, &request, true);
        memset(out, 0, n_bytes); /* it is ours again */
        pattern_fill(out, n_bytes, pattern_seed((uint32_t)(previous + round)));
        rank_expect(me, memcmp(in, out, n_bytes) == 0, "a wrong message");
    }
    free(out);
    free(in);
}

static void pattern_ring(struct rank *me)
{
    ring(me, 400000, 3);
}

static void pattern_long_ring(struct rank *me)
{
    ring(me, 3 << 20, 2);
}

START_TEST(messages_that_nobody_may_copy_arrive)
{
    run(_i, pattern_ring);
}
END_TEST

/* Of three ranks in nodes of one, one thread is that of rank 0: so it copies from and
 * to others, in many blocks at a time. */
START_TEST(many_blocks_on_their_way_between_nodes_arrive)
{
    const struct job_shape shape = {.n_ranks = 3,
                                    .node_ranks = 1,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .is_timed = true,
                                    .chunk_bytes = 4 << 20};

    rule = _i % N_RULES;
    atomic_store(&n_copies, -4 * _i); /* so many more go before the first is refused */
    bcs_log_setup(BCS_LOG_ERROR, -1);
    job_run(&shape, pattern_long_ring);
    ck_assert_uint_gt(bcs_notice_count(BCS_NOTICE_COPY_REFUSED), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("refusals");

    tcase_add_loop_test(tcase, messages_that_nobody_may_copy_arrive, 0, N_SHAPES);
    tcase_add_loop_test(tcase, many_blocks_on_their_way_between_nodes_arrive, 0, 9);
    return run_tcase("refusals", tcase);
}
