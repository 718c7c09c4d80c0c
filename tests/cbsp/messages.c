/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages: of all lengths, to all and to oneself, with and without destinations
 * and handlers, counted and synchronized globally. Handlers that send.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cbsp/calls.h"

enum { N_WORDS = 64, N_ROUNDS = 200 };

/** End a superstep in one way or the other. */
static int synchronize(bool is_counting, int count)
{
    return is_counting ? cBSP_nsync(count) : cBSP_gsync();
}

/** Everybody sends everybody words, at a place of its own, of changing lengths. */
static void exchange(bool is_counting)
{
    int n = cBSP_nprocs(), me = cBSP_pid();
    long *inbox = calloc((size_t)n * N_WORDS, sizeof(long));
    void **to = calloc((size_t)n, sizeof(*to));
    long words[N_WORDS];

    share(1, inbox, (size_t)n * N_WORDS * sizeof(long), to);
    for (int round = 0; round < N_ROUNDS; round++) {
        int length = 1 + round % N_WORDS;
        bool is_right = true;

        for (int i = 0; i < n; i++) {
            for (int k = 0; k < length; k++) {
                words[k] = pattern(me, i, round, k);
            }
            EXPECT(cBSP_send(i, (long *)to[i] + me * N_WORDS, words,
                             (size_t)length * sizeof(long), NULL) == 0);
            memset(words, 0, sizeof(words)); /* may be used again at once */
        }
        EXPECT(synchronize(is_counting, n) == 0);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < length; k++) {
                is_right =
                    is_right && inbox[i * N_WORDS + k] == pattern(i, me, round, k);
            }
        }
        EXPECT(is_right);
    }
    unshare(1);
    free(inbox);
    free(to);
}

static char received[N_WORDS * 8 + 1];

/** Keeps the bytes that it is given in the receive buffer. */
static void take_bytes(int srcNode, void *destAddr, int nBytes)
{
    EXPECT(srcNode == (cBSP_pid() + cBSP_nprocs() - 1) % cBSP_nprocs());
    EXPECT((uintptr_t)destAddr % 8 == 0);
    memcpy(received, destAddr, (size_t)nBytes);
    received[nBytes] = 1;
}

/** Bytes without a destination, of every length, round a ring. */
static void ring_of_bytes(void)
{
    int next = (cBSP_pid() + 1) % cBSP_nprocs();
    char bytes[N_WORDS * 8];

    for (int length = 0; length <= (int)sizeof(bytes); length++) {
        memset(bytes, length & 0x7f, sizeof(bytes));
        memset(received, 0, sizeof(received));
        EXPECT(cBSP_send(next, NULL, bytes, (size_t)length, take_bytes) == 0);
        EXPECT(cBSP_nsync(1) == 0);
        EXPECT(memcmp(received, bytes, (size_t)length) == 0 && received[length] == 1);
    }
}

/** Bytes at addresses of all alignments; neighbours must stay as they are. */
static void unaligned(void)
{
    static unsigned char room[64];
    int n = cBSP_nprocs();
    void **to = calloc((size_t)n, sizeof(*to));
    unsigned char bytes[16];

    memset(bytes, 0xab, sizeof(bytes));
    share(2, room, sizeof(room), to);
    for (int offset = 0; offset < 24; offset++) {
        bool is_right = true;
        int length = 1 + offset % 11, next = (cBSP_pid() + 1) % n;

        memset(room, 0, sizeof(room));
        EXPECT(cBSP_nsync(0) == 0);
        EXPECT(cBSP_gsync() == 0); /* all have cleared it */
        EXPECT(cBSP_send(next, (char *)to[next] + offset, bytes + offset % 5,
                         (size_t)length, NULL) == 0);
        EXPECT(cBSP_nsync(1) == 0);
        for (int i = 0; i < (int)sizeof(room); i++) {
            bool is_inside = i >= offset && i < offset + length;

            is_right = is_right && room[i] == (is_inside ? 0xab : 0);
        }
        EXPECT(is_right);
    }
    unshare(2);
    free(to);
}

/** Messages of 0 bytes are counted and handled; destinations are not looked at. */
static void empty_messages(void)
{
    int n = cBSP_nprocs();

    n_handled = 0;
    n_handled_bytes = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(cBSP_send(i, NULL, NULL, 0, count_message) == 0);
        EXPECT(cBSP_send(i, NULL, NULL, 0, NULL) == 0);
        EXPECT(cBSP_send(i, (void *)8, NULL, 0, count_message) == 0);
    }
    EXPECT(cBSP_nsync(3 * n) == 0);
    EXPECT(n_handled == 2 * n && n_handled_bytes == 0);
}

static int n_bounces;

/** Sends itself back until it has been handled often enough. */
static void bounce(int srcNode, void *destAddr, int nBytes)
{
    int *n_left = destAddr;

    EXPECT(nBytes == sizeof(int));
    n_bounces++;
    if (--*n_left > 0) {
        EXPECT(cBSP_send(srcNode, NULL, n_left, sizeof(*n_left), bounce) == 0);
    }
    EXPECT(cBSP_nsync(0) == -1); /* -EPERM: not in a handler */
}

