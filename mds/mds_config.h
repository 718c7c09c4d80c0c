/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the Monitoring and Debugging System: read by each process at start.
 */
#ifndef MDS_MDS_CONFIG_H
#define MDS_MDS_CONFIG_H

#include "libbcs/base/config.h"

/** What is recorded. */
enum mds_mode {
    MDS_MODE_OFF,
    MDS_MODE_MMDS, /* summary of the primitives at the end of the run */
};

/** BCS_MDS. mode is an enum mds_mode. */
struct mds_config {
    uint64_t mode;
};

extern const struct bcs_config_table mds_config_table;

#endif
