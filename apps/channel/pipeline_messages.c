/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipelined solve by MPI.
 */
#include <mpi.h>

#include "apps/channel/pipeline.h"

int pipeline_by_messages(const struct banded *banded)
{
    struct banded_place place = {0};

    for (size_t step = 0; step < banded->n_steps; step++) {
        double product = 0;

        if (banded_has_left(banded, step)) {
            MPI_Recv(&product, 1, MPI_DOUBLE, banded->left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        product = banded_step(banded, &place, step, product);
        if (banded_has_right(banded, step)) {
            MPI_Send(&product, 1, MPI_DOUBLE, banded->right, 0, MPI_COMM_WORLD);
        }
    }
    return 0;
}
