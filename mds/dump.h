/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The form of the files that the MDS writes, which docs/dump-format.md describes: a
 * header, a directory of sections, and the sections, each of records of one length. All
 * numbers are little-endian. Shared by the writer (dump_write.c) and the reader
 * (mds/tool).
 *
 * A later version may add sections, and members at the end of records: a reader skips
 * sections that it does not know and goes by the directory's length of a record. It
 * raises the version if what was there before has another meaning.
 */
#ifndef MDS_DUMP_H
#define MDS_DUMP_H

#include <stdint.h>

#include "libbcs/fabric/base/digest.h"

#define MDS_DUMP_MAGIC "BCS-MDS\n"
#define MDS_DUMP_VERSION 1

/** The most bytes of a file that is read; and what may be had by its sections of events
 *  or of slices, by far the longest: the rest is left to all others. */
#define MDS_DUMP_MOST_BYTES (UINT64_C(1) << 30)
#define MDS_DUMP_MOST_RECORDS_BYTES (MDS_DUMP_MOST_BYTES / 4 * 3)

/** What a file is about. */
enum mds_dump_kind {
    MDS_DUMP_PROCESS = 1,
    MDS_DUMP_NODE = 2,   /* slices as a node's strobe receiver saw them, */
    MDS_DUMP_GLOBAL = 3, /* or the strobe sender, of all nodes */
};

/** The first bytes of a file; the directory follows. */
struct mds_dump_header {
    char magic[8];
    uint32_t version;
    uint32_t kind;       /* enum mds_dump_kind */
    uint64_t n_bytes;    /* of the whole file */
    uint32_t n_sections; /* entries of the directory */
    uint32_t reserved;
};

/** An entry of the directory. */
struct mds_dump_section {
    char name[8];     /* filled up with zeros */
    uint64_t offset;  /* in the file, a multiple of 8 */
    uint64_t n_bytes; /* n_records * record_bytes */
    uint32_t n_records;
    uint32_t record_bytes;
    uint64_t digest; /* of the section's bytes; see libbcs/fabric/base/digest.h */
};

/** How a process has ended, or the job that slices are of. */
enum mds_dump_end {
    MDS_DUMP_END_FINALIZE = 1, /* by MPI_Finalize */
    /* Not by MPI_Finalize; perhaps it still runs. A process's peak_bytes, n_slices and
     * n_passed of calls are not known, and 0; of slices the one that was under way is
     * missing. */
    MDS_DUMP_END_UNKNOWN = 2,
};

/** Section "process": one record. Times are in ns. */
struct mds_dump_process {
    uint32_t rank, n_ranks;
    uint64_t pid;
    uint64_t began_unix;      /* when recording began, since 1970 */
    uint64_t began_monotonic; /* the same moment on CLOCK_MONOTONIC */
    uint64_t run;             /* from then on, for so long */
    uint64_t run_ticks; /* the same in ticks of the clock that intervals are taken by */
    uint64_t instant;   /* in non-blocking primitives */
    uint64_t peak_bytes; /* of memory, resident */
    uint64_t n_slices;
    uint32_t end;            /* enum mds_dump_end */
    uint32_t histogram_bits; /* see mds/histogram.h */
    char host[64];
};

/** Parts of the time of calls that block, by enum mds_part of mds/split.h, which come
 *  to all of it; and those with a rank at fault, the first ones. */
enum { MDS_DUMP_PARTS = 6, MDS_DUMP_LATE = 3 };

/** Sections "calls" (a record for each primitive that was called, or passed on) and
 *  "periods" (two: computation granularity and communication overhead). Times are in
 *  ns. */
struct mds_dump_call {
    uint32_t name;   /* offset in section "names" */
    uint32_t timing; /* enum mds_timing */
    uint64_t count, min, max, total;
    uint64_t n_sized;  /* calls that have a size, */
    uint64_t n_bytes;  /* and what they have together */
    uint64_t n_passed; /* calls that were left to the MPI library */
    /* Not in files of earlier versions; of "periods" all 0: */
    uint64_t parts[MDS_DUMP_PARTS];
};

