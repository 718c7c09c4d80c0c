/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks through /proc for the processes of hosts; see inhabitants.h.
 */
#include "apps/tools/hosts/inhabitants.h"

#include <dirent.h>
#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"

enum { PATH_BYTES = 64, LOOK_NS = 2000000 };

/* A process that is killed ends at once, unless it is in the middle of a call of the
 * kernel. */
#define MOST_NS UINT64_C(5000000000)

/** Whether a process uses the network; a zombie uses none. */
static bool is_in(pid_t pid, uint64_t net)
{
    char path[PATH_BYTES];
    struct stat used;

    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)pid);
    return stat(path, &used) == 0 && used.st_ino == net;
}

/** Visit the processes that use the network: count them, and send them a signal.
 *  @param sent  0: none */
static uint32_t visit(uint64_t net, int sent)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    uint32_t n_found = 0;

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        pid_t pid = (pid_t)atol(entry->d_name); /* 0: no process */

        if (pid > 0 && is_in(pid, net)) {
            n_found++;
            kill(pid, sent);
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
    return n_found;
}

uint32_t inhabitants_count(const struct host *host)
{
    uint32_t n_found = visit(host->net, 0);

    return n_found > 0 && host_is_up(host) ? n_found - 1 : n_found;
}

int inhabitants_kill(const struct host *host)
{
    uint64_t began_ns = bcs_clock_now_ns();
    uint32_t n_left;

    if (is_in(getpid(), host->net)) {
        warnx("this process is in %s itself; end the hosts from outside", host->name);
        return -1;
    }
    while ((n_left = visit(host->net, SIGKILL)) > 0) {
        if (bcs_clock_now_ns() - began_ns > MOST_NS) {
            warnx("%" PRIu32 " processes of %s do not end", n_left, host->name);
            return -1;
        }
        bcs_rest(LOOK_NS);
    }
    return 0;
}
