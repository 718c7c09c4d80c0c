/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a cBSP application, as all of them see it: who I am, memory that
 * others may write to, messages, and the end of a superstep. Each application says
 * where a superstep ends whether it knows how many messages come in; here it is decided
 * what to make of that, and counted for figure 3 of the paper.
 *
 * Nothing here returns an error: the library has said what is wrong, and the process
 * ends with status 2, which ends the job.
 */
#ifndef CBSP_WORLD_H
#define CBSP_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happened between world_start and world_stop. */
struct world_timing {
    int64_t n_supersteps;
    /* Of these, those of which each process knew how many messages come in. */
    int64_t n_known;
    double seconds;
};

struct world {
    int pid;
    int n_processes;
    /* Use cBSP_nsync where the count is known; otherwise cBSP_gsync everywhere. */
    bool is_counting;
    struct world_timing timed;
    /* So far. */
    int64_t n_supersteps;
    int64_t n_known;
    int n_regions;
};

/* Memory of every process, all of one size, that all others may write to. */
struct area {
    int region;
    char *mine;
    /* [process] its address there. */
    void **there;
};

/* What runs on the receiver when a message is in; data are at address. */
typedef void world_handler_fn(int source, void *address, int n_bytes);

/** Attach this process to its job. The first call of all. */
void world_init(struct world *world);

/** Detach; collective. */
void world_fini(struct world *world);

/** End the job with a line of text, status 2. */
void world_fail(const struct world *world, const char *text) __attribute__((noreturn));

/** An array of zeros, never NULL; the caller frees it with free(). */
void *world_array(const struct world *world, size_t n, size_t element_bytes);

/**
 * Make an area of n_bytes on every process, zeroed. Collective; the size may differ
 * from process to process.
 */
void area_init(struct area *area, struct world *world, size_t n_bytes);

/** Free an area when nobody writes to it any more; collective. */
void area_fini(struct area *area);

/** Write n_bytes at an offset of a process's area by the end of this superstep. The
 *  source may change at once. */
void world_put(int process, const struct area *area, size_t offset, const void *source,
               size_t n_bytes);

/** Hand n_bytes to a handler on a process at the end of this superstep. */
void world_deliver(int process, world_handler_fn *handler, const void *source,
                   size_t n_bytes);

/** End a superstep in which exactly n_messages come in, as the receiver knows. */
void world_sync(struct world *world, int64_t n_messages);

/** End a superstep in which it is not known how many messages come in. */
void world_sync_unknown(struct world *world);

/**
 * Tell all: n_bytes of every process get to all, into an area of n_processes * n_bytes,
 * in the order of processes. Ends the superstep; its count is known.
 */
void world_share(struct world *world, const struct area *area, const void *mine,
                 size_t n_bytes);

/** Wait for all, then count supersteps and time from here on. */
void world_start(struct world *world);

/** Wait for all, then stop counting. Supersteps after it are not counted. */
void world_stop(struct world *world);

/** Seconds on a clock that only goes forward. */
double world_now_seconds(void);

#endif
