/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of cBSP: one process's state, and what the files of this folder do for each
 * other. Everything runs in the thread that is in a function of <bcs/cbsp.h>. Those
 * name no state: they take cbsp_self, and all below them is told which one. So several
 * processes of a job can be in one process of the system, each in a thread of its own
 * below <bcs/cbsp.h>, or one after the other with cbsp_self set to each.
 *
 *   cbsp_calls.c    the functions of <bcs/cbsp.h> that are recorded
 *   send.c     cBSP_send: checks, then the outbox
 *   cbsp_outbox.c   writes messages into receivers' buffers, keeps what does not fit
 *   inbox.c    takes messages out of the own buffers, runs handlers
 *   cbsp_sync.c     both synchronizations: inbox, outbox and barrier until they are
 * done cbsp_barrier.c  who has begun to end the superstep cbsp_wait.c     what a
 * synchronization does between two looks stuck.c    finds out that nobody can go on
 *   cbsp_transfer.c transfers, what all calls check, the end of a job
 *   cbsp_region.c   export and import
 *   raw.c      what BSPlib needs
 *   handler.c  names of functions that are the same in all processes
 *   cbsp_reduce.c   broadcast and reduction, on sends and counting
 *   parts.c    what these expect of each process
 *   cbsp_job.c      begin and end
 */
#ifndef LIBBCS_CBSP_CBSP_JOB_STATE_H
#define LIBBCS_CBSP_CBSP_JOB_STATE_H

#include "libbcs/cbsp/cbsp_wire.h"
#include "libbcs/cbsp/handler.h"
#include "libbcs/fabric/base/forked.h"
#include "libbcs/session/bell.h"
#include "libbcs/session/entry.h"
#include "libbcs/session/exports.h"
#include "libbcs/session/meeting.h"
#include "libbcs/session/verdict.h"

/** A message as its sender gives it. */
struct cbsp_message {
    uint64_t dest;    /* in the receiver; 0: none */
    uint64_t handler; /* name; 0: none */
    const void *data;
    size_t n_bytes;
};

/** A message that is kept at its sender. */
struct cbsp_kept {
    struct cbsp_kept *next;
    struct cbsp_message message; /* data: those below */
    uint64_t superstep;
    uint64_t n_gone; /* bytes that have gone in pieces */
    bool is_announced;
    bool is_read; /* announced as one that its receiver reads */
    _Alignas(16) uint8_t data[];
};

/** Messages that are kept, first in first out. */
struct cbsp_queue {
    struct cbsp_kept *first, *last;
};

/** The stream of messages to one process; see cbsp_outbox.c. */
struct cbsp_out {
    uint64_t superstep; /* whose buffer is being written; UINT64_MAX: none yet */
    uint64_t top_gva;   /* below it the next message goes */
    uint64_t low_gva;   /* the buffer's lower end */
    uint64_t key;
    uint64_t lap;
    uint64_t n_ended; /* supersteps that the receiver has ended, as far as is known */
    uint64_t n_messages;      /* sent in all */
    uint64_t n_read;          /* large messages that it has read in our memory */
    uint64_t wanted;          /* what it was last asked to tell; supersteps */
    uint64_t n_staged;        /* parts put into the stage buffer */
    bool is_apart;            /* the receiver may not read our memory */
    bool is_full;             /* waits for go_on */
    bool owes_end;            /* has overflowed in this superstep */
    struct cbsp_queue queue;  /* not sent yet */
    struct cbsp_queue unread; /* large messages that were announced */
    struct bcs_node_set node; /* the receiver alone */
};

/** The stream of messages from one process; see inbox.c. */
struct cbsp_in {
    const uint64_t *key_at; /* where the next key will be */
    uint64_t key;
    bool is_staged; /* the large message comes through the stage buffer */
    uint64_t lap;
    uint64_t n_messages;       /* taken in all */
    uint64_t n_read;           /* large messages read in its memory */
    uint64_t wanted;           /* the want that was last answered */
    struct cbsp_message large; /* that comes in pieces; handler, dest, length */
    uint8_t *large_data;       /* where its data go; NULL: none comes */
    uint64_t n_large;          /* bytes that have come */
    bool owns_large;           /* large_data is ours to free */
    bool is_apart;             /* we may not read the sender's memory */
    uint64_t n_asked;          /* parts that were asked for */
};

/** A region of another process that may be written to. */
struct cbsp_import {
    uint64_t address, n_bytes;
    uint64_t serial;
    uint32_t region;
};

/** What was imported from one process. */
struct cbsp_imports {
    struct cbsp_import *list; /* the last one used comes first */
    uint32_t n;
};

/** What the process is doing. */
enum cbsp_doing { CBSP_COMPUTING, CBSP_COUNTING, CBSP_MEETING, CBSP_HANDLING };

