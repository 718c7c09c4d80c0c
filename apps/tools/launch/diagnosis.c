/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Diagnoses; see diagnosis.h. bcs-mds makes the page: it knows what was recorded. Its
 * few lines go where bcsrun's own go, to standard error.
 */
#include "apps/tools/launch/diagnosis.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/launch_check.h"
#include "libbcs/fabric/base/environment.h"

#define RECORDS "BCS_MDS_DIR"

int diagnosis_prepare(bool is_recorded)
{
    char path[PATH_MAX];
    int err = launch_find_mds(path, sizeof path);

    if (err == -ENOENT) {
        return bcsrun_error("%s, which makes the page of --diagnose, is missing: build "
                            "or install bcs again",
                            path);
    }
    setenv("BCS_REFEREE_LINT", "on", 1);
    setenv("BCS_REFEREE_BUFFERS", "on", 1);
    if (!is_recorded) {
        setenv("BCS_MDS", "trace", 1);
        setenv(RECORDS, "", 1); /* its value is set by diagnosis_begin */
    }
    return err;
}

int diagnosis_begin(const char *folder)
{
    if (mkdir(folder, 0700) != 0) {
        return -errno;
    }
    setenv(RECORDS, folder, 1);
    return 0;
}

/** Find the newest folder in one: the run's. @param path_out  if there is none, the
 *  folder itself */
static void newest_find(const char *folder, char path_out[PATH_MAX])
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    struct timespec newest = {0};

    snprintf(path_out, PATH_MAX, "%s", folder);
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        struct stat status;

        if (entry->d_name[0] != '.' &&
            fstatat(dirfd(entries), entry->d_name, &status, 0) == 0 &&
            S_ISDIR(status.st_mode) &&
            (status.st_mtim.tv_sec > newest.tv_sec ||
             (status.st_mtim.tv_sec == newest.tv_sec &&
              status.st_mtim.tv_nsec > newest.tv_nsec))) {
            newest = status.st_mtim;
            snprintf(path_out, PATH_MAX, "%s/%s", folder, entry->d_name);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/** In the child. Does not return. */
static void mds_exec(char *const *command)
{
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(command[0], command);
    bcsrun_error("cannot start %s: %s", command[0], strerror(errno));
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

/** Run bcs-mds to its end. @return whether it has made the page */
static bool mds_run(char *const *command)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        mds_exec(command);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    return child > 0 && status == 0;
}

int diagnosis_end(const char *findings, const char *page, const char *shown)
{
    const char *folder = bcs_environment_get(RECORDS);
    char path[PATH_MAX], run[PATH_MAX];
    const char *command[] = {path, "diagnosis", findings, run, "-o", page, NULL};

    newest_find(folder == NULL ? "" : folder, run);
    if (launch_find_mds(path, sizeof path) < 0 ||
        !mds_run((char *const *)(uintptr_t)command)) {
        return bcsrun_error("there is no diagnosis");
    }
    bcsrun_error("the diagnosis is %s", shown);
    return 0;
}
