/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the helper thread of channels share. Included by one file of a
 * program.
 */
#ifndef TEST_UNIT_CHANNEL_HELPER_H
#define TEST_UNIT_CHANNEL_HELPER_H

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t load(const uint64_t *word)
{
    /* Pairs with the additions of the handlers. */
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(uint64_t *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE); /* pairs with load */
}

static void await(const uint64_t *word, uint64_t at_least)
{
    while (load(word) < at_least) {
        sched_yield();
    }
}

/** What the system says of a thread of this process: S if it sleeps. 0: it is no
 *  more */
static inline char state_of(pid_t thread)
{
    char path[64], text[256];
    const char *name_end;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n < 0 ? 0 : n] = '\0';
    name_end = strrchr(text, ')');
    return name_end == NULL ? 0 : name_end[2];
}

#endif
