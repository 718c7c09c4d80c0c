/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels between two machines that are played on this one: step by step, with both
 * ends in one thread, and between two processes, which are threads.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/channel/channel_state.h"
#include "tests/unit/channel_helper.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { N_WORDS = 2000 / RANKS_FEWER, LATE = 5 };

static struct ranks_job job;
static struct ranks_rank ranks[2];
static struct channels *both[2]; /* rank 0 writes to rank 1 */
static struct bcs_channel_out *out;
static struct bcs_channel_in *in;

static struct channels *join_job(struct ranks_rank *rank)
{
    struct channels *channels;

    ck_assert_int_eq(channels_join(&rank->entry, &channels), 0);
    return channels;
}

static void join(struct ranks_rank *rank)
{
    both[rank->entry.bootstrap.rank] = join_job(rank);
}

/** @param defer  of the transport */
static void prepare(uint64_t defer)
{
    ranks_init(&job, ranks, 2, defer);
    ranks_set_far(ranks, 2, 2);
}

static void set_up(uint64_t defer)
{
    prepare(defer);
    ranks_run(ranks, 2, join);
}

static void tear_down(void)
{
    ck_assert_int_eq(channels_leave(both[0]), 0);
    ck_assert_int_eq(channels_leave(both[1]), 0);
    ranks_fini(&job);
}

static struct bcs_channel_params params_of(int peer, uint32_t record_bytes,
                                           uint32_t capacity)
{
    return (struct bcs_channel_params){
        .peer = peer, .number = 7, .record_bytes = record_bytes, .capacity = capacity};
}

static void open_both(uint32_t record_bytes, uint32_t capacity)
{
    struct bcs_channel_params to = params_of(1, record_bytes, capacity);
    struct bcs_channel_params from = params_of(0, record_bytes, capacity);

    ck_assert_int_eq(channels_open_out(both[0], &to, &out), 0);
    ck_assert_int_eq(channels_open_in(both[1], &from, &in), 0);
}

static void close_both(void)
{
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
}

START_TEST(nothing_of_another_machine_is_mapped)
{
    set_up(0);
    ck_assert(channels_is_near(both[0], 0) && !channels_is_near(both[0], 1));
    ck_assert(channels_is_near(both[1], 1) && !channels_is_near(both[1], 0));
    ck_assert(both[0]->helper.bell.event == both[0]->bell.event);
    tear_down();
}
END_TEST

START_TEST(records_of_all_lengths_go_to_another_machine)
{
    uint8_t sent[BCS_CHANNEL_RECORD_MOST], received[BCS_CHANNEL_RECORD_MOST];

    set_up(_i * LATE);
    for (uint32_t n_bytes = 1; n_bytes <= BCS_CHANNEL_RECORD_MOST; n_bytes++) {
        open_both(n_bytes, 1 + n_bytes % 20);
        for (int i = 0; i < 100; i++) {
            memset(sent, i, sizeof(sent));
            ck_assert(!bcs_channel_try_receive(in, received, n_bytes));
            for (int k = 0; k <= (int)(n_bytes % 20); k++) {
                sent[0] = (uint8_t)k;
                ck_assert(bcs_channel_try_send(out, sent, n_bytes, k == 1));
            }
            for (int k = 0; k <= (int)(n_bytes % 20); k++) {
                sent[0] = (uint8_t)k;
                memset(received, 0xee, sizeof(received));
                ck_assert(bcs_channel_try_receive(in, received, n_bytes));
                ck_assert_mem_eq(sent, received, n_bytes);
                ck_assert(bcs_channel_is_end(in) == (k == 1));
            }
        }
        close_both();
    }
    tear_down();
}
END_TEST

