/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files about slices that make_run makes: of each node, and of all. A span is of
 * four slices, and has of each metric as much as its number says; the largest of a node
 * is that of all.
 */
#include <stdio.h>
#include <string.h>

#include "make_run.h"

enum { SHIFT = 2, N_LOCAL = 5, N_GLOBAL = 3, MOST_PATH_BYTES = 2048 };

static const struct {
    const char *name;
    int unit; /* 1: ns; 2: a number */
} local_metrics[N_LOCAL] = {{"LTDEM", 1},
                            {"LTMSM", 1},
                            {"LTTS", 1},
                            {"NP2PDEM", 2},
                            {"NCOLLDEM", 2}},
  global_metrics[N_GLOBAL] = {{"GTDEM", 1}, {"GTMSM", 1}, {"GTTS", 1}};

static void put_node(struct file *file, const struct wish *wish, uint64_t node)
{
    put(file, node, 4);
    put(file, wish->nodes, 4);
    put(file, node, 4);
    put(file, 1, 4);
    put(file, UINT64_C(1790000000) * 1000000000, 8);
    put(file, UINT64_C(1000000000), 8);
    put(file, (wish->spans + 1) * 2000000, 8);
    put(file, 500000, 8);
    put(file, 0, 8);
    put(file, 0, 8);
    put(file, 0, 8);
    put(file, SHIFT, 4);
    put(file, 0, 4);
    put_text(file, "node0", 64);
}

/** Count, total, least and most of four slices. */
static void put_tally(struct file *file, uint64_t least, uint64_t most)
{
    put(file, 1 << SHIFT, 8);
    put(file, 3 * least + most, 8);
    put(file, least, 8);
    put(file, most, 8);
}

static void put_sections(struct file *file, const struct wish *wish, uint64_t node,
                         int is_global)
{
    uint32_t n = is_global ? N_GLOBAL : N_LOCAL, name = 0;
    size_t from = file->n;

    put_node(file, wish, node);
    end_section(file, 0, "node", from, 144);
    from = file->n;
    for (uint32_t i = 0; i < n; i++) {
        put(file, name, 4);
        put(file, is_global ? global_metrics[i].unit : local_metrics[i].unit, 4);
        name += 1 + (uint32_t)strlen(is_global ? global_metrics[i].name
                                               : local_metrics[i].name);
    }
    end_section(file, 1, "metrics", from, 8);
    from = file->n;
    for (uint64_t i = 0; i < wish->spans; i++) {
        put(file, i << SHIFT, 8);
        put(file, i * 2000000, 8);
        put(file, 1 << SHIFT, 8);
    }
    end_section(file, 2, "spans", from, 24);
    from = file->n;
    for (uint64_t i = 0; i < wish->spans; i++) {
        for (uint32_t metric = 0; metric < n; metric++) {
            put_tally(file, metric, 1000 * (metric + 1) + i - (is_global ? 0 : node));
        }
    }
    end_section(file, 3, "tallies", from, 32);
    from = file->n;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = is_global ? global_metrics[i].name : local_metrics[i].name;

        put_text(file, text, strlen(text) + 1);
    }
    end_section(file, 4, "names", from, 1);
}

static int make_file(const char *path, const struct wish *wish, uint64_t node,
                     int is_global)
{
    static struct file file;

    file.n = 0;
    put_text(&file, "BCS-MDS\n", 8);
    put(&file, 1, 4);
    put(&file, is_global ? 3 : 2, 4);
    put(&file, 0, 8);
    put(&file, 5, 4);
    put_text(&file, "", 4 + 5 * 40);
    put_sections(&file, wish, node, is_global);
    set(&file, 16, file.n, 8);
    return save(path, file.bytes, file.n);
}

int make_nodes(const char *folder, const struct wish *wish)
{
    char path[MOST_PATH_BYTES];
    int is_bad = 0;

    for (uint64_t node = 0; node < wish->nodes && !is_bad; node++) {
        snprintf(path, sizeof(path), "%s/node.%05llu.mds", folder,
                 (unsigned long long)node);
        is_bad = make_file(path, wish, node, 0);
    }
    if (wish->nodes > 0 && !is_bad) {
        snprintf(path, sizeof(path), "%s/global.mds", folder);
        is_bad = make_file(path, wish, 0, 1);
    }
    return is_bad;
}
