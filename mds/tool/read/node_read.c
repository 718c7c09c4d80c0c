/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and checks files about slices; see node_read.h. One thread.
 */
#include "mds/tool/read/node_read.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_METRICS = 64, MOST_SHIFT = 63 };

static bool are_metrics_sound(const struct node_file *file)
{
    if (file->metrics.n > MOST_METRICS || file->names.n == 0 ||
        file->names.data[file->names.n - 1] != '\0') {
        return false;
    }
    for (uint32_t i = 0; i < file->metrics.n; i++) {
        struct mds_dump_metric metric;

        dump_read_record(&file->metrics, i, &metric, sizeof(metric));
        if (metric.name >= file->names.n || !dump_is_plain(node_metric_name(file, i)) ||
            (metric.unit != MDS_DUMP_NS && metric.unit != MDS_DUMP_NUMBER)) {
            return false;
        }
    }
    return true;
}

/** Whether spans follow each other, and do not overlap. */
static bool are_spans_sound(const struct node_file *file)
{
    uint64_t length = UINT64_C(1) << file->node.shift;

    for (uint32_t i = 0; i < file->spans.n; i++) {
        struct mds_dump_span span = node_span(file, i);

        if (span.first < file->node.window_first ||
            (span.first - file->node.window_first) % length != 0 ||
            (i > 0 && span.first <= node_span(file, i - 1).first)) {
            return false;
        }
    }
    return (uint64_t)file->spans.n * file->metrics.n == file->tallies.n;
}

static bool are_tallies_sound(const struct node_file *file)
{
    for (uint32_t i = 0; i < file->tallies.n; i++) {
        struct mds_dump_tally tally;

        dump_read_record(&file->tallies, i, &tally, sizeof(tally));
        if (tally.least > tally.most ||
            (tally.count == 0 && (tally.most > 0 || tally.total > 0))) {
            return false;
        }
    }
    return true;
}

static bool is_node_sound(const struct mds_dump_node *node)
{
    return node->node < node->n_nodes && node->shift <= MOST_SHIFT &&
           node->host[sizeof(node->host) - 1] == '\0' && dump_is_plain(node->host);
}

/** Find all sections. @return the name of one that is not sound; NULL: all are */
static const char *find_sections(struct node_file *file)
{
    struct dump_records node;
    const struct {
        const char *name;
        uint32_t record_bytes;
        struct dump_records *records;
    } wanted[] = {
        {"node", sizeof(struct mds_dump_node), &node},
        {"metrics", sizeof(struct mds_dump_metric), &file->metrics},
        {"spans", sizeof(struct mds_dump_span), &file->spans},
        {"tallies", sizeof(struct mds_dump_tally), &file->tallies},
        {"names", 1, &file->names},
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (dump_find_section(file->data, file->n_bytes, wanted[i].name,
                              wanted[i].record_bytes,
                              wanted[i].records) != DUMP_FOUND) {
            return wanted[i].name;
        }
    }
    if (node.n != 1) {
        return "node";
    }
    dump_read_record(&node, 0, &file->node, sizeof(file->node));
    return NULL;
}

static int check(struct node_file *file, const char *path,
                 char error_out[DUMP_ERROR_BYTES])
{
    const char *section;
    int rc = dump_check_header(file->data, file->n_bytes, path, error_out);

    if (rc < 0) {
        return rc;
    }
    file->is_global = dump_is_about(file->data, file->n_bytes, MDS_DUMP_GLOBAL);
    if (!file->is_global && !dump_is_about(file->data, file->n_bytes, MDS_DUMP_NODE)) {
        return dump_refuse(error_out, "%s is not about slices", path);
    }
    section = find_sections(file);
    if (section != NULL) {
        return dump_refuse(error_out, "%s is damaged: section %s", path, section);
    }
    if (!is_node_sound(&file->node) || !are_metrics_sound(file) ||
        !are_spans_sound(file) || !are_tallies_sound(file)) {
        return dump_refuse(error_out,
                           "%s is damaged: a number or a text is out of bounds", path);
    }
    return 0;
}

int node_file_take(const char *path, char *data, size_t n_bytes,
                   struct node_file *file_out, char error_out[DUMP_ERROR_BYTES])
{
    struct node_file file = {.data = data, .n_bytes = n_bytes};
    int rc = check(&file, path, error_out);

    if (rc < 0) {
        node_file_fini(&file);
        return rc;
    }
    *file_out = file;
    return 0;
}

void node_file_fini(struct node_file *file)
{
    free(file->data);
    file->data = NULL;
}

const char *node_metric_name(const struct node_file *file, uint32_t i)
{
    struct mds_dump_metric metric;

    dump_read_record(&file->metrics, i, &metric, sizeof(metric));
    return file->names.data + metric.name;
}

bool node_metric_is_time(const struct node_file *file, uint32_t i)
{
    struct mds_dump_metric metric;

    dump_read_record(&file->metrics, i, &metric, sizeof(metric));
    return metric.unit == MDS_DUMP_NS;
}

uint32_t node_find_metric(const struct node_file *file, const char *name)
{
    uint32_t i = 0;

    while (i < file->metrics.n && strcmp(node_metric_name(file, i), name) != 0) {
        i++;
    }
    return i;
}

struct mds_dump_span node_span(const struct node_file *file, uint32_t i)
{
    struct mds_dump_span span;

    dump_read_record(&file->spans, i, &span, sizeof(span));
    return span;
}

struct bcs_tally node_tally(const struct node_file *file, uint32_t span,
                            uint32_t metric)
{
    struct mds_dump_tally tally;

    dump_read_record(&file->tallies, span * file->metrics.n + metric, &tally,
                     sizeof(tally));
    return (struct bcs_tally){tally.count, tally.total, tally.least, tally.most};
}

uint64_t node_n_slices(const struct node_file *file)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < file->spans.n; i++) {
        n += node_span(file, i).n_slices;
    }
    return n;
}

struct bcs_tally node_sum(const struct node_file *file, uint32_t metric)
{
    struct bcs_tally sum = {0};

    for (uint32_t i = 0; i < file->spans.n; i++) {
        struct bcs_tally tally = node_tally(file, i, metric);

        bcs_tally_merge(&sum, &tally);
    }
    return sum;
}
