/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last calls of a process, each with its begin and end: a ring of a fixed number of
 * entries. A call that has sent or got several messages has an entry for each of them
 * but the first, in front of its own. Under the collection's lock.
 */
#ifndef MDS_EVENTS_H
#define MDS_EVENTS_H

#include <stdint.h>

/** What an entry is, and what its message, or the first of its call, is. */
enum mds_event_kind {
    MDS_EVENT_SENT = 1,       /* that was sent, */
    MDS_EVENT_RECEIVED = 2,   /* or has arrived */
    MDS_EVENT_COLLECTIVE = 4, /* the call is a collective: tag is its number on comm */
    MDS_EVENT_MESSAGE = 8,    /* the entry is a message's; else a call's */
};

/** A call that has ended, or a message of one. */
struct mds_event {
    uint64_t begin_ticks, end_ticks;
    uint64_t n_bytes;     /* as of mds_size_add */
    int32_t peer;         /* if it was one message: whose, rank in the job, */
    int32_t tag;          /* and its tag */
    uint32_t comm;        /* number and 1; 0: none */
    uint32_t n_messages;  /* that it has sent, or that have arrived in it */
    uint64_t first_bytes; /* length of the first of them */
    uint32_t site;        /* number in the table */
    uint32_t kind;        /* bits of enum mds_event_kind */
    uint64_t first_slice; /* that ran, or had run last, when it began, */
    uint64_t slice;       /* and when it ended; both 0 unless slices are by the clock */
};

#endif
