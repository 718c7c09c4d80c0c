/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a context calls of who has attached it: the only calls that go up.
 */
#ifndef LIBBCS_API_CONTEXT_HOOKS_H
#define LIBBCS_API_CONTEXT_HOOKS_H

#include <pthread.h>

#include "libbcs/api/context/group.h"
#include "libbcs/fabric/ring/stand.h"

struct bcs_stand_about;

/** How several threads of a process take turns in a context: others are let in (pause,
 *  resume) between two turns of a wait, and while this one sleeps. */
struct bcs_turns {
    /** Whether other threads wait for the context. */
    bool (*is_wanted)(void);
    void (*pause)(void);
    void (*resume)(void);
    const pthread_mutex_t *door; /* what they sleep on */
};

/** Handed down to bcs_attach; called in the thread that is in the API. Any may be
 *  NULL: there is nothing to do, or one thread only. */
struct bcs_hooks {
    /** Called now and then while waiting, for what the caller has under way.
     *  @return whether something is over that the process may wait for */
    bool (*idle)(void);
    /** Move what is not ours; see external.h. Must not be NULL if anybody uses that. */
    void (*move_external)(void);
    /** How several threads take turns; may change from NULL while a call waits. */
    const struct bcs_turns *turns;
    /** How the user calls a group. */
    void (*name_group)(const struct bcs_group *group, char *name_out,
                       size_t n_name_bytes);
    /** From where in the program the API is being called: call, frames and lines. */
    void (*find_call)(struct bcs_stand *stand);
    /** What the user calls a call of bcs_wait_for_members. */
    const char *(*name_call)(unsigned int call);
    /** What a request that is pending is about, if it is known: all but the request. */
    void (*describe)(const struct bcs_request *request, struct bcs_stand_about *about);
    /** Whether the caller has something under way that may post while this process
     *  waits. */
    bool (*has_others)(void);
    /** End the whole job with an exit status, without more ado: the launcher is told
     *  that this is meant. Any thread; does not return. */
    void (*end_job)(int status);
};

#endif
