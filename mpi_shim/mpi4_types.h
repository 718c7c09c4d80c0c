/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of MPI 4 that the functions of symbols.def need, as Open MPI 5 declares them: the
 * mpi.h that we are built with may be older. Included by symbols.h only.
 */
#ifndef MPI_SHIM_MPI4_TYPES_H
#define MPI_SHIM_MPI4_TYPES_H

#include <mpi.h>

typedef struct ompi_instance_t *MPI_Session; /* the same again where mpi.h has it */

#endif
