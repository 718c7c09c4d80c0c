/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the folder of a run and its manifest; see run_folder.h. A line of a manifest is
 * "key: value", in which a backslash stands before n, for a new line, and before
 * itself.
 */
#include "mds/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mds/dump_write.h"
#include <bcs/version.h>

enum { STAMP_BYTES = 32, COMMAND_BYTES = 1 << 17, FOLDERS_MOST = 9 };

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"

static void print_time(const char *format, char text_out[STAMP_BYTES])
{
    time_t now = time(NULL);
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(text_out, STAMP_BYTES, format, &parts);
}

/** @return an error of snprintf's, or 0 */
static int fit(int n_printed, size_t n_bytes)
{
    return n_printed < 0 || (size_t)n_printed >= n_bytes ? -ENAMETOOLONG : 0;
}

static int make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 ? 0 : -errno;
}

/** Make a folder that is not there; a process that records several things, each by
 *  itself, makes several within a second. @param path gets a number behind it if need
 *  be */
static int make_new_folder(char path[MDS_PATH_BYTES])
{
    size_t n = strlen(path);
    int rc = make_folder(path);

    for (unsigned i = 2; rc == -EEXIST && i <= FOLDERS_MOST; i++) {
        rc = fit(snprintf(path + n, MDS_PATH_BYTES - n, ".%u", i), MDS_PATH_BYTES - n);
        rc = rc < 0 ? rc : make_folder(path);
    }
    return rc;
}

/** The path of a folder that is there, from the root: the program may go to another one
 *  before its end. @return for free, or NULL with errno */
static char *path_from_root(const char *folder)
{
    return folder[0] == '/' ? strdup(folder) : realpath(folder, NULL);
}

int mds_run_folder_make(const char *parent, char path_out[MDS_PATH_BYTES])
{
    char path[MDS_PATH_BYTES], stamp[STAMP_BYTES], *from_root = NULL;
    int rc = make_folder(parent);

    print_time("%Y%m%d-%H%M%S", stamp);
    if (rc == 0 || rc == -EEXIST) {
        from_root = path_from_root(parent);
        rc = from_root == NULL ? -errno : 0;
    }
    if (rc == 0) {
        rc = fit(snprintf(path, sizeof(path), "%s/%s.%s.%ld", from_root,
                          program_invocation_short_name, stamp, (long)getpid()),
                 sizeof(path));
    }
    free(from_root);
    if (rc == 0) {
        rc = make_new_folder(path);
    }
    if (rc == 0) {
        memcpy(path_out, path, sizeof(path));
    }
    return rc;
}

void mds_run_folder_remove(const char *folder)
{
    char path[MDS_PATH_BYTES];

    if (fit(snprintf(path, sizeof(path), "%s/" MDS_MANIFEST_NAME, folder),
            sizeof(path)) == 0) {
        unlink(path);
    }
    rmdir(folder);
}

static void print_value(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%s: ", key);
    for (; *value != '\0'; value++) {
        if (*value == '\n' || *value == '\\') {
            fputc('\\', out);
        }
        fputc(*value == '\n' ? 'n' : *value, out);
    }
    fputc('\n', out);
}

/** The command as it was given; each word by itself. */
static void print_command(FILE *out)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    char *words = calloc(1, COMMAND_BYTES + 1);
    const char *key = "program";
    size_t n_bytes = 0;

    if (file != NULL && words != NULL) {
        n_bytes = fread(words, 1, COMMAND_BYTES, file);
    }
    for (size_t at = 0; at < n_bytes; at += strlen(words + at) + 1) {
        print_value(out, key, words + at);
        key = "argument";
    }
    free(words);
    if (file != NULL) {
        fclose(file);
    }
}

static void print_settings(FILE *out, const struct mds_manifest *manifest)
{
    for (size_t i = 0; i < manifest->n_tables; i++) {
        const struct bcs_config_table *table = manifest->tables[i];

        for (size_t j = 0; j < table->n_entries; j++) {
            const struct bcs_config_entry *entry = &table->entries[j];
            char key[64];

            if (bcs_config_exists(entry)) {
                snprintf(key, sizeof(key), "setting %s", entry->name);
                print_value(out, key, bcs_config_text(entry));
            }
        }
    }
}

