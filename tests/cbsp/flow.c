/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow control: more messages in a superstep than a receive buffer holds, and messages
 * that are longer than a buffer; both in both directions, with both synchronizations.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/cbsp/calls.h"

/** End a superstep in one way or the other. */
static int synchronize(bool is_counting, int count)
{
    return is_counting ? cBSP_nsync(count) : cBSP_gsync();
}

/** Many messages to everybody: the sum must be right. */
static void many_messages(bool is_counting, int n_messages, size_t n_bytes)
{
    int n = cBSP_nprocs();
    char *bytes = calloc(n_bytes, 1);

    n_handled = 0;
    n_handled_bytes = 0;
    for (int k = 0; k < n_messages; k++) {
        for (int i = 0; i < n; i++) {
            EXPECT(cBSP_send(i, NULL, bytes, n_bytes, count_message) == 0);
        }
    }
    EXPECT(synchronize(is_counting, n * n_messages) == 0);
    EXPECT(n_handled == n * n_messages);
    EXPECT(n_handled_bytes == n * n_messages * (long)n_bytes);
    free(bytes);
}

/** Words in order into an array that is larger than a buffer, one by one. */
static void many_words(bool is_counting)
{
    enum { N_WORDS = 6000 };
    static long words[N_WORDS];
    int n = cBSP_nprocs(), me = cBSP_pid(), next = (me + 1) % n,
        from = (me + n - 1) % n;
    void **to = calloc((size_t)n, sizeof(*to));

    share(3, words, sizeof(words), to);
    for (int round = 0; round < 3; round++) {
        bool is_right = true;

        for (long i = 0; i < N_WORDS; i++) {
            long word = pattern(me, next, round, i);

            EXPECT(cBSP_send(next, (long *)to[next] + i, &word, sizeof(word), NULL) ==
                   0);
        }
        EXPECT(synchronize(is_counting, N_WORDS) == 0);
        for (long i = 0; i < N_WORDS; i++) {
            is_right = is_right && words[i] == pattern(from, me, round, i);
        }
        EXPECT(is_right);
    }
    unshare(3);
    free(to);
}

/** Long messages to everybody, one of them with a handler, among short ones. */
static void long_messages(bool is_counting, size_t n_words)
{
    int n = cBSP_nprocs(), me = cBSP_pid();
    size_t n_bytes = n_words * sizeof(long);
    long *inbox = calloc((size_t)n, n_bytes), *words = malloc(n_bytes);
    void **to = calloc((size_t)n, sizeof(*to));
    bool is_right = true;

    share(4, inbox, (size_t)n * n_bytes, to);
    n_handled = 0;
    n_handled_bytes = 0;
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < n_words; k++) {
            words[k] = pattern(me, i, 7, (long)k);
        }
        EXPECT(cBSP_send(i, NULL, words, 8, count_message) == 0);
        EXPECT(cBSP_send(i, (char *)to[i] + (size_t)me * n_bytes, words, n_bytes,
                         i % 2 == 0 ? count_message : NULL) == 0);
        EXPECT(cBSP_send(i, NULL, words, 8, count_message) == 0);
        memset(words, 0, n_bytes);
    }
    EXPECT(synchronize(is_counting, 3 * n) == 0);
    EXPECT(n_handled == 2 * n + (me % 2 == 0 ? n : 0));
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < n_words; k++) {
            is_right = is_right &&
                       inbox[(size_t)i * n_words + k] == pattern(i, me, 7, (long)k);
        }
    }
    EXPECT(is_right);
    unshare(4);
    free(inbox);
    free(words);
    free(to);
}

static bool is_long_right;

/** A long message in a buffer of the library. */
static void take_long(int srcNode, void *destAddr, int nBytes)
{
    const long *words = destAddr;

    for (long i = 0; i < nBytes / (long)sizeof(long); i++) {
        is_long_right = is_long_right && words[i] == pattern(srcNode, cBSP_pid(), 8, i);
    }
    n_handled++;
}

static void long_without_destination(bool is_counting)
{
    enum { N_WORDS = 30000 };
    int n = cBSP_nprocs();
    long *words = malloc(N_WORDS * sizeof(long));

    n_handled = 0;
    is_long_right = true;
    for (int i = 0; i < n; i++) {
        for (long k = 0; k < N_WORDS; k++) {
            words[k] = pattern(cBSP_pid(), i, 8, k);
        }
        EXPECT(cBSP_send(i, NULL, words, N_WORDS * sizeof(long), take_long) == 0);
    }
    EXPECT(synchronize(is_counting, n) == 0);
    EXPECT(is_long_right && n_handled == n);
    free(words);
}

void test_flow(void)
{
    struct cBSP_counts counts;

    for (int is_counting = 0; is_counting <= 1; is_counting++) {
        many_messages(is_counting, 3000, 40);
        many_messages(is_counting, 60, 5000);
        many_messages(is_counting, 5, 65464); /* as much as a buffer holds, for few */
        many_words(is_counting);
        long_messages(is_counting, 9000);
        long_messages(is_counting, 150001);
        long_without_destination(is_counting);
    }
    EXPECT(cBSP_counts(&counts) == 0);
    EXPECT(counts.n_overflows > 0 && counts.n_large > 0);
}
