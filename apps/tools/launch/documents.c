/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Documents of a run; see documents.h.
 */
#include "apps/tools/launch/documents.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/launch_command.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/report/finding.h"

#define FOLDER_NAME "bcs-findings"

/** The options, by enum findings_form. */
static const char *const option_names[FINDINGS_FORMS] = {"--json", "--sarif",
                                                         "--junit"};

/** Find out whether a document can be written. @return 0 or <0, printed */
static int check(struct documents *documents, int form)
{
    const char *path = documents->options->documents[form];
    char error[FINDINGS_ERROR_BYTES];

    if (!findings_are_possible()) {
        return bcsrun_error("%s needs Jansson, which this bcs was built without: "
                            "install libjansson-dev, configure and build again",
                            option_names[form]);
    }
    if (findings_check(path, documents->files.paths[form], error) < 0) {
        return bcsrun_error("%s: %s", option_names[form], error);
    }
    for (int i = 0; i < form; i++) {
        if (strcmp(documents->files.paths[i], documents->files.paths[form]) == 0) {
            return bcsrun_error("%s and %s name the same file, %s", option_names[i],
                                option_names[form], path);
        }
    }
    return 0;
}

int documents_prepare(struct documents *documents, const struct launch_options *options,
                      char *const *command)
{
    *documents = (struct documents){.options = options, .command = command};
    for (int i = 0; i < FINDINGS_FORMS; i++) {
        if (options->documents[i] == NULL) {
            continue;
        }
        if (check(documents, i) < 0) {
            return -EINVAL;
        }
        documents->state = mmap(NULL, sizeof(*documents->state), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (documents->state == MAP_FAILED) {
            return bcsrun_error("out of memory");
        }
    }
    if (documents->state != NULL) {
        setenv(BCS_FINDINGS_SETTING, "", 1); /* its value is set by documents_begin */
    }
    return 0;
}

/** Make a folder beside the first document, which all machines are to see. @return 0 or
 *  -errno */
static int make_beside(const struct documents *documents, char path_out[PATH_MAX])
{
    const char *first = "";
    int n;

    for (int i = FINDINGS_FORMS - 1; i >= 0; i--) {
        first =
            documents->files.paths[i][0] != '\0' ? documents->files.paths[i] : first;
    }
    strcpy(path_out, first);
    *strrchr(path_out, '/') = '\0';
    n = (int)strlen(path_out);
    if (n + sizeof("/." FOLDER_NAME "-XXXXXX") > PATH_MAX) {
        return -ENAMETOOLONG;
    }
    strcpy(path_out + n, "/." FOLDER_NAME "-XXXXXX");
    return mkdtemp(path_out) == NULL ? -errno : 0;
}

/** Make a folder in the job's own. @return 0 or -errno */
static int make_in(const char *scratch, char path_out[PATH_MAX])
{
    int n = snprintf(path_out, PATH_MAX, "%s/" FOLDER_NAME, scratch);

    return n < 0 || n >= PATH_MAX       ? -ENAMETOOLONG
           : mkdir(path_out, 0700) != 0 ? -errno
                                        : 0;
}

int documents_begin(struct documents *documents, const char *scratch)
{
    struct documents_state *state = documents->state;
    char path[PATH_MAX];
    int err;

    documents->began_ns = bcs_clock_now_ns();
    documents->began_s = (int64_t)time(NULL);
    if (state == NULL) {
        return 0;
    }
    documents->is_own_folder = scratch == NULL;
    err = scratch == NULL ? make_beside(documents, path) : make_in(scratch, path);
    if (err < 0) {
        return bcsrun_error("cannot make a folder for findings: %s", strerror(-err));
    }
    strcpy(state->folder, path);
    setenv(BCS_FINDINGS_SETTING, path, 1);
    return 0;
}

/** Remove the folder with the files in it. */
static void folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." stay */
    }
    if (folder != NULL) {
        closedir(folder);
    }
    rmdir(path);
}

int documents_end(struct documents *documents, const struct watch_result *result)
{
    struct documents_state *state = documents->state;
    char error[FINDINGS_ERROR_BYTES];
    struct findings_run run;
    int err;

    if (state == NULL || state->are_written) {
        return result->status;
    }
    run = (struct findings_run){
        .command = documents->command,
        .program = documents->options->contexts[0].program,
        .mpi = BCS_MPI_VERSION,
        .n_ranks = launch_n_ranks(documents->options),
        .began_s = documents->began_s,
        .seconds = (double)(bcs_clock_now_ns() - documents->began_ns) / 1e9,
        .status = result->status,
        .is_interrupted = result->is_interrupted,
        .is_killed = result->is_killed,
    };
    err = findings_write(&documents->files,
                         state->folder[0] == '\0' ? NULL : state->folder, &run, error);
    if (documents->is_own_folder) {
        folder_remove(state->folder);
    }
    state->are_written = true;
    if (err < 0) {
        bcsrun_error("%s", error);
    }
    return err < 0 && result->status == 0 ? EXIT_FAILURE : result->status;
}
