/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section of a process's file that has its last calls.
 */
#ifndef MDS_DUMP_EVENTS_H
#define MDS_DUMP_EVENTS_H

#include "mds/collect.h"
#include "mds/dump_write.h"

/**
 * Add the section "events", if events were recorded. Of those whose records are damaged, in what a
 * process has left behind, none is added.
 *
 * @param calls, sites  numbers of the records of primitives and of sites
 */
void mds_dump_events(struct mds_dump *dump, struct mds_collect *collect,
                     const uint32_t *calls, const uint32_t *sites, double ns_per_tick);

#endif
