/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of a run, of all ranks together, on one clock: that of the machine.
 */
#ifndef MDS_TOOL_TIMELINE_H
#define MDS_TOOL_TIMELINE_H

#include "mds/tool/place.h"
#include "mds/tool/run_read.h"

/** An event of a rank. */
struct moment {
    const struct dump_file *file;
    struct mds_dump_event event;
    uint32_t number;   /* of its record */
    uint64_t begin_ns; /* since the first rank of the run began to record */
};

/** The events of a run. */
struct timeline {
    struct moment
        *moments; /* [n], in the order in which they have begun; of a rank, too */
    size_t n;
    uint64_t n_lost; /* calls of the ranks that are older than those that were kept */
};

/**
 * Bring events together.
 *
 * @param rank  of this rank only; -1: of all
 * @return 0 or -ENOMEM; end with timeline_fini
 */
int timeline_of(const struct run *run, int64_t rank, struct timeline *timeline_out);

/** Free what timeline_of has made. Accepts a zeroed one. */
void timeline_fini(struct timeline *timeline);

/** Calls of a rank that are not among its events. */
uint64_t timeline_lost(const struct dump_file *file);

/** The name of an event's primitive. */
const char *moment_call(const struct moment *moment);

/** The name of its communicator, any bytes; NULL: it has none. */
const char *moment_comm(const struct moment *moment);

/** The words for its place. @return for free; NULL: no memory */
char *moment_place(const struct moment *moment, struct places *places);

#endif
