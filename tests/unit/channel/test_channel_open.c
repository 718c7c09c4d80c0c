/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing channels, what is refused, handlers, waiting: in one process,
 * between two that are threads, and with one that dies.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/channel_ends.h"

enum { N_WORDS = 20000 / RANKS_FEWER, N_AGAIN = 12 / RANKS_FEWER };

static void refuse(struct bcs_channel_params params, int error)
{
    ck_assert_int_eq(channels_open_out(alone, &params, &out), error);
    ck_assert_int_eq(channels_open_in(alone, &params, &in), error);
}

START_TEST(what_is_bad_is_refused_at_opening)
{
    struct bcs_channel_params params = params_of(0, 7, 8, 1);

    refuse(params_of(1, 0, 8, 1), -EINVAL);
    refuse(params_of(-1, 0, 8, 1), -EINVAL);
    refuse(params_of(0, BCS_CHANNEL_NUMBERS, 8, 1), -EINVAL);
    refuse(params_of(0, 0, 0, 1), -EINVAL);
    refuse(params_of(0, 0, BCS_CHANNEL_RECORD_MOST + 1, 1), -EINVAL);
    refuse(params_of(0, 0, 8, 0), -EINVAL);
    refuse(params_of(0, 0, 8, BCS_CHANNEL_CAPACITY_MOST + 1), -EINVAL);
    params.reserved[1] = 1;
    refuse(params, -EINVAL);
    open_both(8, 1);
    params.reserved[1] = 0;
    refuse(params, -EEXIST);
}
END_TEST

START_TEST(all_doors_lie_before_what_follows_them)
{
    for (int side = 0; side < CHANNEL_N_SIDES; side++) {
        uint64_t last =
            channel_door_gva(&alone->layout, alone->size - 1, (enum channel_side)side,
                             BCS_CHANNEL_NUMBERS - 1);

        ck_assert_uint_le(last + sizeof(struct channel_door),
                          alone->layout.sleeper_gva);
    }
    ck_assert_uint_le(alone->layout.users_gva + BCS_REGION_NUMBERS * sizeof(uint64_t),
                      alone->layout.exports_gva);
}
END_TEST

START_TEST(another_length_at_each_end_is_refused_at_both)
{
    struct bcs_channel_params params = params_of(0, 1, 8, 1);
    uint64_t word = 0;

    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    params.record_bytes = 16;
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    ck_assert(!bcs_channel_try_send(out, &word, sizeof(word), false));
    ck_assert_int_eq(bcs_channel_wait_out(out), -EPROTO);
    ck_assert_int_eq(bcs_channel_wait_in(in), -EPROTO);
}
END_TEST

START_TEST(what_was_sent_before_a_close_is_received)
{
    uint64_t word;

    for (uint64_t i = 0; i < 1000; i++) {
        open_both(8, 10);
        ck_assert_int_eq(bcs_channel_send_word(out, i), 0);
        ck_assert_int_eq(bcs_channel_close_out(out), 0);
        ck_assert_int_eq(bcs_channel_receive_word(in, &word), 0);
        ck_assert_uint_eq(word, i);
        ck_assert_int_eq(bcs_channel_receive_word(in, &word), BCS_E_CLOSED);
        ck_assert_int_eq(bcs_channel_close_in(in), 0);
    }
}
END_TEST

START_TEST(a_channel_has_nothing_of_the_one_before_it)
{
    uint64_t word = 5;

    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_send_word(out, word), 0);
    close_both();
    open_both(8, 10);
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_int_eq(bcs_channel_receive_word(in, &word), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
}
END_TEST

START_TEST(a_writer_finds_its_reader_gone_and_does_not_meet_the_next_one)
{
    struct bcs_channel_params params = params_of(0, 7, 8, 1);
    struct bcs_channel_in *next;
    uint64_t word = 1;

    open_both(8, 1);
    ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
    ck_assert_int_eq(channels_open_in(alone, &params, &next), 0);
    while (bcs_channel_try_send(out, &word, sizeof(word), false)) {
    }
    ck_assert_int_eq(bcs_channel_send_word(out, word), BCS_E_CLOSED);
    ck_assert(!bcs_channel_try_receive(next, &word, sizeof(word)));
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    ck_assert_int_eq(bcs_channel_send_word(out, 77), 0);
    ck_assert_int_eq(bcs_channel_receive_word(next, &word), 0);
    ck_assert_uint_eq(word, 77);
}
END_TEST

