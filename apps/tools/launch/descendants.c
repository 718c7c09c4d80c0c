/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the kernel's lists of children, one for each thread: mpirun starts ranks in
 * several threads. See descendants.h.
 */
#include "apps/tools/launch/descendants.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LEVELS = 100 };

/** A walk. */
struct walk {
    descendants_fn visit;
    void *arg;
};

static void process_walk(const struct walk *walk, pid_t pid, int level);

/** Visit the children of a thread, and those below them. */
static void thread_walk(const struct walk *walk, const char *path, int level)
{
    FILE *list = fopen(path, "re");
    int child;

    while (list != NULL && fscanf(list, "%d", &child) == 1) {
        walk->visit(walk->arg, child);
        process_walk(walk, child, level + 1);
    }
    if (list != NULL) {
        fclose(list);
    }
}

static void process_walk(const struct walk *walk, pid_t pid, int level)
{
    const struct dirent *entry;
    char path[64];
    DIR *threads;

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    threads = level < MOST_LEVELS ? opendir(path) : NULL;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)pid,
                     atol(entry->d_name));
            thread_walk(walk, path, level);
        }
    }
    if (threads != NULL) {
        closedir(threads);
    }
}

void descendants_visit(pid_t pid, descendants_fn visit, void *arg)
{
    const struct walk walk = {visit, arg};

    process_walk(&walk, pid, 0);
}
