/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait at channels for each other, in a circle: for ever, or until
 * somebody helps. Without MPI. The case is argv[1]; those for ever do not end by
 * themselves.
 */
#include <bcs/channel.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_US = 300000, N_ROUNDS = 300, N_WORDS = 1000 };

static int me, n;
static struct bcs_channel_out *out; /* to the next rank */
static struct bcs_channel_in *in;   /* from the one before */

static void expect(bool is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "rank %d: not true: %s\n", me, what);
        exit(EXIT_FAILURE);
    }
}

static void open_ends(void)
{
    struct bcs_channel_params params = {.record_bytes = 8, .capacity = 1};

    params.peer = (me + 1) % n;
    expect(bcs_channel_open_out(&params, &out) == 0, "out is open");
    params.peer = (me + n - 1) % n;
    expect(bcs_channel_open_in(&params, &in) == 0, "in is open");
}

static void receive(void)
{
    uint64_t word = 0;

    expect(bcs_channel_receive_word(in, &word) == 0 && word == 7, "a word comes");
}

static void send(void)
{
    expect(bcs_channel_send_word(out, 7) == 0, "a word goes");
}

/** For ever: all receive. */
static void all_receive(void)
{
    receive();
}

/** For ever: all send more than there is room for. */
static void all_send(void)
{
    for (int i = 0; i < N_WORDS; i++) {
        send();
    }
}

/** For ever, but for the last rank, which is not waited for by the others, and goes
 *  on. */
static void all_but_one(void)
{
    if (me == n - 1) {
        for (;;) {
            usleep(WAIT_US);
        }
    }
    n--;
    open_ends();
    receive();
}

/** The last rank comes late. */
static void late(void)
{
    if (me == n - 1) {
        usleep(WAIT_US);
        send();
        receive();
    } else {
        receive();
        send();
    }
}

static void send_in_handler(int number)
{
    uint64_t word = 7;

    (void)number;
    bcs_channel_try_send(out, &word, sizeof(word), true);
}

/** All receive; a signal has the last rank send. */
static void late_signal(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = WAIT_US}};

    if (me == n - 1) {
        signal(SIGALRM, send_in_handler);
        setitimer(ITIMER_REAL, &soon, NULL);
        receive();
    } else {
        receive();
        send();
    }
}

/** A word goes round, and each rank waits until it has slept in vain, or just
 *  before. */
static void round_and_round(void)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        if (me == i % n) {
            usleep((useconds_t)(i % 4 * 3000));
            send();
            receive();
        } else {
            receive();
            send();
        }
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    bool opens; /* by itself */
} cases[] = {
    {"all_receive", all_receive, false}, {"all_send", all_send, false},
    {"all_but_one", all_but_one, true},  {"late", late, false},
    {"late_signal", late_signal, false}, {"round_and_round", round_and_round, false},
};

int main(int argc, char **argv)
{
    size_t number = 0;

    while (number < sizeof(cases) / sizeof(cases[0]) &&
           (argc < 2 || strcmp(cases[number].name, argv[1]) != 0)) {
        number++;
    }
    if (number == sizeof(cases) / sizeof(cases[0]) || bcs_channels_init() < 0) {
        return EXIT_FAILURE;
    }
    me = bcs_channels_rank();
    n = bcs_channels_size();
    if (!cases[number].opens) {
        open_ends();
    }
    cases[number].run();
    expect(bcs_channels_finalize() == 0, "the job is left");
    printf("rank %d of %d: 0 wrong\n", me, n);
    return EXIT_SUCCESS;
}
