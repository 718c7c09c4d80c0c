/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Near collectives: ranks are threads that come to many of them in a row, sooner or
 * later, and sleep if the others take long; every result is right, nobody leaves before
 * all have come, and members that mean different things are all told.
 */
#include <bcs/bcs.h>
#include <bcs/status.h>
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/api/collective/engine_collective.h"
#include "libbcs/api/collective/near_collective.h"
#include "libbcs/fabric/base/clock.h"
#include "nic_threads/rules/reduce_ops.h"
#include "tests/engine/job.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum { N_ROUNDS = 1500, MOST_PAUSES = 300, A_SLEEP = 40, N_WRONG = 20 };

/** Come sooner or later; now and then so late that others sleep. */
static void linger(struct rank *me)
{
    uint32_t n = rank_random(me);

    if (n % A_SLEEP == 0) {
        usleep(300);
    }
    for (n %= MOST_PAUSES; n > 0; n--) {
        bcs_clock_pause();
    }
}

static struct bcs_engine_collective_args sum_args(const int64_t *in, int64_t *out,
                                                  int root)
{
    return (struct bcs_engine_collective_args){
        .kind = BCS_ENGINE_REDUCE,
        .root = root,
        .kernel = nic_reduce_kernel(NIC_REDUCE_SUM, NIC_REDUCE_I64),
        .count = 1,
        .in = in,
        .out = out,
        .n_bytes = sizeof(*in),
    };
}

static void one_of_each(struct rank *me, int64_t round)
{
    _Atomic uint64_t *n_come = &me->job->shared->words[0];
    int64_t mine = round * (me->rank + 1), n = me->size, got = -1, word = -1;
    int root = (int)(round % n);
    struct bcs_engine_collective_args args = sum_args(&mine, &got, -1);

    atomic_fetch_add(n_come, 1);
    rank_expect(me,
                bcs_engine_collective(me->context, &me->world, &args) == 0 &&
                    got == round * n * (n + 1) / 2,
                "a wrong sum for all");
    rank_expect(me, atomic_load(n_come) >= (uint64_t)((round + 1) * n),
                "a member has left before all came");
    linger(me);
    got = -1;
    args = sum_args(&mine, &got, root);
    rank_expect(me,
                bcs_engine_collective(me->context, &me->world, &args) == 0 &&
                    got == (me->rank == root ? round * n * (n + 1) / 2 : -1),
                "a wrong sum for one");
    linger(me);
    args = (struct bcs_engine_collective_args){
        .kind = BCS_ENGINE_BCAST,
        .root = root,
        .kernel = -1,
        .in = me->rank == root ? &round : NULL,
        .out = &word,
        .n_bytes = sizeof(word),
    };
    rank_expect(me,
                bcs_engine_collective(me->context, &me->world, &args) == 0 &&
                    (me->rank == root || word == round),
                "a wrong broadcast");
    linger(me);
}

static void pattern_rounds(struct rank *me)
{
    rank_open_world(me);
    rank_expect(me, bcs_group_is_near(me->context, &me->world), "it is not near");
    for (int64_t round = 0; round < N_ROUNDS; round++) {
        one_of_each(me, round);
    }
}

/* What the first refused collective has told that does not name those who differ. */
static char wrong_line[256];

/** The line that a refused collective has left names rank 0 and the first that differs
 *  from it. */
static void look_at_names(int other)
{
    char named[32];
    const char *line = caught_stderr_next();

    snprintf(named, sizeof(named), ", rank %d: ", other > 0 ? other : 1);
    if (wrong_line[0] == '\0' &&
        (strstr(line, ": rank 0: ") == NULL || strstr(line, named) == NULL)) {
        snprintf(wrong_line, sizeof(wrong_line), "'%.200s' has no '%s'", line, named);
    }
}

/** One means another thing than the others, and then all the same again. */
static void pattern_disagreement(struct rank *me)
{
    rank_open_world(me);
    for (int64_t round = 0; round < N_WRONG; round++) {
        int64_t mine[2] = {1, 1}, got[2];
        struct bcs_engine_collective_args args = sum_args(mine, got, -1);
        int other = (int)(round % me->size);
        bool is_other = me->rank == other, is_length = round % 2 == 0;

        if (is_other && is_length) {
            args.count = 2;
            args.n_bytes = sizeof(mine);
        } else if (is_other) {
            args = (struct bcs_engine_collective_args){
                .kind = BCS_ENGINE_BARRIER, .root = -1, .kernel = -1};
        }
        rank_expect(me,
                    bcs_engine_collective(me->context, &me->world, &args) ==
                        (is_length ? BCS_E_TRUNCATED : BCS_E_DISAGREED),
                    "it is not refused");
        args = sum_args(mine, got, -1);
        rank_expect(me,
                    bcs_engine_collective(me->context, &me->world, &args) == 0 &&
                        got[0] == me->size,
                    "the next one is wrong");
        if (me->rank == 0) { /* whoever has told it has come to the next one since */
            look_at_names(other);
        }
    }
}

/* Members that all look at each other, and trees of two and three levels, whole and in
 * part. */
static const struct shape {
    uint32_t n_ranks;
    const char *limits;
    uint32_t n_sharing;
} shapes[] = {
    {2, "near=16", 0}, {3, "near=16", 0}, {8, "near=16", 0}, {8, "near=4", 0},
    {5, "near=4", 0},  {3, "near=2", 0},  {7, "near=2", 0},  {8, "near=2", 0},
    {8, "near=16", 4}, {5, "near=8", 4},  {8, "near=2", 4},  {8, "near=16", 2},
};

enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void run(int i, rank_fn fn)
{
    job_run(&(const struct job_shape){.n_ranks = shapes[i].n_ranks,
                                      .limits = shapes[i].limits,
                                      .n_sharing = shapes[i].n_sharing,
                                      .is_direct = true,
                                      .is_threaded = true},
            fn);
}

START_TEST(every_result_is_right_whoever_is_late)
{
    run(_i, pattern_rounds);
}
END_TEST

START_TEST(all_are_told_of_members_that_differ)
{
    caught_stderr_begin();
    run(_i, pattern_disagreement);
    caught_stderr_end();
    ck_assert_str_eq(wrong_line, "");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("near");

    tcase_add_loop_test(tcase, every_result_is_right_whoever_is_late, 0, N_SHAPES);
    tcase_add_loop_test(tcase, all_are_told_of_members_that_differ, 0, N_SHAPES);
    return run_tcase("near", tcase);
}
