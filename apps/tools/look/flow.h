/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who sends how much to whom, by what is left of the descriptors in a ring: of those
 * that were read since the look before the last ones are still there, and stand for all
 * of them. So the messages are about right, and bytes as far as those messages are like
 * the others. Where a program goes over to longer ones, many short messages must not
 * count as so many long ones: of a ring's mean length at this look and at the one
 * before the smaller one is taken for what is gone. Pure.
 */
#ifndef APPS_TOOLS_LOOK_FLOW_H
#define APPS_TOOLS_LOOK_FLOW_H

#include <stdint.h>

#include "libbcs/fabric/ring/descriptor.h"
#include "libbcs/fabric/ring/port_map.h"

/** What one rank has sent to another. */
struct bcs_flow {
    uint32_t from, to;
    double n_messages, n_bytes;
};

/** Flows; zeroed at first, free(flows) at last. */
struct bcs_flows {
    struct bcs_flow *flows;
    uint32_t n, n_room;
    double
        n_collectives; /* of those that a rank posts for all: the first of each group */
};

/** Descriptors of a ring. */
struct bcs_flow_window {
    const struct bcs_descriptor
        *entries;     /* the last ones that were read, in any order */
    uint32_t n;       /* of them */
    uint32_t n_moved; /* that were read since the look before, n or more */
    uint32_t from;    /* port of who writes the ring */
    uint32_t n_ports; /* of the job */
    /* [n_ports] by port: its rank, or BCS_PORT_HOLE; NULL: each rank is its own port */
    const uint32_t *ranks;
    double mean_bytes; /* of the ring's messages, at the look before; negative: not
                          known */
};

/**
 * Add what a window tells. Entries that make no sense, as they may be somebody else's,
 * are left out.
 *
 * @param mean_bytes_out  of the messages of the window; as it was, if it has none
 * @return 0 or -ENOMEM
 */
int bcs_flow_add(struct bcs_flows *flows, const struct bcs_flow_window *window,
                 double *mean_bytes_out);

#endif
