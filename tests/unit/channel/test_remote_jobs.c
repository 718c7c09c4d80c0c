/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands between several processes, that are threads: waiting, awake and
 * asleep, for words, fetches, exports and buffers; and what ends a wait that nothing
 * else would.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/remote_ends.h"

#ifdef __SANITIZE_THREAD__
enum { N_WORDS = 500, N_ADDED = 300 }; /* each takes many times as long */
#else
enum { N_WORDS = 5000, N_ADDED = 20000 };
#endif
enum { BUFFER = 512, BUFFER_BYTES = BCS_REMOTE_BUFFER_BYTES + 64 };

/* That a job of the next test is on; 0: one. */
static uint64_t n_machines;

static void run(uint32_t n, uint64_t spin_ns, uint64_t defer,
                void (*fn)(struct ranks_rank *rank))
{
    ranks_init(&job, ranks, n, defer);
    ranks_set_far(ranks, n, n_machines);
    for (uint32_t i = 0; i < n && spin_ns != 0; i++) {
        ranks[i].entry.settings.nic.spin_ns = spin_ns;
    }
    ranks_run(ranks, n, fn);
    ranks_fini(&job);
}

/** A process, with its own region, and that of its neighbour. */
struct one {
    struct channels *channels;
    struct bcs_remote own, next;
};

static void join(struct ranks_rank *rank, struct one *one)
{
    ck_assert_int_eq(channels_join(&rank->entry, &one->channels), 0);
    ck_assert_int_eq(remote_export(one->channels, REGION, REGION_BYTES, &one->own), 0);
    ck_assert_int_eq(remote_import(one->channels,
                                   (int)((one->channels->rank + 1) % job.size), REGION,
                                   true, &one->next),
                     0);
    pthread_barrier_wait(&job.barrier); /* nobody leaves before all have imported */
}

/** A word has been written. Its owner may leave when it sees the word, before the
 *  command looks whether the region is closed. */
static void check_written(int status, bool may_leave)
{
    ck_assert(status == 0 || (may_leave && status == BCS_E_CLOSED));
}

/** A number goes round, by each kind of change. */
static void go_round(struct ranks_rank *rank)
{
    struct one one;

    join(rank, &one);
    for (uint64_t i = 1; i <= repeat(N_WORDS); i++) {
        bool is_last = i == repeat(N_WORDS) && one.channels->rank + 1 == job.size;
        uint64_t before;

        if (one.channels->rank != 0) {
            ck_assert_int_eq(bcs_remote_wait(&one.own, 8, i), 0);
            ck_assert_uint_eq(word_at(&one.own, 8), i);
        }
        switch (i % 3) {
        case 0:
            check_written(bcs_remote_write_word(&one.next, 8, i), is_last);
            break;
        case 1:
            check_written(bcs_remote_add_word(&one.next, 8, 1, NULL), is_last);
            break;
        default:
            check_written(bcs_remote_compare_swap(&one.next, 8, i - 1, i, &before),
                          is_last);
            ck_assert_uint_eq(before, i - 1);
        }
        if (one.channels->rank == 0) {
            ck_assert_int_eq(bcs_remote_wait(&one.own, 8, i), 0);
            ck_assert_uint_eq(word_at(&one.own, 8), i);
        }
    }
    ck_assert_int_eq(channels_leave(one.channels), 0);
}

START_TEST(words_go_round)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 0, 0, go_round);
}
END_TEST

START_TEST(words_go_round_among_those_who_sleep_at_once)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 1, 0, go_round);
    run(5, 1, 0, go_round);
}
END_TEST

START_TEST(words_go_round_where_bells_are_late)
{
    n_machines = 2 * (uint64_t)_i;
    run(3, 1, 5, go_round);
}
END_TEST

/** The neighbour fetches what this process stores in its own region, and says how far
 *  it is. */
