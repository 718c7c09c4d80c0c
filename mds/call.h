/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread is doing while its calls are recorded (collect.h).
 */
#ifndef MDS_CALL_H
#define MDS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "mds/sites.h"

struct bcs_stamps;

/** What a thread is doing. */
struct mds_call {
    uint32_t depth;        /* of calls in calls: only the outermost is recorded */
    bool has_size;         /* the call under way has one, */
    uint64_t n_bytes;      /* which is so many bytes */
    uintptr_t address;     /* where the outermost call returns to */
    const char *words;     /* for that place, of a call from Python; else NULL */
    const char *function;  /* which it is, while the referee looks; else NULL or any */
    struct mds_site *site; /* that of the call under way */
    uint32_t n_messages;   /* that it has sent or got */
    int32_t peer, tag;     /* of the first of them, */
    uint64_t first_bytes;  /* which is so long */
    uint32_t comm;         /* of that, or of a collective: number and 1; 0: none */
    uint32_t kind;         /* bits of enum mds_event_kind */
    uint64_t first_slice;  /* when it began; see mds_slice */
    /* What the call under way has waited for, of who records several threads and keeps
     * that for each: set by who has begun it, until it ends; else NULL. */
    struct bcs_stamps *stamps;
};

#pragma GCC visibility push(hidden)

/** This thread's. */
extern _Thread_local struct mds_call mds_call
    __attribute__((tls_model("initial-exec")));

#pragma GCC visibility pop

#endif
