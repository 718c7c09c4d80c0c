/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elan MDS, as the paper calls it: what the slices of a run came to, as a table. What
 * records them is the engine. Used by the process that prints the report, and by
 * bcs-mds. [BCS-MPI section 5.2]
 */
#ifndef MDS_EMDS_H
#define MDS_EMDS_H

#include <stdio.h>

#include "libbcs/fabric/base/span.h"

/** The slices of all nodes, and what each metric came to. */
struct emds_summary {
    uint32_t n_nodes;
    uint64_t n_slices;                     /* of all nodes' strobe receivers */
    bool is_unended;                       /* of a run that has not ended */
    struct bcs_tally tallies[BCS_METRICS]; /* times in ns */
};

/** Add spans of a node, or of all nodes. */
void emds_add(struct emds_summary *summary, bool is_global,
              const struct bcs_span *spans, size_t n);

/** Print the table: a line for each metric that some slice has. Nothing if none has. */
void emds_print(FILE *out, const struct emds_summary *summary);

#endif
