/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freeing of datatypes, about which the shim keeps notes. Runs in the application's
 * threads.
 */
#include "mpi_shim/calls.h"
#include "mpi_shim/datatype.h"
#include "mpi_shim/real.h"

int shim_Type_free(MPI_Datatype *type)
{
    return type == NULL ? shim_real.Type_free(type) : shim_datatype_free(type);
}
