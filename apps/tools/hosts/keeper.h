/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that keeps a host's namespaces alive, and the way into them. bcs-hosts
 * only; one thread.
 */
#ifndef APPS_TOOLS_HOSTS_KEEPER_H
#define APPS_TOOLS_HOSTS_KEEPER_H

#include "apps/tools/hosts/host_set.h"

/** Pipes by which keepers learn that the set is whole. A keeper whose starter ends
 *  before that ends, too. */
struct keeper_release {
    int fds[2];
};

/** @return 0; -1: told */
int keeper_release_init(struct keeper_release *release_out);

/** The set is written: let so many keepers go on. */
void keeper_release_all(struct keeper_release *release, uint32_t n_keepers);

/**
 * Start the keeper of a host, whose name is set: in namespaces of its own of the
 * network, and, unless it is the switch, of the host name, of System V's IPC and of
 * mounts, with a /dev/shm of its own.
 *
 * @param host   its other members are set
 * @param names  the file that is its /etc/hosts; NULL: it is the switch
 * @return 0; -1: told
 */
int keeper_start(struct host *host, const char *names,
                 const struct keeper_release *release);

/** End a keeper, if it lives. */
void keeper_kill(const struct host *host);

/** Make this process one of the host, in the same working directory. @return 0; -1:
 *  told */
int keeper_enter(const struct host *host);

/** Make this process use the host's network, and nothing else of it. @return 0; -1:
 *  told */
int keeper_enter_network(const struct host *host);

#endif
