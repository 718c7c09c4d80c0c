/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixture for remote commands: a job of one process, with a region of its own, which
 * it has imported, too. Included by one file of a program.
 */
#ifndef TEST_UNIT_REMOTE_ENDS_H
#define TEST_UNIT_REMOTE_ENDS_H

#include "libbcs/channel/channel_state.h"
#include "tests/unit/ranks.h"
#include "tests/unit/run_suite.h"

enum { REGION = 7, REGION_BYTES = 1024 };

static struct ranks_job job;
static struct ranks_rank ranks[RANKS_MOST];
static struct channels *alone;
static struct bcs_remote own, remote;

static inline void setup_alone(void)
{
    ranks_init(&job, ranks, 1, 0);
    ck_assert_int_eq(channels_join(&ranks[0].entry, &alone), 0);
    ck_assert_int_eq(remote_export(alone, REGION, REGION_BYTES, &own), 0);
    ck_assert_int_eq(remote_import(alone, 0, REGION, false, &remote), 0);
}

static inline void teardown_alone(void)
{
    ck_assert_int_eq(channels_leave(alone), 0);
    ranks_fini(&job);
}

/** So many repetitions, or fewer, if commands go to another machine, as each takes many
 *  times as long. */
static inline uint64_t repeat(uint64_t n)
{
    return ranks[0].entry.settings.nic.far > 1 ? n / 200 : n;
}

/** A word of a region. */
static inline uint64_t word_at(const struct bcs_remote *from, uint64_t offset)
{
    uint64_t word = 0;

    ck_assert_int_eq(bcs_remote_read_word(from, offset, &word), 0);
    return word;
}

#endif
