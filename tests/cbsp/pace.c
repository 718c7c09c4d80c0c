/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes at different paces: a pipeline whose first process hears from nobody, a
 * process that computes while others send it all they can, supersteps without messages.
 */
#include <stdlib.h>
#include <time.h>

#include "tests/cbsp/calls.h"

static long last_word;

static void take_word(int srcNode, void *destAddr, int nBytes)
{
    (void)srcNode;
    (void)nBytes;
    last_word = *(long *)destAddr;
}

static void nap(long n_us)
{
    struct timespec time = {.tv_nsec = n_us * 1000};

    nanosleep(&time, NULL);
}

/** Words go down a chain; each process may be ahead of the next. */
static void pipeline(bool is_last_slow)
{
    int n = cBSP_nprocs(), me = cBSP_pid(), n_rounds = is_last_slow ? 200 : 5000;
    bool is_right = true;

    last_word = -1;
    EXPECT(cBSP_gsync() == 0);
    for (int round = 0; round < n_rounds + n; round++) {
        /* In superstep `round` process i passes on word round - i. */
        long word = round - me;
        int wanted = me > 0 && word + 1 >= 0 && word + 1 < n_rounds;

        if (me + 1 < n && word >= 0 && word < n_rounds) {
            is_right = is_right && (me == 0 || last_word == word);
            EXPECT(cBSP_send(me + 1, NULL, &word, sizeof(word), take_word) == 0);
        }
        if (is_last_slow && me == n - 1 && round % 8 == 0) {
            nap(300);
        }
        EXPECT(cBSP_nsync(wanted) == 0);
    }
    EXPECT(is_right);
    EXPECT(cBSP_gsync() == 0);
}

/** All but one send that one a lot, which only sometimes looks. */
static void funnel(void)
{
    int n = cBSP_nprocs(), me = cBSP_pid();

    n_handled = 0;
    for (int round = 0; round < 300; round++) {
        for (int k = 0; k < 20 && me != 0; k++) {
            EXPECT(cBSP_send(0, NULL, &k, sizeof(k), count_message) == 0);
        }
        if (me == 0 && round % 50 == 0) {
            nap(1000);
        }
        EXPECT(cBSP_nsync(me == 0 ? 20 * (n - 1) : 0) == 0);
    }
    EXPECT(n_handled == (me == 0 ? 300 * 20 * (n - 1) : 0));
    EXPECT(cBSP_gsync() == 0);
}

/** Long messages from a process that is ahead. */
static void long_pipeline(void)
{
    enum { N_BYTES = 100000 };
    int n = cBSP_nprocs(), me = cBSP_pid();
    char *bytes = calloc(N_BYTES, 1);

    n_handled = 0;
    for (int round = 0; round < 40; round++) {
        if (me + 1 < n) {
            EXPECT(cBSP_send(me + 1, NULL, bytes, N_BYTES, count_message) == 0);
        }
        EXPECT(cBSP_nsync(me > 0) == 0);
    }
    EXPECT(n_handled == (me > 0 ? 40 : 0));
    EXPECT(cBSP_gsync() == 0);
    free(bytes);
}

/** Any mixture of the two synchronizations, drawn alike by all. */
static void mixture(void)
{
    int n = cBSP_nprocs(), me = cBSP_pid();
    unsigned state = 1;

    n_handled = 0;
    for (int round = 0; round < 1000; round++) {
        int shift, n_messages;

        state = state * 1103515245 + 12345;
        shift = (int)(state >> 16) % n;
        n_messages = (int)(state >> 20) % 3;
        for (int k = 0; k < n_messages; k++) {
            EXPECT(cBSP_send((me + shift) % n, NULL, &k, sizeof(k), count_message) ==
                   0);
        }
        if ((state >> 24) % 4 == 0) {
            EXPECT(cBSP_gsync() == 0);
        } else {
            EXPECT(cBSP_nsync(n_messages) == 0);
        }
        EXPECT(n_handled == n_messages);
        n_handled = 0;
    }
}

void test_pace(void)
{
    pipeline(false);
    pipeline(true);
    funnel();
    long_pipeline();
    mixture();
}
