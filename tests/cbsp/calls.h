/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test program of cBSP: every call of <bcs/cbsp.h>, with checks. What its files
 * share. Runs as every process of a job of any size.
 */
#ifndef TESTS_CBSP_CALLS_H
#define TESTS_CBSP_CALLS_H

#include <bcs/cbsp.h>
#include <stdbool.h>

/** Count a check, and print it if it is wrong. */
void expect(bool is_right, const char *what, const char *file, int line);

#define EXPECT(condition) expect(condition, #condition, __FILE__, __LINE__)

/** Handlers run since the last look, and the bytes that they were given. */
extern int n_handled;
extern long n_handled_bytes;

/** A handler that counts. */
void count_message(int srcNode, void *destAddr, int nBytes);

/** What word i of a message from one process to another is in a round. */
long pattern(int from, int to, int round, long i);

/** Export the array of this process as region number, and import it from all: `to` gets
 *  its addresses, [nprocs]. Takes a global synchronization. */
void share(int region, void *array, size_t n_bytes, void *to[]);

/** End the sharing. Takes a global synchronization. */
void unshare(int region);

/** Messages of all kinds and both synchronizations. */
void test_messages(void);

/** Buffers that overflow, and messages that are longer than a buffer. */
void test_flow(void);

/** Processes that are ahead of others. */
void test_pace(void);

/** Broadcast and reduction. */
void test_reductions(void);

/** Arguments that the calls must refuse. */
void test_errors(void);

/** Messages of which processes lose the right to read them; alone, as it cannot be
 *  undone. */
void test_rights(void);

/** Messages of more than 4 GiB, which take as much memory; not among the others. */
void test_large(void);

#endif
