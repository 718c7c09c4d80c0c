/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the folder of a run; see run_read.h. One thread.
 */
#include "mds/tool/read/run_read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/dump_process.h"
#include "mds/live.h"
#include "mds/live_slices.h"
#include "mds/run_folder.h"
#include "mds/tool/read/dump_later.h"
#include "mds/tool/read/manifest.h"

static int read_manifest(struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    char path[MDS_PATH_BYTES];
    size_t n_bytes;

    if (snprintf(path, sizeof(path), "%s/" MDS_MANIFEST_NAME, run->folder) >=
        (int)sizeof(path)) {
        return dump_refuse(error_out, "the folder's name is too long");
    }
    return dump_read_all(path, &run->manifest, &n_bytes, error_out);
}

static int check_manifest(const struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    char format[32];

    if (!manifest_value(run->manifest, "format", 0, format, sizeof(format)) ||
        strcmp(format, MDS_MANIFEST_FORMAT) != 0) {
        return dump_refuse(error_out,
                           "%s/" MDS_MANIFEST_NAME " does not say that its format "
                           "is %s",
                           run->folder, MDS_MANIFEST_FORMAT);
    }
    return 0;
}

/** Whether the form, "process.%9u.mds%n" say, is that of a name. */
static bool fits(const char *name, const char *form)
{
    unsigned int rank;
    int n_bytes = 0;

    return sscanf(name, form, &rank, &n_bytes) == 1 && n_bytes > 0 &&
           name[n_bytes] == '\0';
}

static bool is_live_process(const char *name)
{
    return fits(name, "process.%9u.live%n");
}

static bool is_live_file(const char *name)
{
    return is_live_process(name) || fits(name, "node.%9u.live%n") ||
           strcmp(name, MDS_GLOBAL_LIVE_NAME) == 0;
}

static int is_file(const struct dirent *entry)
{
    return fits(entry->d_name, "process.%9u.mds%n") || is_live_file(entry->d_name) ||
           fits(entry->d_name, "node.%9u.mds%n") ||
           strcmp(entry->d_name, MDS_GLOBAL_NAME) == 0;
}

int run_take(struct run *run, const char *path, char *data, size_t n_bytes,
             char error_out[DUMP_ERROR_BYTES])
{
    bool is_node = dump_is_about(data, n_bytes, MDS_DUMP_NODE) ||
                   dump_is_about(data, n_bytes, MDS_DUMP_GLOBAL);
    int rc =
        is_node
            ? node_file_take(path, data, n_bytes, &run->nodes[run->n_nodes], error_out)
            : dump_file_take(path, data, n_bytes, &run->files[run->n_files], error_out);

    run->n_nodes += rc == 0 && is_node;
    run->n_files += rc == 0 && !is_node;
    return rc;
}

/** Read a file that was written when the run had ended. */
static int read_file(struct run *run, const char *path,
                     char error_out[DUMP_ERROR_BYTES])
{
    struct dump_later later;
    size_t n_bytes;
    char *data;
    int rc = dump_read_early(path, &data, &n_bytes, &later, error_out);

    if (rc < 0) {
        return rc;
    }
    rc = run_take(run, path, data, n_bytes, error_out);
    if (rc < 0) {
        free(later.path);
    } else if (later.path != NULL) {
        dump_postpone(&run->files[run->n_files - 1], &later);
    }
    return rc;
}

/** Make the file of a process of what it has recorded so far. @return as mds_live_read,
 *  mmds_cut */
static int make_process(const char *path, char **bytes_out, size_t *n_bytes_out)
{
    struct mds_process process = {.end = MDS_DUMP_END_UNKNOWN};
    int rc = mds_live_read(path, &process.collect);

    if (rc == 0) {
        rc = mmds_cut(process.collect);
        if (rc == 0) {
            rc = mds_dump_process_bytes(&process, bytes_out, n_bytes_out);
        }
        free(process.collect);
    }
    return rc;
}

/** The same of a node, or of all. @return as mds_live_slices_read */
static int make_node(const char *path, char **bytes_out, size_t *n_bytes_out)
{
    struct mds_node node;
    int rc = mds_live_slices_read(path, &node);

    if (rc == 0) {
        rc = mds_dump_node_bytes(&node, bytes_out, n_bytes_out);
        free(node.spans);
    }
    return rc;
}

/** Read a file that a process or a node is recorded in, or that was left behind, as if
 *  its file had been written. @return as dump_file_read; -EAGAIN: there is nothing in
 *  it yet; -ENOENT: it is gone */
