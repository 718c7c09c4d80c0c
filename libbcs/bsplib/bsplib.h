/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of BSPlib: one process's state, and what the files of this folder do for each
 * other. Everything runs in the thread that is in a function of <bsp.h>. Those, and the
 * handlers of messages, name no state: they take bsplib_self, and all below them is
 * told which one.
 *
 *   bsplib_calls.c     the functions of <bsp.h> that are recorded
 *   run.c       begin and end
 *   bsplib_check.c     the state, and errors
 *   bsplib_sync.c      bsp_sync
 *   register.c  registrations of memory
 *   remote.c    puts and gets
 *   queue.c     messages with tags
 */
#ifndef BSPLIB_BSPLIB_H
#define BSPLIB_BSPLIB_H

#include <stdbool.h>
#include <stdint.h>

#include <bsp.h>

#include "libbcs/cbsp/raw.h"

/** What a process tells all at the barrier of bsp_sync or bsp_end. */
enum {
    BSPLIB_SYNC = 1,      /* calls bsp_sync */
    BSPLIB_END = 2,       /* calls bsp_end */
    BSPLIB_GETS = 4,      /* gets something */
    BSPLIB_REGISTERS = 8, /* has told all registrations, or a tag size */
};

/** A message to another process. */
struct bsplib_message {
    uint64_t dest; /* where to write it there, unchecked; 0: nowhere */
    const void *data;
    size_t n_bytes;
};

/** Registrations of memory; see register.c. */
struct bsplib_registrations {
    struct bsplib_part *parts; /* [n_slots][n_procs] */
    bool *is_alive;            /* [n_slots] */
    bool *is_popped;           /* [n_slots] here, in this superstep */
    uint64_t n_slots;   /* that are valid; then come those pushed in this superstep */
    uint64_t n_pushed;  /* here, in this superstep */
    uint64_t n_room;    /* slots that arrays are long enough for */
    uint64_t last_used; /* slot */
    /* What this process has popped in this superstep: slots, or NO_SLOT for NULL. */
    uint64_t *pops;
    uint64_t n_pops, n_pop_room;
    struct bsplib_told **told_by; /* what each has told */
};

/** Messages with tags; see queue.c. */
struct bsplib_queue {
    struct bsplib_tagged_list *coming; /* [n_procs] by sender; NULL before the first */
    struct bsplib_tagged *first;
    struct bsplib_tagged *taken; /* in this superstep: still the program's */
    int queue_tag, sending_tag, set_tag;
    int n_set; /* calls of bsp_set_tagsize in this superstep */
};

/** One process's state. */
struct bsplib {
    enum { BSPLIB_BEFORE, BSPLIB_RUNNING, BSPLIB_OVER, BSPLIB_FORKED } phase;
    bool is_initialized; /* bsp_init was called */
    bool is_recorded;    /* calls are */
    int n_procs;         /* of the parallel part; before it, of the job */
    uint64_t start_ns;
    uint8_t bits; /* of this superstep */
    int n_gets;   /* answers to expect */
    struct bsplib_registrations registrations;
    struct bsplib_queue queue;
    struct bsplib_log *puts, *gots; /* [n_procs] by sender; NULL before the first */
    struct bcs_forked forked;
};

/* What is behind the entry points of bsplib_calls.c: bsplib_call_<name> does what
 * bsp_<name> does. */
#define CBSP_BSPLIB_CALL(timing, name, parameters, arguments, n_bytes)                 \
    void bsplib_call_##name parameters;
#include "libbcs/cbsp/call_kinds.def"

/** The state that the functions of <bsp.h> take, since they name none; NULL: this
 *  process has not joined a job yet. */
extern struct bsplib *bsplib_self;

/** Make the state of the process that cBSP has joined, before the parallel part. */
struct bsplib *bsplib_create(const char *caller);

/** End a process that is not the one that has joined. */
void bsplib_check_process(const char *caller);

/** End the job with a line if the call is not within the parallel part. @return the
 *  state */
struct bsplib *bsplib_check(const char *caller);

/** End the job with a line if there is no such process. */
void bsplib_check_pid(const struct bsplib *bsp, const char *caller, int pid);

/** End the job with a line about a function of cBSP that has failed. Nothing if rc is
 *  0. */
void bsplib_require(const char *caller, int rc);

/** Send a message, for a handler if that is not NULL. */
void bsplib_send(const char *caller, int pid, const struct bsplib_message *message,
                 cBSP_handler_fn handler);

/* bsplib_sync.c */

/** End a superstep with the bits that are set; all communication of it is done, other
 *  than that of BSPLIB_SYNC. @return the bits of all processes */
uint8_t bsplib_superstep(struct bsplib *bsp, const char *caller);

/* register.c */

/** Tell all what was registered in this superstep, and the tag size, if anything
 *  was. */
void bsplib_registrations_tell(struct bsplib *bsp);

/** Make valid what all have told; all must have told the same. */
void bsplib_registrations_apply(struct bsplib *bsp);

/** A place within registered memory, by its address here. */
struct bsplib_place {
    const void *ident;
    int offset, n_bytes;
};

/** Where a place stands for in another process. Ends the job if it does not.
 *  @return the other process's address */
uint64_t bsplib_registered(struct bsplib *bsp, const char *caller, int pid,
                           const struct bsplib_place *place);

/** Free everything. */
void bsplib_registrations_fini(struct bsplib_registrations *registrations);

/* remote.c */

/** Write all that was got, and then all that was put. */
void bsplib_remote_apply(struct bsplib *bsp);

/** Free everything. */
void bsplib_remote_fini(struct bsplib *bsp);

/* queue.c */

/** Drop the messages of the superstep before; those that have come are the queue. */
void bsplib_queue_turn(struct bsplib *bsp);

/** Free everything. */
void bsplib_queue_fini(struct bsplib *bsp);

#endif