/** What a handler sends belongs to the next superstep. */
static void handlers_that_send(bool is_counting)
{
    int n = cBSP_nprocs(), n_hops = 5;

    n_bounces = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(cBSP_send(i, NULL, &n_hops, sizeof(n_hops), bounce) == 0);
    }
    for (int hop = 1; hop <= n_hops; hop++) {
        EXPECT(synchronize(is_counting, n) == 0);
        EXPECT(n_bounces == hop * n);
    }
    EXPECT(synchronize(is_counting, 0) == 0);
    EXPECT(n_bounces == n_hops * n);
}

static int n_wrong_bytes;

/** Looks whether a message is of the letter that goes with its length. */
static void check_letters(int srcNode, void *destAddr, int nBytes)
{
    const char *letters = destAddr;

    (void)srcNode;
    for (int i = 0; i < nBytes; i++) {
        n_wrong_bytes += letters[i] != 'a' + nBytes % 26;
    }
}

/** What was sent may be changed at once, whatever its length. */
static void reused_source(void)
{
    static char block[3000];
    int n_messages = 0;

    for (size_t n_bytes = 100; n_bytes <= sizeof(block); n_bytes += 100) {
        for (int i = 0; i < cBSP_nprocs(); i++) {
            memset(block, 'a' + (int)(n_bytes % 26), n_bytes);
            EXPECT(cBSP_send(i, NULL, block, n_bytes, check_letters) == 0);
            memset(block, '?', n_bytes);
        }
        n_messages += cBSP_nprocs();
    }
    EXPECT(cBSP_nsync(n_messages) == 0);
    EXPECT(n_wrong_bytes == 0);
}

/** Whether there are as many buffers and branches as <bcs/cbsp.h> says: what is
 *  transferred depends on them. Run with the least sizes, a sender waits for its
 *  receiver's superstep. */
static bool has_usual_sizes(void)
{
    return getenv("BCS_LIMITS") == NULL;
}

/** Counting sends nothing but what it tells after a sleep in vain, which load may
 *  cause. */
static void counting_is_silent(void)
{
    int n = cBSP_nprocs();
    struct cBSP_counts before, after;
    uint64_t n_records;
    char byte = 0;

    EXPECT(cBSP_gsync() == 0);
    EXPECT(cBSP_counts(&before) == 0);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < n; i++) {
            EXPECT(cBSP_send(i, NULL, &byte, 1, count_message) == 0);
        }
        EXPECT(cBSP_nsync(n) == 0);
    }
    EXPECT(cBSP_counts(&after) == 0);
    n_records = after.n_record_transfers - before.n_record_transfers;
    if (has_usual_sizes()) {
        EXPECT(after.n_nsync_transfers - before.n_nsync_transfers == n_records);
        EXPECT(after.n_transfers - before.n_transfers == 100 * (uint64_t)n + n_records);
    }
    EXPECT(after.n_nsyncs - before.n_nsyncs == 100);
    EXPECT(after.n_supersteps - before.n_supersteps == 100);
    EXPECT(after.n_messages_sent - before.n_messages_sent == 100 * (uint64_t)n);
    EXPECT(after.n_messages_taken - before.n_messages_taken == 100 * (uint64_t)n);
}

/** Transfers that this process has started, but for those that load may cause. */
static uint64_t n_transfers(void)
{
    struct cBSP_counts counts = {0};

    EXPECT(cBSP_counts(&counts) == 0);
    EXPECT(counts.reserved[0] == 0 && counts.reserved[4] == 0);
    return counts.n_transfers - counts.n_record_transfers;
}

/** What <bcs/cbsp.h> says of transfers. */
static void calls_cost_what_they_say(void)
{
    static char block[225];
    int n = cBSP_nprocs(), pid = cBSP_pid();
    uint64_t was = n_transfers();
    void *there;

    EXPECT(cBSP_export(7, block, sizeof(block)) == 0);
    EXPECT(n_transfers() == was + 2);
    EXPECT(cBSP_gsync() == 0);
    was += 2 + (pid > 0) + (8 * pid + 1 < n);
    EXPECT(n_transfers() == was);
    EXPECT(cBSP_import((pid + 1) % n, 7, &there, NULL) == 0);
    EXPECT(n_transfers() == was);
    EXPECT(cBSP_send((pid + 1) % n, NULL, block, 224, count_message) == 0);
    EXPECT(n_transfers() == was + 1);
    EXPECT(cBSP_send((pid + 1) % n, there, block, 225, NULL) == 0);
    EXPECT(n_transfers() == was + 4);
    EXPECT(cBSP_nsync(2) == 0);
    EXPECT(n_transfers() == was + 4);
    EXPECT(cBSP_broadcast(0, block, sizeof(int)) == 0);
    was += 4 + (pid == 0 ? (uint64_t)n - 1 : 0);
    EXPECT(n_transfers() == was);
    EXPECT(cBSP_unexport(7) == 0);
    EXPECT(n_transfers() == was + 2);
    EXPECT(cBSP_gsync() == 0);
}

void test_messages(void)
{
    for (int is_counting = 0; is_counting <= 1; is_counting++) {
        exchange(is_counting);
        handlers_that_send(is_counting);
    }
    ring_of_bytes();
    unaligned();
    empty_messages();
    reused_source();
    counting_is_silent();
    if (has_usual_sizes()) {
        calls_cost_what_they_say();
    }
}
