/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's folder: /dev/shm/bcsrun-XXXXXX, or in TMPDIR or /tmp if memory is short.
 * Open MPI does not look before it writes, and hangs where there is no room. A folder
 * that was left by a job that was killed with all its processes is removed by the next
 * bcsrun.
 *
 * A user may have folders of such names, too. So each folder of ours holds a mark, a
 * file whose text tells the folder's name, device, inode and time of birth, none of
 * which a copy of the folder shares. Nothing is touched in a folder whose mark is not
 * exactly that. The owner holds a lock on the folder: a marked one that nobody has
 * locked is dead. Open MPI's files are in a folder below. Only that is removed with all
 * that is in it; the mark goes last, and the folder itself only if it is empty, so that
 * what a user has put beside stays.
 *
 * The maker locks the folder before it writes the mark, so nobody takes a new folder
 * for a dead one. One that is killed before the mark is whole leaves a folder without a
 * file of Open MPI's, which stays. Called by bcsrun's main.
 */
#include "apps/tools/launch/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/tree_remove.h"
#include "libbcs/fabric/base/environment.h"

#define MEMORY_FOLDER "/dev/shm"
#define NAME_PREFIX "bcsrun-"
#define NAME_PATTERN NAME_PREFIX "XXXXXX"
#define MARK_NAME "bcsrun-mark"
#define FILES_NAME "mpi"
/* Open MPI 4.1: two tables of PMIx, and of each rank a segment of which it begins with
 * little. */
#define FIXED_BYTES (9u << 20)
#define MOST_RANK_BYTES ((uint64_t)4300 << 10)
#define LEAST_RANK_BYTES ((uint64_t)160 << 10)
#define MB(n_bytes) ((unsigned long long)(n_bytes) >> 20)

enum { MARK_BYTES = 256 };

/* The text that the mark of the folder has which is open as fd. @return 0 or -errno */
static int mark_text(const char *folder, int fd, char text_out[MARK_BYTES])
{
    struct statx status;

    memset(text_out, 0, MARK_BYTES);
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status)) {
        return -errno;
    }
    /* A file system that has no time of birth tells 0. */
    snprintf(
        text_out, MARK_BYTES,
        "bcsrun removes this folder: %s, device %x:%x, inode %llu, born %lld.%09u\n",
        strrchr(folder, '/') + 1, status.stx_dev_major, status.stx_dev_minor,
        (unsigned long long)status.stx_ino, (long long)status.stx_btime.tv_sec,
        status.stx_btime.tv_nsec);
    return 0;
}