START_TEST(a_writer_does_not_meet_a_reader_that_has_closed_already)
{
    struct bcs_channel_params params = params_of(0, 7, 8, 1);
    uint64_t word = 1;

    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    ck_assert(!bcs_channel_try_send(out, &word, sizeof(word), false));
    ck_assert_int_eq(bcs_channel_send_word(out, word), BCS_E_CLOSED);
}
END_TEST

START_TEST(memory_is_used_again_and_its_end_is_told)
{
    struct bcs_channel_params params =
        params_of(0, 0, BCS_CHANNEL_RECORD_MOST, BCS_CHANNEL_CAPACITY_MOST / 2);
    int rc = 0, n_open = 0;

    /* 64 MB and a quarter, each in 88 MB: again and again, but two at a time. */
    for (int i = 0; i < N_AGAIN; i++) {
        open_both(params.record_bytes, params.capacity);
        close_both();
    }
    for (; rc == 0; n_open += rc == 0) {
        rc = channels_open_in(alone, &params, &in);
        params.number++;
    }
    ck_assert_int_eq(rc, -ENOMEM);
    ck_assert_int_eq(n_open, 2);
}
END_TEST

START_TEST(the_largest_channel_leaves_a_quarter_of_the_memory)
{
    struct bcs_channel_params params =
        params_of(0, 0, BCS_CHANNEL_RECORD_MOST, BCS_CHANNEL_CAPACITY_MOST);

    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    params.number++;
    params.capacity /= 4;
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
}
END_TEST

START_TEST(a_room_is_little_larger_than_what_it_is_for)
{
    for (uint64_t n_bytes = 1; n_bytes <= CHANNEL_POOL_BYTES;
         n_bytes += n_bytes / 50 + 1) {
        uint64_t room_bytes = channel_pool_room_bytes(n_bytes);

        ck_assert_uint_ge(room_bytes, n_bytes);
        ck_assert(room_bytes == 512 || room_bytes <= n_bytes + n_bytes / 8);
        ck_assert_uint_eq(room_bytes % 64, 0);
    }
}
END_TEST

START_TEST(a_room_that_is_larger_is_used_when_nothing_else_is_left)
{
    struct channel_pool pool;
    struct channel_room *first, *second;
    bool was_used;

    channel_pool_init(&pool, 4096, 4096);
    first = channel_pool_take(&pool, 2048, &was_used);
    ck_assert(first != NULL && !was_used);
    channel_pool_put_back(&pool, first);
    second = channel_pool_take(&pool, 1900, &was_used); /* while there is another */
    ck_assert(second != NULL && second != first && !was_used);
    ck_assert_ptr_null(channel_pool_take(&pool, 2049, &was_used));
    ck_assert_ptr_eq(channel_pool_take(&pool, 1000, &was_used), first);
    ck_assert(was_used);
    ck_assert_ptr_null(channel_pool_take(&pool, 1000, &was_used));
    channel_pool_put_back(&pool, first);
    channel_pool_put_back(&pool, second);
    channel_pool_fini(&pool);
}
END_TEST

/** A handler that takes what there is, and tries what it must not. */
static void take_all(struct bcs_channel_in *from, void *arg)
{
    struct bcs_channel_params params = params_of(0, 9, 8, 1);
    uint64_t word;
    int *n = arg;

    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        ++*n;
    }
    ck_assert_int_eq(bcs_channel_wait_in(from), -EDEADLK);
    ck_assert_int_eq(bcs_channel_close_in(from), -EDEADLK);
    ck_assert_int_eq(channels_poll(alone), -EDEADLK);
    ck_assert_int_eq(channels_open_out(alone, &params, &out), -EDEADLK);
}

/** Send words until the handler is due, one poll after each. @return how many it
 *  took */
static int polls_until_called(enum bcs_channel_when when, int n_to_end)
{
    uint64_t word = 0;
    int n_taken = 0, n = 0;

    ck_assert_int_eq(bcs_channel_set_handler(in, when, take_all, &n_taken), 0);
    while (channels_poll(alone) == 0 && n < 1000) {
        ck_assert(bcs_channel_try_send(out, &word, sizeof(word), ++n == n_to_end));
    }
    ck_assert_int_eq(n_taken, n);
    return n;
}

