/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that are in emulated hosts, found by the network that they use, so that
 * those are found, too, whose parents have ended. bcs-hosts only; one thread.
 */
#ifndef APPS_TOOLS_HOSTS_INHABITANTS_H
#define APPS_TOOLS_HOSTS_INHABITANTS_H

#include "apps/tools/hosts/host_set.h"

/** How many processes are in a host, but for its keeper. */
uint32_t inhabitants_count(const struct host *host);

/** Kill all processes of a host, also its keeper; wait for their end. @return 0; -1:
 *  some have not ended within seconds, which has been told */
int inhabitants_kill(const struct host *host);

#endif
