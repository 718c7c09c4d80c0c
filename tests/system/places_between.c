/* SPDX-License-Identifier: BSD-3-Clause */
/* A library between a program and MPI; see places.c. */
#include "tests/system/places_between.h"

#include <mpi.h>

void between_receive(int *word, int tag)
{
    MPI_Status status;

    MPI_Recv(word, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, /* of the library */
             &status);
    *word += status.MPI_TAG;
}