START_TEST(a_full_channel_has_room_when_its_reader_has_read)
{
    uint64_t words[100], got[100], n_sent = 0, word = 0;

    for (uint64_t i = 0; i < 100; i++) {
        words[i] = i;
    }
    set_up(_i * LATE);
    open_both(8, 7);
    for (int round = 0; round < 50; round++) {
        n_sent = bcs_channel_try_send_many(out, words, 100, 8);
        ck_assert_uint_ge(n_sent, 7);
        ck_assert_uint_lt(n_sent, 100);
        ck_assert_int_eq(bcs_channel_status_out(out), BCS_CHANNEL_FULL);
        ck_assert(!bcs_channel_try_send(out, &word, 8, false));
        ck_assert_uint_eq(bcs_channel_try_receive_many(in, got, 100, 8), n_sent);
        ck_assert_mem_eq(got, words, n_sent * 8);
    }
    close_both();
    tear_down();
}
END_TEST

START_TEST(a_record_that_has_come_is_not_written_again)
{
    uint64_t word = 1, got[3];
    uint8_t *block;

    set_up(0);
    open_both(8, 7);
    ck_assert(bcs_channel_try_send(out, &word, 8, false));
    block = (uint8_t *)(uintptr_t)in->block;
    ck_assert(memcmp(block, &word, 8) == 0);
    memset(block, 0xab, 8);
    word = 2;
    ck_assert(bcs_channel_try_send(out, &word, 8, false));
    ck_assert_uint_eq(bcs_channel_try_receive_many(in, got, 3, 8), 2);
    ck_assert_uint_eq(got[0], UINT64_C(0xabababababababab));
    ck_assert_uint_eq(got[1], 2);
    close_both();
    tear_down();
}
END_TEST

START_TEST(a_place_is_used_again_when_both_have_closed)
{
    struct bcs_channel_params to = params_of(1, 8, 1);
    const struct channel_pool *pool;
    uint64_t word = 0, *place;
    struct channel_room *room;

    set_up(0);
    pool = &both[0]->pool;
    open_both(8, 1);
    while (bcs_channel_try_send(out, &word, 8, false)) {
    }
    room = channel_out_of(out)->room;
    place = bcs_core_address(both[0]->core, room->gva);
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_ptr_eq(pool->retired, room);
    while (bcs_channel_try_receive(in, &word, 8)) {
    }
    ck_assert_uint_eq(*place, 0); /* nobody has freed blocks there */
    ck_assert_int_eq(bcs_channel_wait_in(in), BCS_E_CLOSED);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
    ck_assert_int_eq(channels_open_out(both[0], &to, &out), 0);
    ck_assert_ptr_eq(channel_out_of(out)->room, room);
    tear_down();
}
END_TEST

START_TEST(a_writer_finds_its_reader_gone)
{
    uint64_t word = 0;

    set_up(_i * LATE);
    open_both(8, 1);
    ck_assert_int_eq(bcs_channel_send_word(out, 1), 0);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
    while (bcs_channel_try_send(out, &word, 8, false)) {
    }
    ck_assert_int_eq(bcs_channel_wait_out(out), BCS_E_CLOSED);
    tear_down();
}
END_TEST

static bool is_never_there(struct channel_end *end)
{
    (void)end;
    return false;
}

START_TEST(a_far_process_is_neither_looked_for_nor_judged)
{
    uint64_t *pids;
    pid_t child;

    set_up(0);
    pids = bcs_core_address(both[0]->core, both[0]->layout.pids_gva);
    child = fork();
    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    pids[1] = (uint64_t)child; /* another process of this machine */
    signal(SIGALRM, SIG_DFL);  /* who catches signals judges nobody */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    open_both(8, 1);
    ck_assert_int_eq(channel_door_look(&channel_out_of(out)->end, true), 0);
    ck_assert(!channel_circle_look(&channel_out_of(out)->end, false, is_never_there));
    tear_down();
}
END_TEST

