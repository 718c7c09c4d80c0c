/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the file of a node's slices, or of all nodes'; see dump_node.h.
 */
#include "mds/dump_node.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "mds/dump_write.h"

uint64_t mds_unix_ns(uint64_t monotonic_ns)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
           (bcs_clock_now_ns() - monotonic_ns);
}

static void add_node(struct mds_dump *dump, const struct mds_node *node)
{
    struct mds_dump_node *record = mds_dump_add(dump, "node", sizeof(*record), 1);

    if (record != NULL) {
        *record = node->facts;
    }
    if (record != NULL && record->host[0] == '\0') {
        record->began_unix = mds_unix_ns(record->began_monotonic);
        gethostname(record->host, sizeof(record->host) - 1);
    }
}

/** @return how many there are */
static uint32_t add_metrics(struct mds_dump *dump, const struct mds_node *node)
{
    struct mds_dump_metric *record =
        mds_dump_add(dump, "metrics", sizeof(*record), BCS_METRICS);
    uint32_t n = 0;

    for (enum bcs_metric metric = bcs_metrics_first(node->is_global);
         record != NULL && metric < bcs_metrics_end(node->is_global); metric++) {
        if ((node->metrics >> metric & 1) != 0) {
            record[n++] = (struct mds_dump_metric){
                .name = mds_dump_name(dump, bcs_metric_name(metric)),
                .unit = bcs_metric_is_time(metric) ? MDS_DUMP_NS : MDS_DUMP_NUMBER,
            };
        }
    }
    mds_dump_cut(dump, n);
    return n;
}

static void add_spans(struct mds_dump *dump, const struct mds_node *node)
{
    struct mds_dump_span *record =
        mds_dump_add(dump, "spans", sizeof(*record), (uint32_t)node->n_spans);

    for (size_t i = 0; record != NULL && i < node->n_spans; i++) {
        const struct bcs_span *span = &node->spans[i];

        record[i] = (struct mds_dump_span){span->first, span->began, span->n_slices};
    }
}

/** What one span has of the metrics that were recorded. */
static void put_tallies(const struct mds_node *node, const struct bcs_span *span,
                        struct mds_dump_tally *record_out)
{
    enum bcs_metric first = bcs_metrics_first(node->is_global);

    for (enum bcs_metric metric = first; metric < bcs_metrics_end(node->is_global);
         metric++) {
        const struct bcs_tally *tally = &span->tallies[metric - first];

        if ((node->metrics >> metric & 1) != 0) {
            *record_out++ = (struct mds_dump_tally){tally->count, tally->total,
                                                    tally->least, tally->most};
        }
    }
}

static void add_tallies(struct mds_dump *dump, const struct mds_node *node,
                        uint32_t n_metrics)
{
    struct mds_dump_tally *record = mds_dump_add(dump, "tallies", sizeof(*record),
                                                 (uint32_t)node->n_spans * n_metrics);

    for (size_t i = 0; record != NULL && i < node->n_spans; i++) {
        put_tallies(node, &node->spans[i], record + i * n_metrics);
    }
}

static struct mds_dump dump_of(const struct mds_node *node)
{
    struct mds_dump dump = {.kind = node->is_global ? MDS_DUMP_GLOBAL : MDS_DUMP_NODE};

    add_node(&dump, node);
    add_spans(&dump, node);
    add_tallies(&dump, node, add_metrics(&dump, node));
    return dump;
}

int mds_dump_node_write(const struct mds_node *node, const char *path)
{
    struct mds_dump dump = dump_of(node);
    int rc = mds_dump_write(&dump, path);

    mds_dump_fini(&dump);
    return rc;
}

int mds_dump_node_bytes(const struct mds_node *node, char **bytes_out,
                        size_t *n_bytes_out)
{
    struct mds_dump dump = dump_of(node);
    int rc = mds_dump_bytes(&dump, bytes_out, n_bytes_out);

    mds_dump_fini(&dump);
    return rc;
}