/* Whether bcsrun has made the folder that is open as fd: whether it has its mark. */
static bool is_marked(const char *folder, int fd)
{
    int mark = openat(fd, MARK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char found[MARK_BYTES] = "";
    char text[MARK_BYTES];
    struct stat status;
    bool is;

    if (mark < 0) {
        return false;
    }
    is = fstat(mark, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == geteuid() && read(mark, found, MARK_BYTES) > 0 &&
         mark_text(folder, fd, text) == 0 && memcmp(found, text, MARK_BYTES) == 0;
    close(mark);
    return is;
}

/* Lock and mark the folder that is open as fd, and make the one in it. @return 0 or
 * -errno */
static int folder_fill(const char *folder, int fd)
{
    char text[MARK_BYTES];
    int err = mark_text(folder, fd, text);
    ssize_t n;
    int mark;

    if (err || flock(fd, LOCK_EX) != 0) {
        return err ? err : -errno;
    }
    mark = openat(fd, MARK_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (mark < 0) {
        return -errno;
    }
    n = write(mark, text, strlen(text));
    err = n < 0 ? -errno : (size_t)n < strlen(text) ? -ENOSPC : 0;
    close(mark);
    return err == 0 && mkdirat(fd, FILES_NAME, 0700) != 0 ? -errno : err;
}

/* Whether path names the folder that fd is open on. */
static bool is_named(const char *path, int fd)
{
    struct stat by_path;
    struct stat by_fd;

    return lstat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 &&
           by_path.st_dev == by_fd.st_dev && by_path.st_ino == by_fd.st_ino;
}

/* Remove a folder of ours that is open as fd, but for what a user has put into it. By
 * the descriptor: the path may name another one by now. */
static void folder_remove(const char *folder, int fd)
{
    char files[64];

    snprintf(files, sizeof files, "/proc/self/fd/%d/" FILES_NAME, fd);
    tree_remove(files);
    if (faccessat(fd, FILES_NAME, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        unlinkat(fd, MARK_NAME, 0);
        if (is_named(folder, fd)) {
            rmdir(folder);
        }
    }
}

static void dead_folder_remove(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    /* The mark is gone if another process has had the lock in between. */
    if (fd >= 0 && is_marked(folder, fd) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_marked(folder, fd)) {
        folder_remove(folder, fd);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void dead_folders_remove(const char *base)
{
    DIR *folder = opendir(base);
    struct dirent *entry;

    if (folder == NULL) {
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);

        if (strlen(entry->d_name) == strlen(NAME_PATTERN) &&
            strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 && n > 0 &&
            (size_t)n < sizeof path) {
            dead_folder_remove(path);
        }
    }
    closedir(folder);
}

/** Where a folder may be. */
struct place {
    const char *path;
    uint64_t free_bytes; /* 0: it cannot be used */
};

enum { N_PLACES = 3 };

static void places_find(struct place places[N_PLACES])
{
    const char *temporary = bcs_environment_get("TMPDIR");

    places[0].path = MEMORY_FOLDER;
    places[1].path = temporary != NULL && temporary[0] == '/' ? temporary : "/tmp";
    places[2].path = "/tmp";
    for (int i = 0; i < N_PLACES; i++) {
        struct statvfs room;

        places[i].free_bytes = access(places[i].path, W_OK | X_OK) == 0 &&
                                       statvfs(places[i].path, &room) == 0
                                   ? (uint64_t)room.f_bavail * room.f_frsize
                                   : 0;
    }
}

/* The first place with room for all that Open MPI may write, else that with the most
 * room if it will do. NULL: there is none; printed. */
static const char *base_choose(uint64_t n_ranks)
{
    uint64_t most_bytes = FIXED_BYTES + n_ranks * MOST_RANK_BYTES;
    uint64_t least_bytes = FIXED_BYTES + n_ranks * LEAST_RANK_BYTES;
    struct place places[N_PLACES];
    const struct place *best = &places[0];

    places_find(places);
    for (int i = 0; i < N_PLACES; i++) {
        if (places[i].free_bytes >= most_bytes) {
            return places[i].path;
        }
        if (places[i].free_bytes > best->free_bytes) {
            best = &places[i];
        }
    }
    if (best->free_bytes >= least_bytes) {
        return best->path;
    }
    bcsrun_error(
        "Open MPI's files need %llu MB for %llu ranks, but %s has %llu MB free "
        "and %s %llu MB: make room, or name another folder in TMPDIR",
        MB(least_bytes), (unsigned long long)n_ranks, places[0].path,
        MB(places[0].free_bytes), places[1].path, MB(places[1].free_bytes));
    return NULL;
}

int scratch_make(const char *base, struct scratch *scratch_out)
{
    struct scratch *scratch = scratch_out;
    int n = snprintf(scratch->folder, sizeof scratch->folder, "%s/" NAME_PATTERN, base);
    int err;

    if (n < 0 || (size_t)n + sizeof "/" FILES_NAME > sizeof scratch->path) {
        return -ENAMETOOLONG;
    }
    if (mkdtemp(scratch->folder) == NULL) {
        return -errno;
    }
    snprintf(scratch->path, sizeof scratch->path, "%.*s/" FILES_NAME, n,
             scratch->folder);
    /* Not closed in what is started: the lock is to last. */
    scratch->fd = open(scratch->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    err = scratch->fd < 0 ? -errno : folder_fill(scratch->folder, scratch->fd);
    if (err && scratch->fd >= 0) {
        scratch_remove(scratch);
    }
    return err;
}

void scratch_sweep(void)
{
    struct place places[N_PLACES];

    places_find(places);
    for (int i = 0; i < N_PLACES; i++) {
        dead_folders_remove(places[i].path);
    }
}

int scratch_create(int n_ranks, struct scratch *scratch_out)
{
    const char *base;
    int err;

    scratch_sweep();
    base = base_choose((uint64_t)n_ranks);
    if (base == NULL) {
        return -ENOSPC;
    }
    err = scratch_make(base, scratch_out);
    return err ? bcsrun_error("cannot make a folder in %s: %s", base, strerror(-err))
               : 0;
}

void scratch_remove(struct scratch *scratch)
{
    folder_remove(scratch->folder, scratch->fd);
    close(scratch->fd);
    scratch->fd = -1;
}
