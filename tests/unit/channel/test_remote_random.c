/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random remote commands, from seeds, with a model that says what each must give: of
 * one process, whose region the model knows to the last byte; and of several at once,
 * each with bytes of its own, and words that all change; and their order.
 */
#include <string.h>

#include "tests/unit/remote_ends.h"

enum {
    N_SEEDS = 60,
    N_STEPS = 400,
    N_PENDING = 8,
    /* Of several: bytes of each rank, then words of all, then those of the order. */
    STRIPE = 192,
    N_RANKS = 4,
    SHARED = STRIPE * N_RANKS,
    SUM = SHARED,
    BITS = SHARED + 8,
    MOST = SHARED + 16,
    REALS = SHARED + 24,
    TICKETS = SHARED + 32,
    N_ALL_STEPS = 3000 / RANKS_FEWER,
    N_PAIRS = 24000 / RANKS_FEWER,
    N_BLOCKS = 20000 / RANKS_FEWER,
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*state >> 33) % below;
}

/* ------------------------------------------------------------------ one process */

/** What a fetch must bring. */
struct pending {
    struct bcs_remote_fetch fetch;
    uint8_t got[16];
    bool is_pending;
};

struct play {
    uint64_t random;
    uint8_t model[REGION_BYTES];
    struct pending pendings[N_PENDING];
    struct bcs_remote_event event;
    uint64_t n_ended;
};

static uint64_t model_word(const struct play *play, uint64_t offset)
{
    uint64_t word;

    memcpy(&word, play->model + offset, sizeof(word));
    return word;
}

static const struct bcs_remote *either(struct play *play)
{
    return draw(&play->random, 2) == 0 ? &own : &remote;
}

static void step_block(struct play *play, bool is_write)
{
    uint64_t offset = draw(&play->random, REGION_BYTES);
    size_t n = (size_t)draw(&play->random, REGION_BYTES - offset + 1) % 70;
    uint8_t data[70];

    for (size_t i = 0; i < n; i++) {
        data[i] = (uint8_t)draw(&play->random, 256);
    }
    if (is_write) {
        ck_assert_int_eq(bcs_remote_write(either(play), offset, data, n), 0);
        memcpy(play->model + offset, data, n);
    } else {
        ck_assert_int_eq(bcs_remote_read(either(play), offset, data, n), 0);
        ck_assert_mem_eq(data, play->model + offset, n);
    }
}

static void step_word(struct play *play, int kind)
{
    uint64_t offset = 8 * draw(&play->random, REGION_BYTES / 8), word = 0;
    uint64_t given = draw(&play->random, 5), old = model_word(play, offset), next = old;

    switch (kind) {
    case 0:
        ck_assert_int_eq(bcs_remote_write_word(either(play), offset, given), 0);
        next = given;
        break;
    case 1:
        ck_assert_int_eq(bcs_remote_add_word(either(play), offset, given, &word), 0);
        ck_assert_uint_eq(word, old);
        next = old + given;
        break;
    default:
        ck_assert_int_eq(bcs_remote_compare_swap(either(play), offset, given, 3, &word),
                         0);
        ck_assert_uint_eq(word, old);
        next = old == given ? 3 : old;
    }
    memcpy(play->model + offset, &next, sizeof(next));
}

static void step_accumulate(struct play *play)
{
    uint64_t offset = 4 * draw(&play->random, REGION_BYTES / 4 - 4);
    bool is_max = draw(&play->random, 2) == 0;
    uint32_t operands[4], befores[4], elements[4];
    size_t n = (size_t)draw(&play->random, 5);

    memcpy(elements, play->model + offset, sizeof(elements));
    for (size_t i = 0; i < 4; i++) {
        operands[i] = (uint32_t)draw(&play->random, UINT32_MAX);
    }
    ck_assert_int_eq(bcs_remote_accumulate(either(play), offset,
                                           &(struct bcs_remote_accumulation){
                                               .op = is_max ? BCS_MAX : BCS_SUM,
                                               .type = BCS_UINT32,
                                               .operands = operands,
                                               .count = n,
                                               .before_out = befores,
                                           }),
                     0);
    ck_assert_mem_eq(befores, elements, 4 * n);
    for (size_t i = 0; i < n; i++) {
        elements[i] = !is_max                     ? elements[i] + operands[i]
                      : operands[i] > elements[i] ? operands[i]
                                                  : elements[i];
    }
    memcpy(play->model + offset, elements, sizeof(elements));
}

