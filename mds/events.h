/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last calls of a process, each with its begin and end: a ring of a fixed number of events.
 * Under the collection's lock.
 */
#ifndef MDS_EVENTS_H
#define MDS_EVENTS_H

#include <stdint.h>

/** A call that has ended. */
struct mds_event {
    uint64_t begin_ticks, end_ticks;
    uint64_t n_bytes;    /* as of mds_size_add */
    int32_t peer;        /* if it was one message: whose, rank in the job, */
    int32_t tag;         /* and its tag */
    uint32_t comm;       /* number and 1; 0: none */
    uint32_t n_messages; /* that it has sent, or that have arrived in it */
    uint32_t site;       /* number in the table */
    uint32_t unused;
};

#endif
