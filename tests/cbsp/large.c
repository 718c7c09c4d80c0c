/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of more than 2 and 4 GiB from the first process to the last, counted and
 * with the barrier.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/cbsp/calls.h"

#define GIB (UINT64_C(1) << 30)

/* Words that are looked at stand so far apart, in bytes; not a divisor of any chunk. */
#define STRIDE UINT64_C(99992)

/** Memory of zeros, of which only what is written takes room. */
static char *allocate(uint64_t n_bytes)
{
    char *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        perror("test_large: mmap");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static void fill(char *words, uint64_t n_bytes, int to, int round)
{
    for (uint64_t at = 0; at + sizeof(long) <= n_bytes; at += STRIDE) {
        *(long *)(void *)(words + at) = pattern(0, to, round, (long)at);
    }
    words[n_bytes - 1] = (char)(round + 1);
}

static bool is_filled(const char *words, uint64_t n_bytes, int to, int round)
{
    bool is_right = words[n_bytes - 1] == (char)(round + 1);

    for (uint64_t at = 0; is_right && at + sizeof(long) <= n_bytes; at += STRIDE) {
        is_right = *(const long *)(const void *)(words + at) ==
                       pattern(0, to, round, (long)at) &&
                   words[at + sizeof(long)] == 0;
    }
    return is_right;
}

/** From process 0 to the last. */
static void send_one(int round, uint64_t n_bytes)
{
    int me = cBSP_pid(), n = cBSP_nprocs(), last = n - 1;
    char *sent = allocate(n_bytes), *received = allocate(n_bytes + 1);
    void **to = calloc((size_t)n, sizeof(*to));

    share(round, received, n_bytes, to);
    if (me == 0) {
        fill(sent, n_bytes, last, round);
        EXPECT(cBSP_send(last, to[last], sent, n_bytes, NULL) == 0);
    }
    EXPECT((round % 2 == 0 ? cBSP_nsync(me == last) : cBSP_gsync()) == 0);
    if (me == last) {
        EXPECT(is_filled(received, n_bytes, last, round));
        EXPECT(received[n_bytes] == 0);
    }
    unshare(round);
    free(to);
    munmap(received, n_bytes + 1);
    munmap(sent, n_bytes);
}

void test_large(void)
{
    send_one(0, 4 * GIB + 3);
    send_one(1, 2 * GIB + 12345);
}
