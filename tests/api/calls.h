/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test program of the BCS API: every call of <bcs/bcs.h>, with checks. What its
 * files share. Runs as every rank of a job of any size.
 */
#ifndef TESTS_API_CALLS_H
#define TESTS_API_CALLS_H

#include <bcs/bcs.h>

/** One rank of the job, and the group that is being tested. */
struct place {
    struct bcs_context *context;
    struct bcs_group *group;
    int32_t rank;
    int32_t size;
    bool is_blocking; /* how collectives are called */
    struct bcs_request request;
    int n_wrong;
    int n_checked;
};

/** Count a check, and print it if it is wrong. */
void expect(struct place *me, bool is_right, const char *what, int line);

#define EXPECT(me, condition) expect(me, condition, #condition, __LINE__)

/** A message of the group that is being tested. */
struct bcs_message message_of(const struct place *me, int32_t peer, int32_t tag,
                              void *data, size_t n_bytes);

/** What a collective is to be given as its request. */
struct bcs_request *request_of(struct place *me);

/** What a collective has come to, once it is done; rc is what its call has returned. */
int result_of(struct place *me, int rc);

/** Fill bytes with a pattern of the key, and compare with it. */
void fill(void *data, size_t n_bytes, int32_t key);

/** Whether the bytes are those of fill. */
bool is_filled(const void *data, size_t n_bytes, int32_t key);

/** Sends, receives, probes and tests. */
void test_messages(struct place *me);

/** All collectives, vectorial and not, in place and not, as me->is_blocking says. */
void test_collectives(struct place *me);

/** Many non-blocking collectives at a time, among messages and blocking ones. */
void test_outstanding(struct place *me);

/** Arguments that the calls must refuse, and messages that are too long. */
void test_errors(struct place *me);

#endif