static void fetch_round(struct ranks_rank *rank)
{
    struct one one;
    struct bcs_remote_event event = {0};

    join(rank, &one);
    for (uint64_t i = 1; i <= N_WORDS / 4; i++) {
        uint64_t got[2][4] = {{0}};
        struct bcs_remote_fetch fetches[2];

        for (uint64_t k = 0; k < 2; k++) {
            fetches[k] = (struct bcs_remote_fetch){.word = 8 * k,
                                                   .at_least = i,
                                                   .offset = 64 + 32 * k,
                                                   .n_bytes = 32,
                                                   .data_out = got[k],
                                                   .event = &event};
            ck_assert_int_eq(bcs_remote_fetch(&one.next, &fetches[k]), 0);
        }
        for (uint64_t k = 2; k-- > 0;) { /* the second comes first */
            uint64_t data[4] = {i, i + k, i * 3, i * 5 + k};

            ck_assert_int_eq(bcs_remote_write(&one.own, 64 + 32 * k, data, 32), 0);
            ck_assert_int_eq(bcs_remote_write_word(&one.own, 8 * k, i), 0);
        }
        ck_assert_int_eq(remote_wait_event(one.channels, &event, 2 * i), 0);
        for (uint64_t k = 0; k < 2; k++) {
            ck_assert_uint_eq(got[k][0], i);
            ck_assert_uint_eq(got[k][1], i + k);
            ck_assert_uint_eq(got[k][3], i * 5 + k);
        }
        ck_assert_int_eq(bcs_remote_write_word(&one.next, 24, i), 0); /* it may go on */
        ck_assert_int_eq(bcs_remote_wait(&one.own, 24, i), 0);
    }
    ck_assert_int_eq(channels_leave(one.channels), 0);
}

START_TEST(fetches_bring_what_was_written_before_their_word)
{
    run(2, 0, 0, fetch_round);
    run(4, 1, 0, fetch_round);
}
END_TEST

/** All go on together; a word of rank 0's region counts them, this is the n-th time. */
static void meet(const struct bcs_remote *first, uint64_t offset, uint64_t n)
{
    ck_assert_int_eq(bcs_remote_add_word(first, offset, 1, NULL), 0);
    ck_assert_int_eq(bcs_remote_wait(first, offset, n * job.size), 0);
}

/** The same for the last time. Of an owner on another machine that has left nobody can
 *  see that the word is there. */
static void meet_and_leave(struct one *one, const struct bcs_remote *first,
                           uint64_t offset, uint64_t n)
{
    int rc;

    check_written(bcs_remote_add_word(first, offset, 1, NULL), true);
    rc = bcs_remote_wait(first, offset, n * job.size);
    ck_assert(rc == 0 || (n_machines > 1 && rc == BCS_E_CLOSED));
    ck_assert_int_eq(channels_leave(one->channels), 0);
}

/** All append to the buffer of rank 0, which is small. Nobody leaves before the one in
 *  front of it has found its region. */
static void append_to_first(struct ranks_rank *rank)
{
    struct bcs_remote first;
    struct one one;
    uint64_t next[RANKS_MOST] = {0}, record[2];
    size_t n_bytes;

    join(rank, &one);
    if (one.channels->rank == 0) {
        ck_assert_int_eq(bcs_remote_make_buffer(&one.own, BUFFER, BUFFER_BYTES), 0);
        ck_assert_int_eq(bcs_remote_write_word(&one.own, 0, 1), 0);
        for (uint64_t i = 0; i < (job.size - 1) * repeat(N_WORDS); i++) {
            ck_assert_int_eq(
                bcs_remote_take_wait(&one.own, BUFFER, record, 16, &n_bytes), 0);
            ck_assert_uint_eq(n_bytes, record[1] % 2 == 0 ? 16 : 12);
            ck_assert_uint_eq((uint32_t)record[1], (uint32_t)next[record[0]]++);
        }
    } else {
        ck_assert_int_eq(remote_import(one.channels, 0, REGION, true, &first), 0);
        ck_assert_int_eq(bcs_remote_wait(&first, 0, 1), 0);
        record[0] = one.channels->rank;
        for (record[1] = 0; record[1] < repeat(N_WORDS); record[1]++) {
            ck_assert_int_eq(bcs_remote_append_wait(&first, BUFFER, record,
                                                    record[1] % 2 == 0 ? 16 : 12),
                             0);
        }
    }
    meet_and_leave(&one, one.channels->rank == 0 ? &one.own : &first, 8, 1);
}

START_TEST(many_append_to_one_buffer_and_nothing_is_lost)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 0, 0, append_to_first);
    run(4, 1, 0, append_to_first);
}
END_TEST

enum way { ADD, ACCUMULATE_DOUBLE, ACCUMULATE_FOUR, SWAP, N_WAYS };

