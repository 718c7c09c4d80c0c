/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a request back. Called by entry points after shim_enter.
 */
#ifndef MPI_SHIM_REQUEST_CANCEL_H
#define MPI_SHIM_REQUEST_CANCEL_H

#include "mpi_shim/request/request.h"

/** Take an active request back, if that can be: then it is done, and cancelled. */
void shim_request_cancel(struct shim_request *request);

#endif
