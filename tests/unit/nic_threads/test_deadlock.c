/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks are deadlocked: cases that a reader can follow, and random ones against a
 * model that lets ranks act, one after the other, until nobody can.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/rules/deadlock.h"
#include "tests/unit/run_suite.h"

enum {
    MOST_RANKS = 130,
    MOST_THREADS = 3,
    MOST_WORDS = (MOST_RANKS + 63) / 64,
    N_SEEDS = 3000
};

struct job {
    uint32_t n_ranks;
    struct nic_deadlock_rank ranks[MOST_RANKS];
    struct nic_deadlock_wait waits[MOST_RANKS][MOST_THREADS];
    uint64_t sets[MOST_RANKS][MOST_THREADS][2][MOST_WORDS];
};

static struct job job;
static uint64_t stuck[MOST_WORDS];

/** All ranks act. */
static void job_begin(uint32_t n_ranks)
{
    memset(&job, 0, sizeof(job));
    job.n_ranks = n_ranks;
    for (uint32_t i = 0; i < n_ranks; i++) {
        job.ranks[i].waits = job.waits[i];
        job.ranks[i].can_act = true;
    }
}

/** A set of a new wait, or of the last one. */
static uint64_t *set_of(uint32_t rank, bool is_any)
{
    uint32_t thread = job.ranks[rank].n_waits - 1;
    struct nic_deadlock_wait *wait = &job.waits[rank][thread];
    uint64_t *set = job.sets[rank][thread][is_any];

    *(is_any ? &wait->any : &wait->all) = set;
    return set;
}

static void add(uint64_t *set, uint32_t rank)
{
    set[rank / 64] |= UINT64_C(1) << rank % 64;
}

/** A thread of a rank waits, and no other one acts. */
static void begin_wait(uint32_t rank)
{
    job.ranks[rank].can_act = false;
    job.ranks[rank].n_waits++;
}

static void waits_for(uint32_t rank, uint32_t other)
{
    begin_wait(rank);
    add(set_of(rank, false), other);
}

static void end(uint32_t rank)
{
    job.ranks[rank].can_act = false;
}

static uint32_t find(void)
{
    return nic_deadlock_find(job.ranks, job.n_ranks, stuck);
}

START_TEST(two_that_wait_for_each_other_are_stuck_and_who_waits_for_them)
{
    job_begin(70);
    waits_for(0, 69);
    waits_for(69, 0);
    waits_for(3, 69);
    waits_for(5, 6);
    ck_assert_uint_eq(find(), 3);
    ck_assert(nic_deadlock_has(stuck, 0) && nic_deadlock_has(stuck, 69));
    ck_assert(nic_deadlock_has(stuck, 3));
    ck_assert(!nic_deadlock_has(stuck, 5) && !nic_deadlock_has(stuck, 6));
}
END_TEST

START_TEST(a_ring_is_stuck_unless_one_of_it_acts)
{
    job_begin(100);
    for (uint32_t i = 0; i < 100; i++) {
        waits_for(i, (i + 1) % 100);
    }
    ck_assert_uint_eq(find(), 100);
    job.ranks[50].can_act = true;
    ck_assert_uint_eq(find(), 0);
}
END_TEST

START_TEST(one_of_several_suffices_where_any_may_come)
{
    job_begin(3);
    begin_wait(0);
    add(set_of(0, true), 1);
    add(set_of(0, true), 2);
    waits_for(1, 0);
    ck_assert_uint_eq(find(), 0);
    waits_for(2, 1);
    ck_assert_uint_eq(find(), 3);
}
END_TEST

START_TEST(who_has_ended_releases_nobody)
{
    job_begin(3);
    waits_for(0, 1);
    ck_assert_uint_eq(find(), 0);
    end(1);
    ck_assert_uint_eq(find(), 1);
    ck_assert(nic_deadlock_has(stuck, 0));
}
END_TEST

