/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixture for channels: a job of one process, with both ends of a channel in one
 * thread. Included by one file of a program.
 */
#ifndef TEST_UNIT_CHANNEL_ENDS_H
#define TEST_UNIT_CHANNEL_ENDS_H

#include "libbcs/channel/channel_state.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

static struct ranks_job job;
static struct ranks_rank ranks[2];
static struct channels *alone;
static struct bcs_channel_out *out;
static struct bcs_channel_in *in;

static struct bcs_channel_params params_of(int peer, uint32_t number,
                                           uint32_t record_bytes, uint32_t capacity)
{
    return (struct bcs_channel_params){
        .peer = peer,
        .number = number,
        .record_bytes = record_bytes,
        .capacity = capacity,
    };
}

static void setup_alone(void)
{
    ranks_init(&job, ranks, 1, 0);
    ck_assert_int_eq(channels_join(&ranks[0].entry, &alone), 0);
}

static void teardown_alone(void)
{
    ck_assert_int_eq(channels_leave(alone), 0);
    ranks_fini(&job);
}

/** Open both ends of a channel of this process to itself. */
static inline void open_both(uint32_t record_bytes, uint32_t capacity)
{
    struct bcs_channel_params params = params_of(0, 7, record_bytes, capacity);

    ck_assert_int_eq(channels_open_out(alone, &params, &out), 0);
    ck_assert_int_eq(channels_open_in(alone, &params, &in), 0);
}

static inline void close_both(void)
{
    ck_assert_int_eq(bcs_channel_close_out(out), 0);
    ck_assert_int_eq(bcs_channel_close_in(in), 0);
}

#endif
