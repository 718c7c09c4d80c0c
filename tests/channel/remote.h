/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the cases of channel_remote share: a region of each rank, and who says what is
 * wrong.
 */
#ifndef TESTS_CHANNEL_REMOTE_H
#define TESTS_CHANNEL_REMOTE_H

#include <bcs/remote.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    REGION = 3,
    REGION_BYTES = 8192,
    /* Of a region: words, a block that is passed on, a buffer, stripes of random
     * bytes. */
    FLAG = 0,
    SUM = 8,
    REAL = 16,
    TICKETS = 24,
    INDEX = 32,
    BLOCK = 64,
    BLOCK_BYTES = 100,
    BUFFER = 256,
    BUFFER_BYTES = BCS_REMOTE_BUFFER_BYTES + 256,
    STRIPES = 1024,
    STRIPE = 256,
    N_ROUNDS = 200,
    N_STEPS = 4000,
    MOST = 16, /* ranks */
    WAIT_US = 500000,
};

extern int n_wrong, me, n; /* of how many */
extern struct bcs_remote own, of[MOST];

/** Count what is wrong, and say where. */
void expect(bool is_right, int line);

#define EXPECT(condition) expect(condition, __LINE__)

/** Export the own region and import those of all. */
void open_all(void);

/** Read a word, which must succeed. */
uint64_t word_of(const struct bcs_remote *remote, uint64_t offset);

/** One operand onto a word of a rank's region. */
void accumulate(int to, uint64_t offset, enum bcs_op op, enum bcs_type type,
                const void *operand);

/** The case of stopped.c. */
void stopped(void);

#endif