START_TEST(a_wait_ends_when_its_partner_has_left)
{
    struct bcs_channel_params from = params_of(0, 8, 1);

    set_up(_i * LATE);
    ck_assert_int_eq(channels_open_in(both[1], &from, &in), 0);
    ck_assert_int_eq(channels_leave(both[0]), 0);
    ck_assert_int_eq(bcs_channel_wait_in(in), BCS_E_CLOSED);
    ck_assert_int_eq(channels_leave(both[1]), 0);
    ranks_fini(&job);
}
END_TEST

/** Each process sends words to the other, and waits for each. */
static void exchange(struct ranks_rank *rank)
{
    struct channels *channels = join_job(rank);
    struct bcs_channel_params params = params_of(1 - (int)channels->rank, 8, 3);
    struct bcs_channel_out *to;
    struct bcs_channel_in *from;
    uint64_t word;

    ck_assert_int_eq(channels_open_out(channels, &params, &to), 0);
    ck_assert_int_eq(channels_open_in(channels, &params, &from), 0);
    for (uint64_t i = 0; i < N_WORDS; i++) {
        ck_assert_int_eq(bcs_channel_send_word(to, i), 0);
        ck_assert_int_eq(bcs_channel_receive_word(from, &word), 0);
        ck_assert_uint_eq(word, i);
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

static void count(struct bcs_channel_in *from, void *arg)
{
    uint64_t word;

    while (bcs_channel_try_receive(from, &word, sizeof(word))) {
        ck_assert_uint_eq(word, load(arg));
        add(arg);
    }
}

/** Words to the helper thread of the other process. */
static void send_to_thread(struct ranks_rank *rank)
{
    struct channels *channels = join_job(rank);
    struct bcs_channel_params params = params_of(1 - (int)channels->rank, 8, 3);
    uint64_t n = 0;

    if (channels->rank == 0) {
        struct bcs_channel_out *to;

        ck_assert_int_eq(channels_open_out(channels, &params, &to), 0);
        for (uint64_t i = 0; i < N_WORDS; i++) {
            ck_assert_int_eq(bcs_channel_send_word(to, i), 0);
        }
    } else {
        struct bcs_channel_in *from;

        ck_assert_int_eq(channels_open_in(channels, &params, &from), 0);
        ck_assert_int_eq(bcs_channel_set_helper(from, BCS_CHANNEL_ARRIVAL, count, &n),
                         0);
        await(&n, N_WORDS);
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

/** Prompt and late, awake as usual and asleep at once. */
static void run_two(int way, void (*fn)(struct ranks_rank *rank))
{
    prepare(way % 2 == 0 ? 0 : LATE);
    for (int i = 0; i < 2 && way / 2 != 0; i++) {
        ranks[i].entry.settings.nic.spin_ns = 1;
    }
    ranks_run(ranks, 2, fn);
    ranks_fini(&job);
}

START_TEST(two_machines_exchange_words)
{
    run_two(_i, exchange);
}
END_TEST

START_TEST(the_helper_thread_hears_another_machine)
{
    run_two(_i, send_to_thread);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("channel_far");

    tcase_add_test(tests, nothing_of_another_machine_is_mapped);
    tcase_add_loop_test(tests, records_of_all_lengths_go_to_another_machine, 0, 2);
    tcase_add_loop_test(tests, a_full_channel_has_room_when_its_reader_has_read, 0, 2);
    tcase_add_test(tests, a_record_that_has_come_is_not_written_again);
    tcase_add_test(tests, a_place_is_used_again_when_both_have_closed);
    tcase_add_loop_test(tests, a_writer_finds_its_reader_gone, 0, 2);
    tcase_add_test(tests, a_far_process_is_neither_looked_for_nor_judged);
    tcase_add_loop_test(tests, a_wait_ends_when_its_partner_has_left, 0, 2);
    tcase_add_loop_test(tests, two_machines_exchange_words, 0, 4);
    tcase_add_loop_test(tests, the_helper_thread_hears_another_machine, 0, 4);
    return run_tcase("channel_far", tests);
}
