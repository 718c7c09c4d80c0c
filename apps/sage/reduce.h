/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of several numbers over all ranks. The deck says whether one call carries
 * them all, which is what MPI is good at, or a call each, as in the program that the
 * paper has measured.
 */
#ifndef SAGE_REDUCE_H
#define SAGE_REDUCE_H

#include <mpi.h>

#include "apps/sage/input.h"

/**
 * Reduce n numbers in place on all ranks of MPI_COMM_WORLD, each by itself; collective.
 *
 * @param numbers  n of type, one after the other
 */
void reduce_all(const struct input *input, void *numbers, int n, MPI_Datatype type,
                MPI_Op operation);

#endif