static int read_live(struct run *run, const char *name, const char *path,
                     char error_out[DUMP_ERROR_BYTES])
{
    bool is_process = is_live_process(name);
    size_t n_bytes;
    char *bytes;
    int rc = is_process ? make_process(path, &bytes, &n_bytes)
                        : make_node(path, &bytes, &n_bytes);

    if (rc == -EAGAIN || rc == -ENOENT) {
        return rc;
    }
    if (rc == -EINVAL) {
        return dump_refuse(error_out,
                           "%s is no file that this version of bcs records in", path);
    }
    if (rc == -ESTALE) {
        return dump_refuse(error_out,
                           "%s is of a %s that has not ended: it can be read on its "
                           "machine only, until that is started anew",
                           path, is_process ? "process" : "job");
    }
    return rc < 0 ? dump_refuse(error_out, "cannot read %s: %s", path, strerror(-rc))
                  : run_take(run, path, bytes, n_bytes, error_out);
}

int run_read_file(struct run *run, const char *name, char error_out[DUMP_ERROR_BYTES])
{
    char path[MDS_PATH_BYTES];
    int rc = 0;

    if (snprintf(path, sizeof(path), "%s/%s", run->folder, name) >= (int)sizeof(path)) {
        return dump_refuse(error_out, "the folder's name is too long");
    }
    if (!is_live_file(name)) {
        return read_file(run, path, error_out);
    }
    rc = read_live(run, name, path, error_out);
    if (rc == -ENOENT) {
        /* Its process has ended since the folder was listed, and written the other one
         * before. */
        strcpy(path + strlen(path) - strlen("live"), "mds");
        rc = read_file(run, path, error_out);
    }
    if (rc == -EAGAIN) {
        run->n_beginning += is_live_process(name);
        run->has_beginning = true;
        rc = 0;
    }
    return rc;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = ((const struct dump_file *)left)->process.rank;
    uint32_t b = ((const struct dump_file *)right)->process.rank;

    return a < b ? -1 : a > b;
}

/** Whether the i-th file of a list, which is in the order of names, is one that a
 *  process has recorded in, and the one that it has written then is there, too. */
static bool is_replaced(struct dirent **entries, int n, int i)
{
    const char *name = entries[i]->d_name;
    size_t n_stem = strlen(name) - strlen("live");

    return is_live_file(name) && i + 1 < n &&
           strncmp(entries[i + 1]->d_name, name, n_stem) == 0 &&
           strcmp(entries[i + 1]->d_name + n_stem, "mds") == 0;
}

/** Read the files that a list names, and free it. */
static int read_list(struct run *run, struct dirent **entries, int n,
                     char error_out[DUMP_ERROR_BYTES])
{
    int rc = 0;

    for (int i = 0; i < n && rc == 0; i++) {
        if (!is_replaced(entries, n, i)) {
            rc = run_read_file(run, entries[i]->d_name, error_out);
        }
    }
    for (int i = 0; i < n; i++) {
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int read_files(struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    struct dirent **entries;
    int n = scandir(run->folder, &entries, is_file, alphasort);

    if (n < 0) {
        return dump_refuse(error_out, "cannot read the folder %s: %s", run->folder,
                           strerror(errno));
    }
    run->files = calloc((size_t)n + 1, sizeof(*run->files));
    run->nodes = calloc((size_t)n + 1, sizeof(*run->nodes));
    if (run->files == NULL || run->nodes == NULL) {
        while (n > 0) {
            free(entries[--n]);
        }
        free(entries);
        return dump_refuse(error_out, "no memory for the files of %s", run->folder);
    }
    return read_list(run, entries, n, error_out);
}

/** All files must be of one job, and of different ranks. */
static int check_ranks(struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    if (run->n_files == 0 && run->n_nodes == 0) {
        return run->has_beginning
                   ? dump_refuse(error_out,
                                 "no rank of %s has begun to record yet: try again",
                                 run->folder)
                   : dump_refuse(error_out, "%s has no file of a process", run->folder);
    }
    if (run->n_files == 0) {
        return 0;
    }
    qsort(run->files, run->n_files, sizeof(*run->files), compare_ranks);
    run->n_ranks = run->files[0].process.n_ranks;
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mds_dump_process *process = &run->files[i].process;

        if (process->n_ranks != run->n_ranks ||
            process->histogram_bits != run->files[0].process.histogram_bits ||
            (i > 0 && process->rank == run->files[i - 1].process.rank)) {
            return dump_refuse(error_out, "%s has files of several runs: rank %u",
                               run->folder, process->rank);
        }
    }
    return 0;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct node_file *a = left, *b = right;

    if (a->is_global != b->is_global) {
        return a->is_global - b->is_global;
    }
    return a->node.node < b->node.node ? -1 : a->node.node > b->node.node;
}

/** All files about slices must be of one job, and of different nodes. */
static int check_nodes(struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    if (run->n_nodes > 0) {
        qsort(run->nodes, run->n_nodes, sizeof(*run->nodes), compare_nodes);
    }
    for (uint32_t i = 1; i < run->n_nodes; i++) {
        const struct node_file *before = &run->nodes[i - 1], *file = &run->nodes[i];

        if (file->node.n_nodes != before->node.n_nodes ||
            file->node.window_first != before->node.window_first ||
            compare_nodes(before, file) == 0) {
            return dump_refuse(error_out, "%s has files of several runs: node %u",
                               run->folder, file->node.node);
        }
    }
    return 0;
}

uint32_t run_find_name(const struct run *run, const char *name)
{
    uint32_t i = 0;

    while (i < run->n_names && strcmp(run->names[i], name) != 0) {
        i++;
    }
    return i;
}

uint32_t run_n_ranks(const struct run *run)
{
    uint32_t n_counted = 0, n_most = 0;

    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct mds_dump_node *node = &run->nodes[i].node;
        uint32_t end = node->first_rank + node->n_ranks; /* at least so many */

        n_counted += run->nodes[i].is_global ? 0 : node->n_ranks;
        n_most = end > n_most ? end : n_most;
    }
    n_most = n_counted > n_most ? n_counted : n_most;
    return run->n_files > 0 ? run->n_ranks : n_most;
}