/** Add 1 to the word of a way. @return what it was */
static uint64_t add_one(const struct bcs_remote *first, enum way way)
{
    uint64_t offset = 128 + 64 * (uint64_t)way, before = 1, word = 0;
    double one = 1, real = 0;
    uint32_t four = 1, four_before = 0;
    struct bcs_remote_accumulation accumulation = {.op = BCS_SUM, .count = 1};
    int rc = 0;

    switch (way) {
    case ADD:
        rc = bcs_remote_add_word(first, offset, 1, &before);
        break;
    case ACCUMULATE_DOUBLE:
        accumulation.type = BCS_DOUBLE;
        accumulation.operands = &one;
        accumulation.before_out = &real;
        rc = bcs_remote_accumulate(first, offset, &accumulation);
        before = (uint64_t)real;
        break;
    case ACCUMULATE_FOUR:
        accumulation.type = BCS_UINT32;
        accumulation.operands = &four;
        accumulation.before_out = &four_before;
        rc = bcs_remote_accumulate(first, offset, &accumulation);
        before = four_before;
        break;
    default:
        while (before != word && rc == 0) {
            word = word_at(first, offset);
            rc = bcs_remote_compare_swap(first, offset, word, word + 1, &before);
        }
    }
    ck_assert_int_eq(rc, 0);
    return before;
}

/** What the word of a way is. */
static uint64_t added(const struct bcs_remote *first, enum way way)
{
    uint64_t word = word_at(first, 128 + 64 * (uint64_t)way);
    double real;

    memcpy(&real, &word, sizeof(real));
    return way == ACCUMULATE_DOUBLE ? (uint64_t)real : word;
}

/** Add until others have often come between, or for long. @return how much */
static uint64_t add_among_others(const struct bcs_remote *first, enum way way)
{
    uint64_t n = 0, n_others = 0, last = 0;

    while (n < repeat(N_ADDED) ||
           (n < 100 * repeat(N_ADDED) && n_others < repeat(1000))) {
        uint64_t before = add_one(first, way);

        n_others += before != last + 1;
        last = before;
        n++;
    }
    return n;
}

/** All add to the same words of rank 0, in each way that there is, as quickly as they
 *  can. */
static void add_up(struct ranks_rank *rank)
{
    struct bcs_remote first;
    struct one one;
    uint64_t n_met = 0;

    join(rank, &one);
    ck_assert_int_eq(remote_import(one.channels, 0, REGION, true, &first), 0);
    for (int way = 0; way < N_WAYS; way++) {
        uint64_t sum_at = 512 + 8 * (uint64_t)way;

        meet(&first, 0, ++n_met);
        ck_assert_int_eq(bcs_remote_add_word(&first, sum_at,
                                             add_among_others(&first, (enum way)way),
                                             NULL),
                         0);
    }
    meet(&first, 0, ++n_met);
    for (int way = 0; way < N_WAYS; way++) {
        ck_assert_uint_eq(added(&first, (enum way)way),
                          word_at(&first, 512 + 8 * (uint64_t)way));
    }
    meet_and_leave(&one, &first, 0, ++n_met);
}

START_TEST(what_all_add_to_the_same_words_adds_up)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 0, 0, add_up);
    run(4, 0, 0, add_up);
}
END_TEST

/** Rank 0 imports what rank 1 exports once rank 0 sleeps. */
static void export_late(struct ranks_rank *rank)
{
    struct channels *channels;
    struct bcs_remote region;

    ck_assert_int_eq(channels_join(&rank->entry, &channels), 0);
    if (channels->rank == 0) {
        ck_assert_int_eq(remote_import(channels, 1, 3, true, &region), 0);
        ck_assert_int_eq(bcs_remote_wait(&region, 0, 1), 0);
        ck_assert_int_eq(bcs_remote_wait(&region, 0, 2), BCS_E_CLOSED);
        ck_assert_int_eq(remote_import(channels, 1, 4, true, &region), -EEXIST);
        ck_assert_int_eq(bcs_region_release(&region), 0);
        ck_assert_int_eq(remote_import(channels, 1, 4, true, &region), -ENOENT);
    } else {
        struct remote_sleeper *sleeper =
            remote_place(channels, 0, channels->layout.sleeper_gva);

        for (uint64_t i = 0; i < 3;
             i++) { /* it waits for the export, the word, the end */
            while (__atomic_load_n(&sleeper->state, __ATOMIC_ACQUIRE) !=
                       REMOTE_ASLEEP ||
                   __atomic_load_n(&sleeper->at_least, __ATOMIC_RELAXED) != i) {
            }
            ck_assert_int_eq(i == 0   ? remote_export(channels, 3, 8, &region)
                             : i == 1 ? bcs_remote_write_word(&region, 0, 1)
                                      : bcs_region_release(&region),
                             0);
        }
    }
    ck_assert_int_eq(channels_leave(channels), 0);
}

START_TEST(an_import_waits_until_the_export_and_finds_who_has_left)
{
    run(2, 1, 0, export_late);
    run(2, 1, 7, export_late);
}
END_TEST

