/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast and reduction, short and long, of predefined and own operations.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cbsp/calls.h"

static void broadcasts(size_t n_bytes)
{
    int n = cBSP_nprocs();
    unsigned char *bytes = malloc(n_bytes + 1);

    for (int root = 0; root < n; root++) {
        bool is_right = true;

        memset(bytes, cBSP_pid() == root ? root + 1 : 0xff, n_bytes + 1);
        EXPECT(cBSP_broadcast(root, bytes, n_bytes) == 0);
        for (size_t i = 0; i < n_bytes; i++) {
            is_right = is_right && bytes[i] == root + 1;
        }
        EXPECT(is_right);
    }
    free(bytes);
}

/** Keeps what is not commutative: the digits of the processes in their order. */
static void append_digits(void *into, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *left = (uint64_t *)into + i;

        *left = *left * 31 + ((const uint64_t *)from)[i];
    }
}

static void reductions(size_t count)
{
    int n = cBSP_nprocs(), me = cBSP_pid();
    uint64_t *words = malloc((count + 1) * sizeof(*words));
    double *numbers = malloc((count + 1) * sizeof(*numbers));
    bool is_right = true;

    for (size_t i = 0; i < count; i++) {
        words[i] = (uint64_t)me + i + 1;
        numbers[i] = me + 1.0 / (double)(i + 1);
    }
    EXPECT(cBSP_reduce(words, count, sizeof(*words), append_digits) == 0);
    EXPECT(cBSP_reduce(numbers, count, sizeof(*numbers), cBSP_max_double) == 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t wanted = i + 1;

        for (int k = 1; k < n; k++) {
            wanted = wanted * 31 + (uint64_t)k + i + 1;
        }
        is_right = is_right && words[i] == wanted &&
                   numbers[i] == n - 1 + 1.0 / (double)(i + 1);
    }
    EXPECT(is_right);
    free(words);
    free(numbers);
}

static void predefined(void)
{
    int n = cBSP_nprocs(), me = cBSP_pid();
    double sum = me + 0.5, least = me - 7.0;
    int64_t total = me + 1;

    EXPECT(cBSP_reduce(&sum, 1, sizeof(sum), cBSP_add_double) == 0);
    EXPECT(cBSP_reduce(&least, 1, sizeof(least), cBSP_min_double) == 0);
    EXPECT(cBSP_reduce(&total, 1, sizeof(total), cBSP_add_int64) == 0);
    EXPECT(sum == n * (n - 1) / 2 + 0.5 * n);
    EXPECT(least == -7.0);
    EXPECT(total == (int64_t)n * (n + 1) / 2);
}

/** They are supersteps like others, and may stand among them. */
static void among_others(void)
{
    int n = cBSP_nprocs(), next = (cBSP_pid() + 1) % n;
    int64_t total;

    for (int round = 0; round < 100; round++) {
        n_handled = 0;
        EXPECT(cBSP_send(next, NULL, &round, sizeof(round), count_message) == 0);
        EXPECT(cBSP_nsync(1) == 0);
        total = n_handled;
        EXPECT(cBSP_reduce(&total, 1, sizeof(total), cBSP_add_int64) == 0);
        EXPECT(total == n);
    }
}

void test_reductions(void)
{
    static const size_t lengths[] = {0, 1, 8, 1000, 5000, 300000};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        broadcasts(lengths[i]);
        reductions(lengths[i] / 3);
    }
    predefined();
    among_others();
}
