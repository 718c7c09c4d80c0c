/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announcing: who begins to use a link or a wire to another node says so first, once.
 * So a node looks at the links and wires that are in use, however many there may be.
 *
 * A writer puts a byte for itself and then one for its group, with an event. A reader
 * that sees the event looks at all groups, and at the members of those whose byte is
 * set. Both bytes stay.
 */
#ifndef NIC_THREADS_MACHINE_ANNOUNCE_H
#define NIC_THREADS_MACHINE_ANNOUNCE_H

#include "nic_threads/node/node.h"

/** Where a writer announces itself. */
struct nic_announcing {
    uint64_t each_gva, groups_gva; /* a struct nic_announced there, */
    uint64_t event_gva;            /* what tells its reader to look, */
    uint32_t number;               /* and the writer's in the table */
};

/** Announce, as the view's node at another one, before the first entry is put. */
void nic_announce(struct nic_view *view, uint32_t node,
                  const struct nic_announcing *announcing);

/** Put all of n that have announced themselves into a set, under the lock of who reads
 *  what they write. */
void nic_announced_take(const struct nic_announced *announced, uint32_t n,
                        const struct nic_marks *marks);

#endif
