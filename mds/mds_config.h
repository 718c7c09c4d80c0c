/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the Monitoring and Debugging System: read by each process at start.
 */
#ifndef MDS_MDS_CONFIG_H
#define MDS_MDS_CONFIG_H

#include "libbcs/base/config.h"

enum { MDS_EVENTS_MOST = 1 << 24 }; /* so that a dump of them stays below 1 GB */

/** What is recorded. */
enum mds_mode {
    MDS_MODE_OFF,
    MDS_MODE_MMDS,  /* what each process does */
    MDS_MODE_TRACE, /* and its last calls, one by one */
};

/** The variables BCS_MDS and BCS_MDS_*. */
struct mds_config {
    uint64_t mode;                      /* an enum mds_mode */
    char folder[BCS_CONFIG_TEXT_BYTES]; /* where runs get theirs; "": none is made */
    char primitives[BCS_CONFIG_TEXT_BYTES]; /* that have distributions; mds_names_has */
    char ranks[BCS_CONFIG_TEXT_BYTES];      /* that record; mds_ranks_has */
    uint64_t bits;                          /* of histograms; see histogram.h */
    uint64_t n_events;                      /* that a process keeps */
};

extern const struct bcs_config_table mds_config_table;

#endif