static void print(FILE *out, const struct mds_manifest *manifest)
{
    char stamp[STAMP_BYTES];

    print_time(TIME_FORMAT, stamp);
    print_value(out, "format", MDS_MANIFEST_FORMAT);
    print_value(out, "state", manifest->state);
    print_value(out, "written", stamp);
    print_value(out, "version", bcs_version());
    print_command(out);
    fprintf(out, "ranks: %u\nnodes: %u\n", manifest->n_ranks, manifest->n_nodes);
    print_value(out, "times", "nanoseconds of CLOCK_MONOTONIC");
    print_settings(out, manifest);
}

int mds_manifest_write(const struct mds_manifest *manifest, const char *folder)
{
    char path[MDS_PATH_BYTES];
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    int rc = out == NULL ? -ENOMEM : 0;

    if (rc == 0) {
        print(out, manifest);
        rc = fclose(out) == 0 ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        rc = fit(snprintf(path, sizeof(path), "%s/" MDS_MANIFEST_NAME, folder),
                 sizeof(path));
    }
    if (rc == 0) {
        rc = mds_dump_write_text(path, text);
    }
    free(text);
    return rc;
}

/** Copy a manifest, as one of a run that has ended. @return whether it is one */
static bool copy_ended(FILE *in, FILE *out)
{
    static const char state[] = "state: ", written[] = "written: ";
    char *line = NULL, stamp[STAMP_BYTES];
    size_t room = 0;
    bool has_state = false;

    print_time(TIME_FORMAT, stamp);
    while (getline(&line, &room, in) >= 0) {
        if (strncmp(line, state, strlen(state)) == 0) {
            has_state = true;
            fprintf(out, "%sended\n", state);
        } else if (strncmp(line, written, strlen(written)) == 0) {
            fprintf(out, "%s%s\n", written, stamp);
        } else {
            fputs(line, out);
        }
    }
    free(line);
    return has_state;
}

int mds_manifest_end(const char *folder)
{
    char path[MDS_PATH_BYTES], *text = NULL;
    size_t n_bytes = 0;
    FILE *in, *out;
    bool is_one;
    int rc = fit(snprintf(path, sizeof(path), "%s/" MDS_MANIFEST_NAME, folder),
                 sizeof(path));

    if (rc < 0) {
        return rc;
    }
    in = fopen(path, "re");
    if (in == NULL) {
        return -errno;
    }
    out = open_memstream(&text, &n_bytes);
    is_one = out != NULL && copy_ended(in, out);
    rc = out == NULL || fclose(out) != 0 ? -ENOMEM : is_one ? 0 : -EINVAL;
    fclose(in);
    rc = rc < 0 ? rc : mds_dump_write_text(path, text);
    free(text);
    return rc;
}

int mds_process_path(const char *folder, uint32_t rank, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_PROCESS_NAME, folder, rank),
               MDS_PATH_BYTES);
}

int mds_live_path(const char *folder, uint32_t rank, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_LIVE_NAME, folder, rank),
               MDS_PATH_BYTES);
}

int mds_node_path(const char *folder, uint32_t node, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_NODE_NAME, folder, node),
               MDS_PATH_BYTES);
}

int mds_global_path(const char *folder, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_GLOBAL_NAME, folder),
               MDS_PATH_BYTES);
}

int mds_node_live_path(const char *folder, uint32_t node, char path_out[MDS_PATH_BYTES])
{
    return fit(
        snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_NODE_LIVE_NAME, folder, node),
        MDS_PATH_BYTES);
}

int mds_global_live_path(const char *folder, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_GLOBAL_LIVE_NAME, folder),
               MDS_PATH_BYTES);
}

int mds_deadlock_path(const char *folder, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_DEADLOCK_NAME, folder),
               MDS_PATH_BYTES);
}

int mds_lint_path(const char *folder, char path_out[MDS_PATH_BYTES])
{
    return fit(snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_LINT_NAME, folder),
               MDS_PATH_BYTES);
}
