/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers about the whole mesh. None depends on the number of ranks, but for the
 * largest share.
 */
#ifndef SAGE_TOTALS_H
#define SAGE_TOTALS_H

#include <stdint.h>

#include "apps/sage/simulation.h"

/* Taken after every cycle. */
struct totals {
    /* In units; momentum without what the walls have given. */
    struct wide_sum conserved[N_CONSERVED];
    double density_max, pressure_max, speed_max, mach_max;
    int64_t n_cells;
    /* Cells of the rank that has most. */
    int64_t n_cells_most;
};

/* Taken at the end. */
struct final_totals {
    int64_t n_at_level[FOREST_MAX_LEVEL + 1];
    /* Finest cells that the cells cover, and faces with more than a level between. */
    int64_t n_covered, n_unbalanced;
    uint64_t checksum;
    double density_min, pressure_min;
    /* Shock tube, before a wave reaches a wall: mean error of the density against the
     * exact solution, divided by the mean density; else negative. */
    double density_error;
};

/** Sum and compare all cells; four reductions. Every rank. */
void totals_collect(struct totals *totals_out, const struct simulation *simulation);

/** What is needed only once. Every rank calls it. @param time  since the start */
void totals_collect_final(struct final_totals *totals_out,
                          const struct simulation *simulation, double time);

/** Entropy of all cells, up to a constant factor. Every rank calls it. */
double totals_entropy(const struct simulation *simulation);

#endif
