/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that slices are recorded in, of a node, or of all nodes by the strobe
 * sender. With a folder for the run it is a file there, mapped by all processes of the
 * job, as long as it runs: what was recorded is in it however the job ends, and can be
 * looked at meanwhile. Made by the job's first process before the engine begins; others
 * only read.
 *
 * The file begins with what it is of; behind that are the monitors of the node's desks,
 * each with its spans (nic_threads/node/monitor.h), or that of the strobe sender.
 */
#ifndef MDS_LIVE_SLICES_H
#define MDS_LIVE_SLICES_H

#include "libbcs/fabric/base/clock.h"
#include "mds/dump_node.h"

#define MDS_LIVE_SLICES_MAGIC "BCS-SLIC"

enum { MDS_LIVE_SLICES_HEAD_BYTES = 4096 };

/** What such a file is of. */
struct mds_live_slices {
    char magic[8];    /* set last, when all of it is there */
    uint64_t layout;  /* of the file; that of this version of bcs */
    uint64_t n_bytes; /* of all of it */
    uint64_t n_spans; /* in each of two halves of a monitor's */
    uint64_t metrics; /* bits, by enum bcs_metric: those that are recorded */
    uint32_t is_global;
    uint32_t n_monitors;
    struct bcs_clock_moment began; /* the job */
    uint64_t interval_ticks;       /* slices are counted by these; 0: by strobes */
    struct mds_dump_node facts; /* but for run, interval and shift, which are found */
};

/** A number that says how the file is laid out: that of this version of bcs. */
uint64_t mds_live_slices_layout(void);

/**
 * Make the file, with all but magic, began and interval_ticks.
 *
 * @param slices n_spans, metrics, is_global, n_monitors and facts but for the moments
 * and the host
 * @return 0    it is there, with all its room, so that writing to it never fails
 * @return <0   -errno; there is no file. -ENOSPC: no room
 */
int mds_live_slices_make(const struct mds_live_slices *slices, const char *path);

/** Map it. @return 0: end with mds_live_slices_unmap; -EINVAL: it is none of this
 *  version; or another -errno */
int mds_live_slices_map(const char *path, struct mds_live_slices **slices_out);

/** Its monitors, which the engine sets up. */
static inline char *mds_live_slices_place(struct mds_live_slices *slices)
{
    return (char *)slices + MDS_LIVE_SLICES_HEAD_BYTES;
}

/** The monitors are set up: from now on the file can be read. By one process. */
void mds_live_slices_begin(struct mds_live_slices *slices,
                           struct bcs_clock_moment began, uint64_t interval_ticks);

/** Unmap it; the file stays. Accepts NULL. Nobody in this process may record any
 *  more. */
void mds_live_slices_unmap(struct mds_live_slices *slices);

/**
 * Read a file that slices are recorded in, or that a job has left behind.
 *
 * @param node_out as of the files of jobs that have ended, node_out->spans is for free;
 *                  without the slice under way. A span that was being written may lack
 *                  a part, or numbers of others that are written at the same time, but
 *                  is sound
 * @return 0
 * @return -EAGAIN  its job has just made it
 * @return -ENOENT  it is not there, or not any more
 * @return -ESTALE  it is of another machine, or of before this one was started
 * @return -EINVAL  it is no such file, or of another version; or another -errno
 */
int mds_live_slices_read(const char *path, struct mds_node *node_out);

#endif