START_TEST(a_rank_with_a_thread_that_can_go_on_acts)
{
    job_begin(3);
    waits_for(0, 1);
    waits_for(1, 0);
    waits_for(1, 2);
    ck_assert_uint_eq(find(), 0);
    waits_for(2, 0);
    ck_assert_uint_eq(find(), 3);
}
END_TEST

START_TEST(who_waits_for_itself_alone_is_stuck)
{
    job_begin(2);
    waits_for(0, 0);
    ck_assert_uint_eq(find(), 1);
}
END_TEST

START_TEST(nobody_can_end_a_wait_for_any_of_nobody)
{
    job_begin(2);
    begin_wait(0);
    set_of(0, true);
    ck_assert_uint_eq(find(), 1);
}
END_TEST

/* --- the model
 * ---------------------------------------------------------------------- */

static void random_set(uint64_t *set, int n_most)
{
    for (int n = rand() % (n_most + 1); n > 0; n--) {
        add(set, (uint32_t)rand() % job.n_ranks);
    }
}

static void random_job(unsigned int seed)
{
    srand(seed);
    job_begin(1 + (uint32_t)rand() % (seed % 10 == 0 ? MOST_RANKS : 6));
    for (uint32_t i = 0; i < job.n_ranks; i++) {
        int n_waits =
            rand() % 8 == 0 ? 0 : 1 + rand() % MOST_THREADS % (1 + rand() % 3);

        for (int j = 0; j < n_waits; j++) {
            int kind = rand() % 4;

            begin_wait(i);
            if (kind != 0) {
                random_set(set_of(i, false), 2);
            }
            if (kind <= 1) {
                random_set(set_of(i, true), 3);
            }
        }
        job.ranks[i].can_act = n_waits == 0 ? rand() % 2 == 0 : rand() % 10 == 0;
    }
}

/** Whether a wait ends if these ranks do what it waits for. */
static bool model_ends(const struct nic_deadlock_wait *wait, const bool *acts)
{
    bool has_any = wait->any == NULL;

    for (uint32_t i = 0; i < job.n_ranks; i++) {
        if (wait->all != NULL && nic_deadlock_has(wait->all, i) && !acts[i]) {
            return false;
        }
        has_any = has_any || (nic_deadlock_has(wait->any, i) && acts[i]);
    }
    return has_any;
}

START_TEST(it_finds_whom_no_order_of_events_releases)
{
    bool acts[MOST_RANKS], has_changed = true;
    uint32_t n_waiting = 0;

    random_job((unsigned int)_i);
    for (uint32_t i = 0; i < job.n_ranks; i++) {
        acts[i] = job.ranks[i].can_act;
    }
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = 0; i < job.n_ranks; i++) {
            for (uint32_t j = 0; !acts[i] && j < job.ranks[i].n_waits; j++) {
                acts[i] = model_ends(&job.waits[i][j], acts);
                has_changed = has_changed || acts[i];
            }
        }
    }
    for (uint32_t i = 0; i < job.n_ranks; i++) {
        n_waiting += !acts[i] && job.ranks[i].n_waits > 0;
    }
    ck_assert_uint_eq(find(), n_waiting);
    for (uint32_t i = 0; i < job.n_ranks; i++) {
        ck_assert(nic_deadlock_has(stuck, i) == !acts[i]);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("deadlock");

    tcase_add_test(tcase,
                   two_that_wait_for_each_other_are_stuck_and_who_waits_for_them);
    tcase_add_test(tcase, a_ring_is_stuck_unless_one_of_it_acts);
    tcase_add_test(tcase, one_of_several_suffices_where_any_may_come);
    tcase_add_test(tcase, who_has_ended_releases_nobody);
    tcase_add_test(tcase, a_rank_with_a_thread_that_can_go_on_acts);
    tcase_add_test(tcase, who_waits_for_itself_alone_is_stuck);
    tcase_add_test(tcase, nobody_can_end_a_wait_for_any_of_nobody);
    tcase_add_loop_test(tcase, it_finds_whom_no_order_of_events_releases, 0, N_SEEDS);
    return run_tcase("deadlock", tcase);
}
