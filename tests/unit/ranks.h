/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs whose processes are threads of this process: each has an entry with a bootstrap
 * of its own, as a launcher would give it.
 */
#ifndef TEST_UNIT_RANKS_H
#define TEST_UNIT_RANKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/session/entry.h"

enum { RANKS_MOST = 8, RANKS_GATHER_BYTES = 4096 };

/** What to divide numbers of repetitions by: with ThreadSanitizer each takes many
 *  times as long. */
#ifdef __SANITIZE_THREAD__
enum { RANKS_FEWER = 4 };
#else
enum { RANKS_FEWER = 1 };
#endif

/** What the ranks of a job share. */
struct ranks_job {
    uint32_t size;
    pthread_barrier_t barrier;
    uint8_t gathered[RANKS_MOST][RANKS_GATHER_BYTES];
};

/** One process of a job. */
struct ranks_rank {
    struct ranks_job *job;
    struct bcs_entry entry;
    void *own; /* the test's */
};

/** Fill the ranks of a job; with defer, what they put to each other comes late. */
void ranks_init(struct ranks_job *job, struct ranks_rank ranks[], uint32_t size,
                uint64_t defer);

/** Before they join: deal them to so many machines, as BCS_FAR does. */
void ranks_set_far(struct ranks_rank ranks[], uint32_t n, uint64_t far);

/** The map of a rank's job, for who attaches it; becomes the attached one's. */
struct bcs_port_map *ranks_map(struct ranks_rank *rank);

/** Free what they share. */
void ranks_fini(struct ranks_job *job);

/** Run fn in a thread for each of n ranks, of whatever job, until all have returned. */
void ranks_run(struct ranks_rank ranks[], uint32_t n,
               void (*fn)(struct ranks_rank *rank));

/** The same for the ranks of two jobs, of two and three ranks, at once. */
void ranks_run_two_jobs(void (*fn)(struct ranks_rank *rank));

/** Whether all bytes are alike. (An assertion for each would take long.) */
bool ranks_is_all(const uint8_t *bytes, size_t n_bytes, uint8_t byte);

#endif
