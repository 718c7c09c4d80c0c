/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real library's requests in a list that has ours, too. Called by wait_calls.c, in
 * the application's threads.
 *
 * They are completed by its own MPI_Test, or all together by its MPI_Testall, so that
 * it asks a generalized request's functions as often as it does natively. What goes
 * wrong it raises itself.
 */
#include "mpi_shim/request/foreign.h"

#include <stdlib.h>

#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/request/request.h"

bool shim_foreign_is(MPI_Request handle)
{
    return shim_request_find(handle) == NULL && handle != shim_handles.request_null;
}

bool shim_foreign_complete(MPI_Request *handle, MPI_Status *status, int *rc_out)
{
    int flag = 0;

    *rc_out = shim_real.Test(handle, &flag, status);
    return flag != 0 || *rc_out != MPI_SUCCESS;
}

int shim_foreign_gather(struct shim_foreign *foreign, int n, int count,
                        const MPI_Request requests[])
{
    *foreign = (struct shim_foreign){.rc = MPI_SUCCESS};
    if (n == 0) {
        return MPI_SUCCESS;
    }
    foreign->statuses =
        calloc((size_t)n, sizeof(*foreign->statuses) + sizeof(*foreign->requests));
    if (foreign->statuses == NULL) {
        return MPI_ERR_NO_MEM;
    }
    foreign->requests = (MPI_Request *)(void *)(foreign->statuses + n);
    for (int i = 0; i < count; i++) {
        if (shim_foreign_is(requests[i])) {
            foreign->requests[foreign->n++] = requests[i];
        }
    }
    return MPI_SUCCESS;
}

bool shim_foreign_test(struct shim_foreign *foreign)
{
    int flag = 0;

    if (foreign->n == 0) {
        return true;
    }
    foreign->rc =
        shim_real.Testall(foreign->n, foreign->requests, &flag, foreign->statuses);
    return flag != 0 || foreign->rc != MPI_SUCCESS;
}

void shim_foreign_scatter(const struct shim_foreign *foreign, int count,
                          MPI_Request requests[], MPI_Status statuses[])
{
    int n = 0;

    for (int i = 0; i < count && n < foreign->n; i++) {
        if (shim_foreign_is(requests[i])) {
            requests[i] = foreign->requests[n];
            if (statuses != MPI_STATUSES_IGNORE) {
                statuses[i] = foreign->statuses[n];
            }
            n++;
        }
    }
}

void shim_foreign_fini(struct shim_foreign *foreign)
{
    free(foreign->statuses);
}