static struct mmds_interval interval_of(const struct mds_dump_call *call)
{
    return (struct mmds_interval){call->count, call->min, call->max, call->total};
}

/** Make a summary of a file. */
static int summarize(struct run *run, uint32_t i, char error_out[DUMP_ERROR_BYTES])
{
    const struct dump_file *file = &run->files[i];
    struct mds_dump_call computation = dump_period(file, 0);
    struct mds_dump_call communication = dump_period(file, 1);
    uint64_t accounted = computation.total + communication.total;
    struct mmds_summary *summary = &run->summaries[i];

    *summary = (struct mmds_summary){
        .n_processes = 1,
        .n_unended = file->process.end == (uint32_t)MDS_DUMP_END_UNKNOWN,
        .n_slices = file->process.n_slices,
        .run_ns = file->process.run,
        .gap_ns = accounted > file->process.run ? accounted - file->process.run
                                                : file->process.run - accounted,
        .instant_ns = file->process.instant,
        .computation = interval_of(&computation),
        .communication = interval_of(&communication),
    };
    for (uint32_t j = 0; j < file->calls.n; j++) {
        struct mds_dump_call call = dump_call(file, j);
        const char *name = dump_name(file, call.name);
        uint32_t number = run_find_name(run, name);

        if (number == MDS_MAX_PRIMITIVES) {
            return dump_refuse(error_out, "%s names more than %d primitives",
                               run->folder, MDS_MAX_PRIMITIVES);
        }
        if (number == run->n_names) {
            run->names[run->n_names++] = name;
        }
        summary->primitives[number] = interval_of(&call);
        summary->passed[number] = call.n_passed;
        memcpy(summary->splits[number].ns, call.parts, sizeof(call.parts));
    }
    return 0;
}

int run_complete(struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    int rc = check_manifest(run, error_out);

    if (rc == 0) {
        rc = check_ranks(run, error_out);
    }
    if (rc == 0) {
        rc = check_nodes(run, error_out);
    }
    if (rc == 0) {
        run->summaries = calloc((size_t)run->n_files + 1, sizeof(*run->summaries));
        if (run->summaries == NULL) {
            rc = dump_refuse(error_out, "no memory for the files of %s", run->folder);
        }
    }
    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        rc = summarize(run, i, error_out);
    }
    return rc;
}

int run_read(const char *folder, struct run *run_out, char error_out[DUMP_ERROR_BYTES])
{
    struct run run = {.folder = folder};
    int rc = read_manifest(&run, error_out);

    if (rc == 0) {
        rc = read_files(&run, error_out);
    }
    if (rc == 0) {
        rc = run_complete(&run, error_out);
    }
    if (rc < 0) {
        run_fini(&run);
        return rc;
    }
    *run_out = run;
    return 0;
}

void run_fini(struct run *run)
{
    for (uint32_t i = 0; i < run->n_files; i++) {
        dump_file_fini(&run->files[i]);
    }
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        node_file_fini(&run->nodes[i]);
    }
    free(run->nodes);
    free(run->files);
    free(run->summaries);
    free(run->manifest);
    *run = (struct run){0};
}

uint64_t run_n_events(const struct run *run)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += run->files[i].events.n;
    }
    return n;
}

int run_hold_events(const struct run *run, char error_out[DUMP_ERROR_BYTES])
{
    int rc = 0;

    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        rc = dump_events_hold(&run->files[i], error_out);
    }
    return rc;
}

double run_total_ns(const struct run *run, int64_t rank)
{
    double total = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        if (rank < 0 || rank == run->files[i].process.rank) {
            total += (double)run->summaries[i].run_ns;
        }
    }
    return total;
}

double run_ns_per_tick(const struct dump_file *file)
{
    const struct mds_dump_process *process = &file->process;

    return process->run_ticks > 0 ? (double)process->run / (double)process->run_ticks
                                  : 1;
}
