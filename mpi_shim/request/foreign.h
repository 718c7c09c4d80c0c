/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real library's requests (of calls that were passed, and generalized ones) in a
 * list that has ours, too. Called by the functions of wait_calls.c after shim_enter.
 */
#ifndef MPI_SHIM_FOREIGN_H
#define MPI_SHIM_FOREIGN_H

#include <mpi.h>
#include <stdbool.h>

/** Those of one list, gathered; they complete all together. */
struct shim_foreign {
    int n;
    int rc; /* of their completion */
    MPI_Request *requests;
    MPI_Status *statuses;
};

/** Whether a handle is of a request of the real library. */
bool shim_foreign_is(MPI_Request handle);

/**
 * Test one, and complete it if it is over.
 *
 * @return whether it is over; then *rc_out is what MPI_Test has returned
 */
bool shim_foreign_complete(MPI_Request *handle, MPI_Status *status, int *rc_out);

/**
 * Gather those of a list; with n = 0 there are none, and nothing is allocated.
 *
 * @return MPI_SUCCESS or MPI_ERR_NO_MEM
 */
int shim_foreign_gather(struct shim_foreign *foreign, int n, int count,
                        const MPI_Request requests[]);

/** Complete them if all are over. @return whether they are; true if there are none */
bool shim_foreign_test(struct shim_foreign *foreign);

/** After they are over: put handles and statuses to their places in the list. */
void shim_foreign_scatter(const struct shim_foreign *foreign, int count,
                          MPI_Request requests[], MPI_Status statuses[]);

/** Give the memory back. */
void shim_foreign_fini(struct shim_foreign *foreign);

#endif
