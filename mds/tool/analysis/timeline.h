/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of a run, of all ranks together, on one clock: that of the machine.
 */
#ifndef MDS_TOOL_ANALYSIS_TIMELINE_H
#define MDS_TOOL_ANALYSIS_TIMELINE_H

#include "mds/source/place.h"
#include "mds/tool/read/run_read.h"

/** What is to be said of a run that has none. */
#define TIMELINE_NONE "has no events; record with BCS_MDS=trace"

/** An event of a rank. */
struct moment {
    const struct dump_file *file;
    struct mds_dump_event event;
    uint32_t number;   /* of its record */
    uint32_t lane;     /* calls of a rank's lane follow each other: 0 but for threads */
    uint64_t begin_ns; /* since the first rank of the run began to record */
};

/** The events of a run. */
struct timeline {
    struct moment
        *moments; /* [n], in the order in which they have begun; of a rank, too */
    size_t n;
    uint32_t n_lanes; /* of the rank that has most; 0: without events */
    uint64_t n_lost;  /* calls of the ranks that are older than those that were kept */
};

/**
 * Bring together the events that are held (dump_later.h).
 *
 * @param rank  of this rank only; -1: of all
 * @return 0 or -ENOMEM; end with timeline_fini
 */
int timeline_of(const struct run *run, int64_t rank, struct timeline *timeline_out);

/**
 * The last events of a run, without lanes. Those of one rank at a time are held.
 *
 * @param rank    of this rank only; -1: of all
 * @param n_most  so many at most
 * @return 0 or <0: error_out says what is wrong; end with timeline_fini in any case
 */
int timeline_last(const struct run *run, int64_t rank, size_t n_most,
                  struct timeline *timeline_out, char error_out[DUMP_ERROR_BYTES]);

/** Free what timeline_of has made. Accepts a zeroed one. */
void timeline_fini(struct timeline *timeline);

/** Calls of a rank that are not among its events. */
uint64_t timeline_lost(const struct dump_file *file);

/** Whether all messages of a rank's events, which are held, are there: where several
 *  threads call, those of calls that have several are not, but the first. */
bool timeline_has_messages(const struct dump_file *file);

/** When an event ends, since the first rank of the run began to record. */
uint64_t moment_end_ns(const struct moment *moment);

/** The name of an event's primitive. */
const char *moment_call(const struct moment *moment);

/** The name of its communicator, any bytes; NULL: it has none. */
const char *moment_comm(const struct moment *moment);

/** The id of a communicator that an event or its messages name. @return 0: of none */
uint64_t moment_comm_id(const struct moment *moment, uint32_t comm);

/** A way through the messages that an event has sent, or that have arrived in it.
 *  Begins with zeros but for the moment. */
struct moment_messages {
    const struct moment *moment;
    uint32_t n;    /* that were handed out */
    uint32_t next; /* record of the next one, if n is not 0 */
};

/** The next message. @return false: there is none */
bool moment_next_message(struct moment_messages *at,
                         struct mds_dump_message *message_out);

/** The words for its place. @return for free; NULL: no memory */
char *moment_place(const struct moment *moment, struct places *places);

#endif
