/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading files about slices, of a node or of all. They may be damaged, as those of
 * processes (dump_read.h).
 */
#ifndef MDS_TOOL_READ_NODE_READ_H
#define MDS_TOOL_READ_NODE_READ_H

#include "mds/emds.h"
#include "mds/tool/read/dump_read.h"

/** A file about slices. */
struct node_file {
    char *data; /* all of it */
    size_t n_bytes;
    bool is_global; /* of all nodes, by the strobe sender */
    struct mds_dump_node node;
    struct dump_records metrics, spans, tallies, names;
};

/** Take bytes as such a file. @param data for free; the file's from now on, in any
 *  case. @param path what errors name @return 0: end with node_file_fini; <0: error_out
 *  says what is wrong */
int node_file_take(const char *path, char *data, size_t n_bytes,
                   struct node_file *file_out, char error_out[DUMP_ERROR_BYTES]);

/** Free what was read. Accepts a zeroed file. */
void node_file_fini(struct node_file *file);

/** Whether its run has not ended: it still runs, or was ended otherwise than by
 *  MPI_Finalize. */
static inline bool node_is_unended(const struct node_file *file)
{
    return file->node.end == (uint32_t)MDS_DUMP_END_UNKNOWN;
}

/** The name of the i-th metric. */
const char *node_metric_name(const struct node_file *file, uint32_t i);

/** Whether it is a time, in ns. */
bool node_metric_is_time(const struct node_file *file, uint32_t i);

/** The number of a metric in the file. @return metrics.n: it has none of that name */
uint32_t node_find_metric(const struct node_file *file, const char *name);

/** The i-th span. */
struct mds_dump_span node_span(const struct node_file *file, uint32_t i);

/** What a span has of a metric. */
struct bcs_tally node_tally(const struct node_file *file, uint32_t span,
                            uint32_t metric);

/** Slices in the file. */
uint64_t node_n_slices(const struct node_file *file);

/** What all that a file has comes to, of one metric. */
struct bcs_tally node_sum(const struct node_file *file, uint32_t metric);

#endif
