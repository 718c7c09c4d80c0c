/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a process's file that have its last calls, and their messages.
 */
#ifndef MDS_DUMP_EVENTS_H
#define MDS_DUMP_EVENTS_H

#include "mds/collect.h"
#include "mds/dump_write.h"

/**
 * Add the sections "events" and "messages", if events were recorded. Entries that are
 * damaged, in what a process has left behind, are left out.
 *
 * @param calls, sites  numbers of the records of primitives and of sites
 */
void mds_dump_events(struct mds_dump *dump, struct mds_collect *collect,
                     const uint32_t *calls, const uint32_t *sites, double ns_per_tick);

#endif
