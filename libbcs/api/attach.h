/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching a process to its node: bootstrap over a caller-given exchange, the context
 * that all API calls take, and its end. [BCS-MPI section 4.1]
 */
#ifndef BCS_API_ATTACH_H
#define BCS_API_ATTACH_H

#include "libbcs/api/bootstrap.h"
#include "libbcs/api/context.h"
#include "libbcs/base/forked.h"
#include "libbcs/base/shm_segment.h"
#include "libbcs/ring/port.h"
#include "nic_threads/driver.h"

/** What a completion cell stands for. */
struct bcs_pending {
    struct bcs_request *request; /* the last that took it */
    bool is_ordered;             /* the cell is in context->ordered */
};

/** One process's attachment. Used by one thread at a time. */
struct bcs_context {
    struct bcs_poster poster;
    struct nic_engine *engine;
    const struct nic_driver_ops *driver;
    void *service; /* the driver's, in this process */
    struct nic_config config;
    struct bcs_shm_segment segment;
    uint32_t rank;
    uint32_t size;
    struct bcs_job *job;         /* of bcs_init; NULL under MPI */
    struct bcs_pending *pending; /* by cell */
    uint32_t *ordered;           /* cells whose operations need this process */
    uint32_t n_ordered;
    uint32_t n_orders_idle; /* see bcs_post_progress */
    struct bcs_plans plans; /* collectives that go on by themselves */
    uint32_t n_misses;      /* tests in a row that found nothing */
    uint32_t n_turns;       /* of waits, since the last look outside */
    bool is_called;         /* at that look another process had called */
    bool is_moving;         /* the last look has found a transfer under way */
    /** Called now and then while waiting, for what the shim has under way; NULL: nothing.
     *  Whether something is over that the process may wait for. */
    bool (*idle)(void);
    /** Move what is not ours; see libbcs/api/outside.h. NULL: nothing is. */
    void (*outside)(void);
    /** Reasons why those who need that cannot call this process: while there is one, waits
     *  wake up now and then. */
    uint32_t n_short_naps;
    /** Whether other threads of the process wait for the context; they are let in (pause,
     *  resume) between two turns of a wait, and while this one sleeps. NULL where there is
     *  one thread. */
    bool (*is_wanted)(void);
    void (*pause)(void);
    void (*resume)(void);
    /** How the user calls a group; NULL: it has no name. */
    void (*name_group)(const struct bcs_group *group, char *name_out,
                       size_t n_name_bytes);
    struct bcs_forked forked; /* takes all this away in a forked child */
};

/**
 * Attach this process to the job's memory. Collective over the bootstrap. A forked child that
 * uses the context is ended with a message.
 *
 * @param config  already checked; copied
 * @return 0        attached; end with bcs_detach
 * @return -ENOTSUP the job spans several machines; logged by rank 0
 * @return -EPERM   BCS_COPY=direct, but the kernel forbids it; logged by rank 0
 * @return <0       -errno, logged
 */
int bcs_attach(const struct bcs_bootstrap *bootstrap, const struct nic_config *config,
               struct bcs_context **context_out);

/** Detach: unmap and free. What was sent stays readable by others. Accepts NULL. */
void bcs_detach(struct bcs_context *context);

/** Number of slices this process's node has taken part in. */
uint64_t bcs_context_slices(const struct bcs_context *context);

/** How regular the timed strobes have been; all zero with strobes on demand. */
struct bcs_strobes {
    uint64_t slice_ns;
    uint64_t n_sent;
    uint64_t n_left_out; /* slices of the clock without a strobe, as one was late */
    uint64_t n_idle;     /* slices of the clock without a strobe, as none was needed */
    uint64_t late_ns;    /* 99 % were at most so late */
    uint64_t is_prompt;  /* the sender has real-time priority */
};

/** The strobes so far. */
struct bcs_strobes bcs_context_strobes(const struct bcs_context *context);

/** Name of the way long messages are copied: "direct" or "pooled". */
const char *bcs_context_copy_name(const struct bcs_context *context);

/**
 * Open a group's collective slot, before its first collective; every member calls it.
 *
 * @param base  larger than at any earlier use of the slot; the same on all members
 */
int bcs_group_open(struct bcs_context *context, struct bcs_group *group, uint64_t base);

#endif
