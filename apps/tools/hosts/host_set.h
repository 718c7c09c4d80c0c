/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated hosts that are up: what bcs-hosts writes down of them, for its later
 * calls, in a folder of root's that nobody else reads. bcs-hosts only; one thread.
 */
#ifndef APPS_TOOLS_HOSTS_HOST_SET_H
#define APPS_TOOLS_HOSTS_HOST_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Where a set is written, if the user names no folder. */
#define HOST_SET_FOLDER "/run/bcs-hosts"

enum { HOST_SET_MOST = 64, HOST_NAME_BYTES = 16, HOST_ADDRESS_BYTES = 32 };

/** A host: namespaces that a process of ours, its keeper, keeps alive. */
struct host {
    char name[HOST_NAME_BYTES];
    pid_t keeper;
    uint64_t
        start_time; /* of the keeper; tells it from a later process of its number */
    uint64_t net;   /* inode of its network namespace */
};

/** Hosts that reach each other. The switch has a network and no name; it connects the
 *  others. */
struct host_set {
    const char *folder; /* set by the caller of all functions */
    uint32_t n_hosts;
    struct host net_switch;
    struct host hosts[HOST_SET_MOST];
};

/** Take the lock of all sets, until this process ends. @return 0; -1: an error, which
 *  has been told */
int host_set_lock(void);

/** Read what was written. @return 0; -1: there is none, or it cannot be read, which has
 *  been told */
int host_set_read(struct host_set *set);

/** Whether there is anything written. */
bool host_set_exists(const struct host_set *set);

/** Make the folder, with what the hosts have as /etc/hosts. @return 0; -1: told */
int host_set_prepare(const struct host_set *set);

/** Write the set, whole or not at all. @return 0; -1: told */
int host_set_write(const struct host_set *set);

/** Remove all that is written. */
void host_set_remove(const struct host_set *set);

/** The file that each host has as /etc/hosts. @return from malloc; NULL: told */
char *host_set_names(const struct host_set *set);

/** Whether the keeper of a host lives. */
bool host_is_up(const struct host *host);

/** A host by its name or number. @return NULL: there is none, which has been told with
 *  those that there are */
const struct host *host_set_find(const struct host_set *set, const char *name);

/** The IPv4 address of host number i, as text. @param text_out
 *  [HOST_ADDRESS_BYTES] */
void host_address(uint32_t i, char *text_out);

#endif
