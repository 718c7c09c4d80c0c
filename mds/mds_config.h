/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the Monitoring and Debugging System: read by each process at start.
 */
#ifndef MDS_MDS_CONFIG_H
#define MDS_MDS_CONFIG_H

#include "libbcs/fabric/base/config.h"

enum {
    MDS_EVENTS_MOST = 10000000, /* so that bcs-mds reads a file with as many */
    MDS_SLICES_MOST = 1 << 20,
};

/** What is recorded. */
enum mds_mode {
    MDS_MODE_OFF,
    MDS_MODE_MMDS,  /* what each process does, */
    MDS_MODE_EMDS,  /* or what each slice takes, */
    MDS_MODE_ALL,   /* or both, */
    MDS_MODE_TRACE, /* and the last calls of each process, one by one */
};

/** The variables BCS_MDS and BCS_MDS_*. */
struct mds_config {
    uint64_t mode;                      /* an enum mds_mode */
    char folder[BCS_CONFIG_TEXT_BYTES]; /* where runs get theirs; "": none is made */
    char primitives[BCS_CONFIG_TEXT_BYTES]; /* that have distributions; mds_names_has */
    char ranks[BCS_CONFIG_TEXT_BYTES];      /* that record; mds_ranks_has */
    uint64_t bits;                          /* of histograms; see histogram.h */
    uint64_t n_events;                      /* that a process keeps */
    uint64_t n_slices;                      /* that a node keeps one by one */
    char window[BCS_CONFIG_TEXT_BYTES];  /* slices that are recorded; mds_window_read */
    char metrics[BCS_CONFIG_TEXT_BYTES]; /* of slices; mds_names_has */
    char nodes[BCS_CONFIG_TEXT_BYTES];   /* that record slices; mds_ranks_has */
};

/** What is to be recorded of slices, as the engine wants to know it. */
struct mds_slices {
    uint64_t n_spans;  /* in memory; even; 0: nothing is recorded */
    uint64_t first;    /* slices from this number on, */
    uint64_t n_slices; /* and so many; 0: all */
    uint64_t metrics;  /* bits, by enum bcs_metric */
};

/** Whether calls of processes are recorded. */
bool mds_records_calls(const struct mds_config *config);

/** What is recorded of slices on a node. */
struct mds_slices mds_slices_of(const struct mds_config *config, uint32_t node);

extern const struct bcs_config_table mds_config_table;

#endif
