/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of more than 2 and 4 GiB from the first process to the last, counted and with the
 * barrier. Prints "process i of n: k wrong". Started by run_cbsp.py.
 */
#include <bcs/cbsp.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GIB (UINT64_C(1) << 30)

/* Words that are looked at stand so far apart, in bytes; not a divisor of any chunk. */
#define STRIDE UINT64_C(99992)

static int n_wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        n_wrong++;
        printf("process %d: wrong: %s\n", cBSP_pid(), what);
    }
}

#define EXPECT(condition) expect(condition, #condition)

static uint64_t word_of(int round, uint64_t at)
{
    return (at + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)round;
}

/** Memory of zeros, of which only what is written takes room. */
static char *allocate(uint64_t n_bytes)
{
    char *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        perror("cbsp_large: mmap");
        exit(1);
    }
    return memory;
}

static void fill(char *words, uint64_t n_bytes, int round)
{
    for (uint64_t at = 0; at + sizeof(uint64_t) <= n_bytes; at += STRIDE) {
        *(uint64_t *)(void *)(words + at) = word_of(round, at);
    }
    words[n_bytes - 1] = (char)(round + 1);
}

static int is_filled(const char *words, uint64_t n_bytes, int round)
{
    int is_right = words[n_bytes - 1] == (char)(round + 1);

    for (uint64_t at = 0; is_right && at + sizeof(uint64_t) <= n_bytes; at += STRIDE) {
        is_right =
            *(const uint64_t *)(const void *)(words + at) == word_of(round, at) &&
            words[at + sizeof(uint64_t)] == 0;
    }
    return is_right;
}

/** From process 0 to the last. */
static void send_one(int round, uint64_t n_bytes)
{
    int me = cBSP_pid(), last = cBSP_nprocs() - 1;
    char *sent = allocate(n_bytes), *received = allocate(n_bytes + 1);
    void *to = NULL;
    size_t n_imported = 0;

    EXPECT(cBSP_export(round, received, n_bytes) == 0);
    EXPECT(cBSP_gsync() == 0);
    if (me == 0) {
        EXPECT(cBSP_import(last, round, &to, &n_imported) == 0);
        EXPECT(n_imported == n_bytes);
        fill(sent, n_bytes, round);
        EXPECT(cBSP_send(last, to, sent, n_bytes, NULL) == 0);
    }
    EXPECT((round % 2 == 0 ? cBSP_nsync(me == last) : cBSP_gsync()) == 0);
    if (me == last) {
        EXPECT(is_filled(received, n_bytes, round));
        EXPECT(received[n_bytes] == 0);
    }
    EXPECT(cBSP_gsync() == 0);
    EXPECT(cBSP_unexport(round) == 0);
    munmap(received, n_bytes + 1);
    munmap(sent, n_bytes);
}

int main(void)
{
    int me, n;

    if (cBSP_initialize() < 0) {
        return 1;
    }
    me = cBSP_pid();
    n = cBSP_nprocs();
    send_one(0, 4 * GIB + 3);
    send_one(1, 2 * GIB + 12345);
    EXPECT(cBSP_finalize() == 0);
    printf("process %d of %d: %d wrong\n", me, n, n_wrong);
    return n_wrong != 0;
}
