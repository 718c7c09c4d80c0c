/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in remote commands, in one process: who is woken, and by what; fetches; what
 * would wait for ever.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/remote_ends.h"

enum { BUFFER = 512, BUFFER_BYTES = BCS_REMOTE_BUFFER_BYTES + 64 };

static void write_one(const struct bcs_remote *at)
{
    ck_assert_int_eq(bcs_remote_write_word(at, 8, 5), 0);
}

static void write_block(const struct bcs_remote *at)
{
    ck_assert_int_eq(bcs_remote_write(at, 4, (uint64_t[]){0, 5}, 12), 0);
    ck_assert_int_eq(bcs_remote_write(at, 8, (uint8_t[]){5}, 1), 0);
}

static void add_one(const struct bcs_remote *at)
{
    ck_assert_int_eq(bcs_remote_add_word(at, 8, 5, NULL), 0);
}

static void swap_one(const struct bcs_remote *at)
{
    uint64_t before;

    ck_assert_int_eq(bcs_remote_compare_swap(at, 8, word_at(at, 8), 5, &before), 0);
}

static void accumulate_one(const struct bcs_remote *at)
{
    ck_assert_int_eq(bcs_remote_accumulate(
                         at, 8,
                         &(struct bcs_remote_accumulation){.op = BCS_BOR,
                                                           .type = BCS_UINT32,
                                                           .operands = &(uint32_t){5},
                                                           .count = 1}),
                     0);
}

static void (*const changes[])(const struct bcs_remote *at) = {
    write_one, write_block, add_one, swap_one, accumulate_one};

enum { N_CHANGES = sizeof(changes) / sizeof(changes[0]) };

static uint64_t n_rings(void)
{
    return bcs_bell_n_rings(&alone->bell);
}

static struct remote_goal goal_of(const struct bcs_remote *at, uint64_t at_least)
{
    return (struct remote_goal){
        .channels = alone, .remote = at, .offset = 8, .at_least = at_least};
}

START_TEST(every_change_wakes_who_waits_for_it_once)
{
    for (int i = 0; i < 2 * N_CHANGES; i++) {
        const struct bcs_remote *changed = i % 2 == 0 ? &remote : &own;
        struct remote_goal goal = goal_of(i % 2 == 0 ? &own : &remote, 5);
        uint64_t before = n_rings();

        ck_assert_int_eq(bcs_remote_write_word(&own, 8, 0), 0);
        ck_assert_uint_eq(n_rings(), before);
        remote_say_sleep(&goal);
        changes[i / 2](changed);
        ck_assert_uint_eq(n_rings(), before + 1);
        changes[i / 2](changed);
        ck_assert_uint_eq(n_rings(), before + 1);
        remote_say_awake(alone);
        ck_assert_uint_eq(*own.state, 0);
        changes[i / 2](changed);
        ck_assert_uint_eq(n_rings(), before + 1);
    }
}
END_TEST

START_TEST(a_change_that_is_not_enough_or_elsewhere_wakes_nobody)
{
    struct remote_goal goal = goal_of(&remote, 5);
    uint64_t before = n_rings();

    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 4), 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 16, 5), 0);
    ck_assert_uint_eq(n_rings(), before);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 5), 0);
    ck_assert_uint_eq(n_rings(), before + 1);
    remote_say_awake(alone);
}
END_TEST

START_TEST(a_fetch_is_woken_for_and_one_of_several_too)
{
    /* static: they wait still when the region is closed, after the test */
    static struct bcs_remote_event event;
    static struct bcs_remote_fetch first = {.word = 8, .at_least = 5, .event = &event};
    static struct bcs_remote_fetch second = {
        .word = 64, .at_least = 5, .event = &event};
    struct remote_goal goal = {.channels = alone, .event = &event, .count = 1};
    uint64_t before = n_rings();

    ck_assert_int_eq(bcs_remote_fetch(&remote, &first), 0);
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 4), 0);
    ck_assert_uint_eq(n_rings(), before);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 5), 0);
    ck_assert_uint_eq(n_rings(), before + 1);
    remote_say_awake(alone);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 0), 0);
    ck_assert_int_eq(bcs_remote_fetch(&own, &second), 0);
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_write_word(&own, 64, 5), 0);
    ck_assert_uint_eq(n_rings(), before + 2);
    remote_say_awake(alone);
    ck_assert_uint_eq(*own.state, 0);
}
END_TEST

