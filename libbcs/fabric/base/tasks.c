/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/self/task; see tasks.h.
 */
#include "libbcs/fabric/base/tasks.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "libbcs/fabric/base/kernel_stat.h"
#include "libbcs/fabric/base/park.h"

/* Threads of a library that has just been loaded need so long to fall asleep, if the
 * cores are busy. */
enum { REST_NS = 1000000, RESTS_MOST = 50 };

/** When a thread of this process began. @return 0: unknown, or there is none */
static uint64_t began(int32_t id)
{
    struct bcs_kernel_stat stat;

    return bcs_kernel_stat_thread(id, &stat) ? stat.start_time : 0;
}

bool bcs_tasks_have(const struct bcs_tasks *tasks, int32_t id)
{
    for (uint32_t i = 0; tasks->n <= BCS_TASKS_MOST && i < tasks->n; i++) {
        if (tasks->tasks[i].id == id) {
            return tasks->tasks[i].began != 0 && tasks->tasks[i].began == began(id);
        }
    }
    return false;
}

bool bcs_tasks_visit(bool (*visit)(void *arg, int32_t id), void *arg)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    bool goes_on = folder != NULL;

    while (goes_on && (entry = readdir(folder)) != NULL) {
        int32_t id = atoi(entry->d_name);

        goes_on = id == 0 || visit(arg, id);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return goes_on;
}

/** What makes a list. */
struct listing {
    const struct bcs_tasks *but; /* NULL: all */
    struct bcs_tasks tasks;
};

/** A bcs_tasks_visit function. */
static bool add(void *arg, int32_t id)
{
    struct listing *listing = arg;
    struct bcs_task *task = &listing->tasks.tasks[listing->tasks.n];

    if (listing->but != NULL && bcs_tasks_have(listing->but, id)) {
        return true;
    }
    if (listing->tasks.n == BCS_TASKS_MOST) {
        return false;
    }
    *task = (struct bcs_task){.id = id, .began = began(id)};
    if (id != gettid()) {
        bcs_thread_look(id, &task->state);
    }
    listing->tasks.n++;
    return true;
}

static struct bcs_tasks list(const struct bcs_tasks *but)
{
    struct listing listing = {.but = but};

    if (!bcs_tasks_visit(add, &listing)) {
        listing.tasks.n = BCS_TASKS_MOST + 1;
    }
    return listing.tasks;
}

/** Whether all but the calling thread sleep. */
static bool do_others_sleep(const struct bcs_tasks *tasks)
{
    for (uint32_t i = 0; tasks->n <= BCS_TASKS_MOST && i < tasks->n; i++) {
        if (tasks->tasks[i].id != gettid() &&
            tasks->tasks[i].state.kind == BCS_THREAD_RUNS) {
            return false;
        }
    }
    return true;
}

struct bcs_tasks bcs_tasks_list(void)
{
    struct bcs_tasks tasks = list(NULL);

    for (int i = 0; i < RESTS_MOST && !do_others_sleep(&tasks); i++) {
        bcs_rest(REST_NS);
        tasks = list(NULL);
    }
    return tasks;
}

/** Whether a thread of a list has slept ever since that was made: else it had to fall
 *  asleep. */
static bool has_slept(const struct bcs_task *task)
{
    struct bcs_thread_state now;

    return bcs_thread_look(task->id, &now) && now.kind != BCS_THREAD_RUNS &&
           now.n_switches == task->state.n_switches && began(task->id) == task->began;
}

struct bcs_tasks bcs_tasks_since(const struct bcs_tasks *before)
{
    const struct bcs_tasks unknown = {.n = BCS_TASKS_MOST + 1};

    for (uint32_t i = 0; i < before->n; i++) {
        if (before->n > BCS_TASKS_MOST ||
            (before->tasks[i].id != gettid() && !has_slept(&before->tasks[i]))) {
            return unknown;
        }
    }
    return list(before);
}
