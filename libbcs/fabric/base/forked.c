/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One list of what is open in this process, and a handler that pthread_atfork calls in
 * each child. Children of system, popen and posix_spawn do not come here: they only
 * execute another program.
 */
#include "libbcs/fabric/base/forked.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/fabric/base/log.h"

/* The process's own, as the processes that fork and are forked are its subject. */
static struct {
    pthread_mutex_t lock; /* held during a fork */
    struct bcs_forked *first;
    pid_t parent; /* in a child: who has forked it; else 0 */
    bool is_told;
} forked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before(void)
{
    pthread_mutex_lock(&forked.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&forked.lock);
}

static void in_child(void)
{
    while (forked.first != NULL) {
        struct bcs_forked *entry = forked.first;

        forked.first = entry->next;
        forked.parent = getppid();
        entry->in_child(entry->arg);
    }
    pthread_mutex_unlock(&forked.lock);
}

static void handlers_set(void)
{
    if (pthread_atfork(before, in_parent, in_child) != 0) {
        bcs_warn("no memory to watch forks: a forked child must not call this library");
    }
}

void bcs_forked_watch(struct bcs_forked *entry)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, handlers_set);
    pthread_mutex_lock(&forked.lock);
    entry->next = forked.first;
    forked.first = entry;
    pthread_mutex_unlock(&forked.lock);
}

void bcs_forked_unwatch(struct bcs_forked *entry)
{
    struct bcs_forked **place = &forked.first;

    pthread_mutex_lock(&forked.lock);
    while (*place != NULL && *place != entry) {
        place = &(*place)->next;
    }
    if (*place != NULL) {
        *place = entry->next;
    }
    pthread_mutex_unlock(&forked.lock);
}

bool bcs_forked_is_child(void)
{
    return forked.parent != 0;
}

void bcs_forked_take_away(void *base, size_t n_bytes)
{
    if (base != NULL && mmap(base, n_bytes, PROT_READ | PROT_WRITE,
                             MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1, 0) == MAP_FAILED) {
        munmap(base, n_bytes); /* rather a crash than two writers */
    }
}

void bcs_forked_tell(const char *function)
{
    if (forked.is_told) {
        return;
    }
    forked.is_told = true;
    bcs_error(
        "%s: called by process %d, a forked child of process %d of the job, which "
        "alone may call it; the job goes on without the child",
        function, (int)getpid(), (int)forked.parent);
}

void bcs_forked_refuse(const char *function)
{
    bcs_forked_tell(function);
    _exit(EXIT_FAILURE);
}
