/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place that knows how many numbers a reduction carries. Every rank runs it; no
 * state.
 */
#include "apps/sage/reduce.h"

void reduce_all(const struct input *input, void *numbers, int n, MPI_Datatype type,
                MPI_Op operation)
{
    int n_together = input->reductions == REDUCTIONS_SINGLE ? 1 : n;
    int n_bytes;

    MPI_Type_size(type, &n_bytes);
    for (int first = 0; first < n; first += n_together) {
        MPI_Allreduce(MPI_IN_PLACE, (char *)numbers + (size_t)first * (size_t)n_bytes,
                      n_together, type, operation, MPI_COMM_WORLD);
    }
}
