/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes documents, whole or not at all; see findings.h. A document is written to a
 * file beside it, which then takes its name.
 */
#include "apps/tools/findings/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tools/findings/document_json.h"
#include "apps/tools/findings/document_junit.h"
#include "apps/tools/findings/document_sarif.h"
#include "apps/tools/findings/findings_read.h"

/** Writes a document. @return whether it is whole, but for what the stream says */
typedef bool write_fn(FILE *out, const struct document *document);

/** By enum findings_form. */
static write_fn *const writers[FINDINGS_FORMS] = {
    [FINDINGS_JSON] = document_write_json,
    [FINDINGS_SARIF] = document_write_sarif,
    [FINDINGS_JUNIT] = document_write_junit,
};

bool findings_are_possible(void)
{
    return true;
}

/** Say why. @return -errno */
static int complain(char error_out[FINDINGS_ERROR_BYTES], const char *path, int err,
                    const char *why)
{
    snprintf(error_out, FINDINGS_ERROR_BYTES, "cannot write %s: %s", path, why);
    return -err;
}

/** Make the file that a document is first written to. @return a descriptor or
 *  -errno */
static int part_open(const char *path, char part_out[PATH_MAX])
{
    int n = snprintf(part_out, PATH_MAX, "%s.bcsrun-%ld", path, (long)getpid());
    int fd;

    if (n < 0 || n >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    fd = open(part_out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

/** The path of a file that need not exist, from the root. @return 0 or -errno */
static int whole_path(const char *path, char path_out[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(name - path));
    char *real = folder == NULL ? NULL : realpath(folder, NULL);
    int rc = -errno, n;

    free(folder);
    if (real == NULL) {
        return rc;
    }
    n = snprintf(path_out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int findings_check(const char *path, char path_out[PATH_MAX],
                   char error_out[FINDINGS_ERROR_BYTES])
{
    char part[PATH_MAX];
    struct stat status;
    int fd, rc;

    if (*path == '\0') {
        return complain(error_out, "the document", EINVAL, "it has no name");
    }
    if (stat(path, &status) != 0) {
        rc = whole_path(path, path_out);
    } else if (!S_ISREG(status.st_mode)) {
        return complain(error_out, path, EINVAL, "it is no regular file");
    } else { /* what a link leads to is replaced */
        rc = access(path, W_OK) != 0 || realpath(path, path_out) == NULL ? -errno : 0;
    }
    if (rc < 0) {
        return complain(error_out, path, -rc, strerror(-rc));
    }
    fd = part_open(path_out, part);
    if (fd < 0) {
        return complain(error_out, path, -fd, strerror(-fd));
    }
    close(fd);
    unlink(part);
    return 0;
}

/** Write a document. @return 0 or -errno */
static int write_one(const char *path, write_fn *write, const struct document *document)
{
    char part[PATH_MAX];
    int fd = part_open(path, part), err;
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (out == NULL) {
        return fd < 0 ? fd : -ENOMEM;
    }
    errno = 0;
    err = write(out, document) ? 0 : errno != 0 ? errno : ENOMEM;
    if (fflush(out) != 0 || ferror(out)) {
        err = errno != 0 ? errno : EIO;
    }
    fclose(out);
    if (err == 0 && rename(part, path) != 0) {
        err = errno;
    }
    if (err != 0) {
        unlink(part);
    }
    return -err;
}

int findings_write(const struct findings_files *files, const char *folder,
                   const struct findings_run *run, char error_out[FINDINGS_ERROR_BYTES])
{
    char *working = getcwd(NULL, 0);
    struct document document = {.run = run, .folder = working == NULL ? "/" : working};
    int rc = 0;

    document.findings =
        findings_read(folder, document.folder, run->status, &document.n_lost);
    for (int i = 0; i < FINDINGS_FORMS; i++) {
        int err = files->paths[i][0] == '\0'
                      ? 0
                      : write_one(files->paths[i], writers[i], &document);

        if (err != 0 && rc == 0) {
            rc = complain(error_out, files->paths[i], -err, strerror(-err));
        }
    }
    json_decref(document.findings);
    free(working);
    return rc;
}