START_TEST(handlers_are_called_when_they_are_due)
{
    uint64_t word = 0;
    int n_taken = 0;

    open_both(8, 7 * 8);
    ck_assert_int_eq(polls_until_called(BCS_CHANNEL_ARRIVAL, 1), 1);
    ck_assert_int_eq(polls_until_called(BCS_CHANNEL_BEGIN, 0), 1);
    ck_assert_int_eq(polls_until_called(BCS_CHANNEL_END, 9), 9);
    ck_assert_int_ge(polls_until_called(BCS_CHANNEL_IF_HALF, 0), 7 * 4);
    /* In the middle of a message nothing begins. */
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_BEGIN, take_all, &n_taken),
                     0);
    ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
    ck_assert_int_eq(channels_poll(alone), 0);
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_NEVER, take_all, NULL), 0);
    ck_assert_int_eq(channels_poll(alone), 0);
    ck_assert_int_eq(
        bcs_channel_set_handler(in, (enum bcs_channel_when)(BCS_CHANNEL_IF_HALF + 1),
                                take_all, NULL),
        -EINVAL);
}
END_TEST

/** A handler of messages, which counts words, and those that end one. */
static void take_parts(struct bcs_channel_in *from, void *arg)
{
    uint64_t word;
    int *n = arg;

    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        n[0]++;
        n[1] += bcs_channel_is_end(from);
    }
}

START_TEST(a_message_that_is_longer_than_the_channel_comes_in_parts)
{
    uint64_t word = 0;
    int n_sent = 0, n_calls = 0, n_taken[2] = {0};

    for (uint32_t capacity = 1; capacity <= 100; capacity += 33) {
        open_both(8, capacity);
        ck_assert_int_eq(
            bcs_channel_set_handler(in, BCS_CHANNEL_END, take_parts, n_taken), 0);
        for (int i = 1; i <= 1000; i++) {
            bool is_full = bcs_channel_status_out(out) == BCS_CHANNEL_FULL;

            /* Not before it has to be. */
            ck_assert_int_eq(channels_poll(alone), is_full);
            n_calls += is_full;
            ck_assert(bcs_channel_try_send(out, &word, sizeof(word), i == 1000));
            n_sent++;
        }
        ck_assert_int_eq(channels_poll(alone), 1);
        ck_assert_int_eq(n_taken[0], n_sent);
        close_both();
    }
    ck_assert_int_eq(n_taken[1], 4);
    ck_assert_int_gt(n_calls, 4);
}
END_TEST

/** Whether the words of two processes come in order, both ways, with both of them
 *  waiting. */
