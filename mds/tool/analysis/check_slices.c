/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds check, of slices: each lies within the time of the job, and where they are by
 * the clock the longest of the nodes is no longer than what the strobe sender saw, as
 * all nodes are synchronized between microphases [BCS-MPI section 5.2], and all nodes
 * have as many slices. Of a run that has not ended, nodes may have been read, or have
 * died, some slices apart: of it spans are compared that have as many slices in both
 * files.
 */
#include "mds/tool/analysis/check_slices.h"

#include <inttypes.h>
#include <stdio.h>

/** Tell of what does not agree. @return 1 */
#define FOUND(...) (printf(__VA_ARGS__), printf("\n"), 1)

/* Each file has its times by a ratio of clocks of its own, of which the last digit may
 * differ. */
#define PARTS_OF_A_RATIO 1000000

static const char *const pairs[][2] = {
    {"GTDEM", "LTDEM"}, {"GTMSM", "LTMSM"}, {"GTTS", "LTTS"}};

/** What a file is about, for a line. */
static const char *name_of(const struct node_file *file, char text_out[32])
{
    snprintf(text_out, 32, file->is_global ? "all nodes" : "node %u", file->node.node);
    return text_out;
}

static int check_times(const struct node_file *file)
{
    char name[32];

    for (uint32_t i = 0; i < file->spans.n; i++) {
        struct mds_dump_span span = node_span(file, i);

        if (span.began > file->node.run) {
            return FOUND("%s: a slice has begun after the run", name_of(file, name));
        }
        for (uint32_t j = 0; j < file->metrics.n; j++) {
            if (node_tally(file, i, j).count > span.n_slices) {
                return FOUND("%s: more slices have %s than there were",
                             name_of(file, name), node_metric_name(file, j));
            }
        }
    }
    return 0;
}

/** Both files of the same slices: one pair of metrics. */
static int check_pair(const struct node_file *global, const struct node_file *node,
                      const char *const pair[2])
{
    uint32_t of_all = node_find_metric(global, pair[0]);
    uint32_t of_node = node_find_metric(node, pair[1]);

    for (uint32_t i = 0, j = 0; of_all < global->metrics.n &&
                                of_node < node->metrics.n && i < global->spans.n &&
                                j < node->spans.n;) {
        struct mds_dump_span left = node_span(global, i), right = node_span(node, j);
        struct bcs_tally most = node_tally(global, i, of_all);
        struct bcs_tally mine = node_tally(node, j, of_node);

        if (left.first == right.first && left.n_slices == right.n_slices &&
            most.count > 0 &&
            mine.most > most.most + most.most / PARTS_OF_A_RATIO + 2) {
            return FOUND("slice %" PRIu64 ": %s of node %u is %" PRIu64
                         " ns, and %s of all nodes %" PRIu64 " ns",
                         left.first, pair[1], node->node.node, mine.most, pair[0],
                         most.most);
        }
        i += left.first <= right.first;
        j += right.first <= left.first;
    }
    return 0;
}

static int check_bounds(const struct node_file *global, const struct node_file *node)
{
    uint64_t n_global = node_n_slices(global), n_node = node_n_slices(node);
    int n_found = 0;

    if (global->node.interval > 0 || node->node.interval > 0 ||
        global->node.shift != node->node.shift) {
        return 0;
    }
    if (n_global != n_node && !node_is_unended(global) && !node_is_unended(node)) {
        n_found += FOUND("node %u has %" PRIu64 " slices, all nodes %" PRIu64,
                         node->node.node, n_node, n_global);
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        n_found += check_pair(global, node, pairs[i]);
    }
    return n_found;
}

int check_slices(const struct run *run)
{
    const struct node_file *last =
        run->n_nodes > 0 ? &run->nodes[run->n_nodes - 1] : NULL;
    int n_found = 0;

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        n_found += check_times(&run->nodes[i]);
        if (last->is_global && !run->nodes[i].is_global) {
            n_found += check_bounds(last, &run->nodes[i]);
        }
    }
    return n_found;
}
