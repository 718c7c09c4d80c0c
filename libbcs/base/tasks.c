/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/self/task; see tasks.h.
 */
#include "libbcs/base/tasks.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libbcs/base/kernel_stat.h"

/** When a thread of this process began. @return 0: unknown, or there is none */
static uint64_t began(int32_t id)
{
    struct bcs_kernel_stat stat;

    return bcs_kernel_stat_thread(id, &stat) ? stat.start_time : 0;
}

static bool has(const struct bcs_tasks *tasks, int32_t id)
{
    for (uint32_t i = 0; i < tasks->n; i++) {
        if (tasks->tasks[i].id == id) {
            return tasks->tasks[i].began != 0 && tasks->tasks[i].began == began(id);
        }
    }
    return false;
}

/** Visit all that are not in a list. @param tasks  those found so far; NULL: they are counted only
 *  @return how many; UINT32_MAX: unknown */
static uint32_t visit(const struct bcs_tasks *but, struct bcs_tasks *tasks)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    uint32_t n = 0;

    if (folder == NULL || (but != NULL && but->n > BCS_TASKS_MOST)) {
        n = UINT32_MAX;
    }
    while (n != UINT32_MAX && (entry = readdir(folder)) != NULL) {
        int32_t id = atoi(entry->d_name);

        if (id == 0 || (but != NULL && has(but, id))) {
            continue;
        }
        if (tasks != NULL && n == BCS_TASKS_MOST) {
            n = UINT32_MAX;
            break;
        }
        if (tasks != NULL) {
            tasks->tasks[n] = (struct bcs_task){id, began(id)};
        }
        n++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return n;
}

static struct bcs_tasks list(const struct bcs_tasks *but)
{
    struct bcs_tasks tasks = {0};
    uint32_t n = visit(but, &tasks);

    tasks.n = n == UINT32_MAX ? BCS_TASKS_MOST + 1 : n;
    return tasks;
}

struct bcs_tasks bcs_tasks_list(void)
{
    return list(NULL);
}

struct bcs_tasks bcs_tasks_since(const struct bcs_tasks *before)
{
    const struct bcs_tasks unknown = {.n = BCS_TASKS_MOST + 1};

    return before->n == 1 ? list(before) : unknown;
}

uint32_t bcs_tasks_count(const struct bcs_tasks *but)
{
    uint32_t n = visit(but, NULL);

    return n == UINT32_MAX ? 0 : n;
}
