/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what was recorded of slices to a file: of a node, or of all. Called once, when nothing is
 * recorded any more, by the first process of the node, or of the job.
 */
#ifndef MDS_DUMP_NODE_H
#define MDS_DUMP_NODE_H

#include "libbcs/base/span.h"
#include "mds/dump.h"

/** What such a file tells. */
struct mds_node {
    bool is_global;
    uint64_t metrics;           /* bits, by enum bcs_metric: those that were recorded */
    struct mds_dump_node facts; /* but for host and began_unix, which are found */
    const struct bcs_span *spans; /* [n_spans] */
    size_t n_spans;
};

/**
 * Write the file.
 *
 * @return 0   it is there, whole
 * @return <0  -errno; there is none
 */
int mds_dump_node_write(const struct mds_node *node, const char *path);

#endif