static void step_indirect(struct play *play)
{
    uint64_t at = 8 * draw(&play->random, REGION_BYTES / 8), word;
    uint64_t base = draw(&play->random, 100), back = 0;
    struct bcs_remote_indirect place = {
        .index_offset = at, .index_bytes = 8, .base = base, .stride = 3};

    word = draw(&play->random, 300);
    ck_assert_int_eq(bcs_remote_write_word(either(play), at, word), 0);
    memcpy(play->model + at, &word, sizeof(word));
    ck_assert_int_eq(bcs_remote_read_indirect(either(play), &place, &back, 5), 0);
    ck_assert_mem_eq(&back, play->model + base + 3 * word, 5);
}

static void step_fetch(struct play *play)
{
    struct pending *pending = &play->pendings[draw(&play->random, N_PENDING)];

    if (!pending->is_pending) {
        *pending = (struct pending){
            .fetch = {.word = 8 * draw(&play->random, REGION_BYTES / 8),
                      .at_least = 1 + draw(&play->random, 4),
                      .offset = draw(&play->random, REGION_BYTES - 16),
                      .n_bytes = (size_t)draw(&play->random, 17),
                      .data_out = pending->got,
                      .event = &play->event},
            .is_pending = true,
        };
        ck_assert_int_eq(bcs_remote_fetch(either(play), &pending->fetch), 0);
    }
}

/** Go through the queue, after each step: a word might be less again after the next. */
static void expect_fetches(struct play *play)
{
    ck_assert_int_eq(remote_test(alone, &play->event, UINT64_MAX), BCS_E_PENDING);
    for (int i = 0; i < N_PENDING; i++) {
        struct pending *pending = &play->pendings[i];
        const struct bcs_remote_fetch *fetch = &pending->fetch;

        if (pending->is_pending && model_word(play, fetch->word) >= fetch->at_least) {
            ck_assert_mem_eq(pending->got, play->model + fetch->offset, fetch->n_bytes);
            pending->is_pending = false;
            play->n_ended++;
        }
    }
    ck_assert_uint_eq(play->event.count, play->n_ended);
    ck_assert_int_eq(play->event.result, 0);
}

static void step(struct play *play)
{
    int kind = (int)draw(&play->random, 8);

    switch (kind) {
    case 3:
    case 4:
        step_block(play, kind == 3);
        break;
    case 5:
        step_accumulate(play);
        break;
    case 6:
        step_indirect(play);
        break;
    case 7:
        step_fetch(play);
        break;
    default:
        step_word(play, kind);
    }
    expect_fetches(play);
}

START_TEST(random_commands_do_what_the_model_says)
{
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        static struct play play;

        memset(&play, 0, sizeof(play));
        play.random = seed * UINT64_C(0x9e3779b97f4a7c15);
        ck_assert_int_eq(bcs_remote_write(&own, 0, play.model, REGION_BYTES), 0);
        for (int i = 0; i < N_STEPS; i++) {
            step(&play);
        }
        ck_assert_mem_eq(bcs_region_memory(&own), play.model, REGION_BYTES);
        ck_assert_uint_gt(play.n_ended, 0);
        remote_fetches_end(&alone->remotes, &own);
        remote_fetches_end(&alone->remotes, &remote);
    }
}
END_TEST

/* ------------------------------------------------------------------ several */

/** One of several processes. */
struct one {
    struct channels *channels;
    uint32_t rank;
    uint64_t random;
    struct bcs_remote own;
    struct bcs_remote of[N_RANKS]; /* all regions, its own too */
    uint8_t model[N_RANKS][STRIPE];
    uint64_t n_added, bits, most, n_tickets;
    int n_reals;
};

static uint64_t seed_of_all;

static void join(struct ranks_rank *rank, struct one *one)
{
    memset(one, 0, sizeof(*one));
    ck_assert_int_eq(channels_join(&rank->entry, &one->channels), 0);
    one->rank = one->channels->rank;
    one->random =
        (seed_of_all * N_RANKS + one->rank + 1) * UINT64_C(0x9e3779b97f4a7c15);
    ck_assert_int_eq(remote_export(one->channels, REGION, REGION_BYTES, &one->own), 0);
    for (uint32_t i = 0; i < job.size; i++) {
        ck_assert_int_eq(
            remote_import(one->channels, (int)i, REGION, true, &one->of[i]), 0);
    }
}

/** Wait for all; `word` of rank 0's region counts them. */
static void meet(struct one *one, uint64_t word)
{
    ck_assert_int_eq(bcs_remote_add_word(&one->of[0], word, 1, NULL), 0);
    ck_assert_int_eq(bcs_remote_wait(&one->of[0], word, job.size), 0);
}

/** The same for the last time, and leave. Of an owner on another machine that has left
 *  nobody can see that the word is there. */
