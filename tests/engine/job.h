/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fixture of the engine tests: a job of a few ranks without any MPI. The ranks are
 * processes that attach as those of an MPI program do, or threads of one process over
 * one mapping, so that ThreadSanitizer sees all of them.
 */
#ifndef TESTS_ENGINE_JOB_H
#define TESTS_ENGINE_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libbcs/api/attach.h"
#include "libbcs/api/context/context.h"
#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/p2p.h"
#include "libbcs/api/message/wait.h"

enum { JOB_MAX_RANKS = 8, JOB_GATHER_BYTES = 1024, JOB_N_WORDS = 16 };

/** How a job runs. */
struct job_shape {
    uint32_t n_ranks;
    uint32_t node_ranks; /* 0: all in one node */
    bool is_direct;
    bool is_threaded;     /* ranks are threads */
    bool is_timed;        /* strobes */
    bool has_crew;        /* driver threads */
    uint32_t descriptors; /* 0: the default */
    uint64_t chunk_bytes; /* 0: short, so that long messages take several slices */
    enum nic_buffering buffering;
    const char *limits; /* as BCS_LIMITS; NULL: what that says */
    uint32_t n_cpus;    /* 0: few */
    uint32_t n_sharing; /* so many threads share a cache, as they say; 0: unknown */
    uint64_t defer;     /* as BCS_DEFER; 0: what that says */
    uint64_t far;       /* as BCS_FAR; of processes only */
    enum nic_far_map far_map;        /* as BCS_FAR_MAP; the same */
    struct nic_record_config record; /* what is recorded of slices */
};

/** The memory that the ranks share besides the engine's, zero at first. */
struct job_shared {
    pthread_barrier_t barrier;
    _Atomic uint32_t n_errors;
    _Atomic uint64_t words[JOB_N_WORDS]; /* for the test's use */
    uint8_t gathered[JOB_MAX_RANKS][JOB_GATHER_BYTES];
    struct bcs_machine machine; /* of the threads */
};

/** What all ranks know of their job. */
struct job {
    struct job_shape shape;
    struct nic_config config;
    struct job_shared *shared;
    struct bcs_memory *memory; /* of the threads */
};

/** One rank, in its own process or thread. */
struct rank {
    struct job *job;
    struct bcs_context *context;
    struct bcs_group world; /* all ranks; job_open_world makes it fit for collectives */
    uint32_t *ports;        /* of all ranks */
    uint32_t *ranks;        /* all of them, in order */
    int32_t rank;
    int32_t size;
    uint64_t seed;
};

/** What a rank does; it reports by rank_expect, as Check's assertions are not for
 * threads and children. */
typedef void (*rank_fn)(struct rank *me);

/** Run fn as every rank of a job and assert that none met an error. */
void job_run(const struct job_shape *shape, rank_fn fn);

/** Open the collective slot of the group of all; once, by every rank. */
void rank_open_world(struct rank *me);

/** Make the ranks of a job, n_ranks of them and perhaps more than JOB_MAX_RANKS,
 *  contexts of this process, for a test that turns the engine itself;
 *  shape->is_threaded must be set. End with job_close. */
void job_open(struct job *job, const struct job_shape *shape, struct rank ranks[]);

/** job_open, of ranks on one node that all have a core to spare and never sleep by
 *  themselves. */
void job_open_awake(struct job *job, uint32_t n_ranks, struct rank ranks[]);

/** The engine of a thread that is no rank's, of a job that job_open has made: one that
 *  helps, or runs the slices, and copies by itself if it is a mover. Free it with
 *  nic_engine_destroy. */
struct nic_engine *job_open_background(const struct job *job, bool is_mover);

/** Let what has been posted be carried out, and delivered, by such an engine; where
 *  strobes are timed, by two slices. No crew may run. */
void job_turn(struct nic_engine *engine);

/** Free what job_open made. */
void job_close(struct job *job, struct rank ranks[]);

/** Count and print an error unless is_ok. */
void rank_expect(struct rank *me, bool is_ok, const char *what);

/** Wait for all ranks, without the engine. */
void rank_meet(struct rank *me);

/** A random number, the same in every run. */
uint32_t rank_random(struct rank *me);

/** A message to or from a rank of the group of all. */
struct bcs_message rank_message(struct rank *me, int32_t peer, int32_t tag, void *data,
                                size_t n_bytes);

#endif
