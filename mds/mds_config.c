/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the MDS's variables. Constant data, used by every process at start.
 */
#include "mds/mds_config.h"

/* In the order of enum mds_mode. */
static const char *const modes[] = {"off", "mmds", NULL};

static const struct bcs_config_entry entries[] = {
    {
        .name = "BCS_MDS",
        .fallback = "off",
        .kind = BCS_CONFIG_CHOICE,
        .offset = offsetof(struct mds_config, mode),
        .choices = modes,
        .help =
            "What is recorded of a run. mmds: the time spent in every MPI function, "
            "computation granularity and communication overhead, printed on standard "
            "error when the program ends, over all and for each process.",
    },
};

const struct bcs_config_table mds_config_table = {
    .module = "mds",
    .entries = entries,
    .n_entries = sizeof entries / sizeof entries[0],
};
