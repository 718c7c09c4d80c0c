/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange: one collective call that is carried out, from the opening of its
 * buffers to their closing. Called under the lock, after shim_collective_check.
 */
#ifndef MPI_SHIM_COLLECTIVE_EXCHANGE_FORMS_H
#define MPI_SHIM_COLLECTIVE_EXCHANGE_FORMS_H

#include "mpi_shim/collective/collective.h"

/** A collective call and its buffers as the API wants them. */
struct shim_exchange {
    struct shim_collective call;
    struct shim_side in, out;
    struct shim_blocks from, to;
    struct shim_combine combine;
    bool is_in_open, is_out_open, is_from_open, is_to_open; /* need closing */
    bool is_combining; /* combine is used until the exchange is over */
    bool is_held;      /* types and operation stay usable if the program frees them */
    int status;        /* of shim_exchange_close, once it is closed */
};

/** Make an exchange of a call without open buffers. Sets all but the call and what is
 *  not used before it is open. */
static inline void shim_exchange_init(struct shim_exchange *exchange)
{
    exchange->is_in_open = false;
    exchange->is_out_open = false;
    exchange->is_from_open = false;
    exchange->is_to_open = false;
    exchange->is_combining = false;
    exchange->is_held = false;
    exchange->status = 0;
}

/** Before shim_exchange_start: none of its buffers is known. */
static inline void shim_exchange_forget_buffers(struct shim_exchange *exchange)
{
    exchange->in = exchange->out = (struct shim_side){.data = NULL};
    exchange->from.layout = exchange->to.layout = NULL;
    exchange->from.blocks.data = NULL;
}

/**
 * Open the buffers and give them to the API. Called under the lock. Close in any case:
 * at once if this fails, or when the request is done.
 *
 * @param request  NULL: block
 * @return what the API has returned, or -ENOMEM
 */
int shim_exchange_start(struct shim_exchange *exchange, struct shim_comm *comm,
                        struct bcs_request *request);

/** Whether something remains to be done when a started exchange is over. */
static inline bool shim_exchange_is_open(const struct shim_exchange *exchange)
{
    return exchange->is_in_open || exchange->is_out_open || exchange->is_from_open ||
           exchange->is_to_open || exchange->is_combining;
}

/** The slow part of shim_exchange_close. */
int shim_exchange_close_buffers(struct shim_exchange *exchange, int status);

/**
 * Close the buffers; if status says so, what was received becomes the program's.
 * Closing once more does nothing.
 *
 * @param status  what the API's call or request has come to
 * @return status, or the first error in closing
 */
static inline int shim_exchange_close(struct shim_exchange *exchange, int status)
{
    status = exchange->status != 0 ? exchange->status : status;
    exchange->status = shim_exchange_is_open(exchange)
                           ? shim_exchange_close_buffers(exchange, status)
                           : status;
    return exchange->status;
}

/** Keep what the call names until shim_exchange_free; of an exchange from malloc. */
void shim_exchange_hold(struct shim_exchange *exchange);

/** Close, forget and free an exchange from malloc. Accepts NULL. */
void shim_exchange_free(struct shim_exchange *exchange);

#endif