START_TEST(who_waits_for_a_word_is_woken_for_his_fetches_too)
{
    static struct bcs_remote_event event; /* static: as above */
    static struct bcs_remote_fetch fetch = {.word = 64, .at_least = 5, .event = &event};
    struct remote_goal goal = goal_of(&remote, 5);
    uint64_t before = n_rings();

    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_write_word(&own, 64, 5), 0);
    ck_assert_uint_eq(n_rings(), before + 1);
    remote_say_awake(alone);
    ck_assert_int_eq(bcs_remote_write_word(&own, 64, 0), 0);
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 5), 0);
    ck_assert_uint_eq(n_rings(), before + 2);
    remote_say_awake(alone);
}
END_TEST

START_TEST(a_region_taken_back_and_room_in_a_buffer_wake)
{
    struct remote_goal goal = goal_of(&remote, 5);
    uint64_t before = n_rings();
    size_t n_bytes;
    char record[8];

    ck_assert_int_eq(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES), 0);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, "1234567", 8), 0);
    goal.offset = BUFFER + 128; /* what was freed */
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_take(&own, BUFFER, record, 8, &n_bytes), 0);
    ck_assert_uint_eq(n_rings(), before + 1);
    remote_say_awake(alone);
    goal.offset = BUFFER + BCS_REMOTE_BUFFER_BYTES + 16; /* the next mark */
    goal.at_least = 1;
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_remote_append(&remote, BUFFER, "1234567", 8), 0);
    ck_assert_uint_eq(n_rings(), before + 2);
    remote_say_awake(alone);
    goal = goal_of(&remote, 5);
    remote_say_sleep(&goal);
    ck_assert_int_eq(bcs_region_release(&own), 0);
    ck_assert_uint_eq(n_rings(), before + 3);
    remote_say_awake(alone);
}
END_TEST

/** A wait that has looked for long, and announced that it will sleep. */
static struct bcs_bell_wait announce(void)
{
    struct bcs_bell_wait wait = {.n_heard = bcs_bell_n_rings(&alone->bell)};

    wait.spell.is_announced = true;
    wait.spell.since_ticks = 1;
    return wait;
}

START_TEST(who_is_rung_for_looks_as_long_as_at_first)
{
    struct bcs_bell_wait wait = announce();

    ck_assert_int_eq(bcs_signal_event(alone->core, alone->bell.gva), 0);
    ck_assert_int_eq(bcs_bell_sleep(&alone->bell, &wait), 1);
    ck_assert(!wait.spell.is_announced);
    ck_assert_uint_eq(wait.spell.since_ticks, 0);
}
END_TEST

START_TEST(who_sleeps_in_vain_sleeps_again_soon)
{
    struct bcs_bell_wait wait = announce();

    ck_assert_int_eq(bcs_bell_sleep(&alone->bell, &wait), 0);
    ck_assert(
        !wait.spell.is_announced); /* he looks everywhere before he sleeps again */
    ck_assert_uint_eq(wait.spell.since_ticks, 1);
}
END_TEST

START_TEST(a_fetch_waits_for_its_word_and_holds_up_nothing)
{
    struct bcs_remote_event event = {0};
    uint64_t got[3] = {0};
    struct bcs_remote_fetch fetches[3];

    for (uint64_t i = 0; i < 3; i++) {
        fetches[i] = (struct bcs_remote_fetch){.word = 8 * i,
                                               .at_least = 2,
                                               .offset = 128 + 8 * i,
                                               .n_bytes = 8,
                                               .data_out = &got[i],
                                               .event = &event};
        ck_assert_int_eq(bcs_remote_write_word(&own, 128 + 8 * i, 100 + i), 0);
        ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[i]), 0);
    }
    ck_assert_int_eq(bcs_remote_write_word(&own, 16, 1), 0);
    ck_assert_int_eq(remote_test(alone, &event, 1), BCS_E_PENDING);
    ck_assert_int_eq(bcs_remote_write_word(&own, 16, 3), 0); /* the last one first */
    ck_assert_uint_eq(event.count, 0);
    ck_assert_int_eq(remote_test(alone, &event, 1), 0);
    ck_assert_uint_eq(got[2], 102);
    ck_assert_int_eq(bcs_remote_write_word(&own, 136, 555), 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 2), 0);
    ck_assert_int_eq(bcs_remote_wait(&own, 8, 2), 0); /* goes through no queue */
    ck_assert_int_eq(remote_wait_event(alone, &event, 2), 0);
    ck_assert_uint_eq(got[1], 555);
    ck_assert_uint_eq(got[0], 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, UINT64_MAX), 0);
    ck_assert_int_eq(remote_wait_event(alone, &event, 3), 0);
    ck_assert_uint_eq(got[0], 100);
    ck_assert_int_eq(event.result, 0);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[0]), 0); /* true already */
    ck_assert_uint_eq(event.count, 4);
}
END_TEST

