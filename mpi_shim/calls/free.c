/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freeing of datatypes and operations, about which the shim keeps notes. Runs in the
 * application's threads.
 */
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/data/datatype.h"
#include "mpi_shim/data/op.h"
#include "mpi_shim/real/real.h"

int shim_Type_free(MPI_Datatype *type)
{
    return type == NULL ? shim_real.Type_free(type) : shim_datatype_free(type);
}

int shim_Op_free(MPI_Op *op)
{
    return shim_op_free(op);
}
