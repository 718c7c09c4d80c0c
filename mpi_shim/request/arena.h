/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of ours: what an MPI_Request handle that the shim has given out points to.
 * They live in an arena, so that an array of requests may mix them with the real
 * library's: a handle is ours if it lies in the arena. That is made of slabs, each as
 * large as all before it, and grows with the number of requests. Called by entry
 * points after shim_enter.
 */
#ifndef MPI_SHIM_REQUEST_ARENA_H
#define MPI_SHIM_REQUEST_ARENA_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_shim/real/state.h"
#include "mpi_shim/request/bsend_space.h"
#include <bcs/bcs.h>

/** How a request's send sends, or that it receives. */
enum shim_kind {
    SHIM_SEND,
    SHIM_SEND_OF_COPY, /* of the data as they are now */
    SHIM_SEND_SYNCHRONOUS,
    SHIM_SEND_BUFFERED,
    SHIM_RECEIVE,
    /* Those from here on hold their communicator. */
    SHIM_RECEIVE_MESSAGE, /* that a matched probe has taken */
    SHIM_EXCHANGE,        /* a collective */
};

/** A non-blocking or persistent operation. */
struct shim_request {
    struct bcs_request base;
    enum shim_kind kind;
    int count;
    const void *buffer;
    MPI_Comm error_comm; /* whose error handler is called; NULL: the program has no
                                  such request, now */
    /* Fortran's MPI_Wait reads an int here after the call: Open MPI's own index. */
    int32_t fortran_handle;
    int32_t peer;
    int32_t tag;
    uint32_t message_item; /* receive of a matched probe */
    uint32_t number; /* of a persistent collective, see numbers.h; of a buffered send
                        and of what carries it, equal and not 0 */
    const struct shim_datatype *type;
    struct shim_comm *comm;    /* there until the request is over */
    struct shim_request *next; /* free list, orphans */
    char *copy;                /* of the data, without gaps, or NULL */
    bool is_persistent;        /* holds type and comm */
    bool holds_type;           /* for data with gaps */
    bool holds_comm; /* to record whom the message is of, or as it was freed */
    bool is_active;
    bool is_proc_null;
    bool is_plain;    /* when it is over, its result is all there is to hand over */
    bool is_buffered; /* copy counts as used space of the attached buffer */
    /* Of a collective, while something remains to be done at its end, or persistent. */
    struct shim_exchange *exchange;
    struct shim_request *partner; /* the send that is part of this receive, or NULL */
};

_Static_assert(offsetof(struct shim_request, fortran_handle) == 0x68,
               "where Open MPI has its Fortran index");

enum { SHIM_FORTRAN_BASE = 1 << 30 };

enum {
    SHIM_N_RESTING = 64,
    SHIM_FIRST_SLAB = 1024, /* requests of the first slab, and of the second */
    SHIM_SLABS_MOST = 20,
};

/** What is remembered of the requests of ours. Slab 0, from shim_state.requests to
 *  shim_state.requests_end, has the first ones, slab i those from SHIM_FIRST_SLAB << (i
 *  - 1) on. */
struct shim_arena {
    struct shim_request *slabs[SHIM_SLABS_MOST];
    uint32_t n_slabs;
    struct shim_request *free;
    /* Requests that go on without a handle. While there are any, calls end with a look
     * at them: what has arrived before a call is in its buffer after it. */
    struct shim_request *orphans;
    uint32_t n_carriers; /* buffered sends that did not end at once, so far */
    /* Those that were deleted last, in a ring: a copy of such a handle that the program
     * has kept is found out, and not taken for a new request. */
    struct shim_request *resting[SHIM_N_RESTING];
    uint32_t next_resting;
    uint32_t n_touched;
    uint32_t n_used;
    struct shim_bsend_space space;
};

/** Make the arena. @return 0 or -ENOMEM */
int shim_request_setup(void);

/** Give the arena back. */
void shim_request_teardown(void);

/** The rest of shim_request_find: whether a request is in a later slab. */
struct shim_request *shim_request_find_later(struct shim_request *request);

/** @return our request behind a handle, or NULL: null or the real library's */
static inline struct shim_request *shim_request_find(MPI_Request handle)
{
    struct shim_request *request = (struct shim_request *)(void *)handle;

    return request >= shim_state.requests && request < shim_state.requests_end
               ? request
               : shim_request_find_later(request);
}

/** The request with a number below n_touched. */
static inline struct shim_request *shim_request_at(uint32_t index)
{
    uint32_t slab, before;

    if (index < SHIM_FIRST_SLAB) {
        return &shim_state.requests[index];
    }
    slab = 32 - (uint32_t)__builtin_clz(index / SHIM_FIRST_SLAB);
    before = (uint32_t)SHIM_FIRST_SLAB << (slab - 1);
    return &shim_state.arena->slabs[slab][index - before];
}

/** @return the request behind Fortran's handle, which is one of ours; NULL: no such */
static inline struct shim_request *shim_request_of_fortran(MPI_Fint handle)
{
    uint32_t index = (uint32_t)handle - SHIM_FORTRAN_BASE;

    return index < shim_state.arena->n_touched ? shim_request_at(index) : NULL;
}

/** @return a fresh request, zero but for its Fortran handle; NULL: too many */
struct shim_request *shim_request_new(void);

/** Before a communicator is freed: errors of its requests that are not over are raised
 *  on MPI_COMM_WORLD, as are all that belong to no communicator; but they hold it. */
void shim_request_outlive(MPI_Comm comm);

/** Let a request that has just been deleted rest, in place of the one that has rested
 *  for longest. */
void shim_request_rest(struct shim_request *request);

#endif
