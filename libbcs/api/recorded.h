/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is to be recorded of slices (nic_threads/node/monitor.h), and what was, for
 * whoever writes it down, in nanoseconds. Called at the begin and at the end of a job,
 * by any process. [BCS-MPI section 5.2]
 */
#ifndef BCS_API_RECORDED_H
#define BCS_API_RECORDED_H

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/span.h"

struct bcs_context;
struct bcs_port_map;
struct emds_summary;
struct mmds_strobes;
struct mds_config;
struct nic_config;

/** The slices of a node, or of all nodes as the strobe sender saw them. */
struct bcs_recorded {
    struct bcs_span *spans; /* [n] by number, begins since began_ns; for free */
    size_t n;
    uint64_t shift;       /* each is of 2^shift slices, or intervals of time, */
    uint64_t interval_ns; /* so long; 0: slices are by the clock, */
    uint64_t slice_ns;    /* as far from one to the next */
    uint64_t began_ns;    /* when the job did, on CLOCK_MONOTONIC */
    uint64_t run_ns;      /* since then */
};

/** Where a process stands among the nodes. */
struct bcs_seat {
    uint32_t node, n_nodes;
    uint32_t first_rank,
        n_ranks; /* of its node: that of its first port, and how many */
};

/** When recording began, for who reads it without a process of the job. */
struct bcs_recording_begin {
    struct bcs_clock_moment began; /* the job */
    uint64_t
        interval_ticks; /* of slices by intervals of time; 0: they are by the clock */
};

/** Have the engine record what the settings ask for, of slices and of posts:
 *  config->record, but for where. @param rank of this process; before it attaches */
void bcs_record_set_up(const struct mds_config *mds, const struct bcs_port_map *map,
                       uint32_t rank, struct nic_config *config);

/** How many monitors each node has (nic_record_config.places). */
uint32_t bcs_recorders_of_node(const struct nic_config *config,
                               const struct bcs_port_map *map);

/** When the recording of this process's job began. */
struct bcs_recording_begin
bcs_context_recording_begin(const struct bcs_context *context);

/** Where this process stands. */
struct bcs_seat bcs_context_seat(const struct bcs_context *context);

/**
 * Copy what was recorded on a node of this machine, or of all nodes. No process may
 * have anything under way.
 *
 * @return 0        copied
 * @return -ENOENT  nothing is recorded there
 * @return -ENOMEM
 */
int bcs_context_recorded(const struct bcs_context *context, uint32_t node,
                         bool is_global, struct bcs_recorded *recorded_out);

/** Have slices end, so that all nodes have recorded equally many. By the process of
 *  rank 0, when no process of the job posts any more. */
void bcs_context_end_slices(const struct bcs_context *context);

/** Add what was recorded on all nodes of this machine, and of all nodes together, to a
 *  table. By one process of the job; no process may have anything under way. */
void bcs_context_sum_slices(const struct bcs_context *context,
                            struct emds_summary *summary);

/** The strobes so far, for a report. */
struct mmds_strobes bcs_context_recorded_strobes(const struct bcs_context *context);

#endif
