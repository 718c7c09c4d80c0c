/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling MPI_Status: by all receiving, waiting and probing functions of the shim, in
 * the calling thread. A status is three public fields and two that Open MPI keeps
 * public for us: length in bytes, from which its MPI_Get_count works, and cancelled.
 */
#ifndef MPI_SHIM_REQUEST_REQUEST_STATUS_H
#define MPI_SHIM_REQUEST_REQUEST_STATUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

_Static_assert(sizeof(MPI_Status) == 24, "MPI_Status of another MPI library");
_Static_assert(offsetof(MPI_Status, _ucount) == 16,
               "MPI_Status of another MPI library");

/**
 * Fill a status, all but MPI_ERROR: for the functions with one status, which must leave
 * that field alone. Accepts MPI_STATUS_IGNORE.
 */
static inline void shim_status_set(MPI_Status *status, int source, int tag,
                                   size_t n_bytes, bool is_cancelled)
{
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = source;
        status->MPI_TAG = tag;
        status->_ucount = n_bytes;
        status->_cancelled = is_cancelled;
    }
}

/** Set MPI_ERROR: for the functions with an array of statuses that return
 *  MPI_ERR_IN_STATUS. Accepts MPI_STATUS_IGNORE. */
static inline void shim_status_set_error(MPI_Status *status, int error)
{
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = error;
    }
}

/** The empty status of null and inactive requests, but for MPI_ERROR. */
static inline void shim_status_set_empty(MPI_Status *status)
{
    shim_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}

/** The status of receives from and probes of MPI_PROC_NULL, but for MPI_ERROR. */
static inline void shim_status_set_proc_null(MPI_Status *status)
{
    shim_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
}

/** Element i of an array of statuses, or MPI_STATUS_IGNORE of MPI_STATUSES_IGNORE. */
static inline MPI_Status *shim_status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

#endif
