/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of known_calls_channels share.
 */
#ifndef TESTS_SYSTEM_KNOWN_CALLS_CHANNELS_H
#define TESTS_SYSTEM_KNOWN_CALLS_CHANNELS_H

#include <bcs/channel.h>
#include <bcs/remote.h>

#include <stdio.h>
#include <stdlib.h>

/* Numbers of channels, and of each rank's region. */
enum { WORDS = 5, HANDLED = 6, GO = 7, ANSWERS = 8, REGION = 3 };
/* Where everything is in a region. */
enum {
    READY,
    CONDITION = 8,
    DONE = 16,
    INDEX = 32,
    BUFFER = 64,
    DATA = 1024,
    PLACES = 2048
};
enum { REGION_BYTES = 4096, ROOM_BYTES = 512, RECORD_BYTES = 24 };

/** It succeeds, or the job ends. */
static inline void must(int rc)
{
    if (rc != 0) {
        fprintf(stderr, "rank %d: a call returns %d\n", bcs_channels_rank(), rc);
        abort();
    }
}

static inline void must_be(bool is_so)
{
    must(is_so ? 0 : -1);
}

/** Open an end. */
static inline struct bcs_channel_out *writer(int peer, uint32_t number)
{
    struct bcs_channel_out *out;

    must(bcs_channel_open_out(
        &(struct bcs_channel_params){
            .peer = peer, .number = number, .record_bytes = 8, .capacity = 8},
        &out));
    return out;
}

/** The same of a reader. */
static inline struct bcs_channel_in *reader(int peer, uint32_t number)
{
    struct bcs_channel_in *in;

    must(bcs_channel_open_in(
        &(struct bcs_channel_params){
            .peer = peer, .number = number, .record_bytes = 8, .capacity = 8},
        &in));
    return in;
}

/** A handler: receive a word. */
static inline void take_word(struct bcs_channel_in *in, void *arg)
{
    uint64_t word;

    (void)arg;
    must_be(bcs_channel_try_receive(in, &word, sizeof(word)));
}

/** Ranks 1 and 2 are late for others that wait. */
void wait_or_be_late(void);

/** All others wait while rank 1 waits to be killed. */
void be_killed(void);

#endif
