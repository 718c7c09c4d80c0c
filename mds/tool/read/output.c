/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files and folders that bcs-mds makes; see output.h. One thread.
 */
#include "mds/tool/read/output.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS_MOST = 100 };

int output_refuse(const struct output *output, int rc, char error_out[DUMP_ERROR_BYTES])
{
    dump_refuse(error_out, "cannot write %s: %s", output->name, strerror(-rc));
    return rc;
}

/** Write at once. @return 0 or -errno */
static int begin_direct(struct output *output)
{
    output->is_direct = true;
    output->file = strcmp(output->name, "-") == 0 ? stdout : fopen(output->name, "we");
    return output->file == NULL ? -errno : 0;
}

/** Make what is written to until it is whole, beside its own name, under one that
 *  nothing has.
 *  @param mode permissions, but for the umask @return a descriptor, 0 for a folder; or
 *  -errno */
static int make_part(struct output *output, mode_t mode, bool is_folder)
{
    int rc = -EEXIST;

    for (int i = 0; i < PARTS_MOST && rc == -EEXIST; i++) {
        int n = snprintf(output->part, sizeof(output->part), "%s.%ld.%d.part",
                         output->path, (long)getpid(), i);

        if (n >= (int)sizeof(output->part)) {
            return -ENAMETOOLONG;
        }
        rc = is_folder
                 ? mkdir(output->part, mode)
                 : open(output->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        rc = rc < 0 ? -errno : rc;
    }
    return rc;
}

/** Make the file beside. @param mode permissions that it gets, but for the umask if
 *  there is no file yet. @return 0 or -errno */
static int begin_part(struct output *output, mode_t mode, bool is_there)
{
    int fd = make_part(output, mode, false), rc;

    if (fd < 0) {
        return fd;
    }
    if (!is_there || fchmod(fd, mode) == 0) {
        output->file = fdopen(fd, "w");
    }
    rc = -errno;
    if (output->file == NULL) {
        close(fd);
        unlink(output->part);
        return rc;
    }
    return 0;
}

/** Begin where a file is already. */
static int begin_again(struct output *output, mode_t mode)
{
    char *path;

    if (access(output->name, W_OK) < 0) {
        return -errno;
    }
    path = realpath(output->name, NULL); /* a link stays one */
    if (path == NULL) {
        return -errno;
    }
    if (strlen(path) >= sizeof(output->path)) {
        free(path);
        return -ENAMETOOLONG;
    }
    strcpy(output->path, path);
    free(path);
    return begin_part(output, mode & 07777, true);
}

static int begin(struct output *output)
{
    struct stat status;

    if (strcmp(output->name, "-") == 0) {
        return begin_direct(output);
    }
    if (stat(output->name, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            return -EISDIR;
        }
        return S_ISREG(status.st_mode) ? begin_again(output, status.st_mode)
                                       : begin_direct(output);
    }
    if (strlen(output->name) >= sizeof(output->path)) {
        return -ENAMETOOLONG;
    }
    strcpy(output->path, output->name);
    return begin_part(output, 0666, false);
}

int output_begin(const char *name, struct output *output_out,
                 char error_out[DUMP_ERROR_BYTES])
{
    struct output output = {.name = name};
    int rc = begin(&output);

    if (rc < 0) {
        return output_refuse(&output, rc, error_out);
    }
    *output_out = output;
    return 0;
}

static int begin_folder(struct output *output)
{
    size_t n = strlen(output->name);

    while (n > 1 && output->name[n - 1] == '/') {
        n--;
    }
    if (n >= sizeof(output->path)) {
        return -ENAMETOOLONG;
    }
    memcpy(output->path, output->name, n);
    output->path[n] = '\0';
    return access(output->path, F_OK) == 0 ? -EEXIST : make_part(output, 0777, true);
}

int output_begin_folder(const char *name, struct output *output_out,
                        char error_out[DUMP_ERROR_BYTES])
{
    struct output output = {.name = name};
    int rc;

    if (strcmp(name, "-") == 0) {
        return dump_refuse(error_out, "a folder cannot be written to standard output; "
                                      "name one by -o FOLDER");
    }
    rc = begin_folder(&output);
    if (rc < 0) {
        return output_refuse(&output, rc, error_out);
    }
    *output_out = output;
    return 0;
}

/** Take one away of what is in a folder, and itself. */
static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

/** Have the system take all bytes. @return 0 or -errno */
static int finish(struct output *output)
{
    if (fflush(output->file) != 0) {
        return -errno;
    }
    if (ferror(output->file)) {
        return -EIO; /* when it was written; what it was is forgotten */
    }
    if (!output->is_direct && fsync(fileno(output->file)) < 0) {
        return -errno;
    }
    return 0;
}

int output_end(struct output *output, char error_out[DUMP_ERROR_BYTES])
{
    int rc = output->file == NULL ? 0 : finish(output);
    bool is_own = output->file != NULL && output->file != stdout;

    if (rc == 0 && is_own) {
        rc = fclose(output->file) == 0 ? 0 : -errno;
        output->file = NULL;
    }
    if (rc == 0 && !output->is_direct && rename(output->part, output->path) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        output_abandon(output);
        return output_refuse(output, rc, error_out);
    }
    return 0;
}

void output_abandon(struct output *output)
{
    if (output->file != NULL && output->file != stdout) {
        fclose(output->file);
    }
    output->file = NULL;
    if (!output->is_direct) {
        nftw(output->part, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

int output_make(const char *name, bool is_folder, output_fill_fn fill, const void *what)
{
    char error[DUMP_ERROR_BYTES];
    struct output output;
    int rc = is_folder ? output_begin_folder(name, &output, error)
                       : output_begin(name, &output, error);

    if (rc == 0) {
        rc = fill(what, &output, error);
        if (rc < 0) {
            output_abandon(&output);
        } else {
            rc = output_end(&output, error);
        }
    }
    if (rc < 0) {
        fprintf(stderr, "bcs-mds: %s\n", error);
    }
    return rc < 0;
}
