/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds jobs in /proc; see look.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/look/look.h"

#define SEGMENT_NAME "/memfd:bcs "

/** Those found so far. */
struct list {
    struct bcs_look_found *found;
    int n;
};

/** Whether an open segment begins with the sign of a job. */
static bool has_sign(const struct bcs_shm_segment *segment)
{
    char magic[sizeof(((struct bcs_sign *)0)->magic)];

    return pread(segment->fd, magic, sizeof(magic), 0) == sizeof(magic) &&
           memcmp(magic, BCS_SIGN_MAGIC, sizeof(magic)) == 0;
}

/** @return 0 or -ENOMEM */
static int add(struct list *list, const struct bcs_look_found *found)
{
    struct bcs_look_found *longer;

    for (int i = 0; i < list->n; i++) {
        if (list->found[i].device == found->device &&
            list->found[i].inode == found->inode) {
            return 0;
        }
    }
    longer = realloc(list->found, ((size_t)list->n + 1) * sizeof(*longer));
    if (longer == NULL) {
        return -ENOMEM;
    }
    list->found = longer;
    list->found[list->n++] = *found;
    return 0;
}

/** Look at a file descriptor of a process. @return 0 or -ENOMEM */
static int look_at(struct list *list, int folder, long pid, const char *number)
{
    struct bcs_look_found found = {.handle = {.pid = pid, .fd = atol(number)}};
    struct bcs_shm_segment segment;
    char target[sizeof(SEGMENT_NAME)];
    int rc = 0;

    if (readlinkat(folder, number, target, sizeof(target) - 1) !=
            (ssize_t)sizeof(target) - 1 ||
        memcmp(target, SEGMENT_NAME, sizeof(target) - 1) != 0 ||
        bcs_shm_segment_look(&segment, &found.handle) < 0) {
        return 0;
    }
    found.device = segment.device;
    found.inode = segment.inode;
    if (has_sign(&segment)) {
        rc = add(list, &found);
    }
    bcs_shm_segment_close_fd(&segment);
    return rc;
}

/** @return 0 or -ENOMEM; processes of others, and those that end, are passed over */
static int look_at_process(struct list *list, long pid)
{
    const struct dirent *entry;
    char path[64];
    DIR *folder;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
    folder = opendir(path);
    while (folder != NULL && rc == 0 && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            rc = look_at(list, dirfd(folder), pid, entry->d_name);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return rc;
}

/** Hand out what was found. @return how many, or rc if that is <0 */
static int hand_out(const struct list *list, int rc, struct bcs_look_found **found_out)
{
    if (rc < 0) {
        free(list->found);
        return rc;
    }
    *found_out = list->found;
    return list->n;
}

int bcs_look_find_of(int64_t pid, struct bcs_look_found **found_out)
{
    struct list list = {0};
    int rc = look_at_process(&list, (long)pid);

    return hand_out(&list, rc, found_out);
}

int bcs_look_find(struct bcs_look_found **found_out)
{
    struct list list = {0};
    const struct dirent *entry;
    DIR *folder = opendir("/proc");
    int rc = 0;

    if (folder == NULL) {
        return -errno;
    }
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
            rc = look_at_process(&list, atol(entry->d_name));
        }
    }
    closedir(folder);
    return hand_out(&list, rc, found_out);
}
