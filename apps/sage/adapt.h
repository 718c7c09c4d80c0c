/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptation of the mesh to the solution, and of the slabs to the mesh.
 */
#ifndef SAGE_ADAPT_H
#define SAGE_ADAPT_H

#include <stdint.h>

#include "apps/sage/simulation.h"

struct adapt_counts {
    int n_adaptations;
    /* Cells divided and families merged, on all ranks. */
    int64_t n_refined, n_coarsened;
    /* Times that cells have moved between ranks. Depends on the number of ranks. */
    int n_rebalances;
};

/** Refine and coarsen cells, then share them out again. Every rank calls it. */
void adapt_mesh(struct simulation *simulation, struct adapt_counts *counts);

#endif