static void meet_and_leave(struct one *one, uint64_t word)
{
    int rc = bcs_remote_add_word(&one->of[0], word, 1, NULL);

    rc = rc != 0 ? rc : bcs_remote_wait(&one->of[0], word, job.size);
    ck_assert(rc == 0 || (channels_is_apart(one->channels) && rc == BCS_E_CLOSED));
    ck_assert_int_eq(channels_leave(one->channels), 0);
}

static void step_stripe(struct one *one, bool is_write)
{
    uint32_t to = (uint32_t)draw(&one->random, job.size);
    uint64_t from = draw(&one->random, STRIPE);
    size_t n = (size_t)draw(&one->random, STRIPE - from + 1);
    uint64_t offset = (uint64_t)one->rank * STRIPE + from;
    uint8_t data[STRIPE];

    if (is_write) {
        memset(data, (int)draw(&one->random, 256), n);
        ck_assert_int_eq(bcs_remote_write(&one->of[to], offset, data, n), 0);
        memcpy(one->model[to] + from, data, n);
    } else {
        ck_assert_int_eq(bcs_remote_read(&one->of[to], offset, data, n), 0);
        ck_assert_mem_eq(data, one->model[to] + from, n);
    }
}

static void accumulate(struct one *one, uint64_t offset, enum bcs_op op,
                       enum bcs_type type, const void *operand)
{
    ck_assert_int_eq(bcs_remote_accumulate(
                         &one->of[0], offset,
                         &(struct bcs_remote_accumulation){
                             .op = op, .type = type, .operands = operand, .count = 1}),
                     0);
}

static void step_shared(struct one *one)
{
    uint64_t word = draw(&one->random, 1000), ticket;
    double real = (double)word;

    switch (draw(&one->random, 5)) {
    case 0:
        ck_assert_int_eq(bcs_remote_add_word(&one->of[0], SUM, word, NULL), 0);
        one->n_added += word;
        break;
    case 1:
        accumulate(one, BITS, BCS_BXOR, BCS_UINT64, &word);
        one->bits ^= word;
        break;
    case 2:
        accumulate(one, MOST, BCS_MAX, BCS_UINT64, &word);
        one->most = word > one->most ? word : one->most;
        break;
    case 3:
        accumulate(one, REALS, BCS_SUM, BCS_DOUBLE, &real);
        one->n_reals += (int)word;
        break;
    default:
        word = word_at(&one->of[0], TICKETS);
        ck_assert_int_eq(
            bcs_remote_compare_swap(&one->of[0], TICKETS, word, word + 1, &ticket), 0);
        one->n_tickets += ticket == word;
    }
}

/** What all have done to the shared words. */
struct total {
    uint64_t n_added, bits, most, n_tickets;
    int n_reals;
};

static struct total total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_up(const struct one *one)
{
    pthread_mutex_lock(&total_lock);
    total.n_added += one->n_added;
    total.bits ^= one->bits;
    total.most = one->most > total.most ? one->most : total.most;
    total.n_reals += one->n_reals;
    total.n_tickets += one->n_tickets;
    pthread_mutex_unlock(&total_lock);
}

static void expect_total(const struct bcs_remote *first)
{
    struct total expected;
    uint64_t word = word_at(first, REALS);
    double real;

    pthread_mutex_lock(&total_lock);
    expected = total;
    pthread_mutex_unlock(&total_lock);
    ck_assert_uint_eq(word_at(first, SUM), expected.n_added);
    ck_assert_uint_eq(word_at(first, BITS), expected.bits);
    ck_assert_uint_eq(word_at(first, MOST), expected.most);
    ck_assert_uint_eq(word_at(first, TICKETS), expected.n_tickets);
    memcpy(&real, &word, sizeof(real));
    ck_assert_double_eq(real, expected.n_reals);
}

static void play_of_all(struct ranks_rank *rank)
{
    static struct one ones[N_RANKS];
    struct one *one = &ones[rank->entry.bootstrap.rank];

    join(rank, one);
    for (int i = 0; i < (int)repeat(N_ALL_STEPS); i++) {
        if (draw(&one->random, 2) == 0) {
            step_shared(one);
        } else {
            step_stripe(one, draw(&one->random, 2) == 0);
        }
    }
    for (uint32_t i = 0; i < job.size; i++) {
        uint8_t back[STRIPE];

        ck_assert_int_eq(
            bcs_remote_read(&one->of[i], (uint64_t)one->rank * STRIPE, back, STRIPE),
            0);
        ck_assert_mem_eq(back, one->model[i], STRIPE);
    }
    add_up(one);
    meet(one, TICKETS + 8);
    expect_total(&one->of[0]);
    meet_and_leave(one, TICKETS + 16);
}

