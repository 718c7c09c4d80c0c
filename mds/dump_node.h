/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what was recorded of slices to a file: of a node, or of all. Called when nothing
 * is recorded any more, by the first process of the node, or of the job; and by whoever
 * reads what others have recorded (live_slices.h).
 */
#ifndef MDS_DUMP_NODE_H
#define MDS_DUMP_NODE_H

#include "libbcs/fabric/base/span.h"
#include "mds/dump.h"

/** What such a file tells. */
struct mds_node {
    bool is_global;
    uint64_t metrics; /* bits, by enum bcs_metric: those that were recorded */
    struct mds_dump_node
        facts;              /* with no host that and began_unix are found: this one's */
    struct bcs_span *spans; /* [n_spans] */
    size_t n_spans;
};

/**
 * Write the file.
 *
 * @return 0   it is there, whole
 * @return <0  -errno; there is none
 */
int mds_dump_node_write(const struct mds_node *node, const char *path);

/** The same as bytes in memory. @return 0, *bytes_out is for free; or -errno */
int mds_dump_node_bytes(const struct mds_node *node, char **bytes_out,
                        size_t *n_bytes_out);

/** When a moment of CLOCK_MONOTONIC was, since 1970. */
uint64_t mds_unix_ns(uint64_t monotonic_ns);

#endif
