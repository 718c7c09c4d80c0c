/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Documents of a run; see documents.h.
 */
#include "apps/tools/launch/documents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/diagnosis.h"
#include "apps/tools/launch/launch_command.h"
#include "apps/tools/launch/tree_remove.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/report/finding.h"

#define FOLDER_NAME "bcs-findings"
#define RECORDS_NAME "mds"
#define FINDINGS_NAME "found.json"

/** The options, by enum findings_form. */
static const char *const option_names[FINDINGS_FORMS] = {"--json", "--sarif",
                                                         "--junit"};

/** Find out whether what an option asks for can be written. @return 0 or <0, printed */
static int check_one(const char *option, const char *path, char path_out[PATH_MAX])
{
    char error[FINDINGS_ERROR_BYTES];

    if (!findings_are_possible()) {
        return bcsrun_error("%s needs Jansson, which this bcs was built without: "
                            "install libjansson-dev, configure and build again",
                            option);
    }
    return findings_check(path, path_out, error) < 0
               ? bcsrun_error("%s: %s", option, error)
               : 0;
}

/** The same of a document, which is to have a file of its own. */
static int check(struct documents *documents, int form)
{
    const char *path = documents->options->documents[form];

    if (check_one(option_names[form], path, documents->files.paths[form]) < 0) {
        return -EINVAL;
    }
    for (int i = 0; i < form; i++) {
        if (strcmp(documents->files.paths[i], documents->files.paths[form]) == 0) {
            return bcsrun_error("%s and %s name the same file, %s", option_names[i],
                                option_names[form], path);
        }
    }
    return 0;
}

/** Make what bcsrun and its keeper both know. @return 0 or <0, printed */
static int state_make(struct documents *documents)
{
    struct documents_state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (state == MAP_FAILED) {
        return bcsrun_error("out of memory");
    }
    documents->state = state;
    setenv(BCS_FINDINGS_SETTING, "", 1); /* its value is set by documents_begin */
    return 0;
}

int documents_prepare(struct documents *documents, const struct launch_options *options,
                      char *const *command)
{
    bool are_wanted = options->diagnosis != NULL;

    *documents = (struct documents){.options = options, .command = command};
    for (int i = 0; i < FINDINGS_FORMS; i++) {
        are_wanted |= options->documents[i] != NULL;
        if (options->documents[i] != NULL && check(documents, i) < 0) {
            return -EINVAL;
        }
    }
    if (options->diagnosis != NULL &&
        (check_one("--diagnose", options->diagnosis, documents->page) < 0 ||
         diagnosis_prepare(options->records != NULL) < 0)) {
        return -EINVAL;
    }
    return are_wanted ? state_make(documents) : 0;
}

/** Make a folder beside the first document, which all machines are to see. @return 0 or
 *  -errno */
static int make_beside(const struct documents *documents, char path_out[PATH_MAX])
{
    const char *first = documents->page;
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

/** Have the ranks record into a folder below. @return 0 or <0, printed */
static int records_begin(const char *folder)
{
    char path[PATH_MAX + sizeof(RECORDS_NAME)];
    int err;

    snprintf(path, sizeof(path), "%s/" RECORDS_NAME, folder);
    err = diagnosis_begin(path);
    return err < 0 ? bcsrun_error("cannot make %s: %s", path, strerror(-err)) : 0;
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
    return documents->page[0] == '\0' || documents->options->records != NULL
               ? 0
               : records_begin(path);
}

/** Write the page. @return 0 or <0, printed */
static int page_write(const struct documents *documents, const struct findings_run *run)
{
    const char *folder = documents->state->folder;
    struct findings_files files = {0};
    char error[FINDINGS_ERROR_BYTES];
    int n = snprintf(files.paths[FINDINGS_JSON], PATH_MAX, "%s/" FINDINGS_NAME, folder);

    if (folder[0] == '\0' || n >= PATH_MAX) {
        return bcsrun_error("there is no diagnosis, as the job has not begun");
    }
    if (findings_write(&files, folder, run, error) < 0) {
        return bcsrun_error("%s", error);
    }
    return diagnosis_end(files.paths[FINDINGS_JSON], documents->page,
                         documents->options->diagnosis);
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
    if (err < 0) {
        bcsrun_error("%s", error);
    }
    if (documents->page[0] != '\0' && page_write(documents, &run) < 0) {
        err = -EIO;
    }
    if (documents->is_own_folder) {
        tree_remove(state->folder);
    }
    state->are_written = true;
    return err < 0 && result->status == 0 ? EXIT_FAILURE : result->status;
}