START_TEST(random_commands_of_several_at_once_add_up)
{
    for (seed_of_all = 1; seed_of_all <= 6; seed_of_all++) {
        memset(&total, 0, sizeof(total));
        ranks_init(&job, ranks, N_RANKS, 0);
        ranks_set_far(ranks, N_RANKS, 2 * (uint64_t)_i);
        for (int i = 0; i < N_RANKS && seed_of_all % 2 == 0; i++) {
            ranks[i].entry.settings.nic.spin_ns = 1;
        }
        ranks_run(ranks, N_RANKS, play_of_all);
        ranks_fini(&job);
    }
}
END_TEST

/* ------------------------------------------------------------------ order */

static uint64_t found[2][N_PAIRS];

/**
 * Each of two processes writes a word of rank 1's region and then reads the other's:
 * the one whose write is later must find the earlier one.
 */
static void write_then_read(struct ranks_rank *rank)
{
    static struct one ones[2];
    struct one *one = &ones[rank->entry.bootstrap.rank];
    uint64_t mine = 64 + 64 * (uint64_t)rank->entry.bootstrap.rank;
    uint64_t theirs = 64 + 64 * (uint64_t)(1 - rank->entry.bootstrap.rank);
    const struct bcs_remote *of_one;

    join(rank, one);
    of_one = &one->of[1];
    for (uint64_t i = 1; i <= repeat(N_PAIRS); i++) {
        /* Begin together, as nearly as can be. */
        ck_assert_int_eq(bcs_remote_write_word(of_one, mine + 256, i), 0);
        ck_assert_int_eq(bcs_remote_wait(of_one, theirs + 256, i), 0);
        ck_assert_int_eq(bcs_remote_write_word(of_one, mine, i), 0);
        ck_assert_int_eq(bcs_remote_read_word(of_one, theirs, &found[one->rank][i - 1]),
                         0);
    }
    meet_and_leave(one, 0);
}

START_TEST(a_read_does_not_overtake_a_write)
{
    ranks_init(&job, ranks, 2, 0);
    ranks_set_far(ranks, 2, 2 * (uint64_t)_i);
    ranks_run(ranks, 2, write_then_read);
    ranks_fini(&job);
    for (uint64_t i = 1; i <= repeat(N_PAIRS); i++) {
        ck_assert_msg(found[0][i - 1] == i || found[1][i - 1] == i,
                      "in round %d both have read before both have written", (int)i);
    }
}
END_TEST

/** Rank 0 writes a block to rank 1, the same to itself, and the number to rank 1, which
 *  looks at them from the last to the first. */
static void write_in_order(struct ranks_rank *rank)
{
    static struct one ones[2];
    struct one *one = &ones[rank->entry.bootstrap.rank];
    uint64_t data[9], number, at = 0;

    join(rank, one);
    for (uint64_t i = 1; i <= repeat(N_BLOCKS) && one->rank == 0; i++) {
        for (int k = 0; k < 9; k++) {
            data[k] = i;
        }
        ck_assert_int_eq(bcs_remote_write(&one->of[1], 128, data, sizeof(data)), 0);
        ck_assert_int_eq(bcs_remote_write(&one->own, 128, data, sizeof(data)), 0);
        ck_assert_int_eq(bcs_remote_write_word(&one->of[1], 64, i), 0);
    }
    while (one->rank == 1 && at < repeat(N_BLOCKS)) {
        at = word_at(&one->own, 64);
        ck_assert_int_eq(bcs_remote_read(&one->of[0], 128, data, sizeof(data)), 0);
        for (int k = 0; k < 9; k++) {
            ck_assert_uint_ge(data[k], at);
        }
        number = data[8]; /* its last word: the whole block before it is there */
        ck_assert_int_eq(bcs_remote_read(&one->own, 128, data, sizeof(data)), 0);
        for (int k = 0; k < 9; k++) {
            ck_assert_uint_ge(data[k], number > at ? number : at);
        }
    }
    meet_and_leave(one, 0);
}

START_TEST(writes_are_seen_in_their_order)
{
    ranks_init(&job, ranks, 2, 0);
    ranks_set_far(ranks, 2, 2 * (uint64_t)_i);
    ranks_run(ranks, 2, write_in_order);
    ranks_fini(&job);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote_random");
    TCase *by_hand = tcase_create("one process"), *jobs = tcase_create("several");

    tcase_add_checked_fixture(by_hand, setup_alone, teardown_alone);
    tcase_add_test(by_hand, random_commands_do_what_the_model_says);
    suite_add_tcase(suite, by_hand);
    tcase_add_loop_test(jobs, random_commands_of_several_at_once_add_up, 0, 2);
    tcase_add_loop_test(jobs, a_read_does_not_overtake_a_write, 0, 2);
    tcase_add_loop_test(jobs, writes_are_seen_in_their_order, 0, 2);
    suite_add_tcase(suite, jobs);
    return run_suite(suite);
}
