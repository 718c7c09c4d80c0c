/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads one side of a comparison; see runs_compared.h. One thread.
 */
#include "mds/tool/analysis/runs_compared.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mds/run_folder.h"

static bool has_manifest(const char *folder)
{
    char path[MDS_PATH_BYTES];

    return snprintf(path, sizeof(path), "%s/" MDS_MANIFEST_NAME, folder) <
               (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int is_process(const struct dirent *entry)
{
    return strncmp(entry->d_name, "process.", strlen("process.")) == 0;
}

/** Whether a run has left a file of any process. */
static bool has_process(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_process, NULL);

    for (int i = 0; i < n; i++) {
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    return n > 0;
}

/** Read a run. @param folder  for free; the side's from now on */
static int add_run(struct runs_compared *side, char *folder,
                   char error_out[DUMP_ERROR_BYTES])
{
    int rc;

    if (folder == NULL) {
        return dump_refuse(error_out, "no memory for the runs of %s", side->path);
    }
    rc = run_read(folder, &side->runs[side->n_runs], error_out);
    if (rc < 0) {
        free(folder);
        return rc;
    }
    side->folders[side->n_runs++] = folder;
    return 0;
}

/** Read what a list of names has of runs, and free it. */
static int add_list(struct runs_compared *side, struct dirent **entries, int n,
                    char error_out[DUMP_ERROR_BYTES])
{
    int rc = 0;

    for (int i = 0; i < n; i++) {
        char *folder = NULL;

        if (rc == 0 && asprintf(&folder, "%s/%s", side->path, entries[i]->d_name) < 0) {
            folder = NULL;
            rc = dump_refuse(error_out, "no memory for the runs of %s", side->path);
        }
        if (rc == 0 && has_manifest(folder) && has_process(folder)) {
            rc = add_run(side, folder, error_out);
            folder = NULL;
        } else if (rc == 0) {
            side->n_left_out += has_manifest(folder);
        }
        free(folder);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int read_runs(struct runs_compared *side, char error_out[DUMP_ERROR_BYTES])
{
    bool is_run = has_manifest(side->path);
    struct dirent **entries = NULL;
    int n = is_run ? 0 : scandir(side->path, &entries, is_name, alphasort);
    int rc;

    if (n < 0) {
        return dump_refuse(error_out, "cannot read the folder %s: %s", side->path,
                           strerror(errno));
    }
    side->runs = calloc((size_t)n + 1, sizeof(*side->runs));
    side->spreads = calloc((size_t)n + 1, sizeof(*side->spreads));
    side->folders = calloc((size_t)n + 1, sizeof(*side->folders));
    if (side->runs == NULL || side->spreads == NULL || side->folders == NULL) {
        while (n > 0) {
            free(entries[--n]);
        }
        free(entries);
        return dump_refuse(error_out, "no memory for the runs of %s", side->path);
    }
    if (is_run) {
        return add_run(side, strdup(side->path), error_out);
    }
    rc = add_list(side, entries, n, error_out);
    if (rc == 0 && side->n_runs == 0) {
        rc = dump_refuse(error_out,
                         "%s is not the folder of a run, nor has it any that has "
                         "files of processes",
                         side->path);
    }
    return rc;
}

int runs_compared_read(const char *path, struct runs_compared *runs_out,
                       char error_out[DUMP_ERROR_BYTES])
{
    struct runs_compared side = {.path = path};
    int rc = read_runs(&side, error_out);

    if (rc < 0) {
        runs_compared_fini(&side);
        return rc;
    }
    *runs_out = side;
    return 0;
}

int runs_compared_spread(struct runs_compared *side, uint32_t bits)
{
    int rc = 0;

    for (uint32_t i = 0; i < side->n_runs && rc == 0; i++) {
        rc = spreads_of(&side->runs[i], bits, -1, &side->spreads[i]);
    }
    return rc;
}

void runs_compared_fini(struct runs_compared *side)
{
    for (uint32_t i = 0; i < side->n_runs; i++) {
        spreads_fini(&side->spreads[i]);
        run_fini(&side->runs[i]);
        free(side->folders[i]);
    }
    free(side->runs);
    free(side->spreads);
    free(side->folders);
    *side = (struct runs_compared){0};
}