START_TEST(a_fetch_that_waits_is_not_started_again)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetches[3];

    for (int i = 0; i < 3; i++) {
        fetches[i] =
            (struct bcs_remote_fetch){.word = 8, .at_least = 1, .event = &event};
        ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[i]), -EALREADY);
        ck_assert_int_eq(bcs_remote_fetch(&own, &fetches[i]), -EALREADY);
    }
    ck_assert_int_eq(bcs_remote_write_word(&own, 8, 1), 0);
    /* Not either now, as it has not been looked at. */
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[1]), -EALREADY);
    ck_assert_uint_eq(event.count, 0);
    ck_assert_int_eq(remote_test(alone, &event, 3), 0);
    ck_assert_uint_eq(event.count, 3);
    ck_assert_ptr_null(alone->remotes.fetches);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetches[1]), 0);
    ck_assert_uint_eq(event.count, 4);
}
END_TEST

START_TEST(waits_that_can_never_end_are_refused)
{
    struct bcs_remote_event event = {0}, another = {0};
    struct bcs_remote_fetch fetch = {.at_least = 1, .event = &event};

    ck_assert_int_eq(remote_wait_event(alone, &event, 1), -EINVAL);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    ck_assert_int_eq(remote_wait_event(alone, &event, 2), -EINVAL);
    ck_assert_int_eq(remote_wait_event(alone, &another, 1), -EINVAL);
    /* Nobody else is in the job. */
    ck_assert_int_eq(remote_wait_event(alone, &event, 1), -EDEADLK);
    ck_assert_int_eq(bcs_remote_wait(&remote, 0, 1), -EDEADLK);
    ck_assert_uint_eq(*own.state, 0);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(remote_wait_event(alone, &event, 1), 0);
}
END_TEST

static void try_in_handler(struct bcs_channel_in *from, void *arg)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.at_least = 1, .event = &event};
    struct bcs_remote another;
    uint64_t word = 0;

    ck_assert(bcs_channel_try_receive(from, &word, sizeof(word)));
    ck_assert_int_eq(bcs_remote_write_word(&remote, 8, word), 0);
    ck_assert_int_eq(bcs_remote_wait(&remote, 8, word), 0);
    ck_assert_int_eq(bcs_remote_wait(&remote, 0, 1), -EDEADLK);
    ck_assert_int_eq(bcs_remote_fetch(&remote, &fetch), 0);
    ck_assert_int_eq(remote_wait_event(alone, &event, 1), -EDEADLK);
    ck_assert_int_eq(bcs_remote_write_word(&own, 0, 1), 0);
    ck_assert_int_eq(remote_test(alone, &event, 1), 0);
    ck_assert_int_eq(bcs_region_release(&remote), -EDEADLK);
    ck_assert_int_eq(remote_export(alone, 1, 8, &another), -EDEADLK);
    ck_assert_int_eq(remote_import(alone, 0, REGION, true, &another), -EDEADLK);
    ++*(int *)arg;
}

START_TEST(handlers_may_do_what_does_not_wait)
{
    struct bcs_channel_params params = {.record_bytes = 8, .capacity = 1};
    struct bcs_channel_out *out;
    struct bcs_channel_in *in;
    int n_called = 0;

    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    ck_assert_int_eq(
        bcs_channel_set_handler(in, BCS_CHANNEL_ARRIVAL, try_in_handler, &n_called), 0);
    ck_assert_int_eq(bcs_channel_send_word(out, 7), 0);
    ck_assert_int_eq(channels_poll(alone), 1);
    ck_assert_int_eq(n_called, 1);
}
END_TEST

int main(void)
{
    TCase *by_hand = tcase_create("one process");

    tcase_add_checked_fixture(by_hand, setup_alone, teardown_alone);
    tcase_add_test(by_hand, every_change_wakes_who_waits_for_it_once);
    tcase_add_test(by_hand, a_change_that_is_not_enough_or_elsewhere_wakes_nobody);
    tcase_add_test(by_hand, a_fetch_is_woken_for_and_one_of_several_too);
    tcase_add_test(by_hand, who_waits_for_a_word_is_woken_for_his_fetches_too);
    tcase_add_test(by_hand, a_region_taken_back_and_room_in_a_buffer_wake);
    tcase_add_test(by_hand, who_is_rung_for_looks_as_long_as_at_first);
    tcase_add_test(by_hand, who_sleeps_in_vain_sleeps_again_soon);
    tcase_add_test(by_hand, a_fetch_waits_for_its_word_and_holds_up_nothing);
    tcase_add_test(by_hand, a_fetch_that_waits_is_not_started_again);
    tcase_add_test(by_hand, waits_that_can_never_end_are_refused);
    tcase_add_test(by_hand, handlers_may_do_what_does_not_wait);
    return run_tcase("remote_wait", by_hand);
}
