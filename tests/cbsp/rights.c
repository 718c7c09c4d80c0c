/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages, which receivers read in their senders' memory, while one process after
 * another loses the right to that, or to be read: they arrive all the same, in the
 * order in which they were sent, between short ones.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/cbsp/calls.h"
#include "tests/system/lose_rights.h"

enum {
    N_WORDS = 50000, /* some times a buffer */
    N_MESSAGES = 3, /* long ones to the same place, each with another number of words */
};

static long words_of(int message)
{
    return N_WORDS - message * 1000;
}

/** To one process: long messages over each other, with a word at their begin
 *  between. */
static void send_round(int to, long *there, int round)
{
    long *words = malloc(N_WORDS * sizeof(*words));
    long word = -1;

    for (int message = 0; message < N_MESSAGES; message++) {
        for (long i = 0; i < words_of(message); i++) {
            words[i] = pattern(cBSP_pid(), to, round * N_MESSAGES + message, i);
        }
        EXPECT(cBSP_send(to, there, words, (size_t)words_of(message) * sizeof(*words),
                         NULL) == 0);
        EXPECT(cBSP_send(to, there, &word, sizeof(word), NULL) == 0);
        EXPECT(cBSP_send(to, NULL, words, N_WORDS * sizeof(*words), count_message) ==
               0);
    }
    free(words);
}

/** What one process has sent last is on top. */
static bool is_right(const long *words, int from, int round)
{
    bool is_right = words[0] == -1;

    for (long i = 1; is_right && i < N_WORDS; i++) {
        int message = 0;

        while (message + 1 < N_MESSAGES && i < words_of(message + 1)) {
            message++;
        }
        is_right =
            words[i] == pattern(from, cBSP_pid(), round * N_MESSAGES + message, i);
    }
    return is_right;
}

void test_rights(void)
{
    int n = cBSP_nprocs(), me = cBSP_pid(), n_messages = 3 * N_MESSAGES * n;
    long *words = malloc((size_t)n * N_WORDS * sizeof(*words));
    void **to = calloc((size_t)n, sizeof(*to));

    share(1, words, (size_t)n * N_WORDS * sizeof(*words), to);
    for (int round = 0; round < 2 * RIGHTS_ROUNDS; round++) {
        n_handled = 0;
        for (int i = 0; i < n; i++) {
            send_round(i, (long *)to[i] + (size_t)me * N_WORDS, round);
        }
        rights_lose(me, round);
        EXPECT((round % 2 == 0 ? cBSP_nsync(n_messages) : cBSP_gsync()) == 0);
        for (int i = 0; i < n; i++) {
            EXPECT(is_right(words + (size_t)i * N_WORDS, i, round));
        }
        EXPECT(n_handled == N_MESSAGES * n);
    }
    unshare(1);
    free(to);
    free(words);
}