static void exchange(struct ranks_rank *rank)
{
    struct channels *channels;
    struct bcs_channel_params params;
    struct bcs_channel_out *to;
    struct bcs_channel_in *from;
    uint64_t word;

    ck_assert_int_eq(channels_join(&rank->entry, &channels), 0);
    params = params_of(1 - (int)channels->rank, 3, 8, 1);
    ck_assert_int_eq(channels_open_out(channels, &params, &to), 0);
    ck_assert_int_eq(channels_open_in(channels, &params, &from), 0);
    for (uint64_t i = 0; i < N_WORDS; i++) {
        if (channels->rank == 0) {
            ck_assert_int_eq(bcs_channel_send_word(to, i), 0);
            if (i % 100 == 0) {
                ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
                ck_assert_uint_eq(word, ~i);
            }
        } else {
            ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
            ck_assert_uint_eq(word, i);
            if (i % 100 == 0) {
                ck_assert_int_eq(bcs_channel_send_word(to, ~i), 0);
            }
        }
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

START_TEST(two_processes_exchange_words)
{
    ranks_init(&job, ranks, 2, 0);
    ranks_run(ranks, 2, exchange);
    ranks_fini(&job);
}
END_TEST

START_TEST(processes_that_sleep_at_once_lose_no_word)
{
    ranks_init(&job, ranks, 2, 0);
    for (int i = 0; i < 2; i++) {
        ranks[i].entry.settings.nic.spin_ns = 1;
    }
    ranks_run(ranks, 2, exchange);
    ranks_fini(&job);
}
END_TEST

START_TEST(doors_and_bells_may_be_late)
{
    ranks_init(&job, ranks, 2, 5);
    for (int i = 0; i < 2; i++) {
        ranks[i].entry.settings.nic.spin_ns = 1;
    }
    ranks_run(ranks, 2, exchange);
    ranks_fini(&job);
}
END_TEST

START_TEST(what_was_opened_is_there_though_puts_are_late)
{
    uint64_t word = 3;

    ranks_init(&job, ranks, 1, 5);
    ck_assert_int_eq(channels_join(&ranks[0].entry, &alone), 0);
    for (int i = 0; i < 50; i++) {
        open_both(8, 1);
        ck_assert(bcs_channel_try_send(out, &word, sizeof(word), false));
        close_both();
    }
    teardown_alone();
}
END_TEST

static void *use_from_another(void *arg)
{
    ck_assert_int_eq(bcs_channel_wait_in(in), -EPERM);
    ck_assert_int_eq(bcs_channel_close_in(in), -EPERM);
    ck_assert_int_eq(bcs_channel_set_handler(in, BCS_CHANNEL_ARRIVAL, take_all, NULL),
                     -EPERM);
    return arg;
}

/** Act, and see whether it takes back that somebody sleeps, and rings the bell,
 *  once. */
static void expect_wake(uint32_t *sleeper, void (*act)(void))
{
    uint64_t n_rings = bcs_bell_n_rings(&alone->bell);

    *sleeper = 1;
    act();
    ck_assert_uint_eq(*sleeper, 0);
    ck_assert_uint_eq(bcs_bell_n_rings(&alone->bell), n_rings + 1);
    act();
    ck_assert_uint_eq(bcs_bell_n_rings(&alone->bell), n_rings + 1);
}

static void send_one(void)
{
    ck_assert_int_eq(bcs_channel_send_word(out, 1), 0);
}

static void receive_a_block(void)
{
    uint64_t word;

    for (int i = 0; i < 8; i++) {
        ck_assert(bcs_channel_try_receive(in, &word, sizeof(word)));
    }
}

START_TEST(a_mark_wakes_the_reader_and_a_credit_the_writer)
{
    open_both(8, 1);
    send_one(); /* which finds the reader */
    expect_wake(channel_in_of(in)->end.sleeper, send_one);
    while (bcs_channel_status_out(out) != BCS_CHANNEL_FULL) {
        send_one();
    }
    expect_wake(channel_out_of(out)->end.sleeper, receive_a_block);
}
END_TEST

START_TEST(another_thread_may_not_use_an_end)
{
    pthread_t thread;

    open_both(8, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_from_another, NULL), 0);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_death_of_the_partner_ends_a_wait)
{
    struct bcs_channel_params params = params_of(0, 7, 8, 1);
    uint64_t *pids = bcs_core_address(alone->core, alone->layout.pids_gva);
    uint64_t word = 0, own = pids[0];
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    open_both(8, 1);
    pids[0] = (uint64_t)child; /* it stays a zombie, which a launcher may leave, too */
    while (bcs_channel_try_send(out, &word, sizeof(word), false)) {
    }
    ck_assert_int_eq(bcs_channel_wait_out(out), -EOWNERDEAD);
    while (bcs_channel_try_receive(in, &word, sizeof(word))) {
    }
    ck_assert_int_eq(bcs_channel_wait_in(in), -EOWNERDEAD);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    params.number = 8; /* whose other end was never opened */
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    ck_assert_int_eq(bcs_channel_wait_in(in), -EOWNERDEAD);
    pids[0] = own;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("channel_open");
    TCase *by_hand = tcase_create("both ends"), *jobs = tcase_create("two processes");

    tcase_add_checked_fixture(by_hand, setup_alone, teardown_alone);
    tcase_add_test(by_hand, what_is_bad_is_refused_at_opening);
    tcase_add_test(by_hand, all_doors_lie_before_what_follows_them);
    tcase_add_test(by_hand, another_length_at_each_end_is_refused_at_both);
    tcase_add_test(by_hand, what_was_sent_before_a_close_is_received);
    tcase_add_test(by_hand, a_channel_has_nothing_of_the_one_before_it);
    tcase_add_test(by_hand,
                   a_writer_finds_its_reader_gone_and_does_not_meet_the_next_one);
    tcase_add_test(by_hand, a_writer_does_not_meet_a_reader_that_has_closed_already);
    tcase_add_test(by_hand, memory_is_used_again_and_its_end_is_told);
    tcase_add_test(by_hand, the_largest_channel_leaves_a_quarter_of_the_memory);
    tcase_add_test(by_hand, a_room_is_little_larger_than_what_it_is_for);
    tcase_add_test(by_hand, a_room_that_is_larger_is_used_when_nothing_else_is_left);
    tcase_add_test(by_hand, handlers_are_called_when_they_are_due);
    tcase_add_test(by_hand, a_message_that_is_longer_than_the_channel_comes_in_parts);
    tcase_add_test(by_hand, a_mark_wakes_the_reader_and_a_credit_the_writer);
    tcase_add_test(by_hand, another_thread_may_not_use_an_end);
    tcase_add_test(by_hand, the_death_of_the_partner_ends_a_wait);
    suite_add_tcase(suite, by_hand);
    tcase_add_test(jobs, two_processes_exchange_words);
    tcase_add_test(jobs, processes_that_sleep_at_once_lose_no_word);
    tcase_add_test(jobs, doors_and_bells_may_be_late);
    tcase_add_test(jobs, what_was_opened_is_there_though_puts_are_late);
    suite_add_tcase(suite, jobs);
    return run_suite(suite);
}
