/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door of a channel, which one end looks at while the other one closes and opens
 * again; and that of a process that leaves without opening its end.
 */
#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/channel_ends.h"

/* So many looks, and doors that differ: the more of these, the more was written
 * meanwhile. */
enum { N_FOUND = 4000000, N_DOORS = 300, NUMBER = 3 };

static bool is_over; /* atomic */

/** Every second opening has another capacity. */
static uint32_t capacity_of(uint64_t opened)
{
    return (uint32_t)(opened / 2 % 2 + 1);
}

/** Open and close the reader's end of a channel, again and again, each time at another
 *  place. */
static void *open_again_and_again(void *arg)
{
    struct channel_end reader = {
        .channels = alone,
        .params = params_of(0, NUMBER, 8, 1),
        .side = CHANNEL_IN,
    };

    /* Pairs with the store of the test. */
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        reader.params.capacity = capacity_of(++reader.opened);
        ck_assert_int_eq(channel_door_open(&reader, reader.opened * 64, reader.opened),
                         0);
        for (uint64_t i = 0; i < reader.opened % 100; i++) {
            /* A different time each time; relaxed: it is only to take time. */
            (void)__atomic_load_n(&is_over, __ATOMIC_RELAXED);
        }
        ck_assert_int_eq(channel_door_close(&reader), 0);
    }
    return arg;
}

/** Look for the reader of the opening that is there now. @return whether it was
 *  found */
static bool find_this_one(void)
{
    struct channel_out *state = channel_out_of(out);
    const uint8_t *heap = bcs_memory_heap(alone->meeting.memory, 0);
    uint64_t opened;

    /* Pairs with the put of channel_door_open. */
    opened = __atomic_load_n(&state->end.peer_door->opened, __ATOMIC_ACQUIRE);
    state->end.opened = opened;
    state->end.params.capacity = capacity_of(opened);
    if (opened == 0 || !bcs_channel_find_reader(out)) {
        return false;
    }
    ck_assert_uint_eq(out->n_blocks, opened);
    ck_assert_ptr_eq(out->first, heap + opened * 64 + sizeof(struct channel_place));
    ck_assert_ptr_eq(out->end, out->first + opened * out->block_bytes);
    return true;
}

START_TEST(a_writer_finds_the_place_of_its_own_opening_only)
{
    struct bcs_channel_params params = params_of(0, NUMBER, 8, 1);
    struct channel_end reader;
    pthread_t thread;

    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    reader = channel_out_of(out)->end;
    ck_assert_int_eq(pthread_create(&thread, NULL, open_again_and_again, NULL), 0);
    for (int n_found = 0, n_doors = 0; n_found < N_FOUND || n_doors < N_DOORS;) {
        uint64_t before = channel_out_of(out)->end.opened;

        if (find_this_one()) {
            n_found++;
            n_doors += channel_out_of(out)->end.opened != before;
        } else {
            ck_assert_int_ne(channel_door_look(&channel_out_of(out)->end, false),
                             -EPROTO);
        }
    }
    __atomic_store_n(&is_over, true,
                     __ATOMIC_RELEASE); /* pairs with the thread's load */
    pthread_join(thread, NULL);
    channel_out_of(out)->end.opened = reader.opened;
}
END_TEST

START_TEST(who_has_left_without_opening_is_not_waited_for_nor_taken_for_dead)
{
    struct bcs_channel_params params = params_of(0, NUMBER, 8, 1);
    uint64_t *pids = bcs_core_address(alone->core, alone->layout.pids_gva);
    uint64_t *left = bcs_core_address(alone->core, alone->layout.left_gva);
    uint64_t own = pids[0], word;
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    params.number++;
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
    *left = 1;
    pids[0] = (uint64_t)child; /* it stays a zombie */
    ck_assert_int_eq(bcs_channel_wait_out(out), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_channel_receive_word(in, &word), BCS_E_CLOSED);
    /* But what it had opened it has closed, unless it has died before. */
    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    ck_assert_int_eq(bcs_channel_wait_in(in), -EOWNERDEAD);
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_int_eq(bcs_channel_wait_in(in), BCS_E_CLOSED);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    pids[0] = own;
    *left = 0;
}
END_TEST

/** The first waits for what the second never opens. */
static void wait_for_who_leaves(struct ranks_rank *rank)
{
    struct channels *channels;
    struct bcs_channel_params params = params_of(1, NUMBER, 8, 1);
    struct bcs_channel_out *to;
    struct bcs_channel_in *from;
    uint64_t word;

    ck_assert_int_eq(channels_join(&rank->entry, &channels), 0);
    if (channels->rank == 0) {
        ck_assert_int_eq(channels_open_out(channels, &params, &to), 0);
        ck_assert_int_eq(channels_open_in(channels, &params, &from), 0);
        ck_assert_int_eq(bcs_channel_send_word(to, 1), BCS_E_CLOSED);
        ck_assert_int_eq(bcs_channel_receive_word(from, &word), BCS_E_CLOSED);
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

START_TEST(a_wait_ends_when_its_partner_has_left_without_opening)
{
    ranks_init(&job, ranks, 2, 0);
    ranks_run(ranks, 2, wait_for_who_leaves);
    ranks_fini(&job);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("channel_door");
    TCase *by_hand = tcase_create("one process"), *jobs = tcase_create("two processes");

    tcase_add_checked_fixture(by_hand, setup_alone, teardown_alone);
    tcase_add_test(by_hand, a_writer_finds_the_place_of_its_own_opening_only);
    tcase_add_test(by_hand,
                   who_has_left_without_opening_is_not_waited_for_nor_taken_for_dead);
    suite_add_tcase(suite, by_hand);
    tcase_add_test(jobs, a_wait_ends_when_its_partner_has_left_without_opening);
    suite_add_tcase(suite, jobs);
    return run_suite(suite);
}