/** What a distribution is of; those of calls have a number. */
enum mds_dump_of {
    MDS_DUMP_OF_COMPUTATION,   /* in ticks, as all of time */
    MDS_DUMP_OF_COMMUNICATION, /* in ticks */
    MDS_DUMP_OF_LATENCY,       /* of a call, in ticks */
    MDS_DUMP_OF_SIZE,          /* of a call, in bytes */
};

/** Section "buckets": a record for each bucket that is not empty, in the order of their
 *  members. */
struct mds_dump_bucket {
    uint32_t of;     /* enum mds_dump_of */
    uint32_t call;   /* number of the record in "calls", or 0 */
    uint32_t bucket; /* see mds_histogram_least */
    uint32_t reserved;
    uint64_t count;
};

/** Section "peers": a record for each rank that messages were exchanged with, or that
 *  was waited for, in their order. */
struct mds_dump_peer {
    uint32_t rank, reserved;
    uint64_t n_sent, sent_bytes;
    uint64_t n_received, received_bytes;
    /* For how long it was waited for, in ns; not in files of earlier versions: */
    uint64_t late[MDS_DUMP_LATE];
};

/** The number of no record. */
#define MDS_DUMP_NONE UINT32_MAX

/** Section "modules": a record for each file of code that calls were made from. */
struct mds_dump_module {
    uint32_t name;     /* its path: offset in section "names" */
    uint32_t id_bytes; /* of its build id; 0: it has none */
    uint8_t id[32];
};

/** Section "sites": a record for each primitive and place that it was called from. */
struct mds_dump_site {
    uint32_t call;   /* number of the record in "calls" */
    uint32_t module; /* number of the record in "modules", or MDS_DUMP_NONE */
    uint64_t
        address; /* where the call returns to, as the module's file has it; without a
                         module as the process had it; 0: places that found no room */
    uint64_t count, min, max, total; /* times in ns */
    uint64_t n_bytes;                /* of calls that have a size */
    /* Not in files of earlier versions: */
    uint64_t parts[MDS_DUMP_PARTS];
    uint64_t fault_ns;   /* for at least so long the process has waited there, */
    uint32_t fault_rank; /* for this rank; means nothing if that is 0 */
    /* The place in words, of a call from Python: offset in section "names" and 1. Then
     * the address says nothing. 0: there are none */
    uint32_t words;
};

/** Section "comms": a record for each communicator that was used, and one of those that
 *  found no room, of id 0. */
struct mds_dump_comm {
    uint64_t id;      /* the same in all files of a run, and of no other communicator */
    uint32_t name;    /* offset in section "names" */
    uint32_t n_ranks; /* members */
    uint64_t n_sent, sent_bytes;
    uint64_t n_received, received_bytes;
    uint64_t n_collectives, collective_bytes;
};

/** Section "now", of a process that has not ended by MPI_Finalize: one record. */
struct mds_dump_now {
    uint64_t since; /* from the begin of recording to that of the call, or the end of
                       the last */
    uint32_t
        call; /* that it is in: number of the record in "calls", or MDS_DUMP_NONE */
    uint32_t comm;     /* number of the record in "comms", or MDS_DUMP_NONE */
    uint32_t module;   /* as of "sites" */
    uint32_t has_peer; /* it waits for a message: */
    uint64_t address;  /* as of "sites" */
    int32_t peer;      /* whose, rank in the job; -1: anybody's */
    int32_t tag;       /* -1: any */
    /* Not in files of earlier versions: */
    uint32_t words; /* as of "sites" */
    uint32_t reserved;
};

/** Section "phases": a record for each level of MPI_Pcontrol that the program was in, 1
 *  at first. Times are in ns. */
struct mds_dump_phase {
    int32_t level;
    uint32_t is_other; /* all levels that found no room */
    uint64_t count;    /* how often it was entered */
    uint64_t total;    /* time in it, */
    uint64_t blocked;  /* in blocking primitives, */
    uint64_t instant;  /* and in others */
};

/** Section "events": the last calls of the process, in the order in which they have
 *  ended. */
