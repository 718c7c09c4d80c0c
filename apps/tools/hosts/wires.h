/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between emulated hosts: a bridge in a namespace of its own, the switch,
 * and a pair of veth devices to each host, whose end there is eth0. It goes by the
 * program ip of iproute2. bcs-hosts only; one thread.
 */
#ifndef APPS_TOOLS_HOSTS_WIRES_H
#define APPS_TOOLS_HOSTS_WIRES_H

#include "apps/tools/hosts/host_set.h"

/** Connect all hosts of the set, whose keepers live. @return 0; -1: told */
int wires_connect(const struct host_set *set);

#endif