/** Rank 1 leaves, so that nobody can end the wait of rank 0. */
static void leave_alone(struct ranks_rank *rank)
{
    struct one one;

    join(rank, &one);
    if (one.channels->rank == 0) {
        check_written(bcs_remote_write_word(&one.next, 0, 1), true);
        ck_assert_int_eq(bcs_remote_wait(&one.own, 0, 1), -EDEADLK);
        ck_assert_int_eq(bcs_remote_wait(&one.next, 0, 2), BCS_E_CLOSED);
    } else {
        ck_assert_int_eq(bcs_remote_wait(&one.own, 0, 1), 0);
    }
    ck_assert_int_eq(channels_leave(one.channels), 0);
}

START_TEST(a_wait_ends_when_all_others_have_left)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 0, 0, leave_alone);
}
END_TEST

/** Rank 1 leaves; who sees it do so sees that all its regions are closed. */
static void leave_with_many(struct ranks_rank *rank)
{
    enum { N_REGIONS = 32 };
    struct one one;
    struct bcs_remote more[N_REGIONS];

    join(rank, &one);
    for (int i = 0; i < N_REGIONS; i++) {
        ck_assert_int_eq(remote_export(one.channels, REGION + 1 + i, 64, &more[i]), 0);
    }
    if (one.channels->rank == 0) {
        check_written(bcs_remote_write_word(&one.next, 0, 1), true);
        while (!remote_has_left(one.channels, 1)) {
        }
        ck_assert(n_machines == 0
                      ? remote_is_closed(&one.next)
                      : bcs_remote_write_word(&one.next, 8, 1) == BCS_E_CLOSED);
    } else {
        ck_assert_int_eq(bcs_remote_wait(&one.own, 0, 1), 0);
    }
    ck_assert_int_eq(channels_leave(one.channels), 0);
}

START_TEST(who_leaves_closes_its_regions_first)
{
    n_machines = 2 * (uint64_t)_i;
    run(2, 0, 0, leave_with_many);
    run(2, 0, 7, leave_with_many);
}
END_TEST

/** Rank 1 seems to be a process that has died. */
static void die(struct ranks_rank *rank)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.at_least = 9, .event = &event};
    struct bcs_remote third;
    struct one one;

    join(rank, &one);
    if (one.channels->rank == 0) {
        uint64_t *pids =
            bcs_core_address(one.channels->core, one.channels->layout.pids_gva);
        uint64_t alive = pids[1];
        pid_t child = fork();

        if (child == 0) {
            _exit(0);
        }
        pids[1] = (uint64_t)child; /* a zombie, which a launcher may leave, too */
        ck_assert_int_eq(bcs_remote_wait(&one.own, 0, 1), -EOWNERDEAD);
        ck_assert_int_eq(bcs_remote_wait(&one.next, 0, 1), -EOWNERDEAD);
        ck_assert_int_eq(bcs_remote_fetch(&one.next, &fetch), 0);
        ck_assert_int_eq(remote_wait_event(one.channels, &event, 1), -EOWNERDEAD);
        ck_assert_int_eq(remote_import(one.channels, 1, 5, true, &third), -EOWNERDEAD);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        pids[1] = alive;
        check_written(bcs_remote_write_word(&one.next, 0, 1), true);
    } else {
        ck_assert_int_eq(bcs_remote_wait(&one.own, 0, 1), 0);
    }
    ck_assert_int_eq(channels_leave(one.channels), 0);
}

START_TEST(a_death_ends_every_wait)
{
    run(2, 0, 0, die);
}
END_TEST

int main(void)
{
    TCase *jobs = tcase_create("several");

    /* On one machine, and on two. */
    tcase_add_loop_test(jobs, words_go_round, 0, 2);
    tcase_add_loop_test(jobs, words_go_round_among_those_who_sleep_at_once, 0, 2);
    tcase_add_loop_test(jobs, words_go_round_where_bells_are_late, 0, 2);
    tcase_add_test(jobs, fetches_bring_what_was_written_before_their_word);
    tcase_add_loop_test(jobs, many_append_to_one_buffer_and_nothing_is_lost, 0, 2);
    tcase_add_loop_test(jobs, what_all_add_to_the_same_words_adds_up, 0, 2);
    tcase_add_test(jobs, an_import_waits_until_the_export_and_finds_who_has_left);
    tcase_add_loop_test(jobs, a_wait_ends_when_all_others_have_left, 0, 2);
    tcase_add_loop_test(jobs, who_leaves_closes_its_regions_first, 0, 2);
    tcase_add_test(jobs, a_death_ends_every_wait);
    return run_tcase("remote_jobs", jobs);
}
