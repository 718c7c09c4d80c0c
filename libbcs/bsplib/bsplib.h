/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of BSPlib: one process's state, and what the files of this folder do for each
 * other. Everything runs in the thread that is in a function of <bsp.h>.
 *
 *   run.c       begin and end
 *   check.c     the state, and errors
 *   sync.c      bsp_sync
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

/** One process's state. */
struct bsplib {
    enum { BSPLIB_BEFORE, BSPLIB_RUNNING, BSPLIB_OVER, BSPLIB_FORKED } phase;
    bool is_joined; /* cBSP_initialize was called */
    int n_procs;    /* of the parallel part; before it, of the job */
    uint64_t start_ns;
    uint8_t bits; /* of this superstep */
    int n_gets;   /* answers to expect */
    struct bcs_forked forked;
};

extern struct bsplib bsplib;

/** End a process that is not the one that has joined. */
void bsplib_check_process(const char *caller);

/** End the job with a line if the call is not within the parallel part. */
void bsplib_check(const char *caller);

/** End the job with a line if there is no such process. */
void bsplib_check_pid(const char *caller, int pid);

/** End the job with a line about a function of cBSP that has failed. Nothing if rc is 0. */
void bsplib_require(const char *caller, int rc);

/** Send a message, for a handler if that is not NULL. */
void bsplib_send(const char *caller, int pid, const struct bsplib_message *message,
                 cBSP_handler_fn handler);

/* sync.c */

/** End a superstep with the bits that are set; all communication of it is done, other than
 *  that of BSPLIB_SYNC. @return the bits of all processes */
uint8_t bsplib_superstep(const char *caller);

/* register.c */

/** Tell all what was registered in this superstep, and the tag size, if anything was. */
void bsplib_registrations_tell(void);

/** Make valid what all have told; all must have told the same. */
void bsplib_registrations_apply(void);

/** Where an address stands for in another process. Ends the job if it does not.
 *  @return the other process's address */
uint64_t bsplib_registered(const char *caller, int pid, const void *ident, int offset,
                           int nbytes);

/** Free everything. */
void bsplib_registrations_fini(void);

/* remote.c */

/** Write all that was got, and then all that was put. */
void bsplib_remote_apply(void);

/** Free everything. */
void bsplib_remote_fini(void);

/* queue.c */

/** The sizes that were set with bsp_set_tagsize: how often, and the last one. */
void bsplib_tagsize(int *n_calls_out, int *tagsize_out);

/** Drop the messages of the superstep before; those that have come are the queue. */
void bsplib_queue_turn(void);

/** Free everything. */
void bsplib_queue_fini(void);

#endif