/** Where the parts of a broadcast or reduction go that is under way: that of process i
 *  has lengths[i] bytes. */
struct cbsp_taking {
    uint8_t **parts;
    size_t *lengths;
    bool is_wrong;
};

struct cbsp {
    struct bcs_core *core;
    struct cbsp_layout layout;
    uint32_t pid, n_procs;
    enum cbsp_doing doing;
    int error;          /* <0: what has ended the job */
    uint64_t superstep; /* that is being computed or ended */
    uint64_t sending;   /* that messages sent now belong to */
    int64_t n_taken;    /* messages of the superstep that is being ended */
    int64_t n_open;     /* streams that have overflowed, and large messages in pieces */
    uint64_t n_queued[2]; /* by superstep's parity: kept messages and ends owed */
    uint64_t bits;        /* what the barrier gathers; see cbsp_gsync */
    uint64_t n_floor;     /* supersteps that all have ended at least */
    uint64_t n_rings;     /* of others' bells */
    uint64_t n_sent[2];   /* by superstep's parity: messages */
    uint64_t wants_seen, revocations_seen;
    uint64_t n_gsyncs;
    struct cBSP_counts counts;

    /* Own heap, by address. */
    const struct bcs_event *wants, *revocations;
    uint64_t *progress;
    const uint64_t *up, *down;
    const struct cbsp_from *from;

    struct cbsp_out *outs;
    struct cbsp_in *ins;
    struct cbsp_imports *imports;
    struct bcs_node_set all, children;
    struct bcs_verdict verdict;
    uint32_t n_children;
    uint32_t parent, sibling; /* this process's number among its parent's children */
    struct cbsp_handlers handlers;

    /* Waiting. */
    struct bcs_bell bell;
    bool is_direct;   /* processes may read each other's memory */
    bool is_told;     /* the last record says that we wait */
    uint64_t state;   /* of the last record */
    uint64_t n_heard; /* in the last record */

    uint64_t n_long_puts; /* that have signalled layout.sent_gva */

    struct bcs_exports exports;

    struct cbsp_taking taking;

    struct bcs_recorder *recorder; /* NULL: none */
    struct mds_collect *collect;   /* where calls are recorded; NULL: they are not */

    struct bcs_entry entry;
    struct bcs_meeting meeting;
    struct bcs_forked forked; /* takes all this away in a forked child */
};

/** A wait, from its first look to its end. */
struct cbsp_waiter {
    enum cbsp_wait wait;
    int32_t wanted;
    struct bcs_bell_wait bell;
};

#pragma GCC visibility push(hidden)

/** The state that the functions of <bcs/cbsp.h> take, since they name none; NULL: this
 *  process is in no job. */
extern struct cbsp *cbsp_self;

#pragma GCC visibility pop

/**
 * What every call checks first: that the process is in a job which has not ended.
 *
 * @param cbsp    NULL: it is in none
 * @param caller  its name, for the log
 * @return 0, -EPERM (logged), or what has ended the job
 */
int cbsp_check(const struct cbsp *cbsp, const char *caller);

/** Start a transfer to n_dests processes, and count it. Its source may be used again at
 *  once if it is no longer than BCS_XFER_COPIED_BYTES; else it has a local event.
 *  @return 0 or -errno */
int cbsp_transfer(struct cbsp *cbsp, const struct bcs_xfer *xfer, uint32_t n_dests);

/** Tell one process a word, at an address of its heap, and ring its bell. */
int cbsp_tell(struct cbsp *cbsp, uint32_t node, uint64_t gva, uint64_t word);

/** End the job with an error, unless it has ended; all processes learn it. @return what
 *  it has ended with */
int cbsp_end_job(struct cbsp *cbsp, int error);

/* cbsp_job.c */

/** Join a job, all of whose processes do so. @param entry  is the state's on success
 *  @return 0 or -errno, logged */
int cbsp_join(const struct bcs_entry *entry, struct cbsp **cbsp_out);

/** Leave the job as cBSP_finalize does. Frees the state. @return as cBSP_finalize */
int cbsp_leave(struct cbsp *cbsp);

/* send.c */

/** Send as cBSP_send does. @param message  but for the handler's name */
int cbsp_send(struct cbsp *cbsp, int node, struct cbsp_message *message,
              cBSP_handler_fn handler);

/* cbsp_outbox.c */

/** Send a message that has been checked: write it, or keep a copy. @return 0, -ENOMEM
 *  (logged), or -errno: end of the job */
int cbsp_outbox_send(struct cbsp *cbsp, uint32_t node,
                     const struct cbsp_message *message);

/** Send what was kept and can go now; free what was read. Within a synchronization.
 *  @return 0 or -errno */
int cbsp_outbox_flush(struct cbsp *cbsp);

/** Whether all messages of the superstep are where their receivers see them, or see
 *  that there are more. */