struct mds_dump_event {
    uint64_t begin, end; /* in ns, from the begin of recording */
    uint64_t n_bytes;    /* as of "calls" */
    uint32_t call;       /* number of the record in "calls" */
    uint32_t site;       /* number of the record in "sites" */
    uint32_t comm;       /* number of the record in "comms", or MDS_DUMP_NONE */
    uint32_t n_messages; /* that the call has sent, or that have arrived in it */
    int32_t peer;        /* of the first of them: rank in the job, */
    int32_t tag;         /* and tag; of a collective its number on the communicator */
    uint32_t kind;       /* bits of enum mds_event_kind but MDS_EVENT_MESSAGE */
    uint32_t n_slices;   /* that have begun during the call */
    /* Not in files of earlier versions: */
    uint64_t first_bytes; /* of the first message */
    uint64_t slice; /* that ran, or had run last, when it ended; 0: none, or not by the
                       clock */
};

/** Section "messages": those of the calls of "events" that have several, but the
 *  first. */
struct mds_dump_message {
    uint64_t n_bytes;
    uint32_t event; /* number of the record in "events"; they are in its order */
    uint32_t comm;  /* as of "events" */
    int32_t peer, tag;
    uint32_t kind; /* MDS_EVENT_SENT or MDS_EVENT_RECEIVED */
    uint32_t reserved;
};

/** Section "node", of files about slices: one record. Times are in ns. */
struct mds_dump_node {
    uint32_t node, n_nodes;       /* node: 0 in the file about all */
    uint32_t first_rank, n_ranks; /* that are on it */
    uint64_t began_unix;          /* when the job did, since 1970 */
    uint64_t began_monotonic;     /* the same moment on CLOCK_MONOTONIC */
    uint64_t run;                 /* from then on, for so long */
    uint64_t slice;               /* BCS_SLICE */
    uint64_t
        interval; /* slices are counted by intervals of time so long; 0: by strobes */
    uint64_t window_first, window_slices; /* what was to be recorded; 0, 0: all */
    uint32_t shift; /* a span is of 2^shift slices, or intervals */
    uint32_t
        end; /* enum mds_dump_end; 0 in files of earlier versions, as by MPI_Finalize */
    char host[64];
};

enum mds_dump_unit { MDS_DUMP_NS = 1, MDS_DUMP_NUMBER = 2 };

/** Section "metrics": a record for each that was recorded. */
struct mds_dump_metric {
    uint32_t name; /* offset in section "names" */
    uint32_t unit; /* enum mds_dump_unit */
};

/** Section "spans": a record for each of which something was recorded, by number. */
struct mds_dump_span {
    uint64_t first;    /* number of its first slice, or interval */
    uint64_t began;    /* when the first slice in it did; since began_monotonic */
    uint64_t n_slices; /* in it */
};

/** Section "tallies": for each span one of each metric, in the order of both. */
struct mds_dump_tally {
    uint64_t count; /* slices that have a value; with 0, the others are 0, too */
    uint64_t total, least, most;
};

_Static_assert(sizeof(struct mds_dump_node) == 144, "as documented");
_Static_assert(sizeof(struct mds_dump_metric) == 8, "as documented");
_Static_assert(sizeof(struct mds_dump_span) == 24, "as documented");
_Static_assert(sizeof(struct mds_dump_tally) == 32, "as documented");
_Static_assert(sizeof(struct mds_dump_header) == 32, "as documented");
_Static_assert(sizeof(struct mds_dump_section) == 40, "as documented");
_Static_assert(sizeof(struct mds_dump_process) == 144, "as documented");
_Static_assert(sizeof(struct mds_dump_call) == 112, "as documented");
_Static_assert(sizeof(struct mds_dump_bucket) == 24, "as documented");
_Static_assert(sizeof(struct mds_dump_peer) == 64, "as documented");
_Static_assert(sizeof(struct mds_dump_now) == 48, "as documented");
_Static_assert(sizeof(struct mds_dump_event) == 72, "as documented");
_Static_assert(sizeof(struct mds_dump_message) == 32, "as documented");
_Static_assert(sizeof(struct mds_dump_phase) == 40, "as documented");
_Static_assert(sizeof(struct mds_dump_comm) == 64, "as documented");
_Static_assert(sizeof(struct mds_dump_module) == 40, "as documented");
_Static_assert(sizeof(struct mds_dump_site) == 120, "as documented");

#endif
