/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is a proof that threads wait at channels for each other: two ranks, one after
 * the other, say that they have slept in vain. The rank that judges says so, and both
 * go on.
 */
#include <check.h>
#include <signal.h>

#include "libbcs/channel/channel_state.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, NUMBER = 3 };

static struct ranks_job job;
static struct ranks_rank ranks[N_RANKS];

/** A rank with its ends. */
struct ends {
    struct channels *channels;
    struct bcs_channel_in *in;
    struct bcs_channel_out *out; /* NULL: not open */
    bool is_told;
};

static struct ends ends[N_RANKS];
static bool opens_out; /* in this test */

static bool is_nothing_there(struct channel_end *end)
{
    (void)end;
    return false;
}

static bool is_something_there(struct channel_end *end)
{
    (void)end;
    return true;
}

/** A rank looks, in its thread; all meet before and behind. */
static void look(struct ranks_rank *rank, uint32_t who,
                 bool (*is_there)(struct channel_end *end))
{
    struct ends *own = &ends[rank->entry.bootstrap.rank];

    pthread_barrier_wait(&job.barrier);
    if (rank->entry.bootstrap.rank == who) {
        own->is_told =
            channel_circle_look(&channel_in_of(own->in)->end, own->is_told, is_there);
    }
    pthread_barrier_wait(&job.barrier);
}

/** A rank's wait is over. */
static void leave(struct ranks_rank *rank, uint32_t who)
{
    struct ends *own = &ends[rank->entry.bootstrap.rank];

    pthread_barrier_wait(&job.barrier);
    if (rank->entry.bootstrap.rank == who) {
        channel_circle_leave(&channel_in_of(own->in)->end);
        own->is_told = false;
    }
    pthread_barrier_wait(&job.barrier);
}

static void open_ends(struct ranks_rank *rank)
{
    struct ends *own = &ends[rank->entry.bootstrap.rank];
    struct bcs_channel_params params = {
        .peer = 1 - (int)rank->entry.bootstrap.rank,
        .number = NUMBER,
        .record_bytes = 8,
        .capacity = 1,
    };

    rank->entry.settings.nic.referee = NIC_REFEREE_REPORT;
    *own = (struct ends){0};
    ck_assert_int_eq(channels_join(&rank->entry, &own->channels), 0);
    ck_assert_int_eq(channels_open_in(own->channels, &params, &own->in), 0);
    if (opens_out) {
        ck_assert_int_eq(channels_open_out(own->channels, &params, &own->out), 0);
    }
}

static void close_ends(struct ranks_rank *rank)
{
    struct ends *own = &ends[rank->entry.bootstrap.rank];

    if (own->is_told) {
        channel_circle_leave(&channel_in_of(own->in)->end);
    }
    pthread_barrier_wait(&job.barrier);
    ck_assert_int_eq(channels_leave(own->channels), 0);
}

/** Whether the smallest rank has judged. */
static bool has_judged(void)
{
    return ends[0].channels->has_judged;
}

/** Let go of the handlers of Check, which are for its parent. */
static void catch_nothing(void)
{
    signal(SIGALRM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void run(void (*fn)(struct ranks_rank *rank), bool with_out)
{
    catch_nothing();
    opens_out = with_out;
    ranks_init(&job, ranks, N_RANKS, 0);
    ranks_run(ranks, N_RANKS, fn);
    ranks_fini(&job);
}

static void wait_both(struct ranks_rank *rank)
{
    open_ends(rank);
    look(rank, 0, is_nothing_there);
    ck_assert(!has_judged());
    look(rank, 1, is_nothing_there);
    ck_assert(!has_judged());
    look(rank, 0, is_nothing_there);
    ck_assert(has_judged());
    close_ends(rank);
}

START_TEST(two_that_have_looked_since_are_found)
{
    run(wait_both, true);
}
END_TEST

/* Rank 0 may have sent something between its waits. */
static void wait_anew(struct ranks_rank *rank)
{
    open_ends(rank);
    look(rank, 0, is_nothing_there);
    look(rank, 1, is_nothing_there);
    leave(rank, 0);
    look(rank, 0, is_nothing_there);
    ck_assert(!has_judged());
    look(rank, 1, is_something_there);
    look(rank, 0, is_nothing_there);
    ck_assert(!has_judged());
    look(rank, 1, is_nothing_there);
    look(rank, 0, is_nothing_there);
    ck_assert(has_judged());
    close_ends(rank);
}

START_TEST(who_has_not_looked_since_the_other_waits_may_have_something)
{
    run(wait_anew, true);
}
END_TEST

static void wait_for_who_does_not(struct ranks_rank *rank)
{
    open_ends(rank);
    look(rank, 1, is_nothing_there);
    leave(rank, 1);
    look(rank, 0, is_nothing_there);
    look(rank, 0, is_nothing_there);
    ck_assert(!has_judged());
    close_ends(rank);
}

START_TEST(who_waits_no_more_may_act)
{
    run(wait_for_who_does_not, true);
}
END_TEST

static void wait_without_other_ends(struct ranks_rank *rank)
{
    open_ends(rank);
    look(rank, 0, is_nothing_there);
    look(rank, 1, is_nothing_there);
    look(rank, 0, is_nothing_there);
    ck_assert(!has_judged());
    close_ends(rank);
}

START_TEST(any_thread_may_open_an_end_that_is_not_open)
{
    run(wait_without_other_ends, false);
}
END_TEST

static void ignore(int number)
{
    (void)number;
}

static void wait_with_handler(struct ranks_rank *rank)
{
    open_ends(rank);
    look(rank, 0, is_nothing_there);
    ck_assert(!ends[0].is_told);
    close_ends(rank);
}

START_TEST(who_catches_a_signal_may_act)
{
    signal(SIGUSR1, ignore);
    run(wait_with_handler, true);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("channel_circle");

    tcase_add_test(tcase, two_that_have_looked_since_are_found);
    tcase_add_test(tcase, who_has_not_looked_since_the_other_waits_may_have_something);
    tcase_add_test(tcase, who_waits_no_more_may_act);
    tcase_add_test(tcase, any_thread_may_open_an_end_that_is_not_open);
    tcase_add_test(tcase, who_catches_a_signal_may_act);
    return run_tcase("channel_circle", tcase);
}
