/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program has and has not given back, with BCS_REFEREE_LINT: entry points note
 * each object that is made, with the place of the call, and forget it when it is freed.
 * What is left in MPI_Finalize, lint_report.c tells. While it is off there is nothing
 * of it: entry points get here on their slow path only (symbols.c). Any thread.
 */
#ifndef SHIM_LINT_H
#define SHIM_LINT_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_shim/real/state.h"

#pragma GCC visibility push(hidden)

/** What an object is. */
enum shim_lint_kind {
    SHIM_LINT_REQUEST,
    SHIM_LINT_COMM,
    SHIM_LINT_GROUP,
    SHIM_LINT_TYPE,
    SHIM_LINT_OP,
    SHIM_LINT_KEYVAL,
    SHIM_LINT_ERRHANDLER,
    SHIM_LINT_COMMIT, /* no object: the type has been committed */
};

enum { SHIM_LINT_CALLS_MOST = 10000 };

/** Which call made something. */
struct shim_lint_origin {
    const char *call;  /* "MPI_Isend"; NULL: not known */
    uintptr_t address; /* that it returned to */
    const char *words; /* for that place; NULL: it is one of code */
};

/** An object that the program has. */
struct shim_lint_object {
    enum shim_lint_kind kind;
    bool is_committed; /* a type */
    uintptr_t handle;
    struct shim_lint_origin origin;
    struct shim_lint_object *next; /* in its bucket, newer ones first */
};

/** Start noting. After shim_monitor_start. @return 0 or -ENOMEM */
int shim_lint_start(void);

/** Note that the call under way has made an object. Null and predefined ones do not
 *  count. */
void shim_lint_made(enum shim_lint_kind kind, const char *call, uintptr_t handle);

/** Before an object is freed: it does not count any more. Of several with one handle,
 *  as groups that share it, it is the last one. */
void shim_lint_freed(enum shim_lint_kind kind, uintptr_t handle);

/** Which call made a request of ours, by its number in the arena. */
struct shim_lint_origin shim_lint_request_origin(uint32_t number);

/** A collective that the program has called. */
struct shim_lint_call {
    uint64_t context_id; /* of its communicator */
    struct shim_lint_origin origin;
    uint8_t sent, received; /* enum nic_reduce_type and 1; 0: not known, or no data */
};

/** Note that the call under way is a collective, the first SHIM_LINT_CALLS_MOST of
 *  them.
 *  @param sent, received  as in struct shim_lint_call */
void shim_lint_called(uint64_t context_id, uint8_t sent, uint8_t received);

/** The collectives that were noted, in their order. */
const struct shim_lint_call *shim_lint_calls(uint32_t *n_out);

/** Call look for each object that is left, but requests. */
void shim_lint_each(void (*look)(const struct shim_lint_object *object, void *arg),
                    void *arg);

/** Stop noting, and forget all. */
void shim_lint_stop(void);

#pragma GCC visibility pop

#endif
