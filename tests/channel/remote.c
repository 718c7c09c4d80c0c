/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands in MPI programs, by case: all of them beside MPI, cBSP and channels;
 * random ones with a model; more processes than cores; a long wait; beside a process
 * that is stopped; what is refused outside of a job; commands and waits without end.
 */
#include "remote.h"

#include <bcs/cbsp.h>
#include <mpi.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int n_wrong, me, n;
struct bcs_remote own, of[MOST];

void expect(bool is_right, int line)
{
    if (!is_right) {
        n_wrong++;
        printf("line %d: wrong\n", line);
    }
}

void open_all(void)
{
    EXPECT(n <= MOST && bcs_region_export(REGION, REGION_BYTES, &own) == 0);
    EXPECT(bcs_remote_make_buffer(&own, BUFFER, BUFFER_BYTES) == 0);
    for (int i = 0; i < n; i++) {
        EXPECT(bcs_region_import(i, REGION, &of[i]) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* all buffers are there */
}

uint64_t word_of(const struct bcs_remote *remote, uint64_t offset)
{
    uint64_t word = 0;

    EXPECT(bcs_remote_read_word(remote, offset, &word) == 0);
    return word;
}

void accumulate(int to, uint64_t offset, enum bcs_op op, enum bcs_type type,
                const void *operand)
{
    struct bcs_remote_accumulation accumulation = {
        .op = op, .type = type, .operands = operand, .count = 1};

    EXPECT(bcs_remote_accumulate(&of[to], offset, &accumulation) == 0);
}

/* ------------------------------------------------------------------ beside others */

static long sum;

static void add(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)nBytes;
    sum += *(long *)destAddr;
}

/** MPI and cBSP messages round the ring, and a reduction. */
static void others(long round)
{
    int next = (me + 1) % n, before = (me + n - 1) % n;
    long mine = me + 10 * round, theirs = -1, total = -1;

    sum = 0;
    EXPECT(cBSP_send(next, NULL, &mine, sizeof(mine), add) == 0);
    MPI_Sendrecv(&mine, 1, MPI_LONG, next, 0, &theirs, 1, MPI_LONG, before, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(theirs == before + 10 * round);
    EXPECT(cBSP_nsync(1) == 0);
    EXPECT(sum == theirs);
    MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(total == n * (n - 1L) / 2 + 10 * round * n);
}

/** A block to the next process, which fetches it from its own memory; and one that this
 *  process fetches from the one before when that has it. */
static void pass_on(uint64_t round, struct bcs_remote_event *event)
{
    int next = (me + 1) % n, before = (me + n - 1) % n;
    uint8_t block[BLOCK_BYTES], from_own[BLOCK_BYTES], from_before[BLOCK_BYTES];
    struct bcs_remote_fetch fetches[2] = {{.word = FLAG,
                                           .at_least = round,
                                           .offset = BLOCK + 1,
                                           .n_bytes = BLOCK_BYTES,
                                           .data_out = from_before,
                                           .event = event},
                                          {.word = FLAG,
                                           .at_least = round,
                                           .offset = BLOCK + 1,
                                           .n_bytes = BLOCK_BYTES,
                                           .data_out = from_own,
                                           .event = event}};

    EXPECT(bcs_remote_fetch(&of[before], &fetches[0]) == 0);
    EXPECT(bcs_remote_fetch(&own, &fetches[1]) == 0);
    memset(block, (int)(round + (uint64_t)me), sizeof(block));
    EXPECT(bcs_remote_write(&of[next], BLOCK + 1, block, sizeof(block)) == 0);
    EXPECT(bcs_remote_write_word(&of[next], FLAG, round) == 0);
    EXPECT(bcs_remote_wait_event(event, 2 * round) == 0);
    for (int i = 0; i < BLOCK_BYTES; i++) {
        EXPECT(from_own[i] == (uint8_t)(round + (uint64_t)before));
        EXPECT(from_before[i] == (uint8_t)(round + (uint64_t)((before + n - 1) % n)));
    }
}

/** Rank 0 takes what all append to its buffer, by index and by hand. */
static void gather(uint64_t round)
{
    struct bcs_remote_indirect place = {
        .index_offset = INDEX, .index_bytes = 8, .base = STRIPES, .stride = 8};
    uint64_t record[3] = {(uint64_t)me, round, round * 3}, mine = 0;
    uint64_t seen = 0;
    size_t n_bytes = 0;

    if (me != 0) {
        EXPECT(bcs_remote_append_wait(&of[0], BUFFER, record, sizeof(record)) == 0);
    }
    for (int i = 1; me == 0 && i < n; i++) {
        EXPECT(bcs_remote_take_wait(&own, BUFFER, record, sizeof(record), &n_bytes) ==
               0);
        EXPECT(n_bytes == sizeof(record) && record[1] == round &&
               record[2] == 3 * round);
        seen |= UINT64_C(1) << record[0];
    }
    EXPECT(me != 0 || seen == (UINT64_C(1) << n) - 2);
    EXPECT(bcs_remote_write_word(&own, INDEX, round % 5) == 0);
    EXPECT(bcs_remote_write_indirect(&own, &place, &round, sizeof(round)) == 0);
    EXPECT(bcs_remote_read(&own, STRIPES + 8 * (round % 5), &mine, 8) == 0);
    EXPECT(mine == round);
}

/** A ticket by compare and swap: each process gets another one. */
static void draw_ticket(uint64_t round)
{
    uint64_t ticket = 0, before = 1, drawn, sum_of_all = 0;

    while (before != ticket) {
        ticket = word_of(&of[n - 1], TICKETS);
        EXPECT(bcs_remote_compare_swap(&of[n - 1], TICKETS, ticket, ticket + 1,
                                       &before) == 0);
    }
    drawn = ticket - (round - 1) * (uint64_t)n;
    EXPECT(drawn < (uint64_t)n);
    MPI_Allreduce(&drawn, &sum_of_all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum_of_all == (uint64_t)n * (uint64_t)(n - 1) / 2);
}

static void mix(void)
{
    struct bcs_channel_params params = {.record_bytes = 8, .capacity = 4};
    struct bcs_channel_out *out = NULL;
    struct bcs_channel_in *in = NULL;
    struct bcs_remote_event event = {0};
    double real = 0.5, total;
    uint64_t word;

    open_all();
    params.peer = (me + 1) % n;
    EXPECT(bcs_channel_open_out(&params, &out) == 0);
    params.peer = (me + n - 1) % n;
    EXPECT(bcs_channel_open_in(&params, &in) == 0);
    EXPECT(cBSP_initialize() == 0);
    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        EXPECT(bcs_channel_send_word(out, round) == 0);
        pass_on(round, &event);
        EXPECT(bcs_remote_add_word(&of[0], SUM, (uint64_t)me + round, NULL) == 0);
        others((long)round);
        accumulate(0, REAL, BCS_SUM, BCS_DOUBLE, &real);
        gather(round);
        draw_ticket(round);
        EXPECT(bcs_channel_receive_word(in, &word) == 0 && word == round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(event.count == 2 * N_ROUNDS && event.result == 0);
    word = (uint64_t)n * (uint64_t)(n - 1) / 2; /* of the ranks, in each round */
    EXPECT(word_of(&of[0], SUM) ==
           N_ROUNDS * word + (uint64_t)n * (N_ROUNDS * (N_ROUNDS + 1) / 2));
    word = word_of(&of[0], REAL);
    memcpy(&total, &word, sizeof(total));
    EXPECT(total == 0.5 * N_ROUNDS * n);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(cBSP_finalize() == 0);
}

/* ------------------------------------------------------------------ random commands */

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/** Write bytes of this rank's stripe of a region, or read them, as a model has them. */
static void step_stripe(uint8_t model[MOST][STRIPE])
{
    int to = (int)draw((uint64_t)n);
    uint64_t from = draw(STRIPE);
    size_t n_bytes = (size_t)draw(STRIPE - from + 1);
    uint64_t offset = STRIPES + (uint64_t)me * STRIPE + from;
    uint8_t bytes[STRIPE];

    if (draw(2) == 0) {
        memset(bytes, (int)draw(256), n_bytes);
        EXPECT(bcs_remote_write(&of[to], offset, bytes, n_bytes) == 0);
        memcpy(model[to] + from, bytes, n_bytes);
    } else {
        EXPECT(bcs_remote_read(&of[to], offset, bytes, n_bytes) == 0);
        EXPECT(memcmp(bytes, model[to] + from, n_bytes) == 0);
    }
}

static void random_commands(uint64_t seed)
{
    static uint8_t model[MOST][STRIPE];
    uint64_t mine[2] = {0, 0}, all[2];
    double real, total;
    uint64_t word;

    open_all();
    random_state = (seed * MOST + (uint64_t)me + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < N_STEPS; i++) {
        word = draw(100);
        real = (double)word;
        switch (draw(4)) {
        case 0:
            EXPECT(bcs_remote_add_word(&of[0], SUM, word, NULL) == 0);
            mine[0] += word;
            break;
        case 1:
            accumulate(0, REAL, BCS_SUM, BCS_DOUBLE, &real);
            mine[1] += word;
            break;
        default:
            step_stripe(model);
        }
    }
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(word_of(&of[0], SUM) == all[0]);
    word = word_of(&of[0], REAL);
    memcpy(&total, &word, sizeof(total));
    EXPECT(total == (double)all[1]);
    MPI_Barrier(MPI_COMM_WORLD); /* before anybody takes his region back */
}

/* ------------------------------------------------------------------ waiting */

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/** A number goes round through more processes than cores. */
static void crowd(void)
{
    open_all();
    for (uint64_t i = 1; i <= N_ROUNDS; i++) {
        if (me != 0) {
            EXPECT(bcs_remote_wait(&own, FLAG, i) == 0);
        }
        EXPECT(bcs_remote_write_word(&of[(me + 1) % n], FLAG, i) == 0);
        if (me == 0) {
            EXPECT(bcs_remote_wait(&own, FLAG, i) == 0);
        }
    }
}

/** Who waits long, for a word or for a fetch, does not use its core. */
static void patience(void)
{
    struct bcs_remote_event event = {0};
    uint64_t word = 0;
    struct bcs_remote_fetch fetch = {.word = FLAG,
                                     .at_least = 1,
                                     .offset = SUM,
                                     .n_bytes = 8,
                                     .data_out = &word,
                                     .event = &event};
    double start;

    open_all();
    start = cpu_seconds();
    if (me == 0) {
        usleep(WAIT_US);
        EXPECT(bcs_remote_write_word(&own, SUM, 5) == 0);
        EXPECT(bcs_remote_write_word(&own, FLAG, 1) == 0);
        EXPECT(bcs_remote_wait(&own, TICKETS, (uint64_t)n - 1) == 0);
    } else {
        EXPECT(bcs_remote_fetch(&of[0], &fetch) == 0);
        if (me % 2 == 0) {
            EXPECT(bcs_remote_wait(&of[0], FLAG, 1) == 0);
        }
        EXPECT(bcs_remote_wait_event(&event, 1) == 0);
        EXPECT(word == 5);
        EXPECT(cpu_seconds() - start < 1e-6 * WAIT_US / 4);
        EXPECT(bcs_remote_add_word(&of[0], TICKETS, 1, NULL) == 0);
    }
}

static void say(const char *what)
{
    printf("rank %d %s\n", me, what);
    fflush(stdout);
}

/** Waits that only a rank which does nothing could end. */
static void wait_for_ever(void)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.at_least = 1, .event = &event};

    open_all();
    say("waits");
    EXPECT(bcs_remote_fetch(&of[(me + 1) % n], &fetch) == 0);
    EXPECT(bcs_remote_wait(&own, FLAG, 1) == 0);
}

/** The last rank dies; the others go on, if the launcher lets them, and find that
 *  out. */
static void survive(void)
{
    struct bcs_remote_event event = {0};
    struct bcs_remote_fetch fetch = {.at_least = 1, .event = &event};
    struct bcs_remote another;

    open_all();
    if (me == n - 1) {
        raise(SIGKILL);
    }
    EXPECT(bcs_remote_fetch(&of[n - 1], &fetch) == 0);
    EXPECT(bcs_remote_wait(&own, FLAG, 1) == -EOWNERDEAD);
    EXPECT(bcs_remote_wait(&of[n - 1], FLAG, 1) == -EOWNERDEAD);
    EXPECT(bcs_remote_wait_event(&event, 1) == -EOWNERDEAD);
    EXPECT(bcs_region_import(n - 1, REGION + 1, &another) == -EOWNERDEAD);
    EXPECT(bcs_remote_write_word(&of[n - 1], FLAG, 1) == 0); /* memory outlives it */
    EXPECT(bcs_remote_wait_event(&event, 1) == 0);
    EXPECT(bcs_channels_finalize() == 0);
    printf("rank %d of %d: %d wrong\n", me, n, n_wrong);
    fflush(stdout);
    _exit(0); /* MPI_Finalize would wait for the dead */
}

/** Commands without end, so that a death comes in the middle of one. */
static void hammer(void)
{
    uint64_t record[4] = {0};
    size_t n_bytes;

    open_all();
    say("hammers");
    for (uint64_t i = 0; n_wrong == 0; i++) {
        int to = (int)(i % (uint64_t)n);

        accumulate(to, SUM, BCS_SUM, BCS_INT64, &i);
        EXPECT(bcs_remote_write(&of[to], STRIPES, record, sizeof(record)) == 0);
        EXPECT(bcs_remote_append(&of[to], BUFFER, record, sizeof(record)) <=
               BCS_E_FULL);
        EXPECT(bcs_remote_take(&own, BUFFER, record, sizeof(record), &n_bytes) <=
               BCS_E_PENDING);
    }
}

/* ------------------------------------------------------------------ outside of a
 * job */

/** What is refused before, after and in a child. @param is_before init has not been
 *  called */
static void outside(int is_before)
{
    struct bcs_remote remote = {0};
    struct bcs_remote_event event = {0};

    EXPECT(bcs_region_export(0, 8, &remote) == -EPERM);
    EXPECT(bcs_region_import(0, 0, &remote) == -EPERM);
    EXPECT(bcs_region_import_now(0, 0, &remote) == -EPERM);
    EXPECT(bcs_remote_test(&event, 1) == -EPERM);
    EXPECT(bcs_remote_wait_event(&event, 1) == -EPERM);
    if (!is_before) {
        EXPECT(bcs_remote_write_word(&own, FLAG, 1) == -EPERM);
        EXPECT(bcs_remote_wait(&of[n - 1], FLAG, 1) == -EPERM);
    }
}

static void in_child(void)
{
    int status = -1;
    pid_t child;

    open_all();
    child = fork();
    if (child == 0) {
        n_wrong = 0;
        outside(0);
        fflush(stdout);
        _exit(n_wrong);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(bcs_remote_write_word(&own, FLAG, 1) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"mix", mix},           {"crowd", crowd},
                 {"patience", patience}, {"wait_for_ever", wait_for_ever},
                 {"hammer", hammer},     {"survive", survive},
                 {"stopped", stopped},   {"outside", in_child}};
    const char *which = argc > 1 ? argv[1] : "";
    int n_run = 0;

    if (strcmp(which, "outside") == 0) {
        outside(1);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (bcs_channels_init() < 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(which, cases[i].name) == 0) {
            cases[i].run();
            n_run++;
        }
    }
    if (strcmp(which, "random") == 0 && argc > 2) {
        random_commands(strtoull(argv[2], NULL, 10));
        n_run++;
    }
    EXPECT(n_run == 1);
    EXPECT(bcs_channels_finalize() == 0);
    if (strcmp(which, "outside") == 0) {
        outside(0);
    }
    MPI_Finalize();
    printf("rank %d of %d: %d wrong\n", me, n, n_wrong);
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
