/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether anything in this process could act on its own while those of its threads that
 * use the library all wait: another thread, or a handler of a signal that a timer, a
 * descriptor or a child will send. Called by a thread that waits.
 *
 * What cannot be seen from inside, signals that other processes send, is not looked
 * for: see docs/referee.md.
 */
#ifndef LIBBCS_FABRIC_BASE_AGENTS_H
#define LIBBCS_FABRIC_BASE_AGENTS_H

#include <pthread.h>

#include "libbcs/fabric/base/tasks.h"

enum { BCS_AGENT_BYTES = 96 };

enum bcs_agent_kind {
    BCS_AGENT_NONE,   /* nothing of this process acts before one of its waits is over */
    BCS_AGENT_RUNS,   /* a thread that runs */
    BCS_AGENT_SLEEPS, /* a thread that sleeps, but not for its own process alone */
    BCS_AGENT_HANDLER, /* of a signal */
};

/** Something that could act. */
struct bcs_agent {
    enum bcs_agent_kind kind;
    /* What it is, to be read behind "rank 3 could still act: "; "" for none. */
    char text[BCS_AGENT_BYTES];
};

/** Who need not be looked at, beside the calling thread. */
struct bcs_agents_but {
    const struct bcs_tasks *tasks; /* of libraries */
    const uint32_t *waiting;       /* threads of which it is known that they wait */
    uint32_t n_waiting;
    /* What threads sleep on that one of those will let go on. NULL: nothing. */
    const pthread_mutex_t *door;
};

/** Find out whether anything could act. Takes some ten microseconds, and more with each
 *  thread. */
struct bcs_agent bcs_agent_find(const struct bcs_agents_but *but);

/** How many threads of the program this process has, the calling one too, but for those
 *  that sleep until another one of them wakes them. @return 0: unknown */
uint32_t bcs_agents_count(const struct bcs_tasks *but);

/** A timer of timer_create, as a paragraph of /proc/self/timers has it. */
struct bcs_timer {
    int32_t id;     /* as the kernel's calls take it */
    int32_t signal; /* that it sends; 0: none */
};

/**
 * Read the next paragraph of /proc/self/timers.
 *
 * @param text  where to begin; NULL: there is none
 * @return where the next one begins, for another call; NULL: there was none
 */
const char *bcs_timer_parse(const char *text, struct bcs_timer *timer_out);

#endif