bool cbsp_outbox_is_visible(const struct cbsp *cbsp);

/** Free all that is kept. */
void cbsp_outbox_fini(struct cbsp *cbsp);

/* inbox.c */

/** Begin to end a superstep. @return 0, or -EPROTO: messages of the last one have come
 *  that were not counted; logged */
int cbsp_inbox_begin(struct cbsp *cbsp);

/** Take all messages of the superstep that are there. @return 0, or -errno: end of the
 *  job; logged */
int cbsp_inbox_take(struct cbsp *cbsp);

/** Free what is not complete. */
void cbsp_inbox_fini(struct cbsp *cbsp);

/* cbsp_barrier.c */

/** Go on with the barrier of this superstep. @return 0, or -EPROTO: somebody calls
 *  cBSP_gsync in another superstep; logged */
int cbsp_barrier_step(struct cbsp *cbsp, int *phase);

/** The phase of cbsp_barrier_step in which all have entered. */
enum { CBSP_BARRIER_PASSED = 2 };

/* cbsp_wait.c */

/** Serve others: look whether the job has ended, send what was kept, tell those who
 *  want to know it how far this process is. @return 0 or -errno */
int cbsp_serve(struct cbsp *cbsp);

/** What to do when a look has found nothing: spin, yield, serve others, sleep. @return
 *  0: look again; -errno: end of the job */
int cbsp_wait(struct cbsp *cbsp, struct cbsp_waiter *waiter);

/** Whether the wait may look: not if it has told all that it waits, and nobody has
 *  rung. */
int cbsp_wait_may_look(struct cbsp *cbsp, bool *may_look_out);

/* stuck.c */

/** Tell all that this process waits, and look whether all do. @return 0, or -EDEADLK */
int cbsp_stuck_look(struct cbsp *cbsp, const struct cbsp_waiter *waiter);

/** Whether the records of n_procs processes prove that none can go on: all wait, none
 *  has changed while they were read, and all rings were heard. */
bool cbsp_stuck_is_proved(const struct cbsp_from *from, uint32_t n_procs);

/** Tell all that this process does not wait any more, if it has said so. @return 0,
 *  -errno */
int cbsp_stuck_unsay(struct cbsp *cbsp);

/* cbsp_reduce.c */

/** Broadcast as cBSP_broadcast does. */
int cbsp_broadcast(struct cbsp *cbsp, int root, void *data, size_t n_bytes);

/** A vector of every process that are to be combined. */
struct cbsp_vector {
    uint8_t *data;
    size_t count, element_bytes;
    cBSP_combine_fn combine;
};

/** Reduce as cBSP_reduce does. */
int cbsp_reduce(struct cbsp *cbsp, const struct cbsp_vector *vector);

/* parts.c */

/** The handler's name of messages that bring a part: of no function, as it is the place
 *  of a file's first byte. */
#define CBSP_PART UINT64_C(1)

/** Room for the parts of all; none is expected yet. @return 0, or -ENOMEM: end
 *  nevertheless */
int cbsp_parts_begin(struct cbsp *cbsp);

/** No parts are expected any more. */
void cbsp_parts_end(struct cbsp *cbsp);

/** The part of a process goes there, and has so many bytes. */
void cbsp_parts_expect(struct cbsp *cbsp, uint32_t node, void *part, size_t n_bytes);

/** A part has come; if it is not what is expected, taking.is_wrong says so. */
void cbsp_parts_take(struct cbsp *cbsp, uint32_t node, const void *data,
                     size_t n_bytes);

/* cbsp_region.c */

/** Export as cBSP_export does. */
int cbsp_export(struct cbsp *cbsp, int region, void *address, size_t n_bytes);

/** Take back an export as cBSP_unexport does. */
int cbsp_unexport(struct cbsp *cbsp, int region);

/** Import as cBSP_import does. */
int cbsp_import(struct cbsp *cbsp, int node, int region, void **address_out,
                size_t *n_bytes_out);

/** Forget imports that were taken back; at the end of a cBSP_gsync. */
void cbsp_imports_update(struct cbsp *cbsp);

/** Whether a destination may be written to. @return 0, or -EACCES; logged */
int cbsp_imports_check(struct cbsp *cbsp, uint32_t node, uint64_t address,
                       size_t n_bytes);

/* cbsp_sync.c */

/** End the superstep by counting. @return as cBSP_nsync */
int cbsp_nsync(struct cbsp *cbsp, int count);

/**
 * End the superstep globally.
 *
 * @param wait  the call's name in reports
 * @param bits  this process's, of 8
 * @param all_bits_out  those that any process has given
 * @return as cBSP_gsync
 */
int cbsp_gsync(struct cbsp *cbsp, enum cbsp_wait wait, uint8_t bits,
               uint8_t *all_bits_out);

#endif
