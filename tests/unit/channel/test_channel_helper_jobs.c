/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread of channels between two processes, which are threads.
 */
#include "libbcs/channel/channel_state.h"
#include "tests/unit/channel_helper.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_WORDS = 2000, N_TURNS = 200 };

/** What the handler of a rank answers with, and how far it is. */
struct answers {
    struct bcs_channel_out *to;
    uint64_t n; /* atomic */
    uint64_t owed;
    bool is_owed;
};

/** Receive words in order; answer each tenth, and go on only when that is sent. */
static void answer_in_order(struct bcs_channel_in *from, void *arg)
{
    struct answers *answers = arg;
    uint64_t word;

    for (;;) {
        if (answers->is_owed &&
            !bcs_channel_try_send(answers->to, &answers->owed, sizeof(word), false)) {
            return;
        }
        answers->is_owed = false;
        if (!bcs_channel_try_receive(from, &word, sizeof(word))) {
            return;
        }
        ck_assert_uint_eq(word, load(&answers->n));
        if (word % 10 == 0) {
            answers->owed = ~word;
            answers->is_owed = true;
        }
        add(&answers->n);
    }
}

static struct channels *join(struct ranks_rank *rank, struct bcs_channel_out **to_out,
                             struct bcs_channel_in **from_out)
{
    struct bcs_channel_params params = {.number = 3, .record_bytes = 8, .capacity = 1};
    struct channels *channels;

    ck_assert_int_eq(channels_join(&rank->entry, &channels), 0);
    params.peer = 1 - (int)channels->rank;
    ck_assert_int_eq(channels_open_out(channels, &params, to_out), 0);
    ck_assert_int_eq(channels_open_in(channels, &params, from_out), 0);
    return channels;
}

/** Send a word, if there is room for it soon. */
static bool send_soon(struct bcs_channel_out *to, uint64_t word)
{
    bool is_sent = false;

    for (int i = 0; i < 1000 && !is_sent; i++) {
        is_sent = bcs_channel_try_send(to, &word, sizeof(word), false);
        if (!is_sent) {
            sched_yield();
        }
    }
    return is_sent;
}

/** Send words in order; read the answers only when there is no room, as the handler has
 *  none. */
static void ask_in_order(struct bcs_channel_out *to, struct bcs_channel_in *from)
{
    uint64_t word, n_answered = 0, n_answers = 0;

    for (uint64_t i = 0; i < N_WORDS;) {
        if (n_answered == n_answers) {
            ck_assert_int_eq(bcs_channel_send_word(to, i), 0);
        } else if (!send_soon(to, i)) {
            ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
            ck_assert_uint_eq(word, ~(10 * n_answered++));
            continue;
        }
        n_answers += i++ % 10 == 0;
    }
    for (; n_answered < n_answers; n_answered++) {
        ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
        ck_assert_uint_eq(word, ~(10 * n_answered));
    }
}

/** Words to a thread that answers by another channel, which is full at times. */
static void exchange(struct ranks_rank *rank)
{
    struct answers answers = {0};
    struct bcs_channel_in *from;
    struct channels *channels = join(rank, &answers.to, &from);

    if (channels->rank == 0) {
        ask_in_order(answers.to, from);
    } else {
        ck_assert_int_eq(bcs_channel_set_helper(from, BCS_CHANNEL_ARRIVAL,
                                                answer_in_order, &answers),
                         0);
        await(&answers.n, N_WORDS);
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

/** Receive a word or more, in order. */
static void take_turn(struct bcs_channel_in *from, void *arg)
{
    struct answers *answers = arg;
    uint64_t word;

    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        ck_assert_uint_eq(word, load(&answers->n));
        add(&answers->n);
    }
}

/** Words to an end that its owner and the thread have in turns. */
static void take_turns(struct ranks_rank *rank)
{
    struct answers answers = {0};
    struct bcs_channel_out *to;
    struct bcs_channel_in *from;
    struct channels *channels = join(rank, &to, &from);
    uint64_t word = 0;

    while (channels->rank == 0 && bcs_channel_send_word(to, word) == 0) {
        word++;
    }
    for (int turn = 0; channels->rank == 1 && turn < N_TURNS; turn++) {
        ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
        ck_assert_uint_eq(word, answers.n++);
        word = answers.n;
        ck_assert_int_eq(
            bcs_channel_set_helper(from, BCS_CHANNEL_ARRIVAL, take_turn, &answers), 0);
        await(&answers.n, word + 1);
        ck_assert_int_eq(bcs_channel_set_handler(from, BCS_CHANNEL_NEVER, NULL, NULL),
                         0);
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

static void run_two(uint64_t defer, uint64_t spin_ns,
                    void (*fn)(struct ranks_rank *rank))
{
    struct ranks_job job;
    struct ranks_rank ranks[2];

    ranks_init(&job, ranks, 2, defer);
    for (int i = 0; i < 2 && spin_ns != 0; i++) {
        ranks[i].entry.settings.nic.spin_ns = spin_ns;
    }
    ranks_run(ranks, 2, fn);
    ranks_fini(&job);
}

START_TEST(the_thread_answers_while_its_program_waits)
{
    run_two(0, 0, exchange);
}
END_TEST

START_TEST(a_thread_that_sleeps_at_once_loses_no_word)
{
    run_two(0, 1, exchange);
}
END_TEST

START_TEST(doors_and_bells_may_be_late)
{
    run_two(5, 1, exchange);
}
END_TEST

START_TEST(owner_and_thread_take_turns)
{
    run_two(0, 0, take_turns);
}
END_TEST

START_TEST(owner_and_thread_take_turns_and_sleep_at_once)
{
    run_two(0, 1, take_turns);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("two processes");

    tcase_add_test(tcase, the_thread_answers_while_its_program_waits);
    tcase_add_test(tcase, a_thread_that_sleeps_at_once_loses_no_word);
    tcase_add_test(tcase, doors_and_bells_may_be_late);
    tcase_add_test(tcase, owner_and_thread_take_turns);
    tcase_add_test(tcase, owner_and_thread_take_turns_and_sleep_at_once);
    return run_tcase("channel_helper_jobs", tcase);
}
