/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's folder: /dev/shm/bcsrun-XXXXXX, or in TMPDIR or /tmp if memory is short. Open
 * MPI does not look before it writes, and hangs where there is no room. Its owner holds a
 * lock on it; a folder that nobody has locked was left by a job that was killed with all its
 * processes, and is removed by the next one. Between making and locking a folder somebody
 * else may take it for a dead one: the maker looks again once it has the lock. Called by
 * bcsrun's main.
 */
#include "libbcs/tools/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "libbcs/base/environment.h"
#include "libbcs/tools/bcsrun_error.h"

#define MEMORY_FOLDER "/dev/shm"
#define NAME_PREFIX "bcsrun-"
#define NAME_PATTERN NAME_PREFIX "XXXXXX"
#define MAX_ATTEMPTS 100
/* Open MPI 4.1: two tables of PMIx, and of each rank a segment of which it begins with
 * little. */
#define FIXED_BYTES (9u << 20)
#define MOST_RANK_BYTES ((uint64_t)4300 << 10)
#define LEAST_RANK_BYTES ((uint64_t)160 << 10)
#define MB(n_bytes) ((unsigned long long)(n_bytes) >> 20)
#define MAX_OPEN_FOLDERS 16

static int entry_remove(const char *path, const struct stat *status, int type,
                        struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0; /* go on with the others */
}

static void tree_remove(const char *path)
{
    nftw(path, entry_remove, MAX_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Whether path still names the folder that fd is open on, and it belongs to us. */
static bool is_own_folder(const char *path, int fd)
{
    struct stat by_path;
    struct stat by_fd;

    return lstat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 &&
           by_path.st_dev == by_fd.st_dev && by_path.st_ino == by_fd.st_ino &&
           by_fd.st_uid == geteuid();
}

static void dead_folder_remove(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_own_folder(path, fd)) {
        tree_remove(path);
    }
    close(fd);
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

/* The first place with room for all that Open MPI may write, else that with the most room
 * if it will do. NULL: there is none; printed. */
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

/* @return 0, 1 if another took it for a dead one, -errno */
static int folder_make(const char *base, struct scratch *scratch)
{
    snprintf(scratch->path, sizeof scratch->path, "%s/" NAME_PATTERN, base);
    if (mkdtemp(scratch->path) == NULL) {
        return -errno;
    }
    scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (scratch->fd < 0) {
        return errno == ENOENT ? 1 : -errno;
    }
    if (flock(scratch->fd, LOCK_EX) == 0 && is_own_folder(scratch->path, scratch->fd)) {
        return 0;
    }
    close(scratch->fd);
    return 1;
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
    int err = 1;

    scratch_sweep();
    base = base_choose((uint64_t)n_ranks);
    if (base == NULL) {
        return -ENOSPC;
    }
    for (int i = 0; i < MAX_ATTEMPTS && err > 0; i++) {
        err = folder_make(base, scratch_out);
    }
    if (err) {
        return bcsrun_error("cannot make a folder in %s: %s", base,
                            err < 0 ? strerror(-err) : "it is removed again and again");
    }
    return 0;
}

void scratch_remove(struct scratch *scratch)
{
    tree_remove(scratch->path);
    close(scratch->fd);
    scratch->fd = -1;
}
