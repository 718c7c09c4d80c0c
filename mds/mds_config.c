/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the MDS's variables. Constant data, used by every process at start.
 */
#include "mds/mds_config.h"

#include "mds/histogram.h"
#include "mds/selection.h"

/* In the order of enum mds_mode. */
static const char *const modes[] = {"off", "mmds", "trace", NULL};

/* Powers of two, by their logarithm. */
static const char *const resolutions[MDS_HISTOGRAM_MOST_BITS + 2] = {
    "1", "2", "4", "8", "16", "32", "64", "128", NULL};

static const struct bcs_config_entry entries[] = {
    {
        .name = "BCS_MDS",
        .fallback = "off",
        .kind = BCS_CONFIG_CHOICE,
        .offset = offsetof(struct mds_config, mode),
        .choices = modes,
        .help =
            "What is recorded of a run. mmds: the time spent in every MPI function, "
            "computation granularity and communication overhead, with their "
            "distributions, and the messages to and from each rank. A table over all "
            "processes is printed on standard error when the program ends, and, "
            "without BCS_MDS_DIR, one for each of them. trace: the last calls of each "
            "process, too, with their begins and ends.",
    },
    {
        .name = "BCS_MDS_DIR",
        .fallback = "",
        .kind = BCS_CONFIG_TEXT,
        .form = "a folder that can be written to, or nothing",
        .offset = offsetof(struct mds_config, folder),
        .help = "Where what BCS_MDS records is written, in a new folder for each run, "
                "which is named on standard error and read with bcs-mds.",
    },
    {
        .name = "BCS_MDS_EVENTS",
        .fallback = "20000",
        .kind = BCS_CONFIG_COUNT,
        .minimum = 1,
        .maximum = MDS_EVENTS_MOST,
        .offset = offsetof(struct mds_config, n_events),
        .help = "How many calls of a process BCS_MDS=trace keeps: the last ones. Each "
                "takes "
                "48 bytes.",
    },
    {
        .name = "BCS_MDS_PRIMITIVES",
        .fallback = "*",
        .kind = BCS_CONFIG_TEXT,
        .form = MDS_NAMES_FORM,
        .offset = offsetof(struct mds_config, primitives),
        .help = "Functions of which the distributions of latency and of size are "
                "recorded. Count, least, most and total are of all.",
    },
    {
        .name = "BCS_MDS_RANKS",
        .fallback = "all",
        .kind = BCS_CONFIG_TEXT,
        .form = MDS_RANKS_FORM,
        .fits = mds_ranks_is_valid,
        .offset = offsetof(struct mds_config, ranks),
        .help = "Ranks that record.",
    },
    {
        .name = "BCS_MDS_RESOLUTION",
        .fallback = "8",
        .kind = BCS_CONFIG_CHOICE,
        .offset = offsetof(struct mds_config, bits),
        .choices = resolutions,
        .help =
            "Into how many parts a distribution cuts each power of two: with 8, "
            "what it tells of a time or a length is wrong by one part in 16 at most.",
    },
};

const struct bcs_config_table mds_config_table = {
    .module = "mds",
    .entries = entries,
    .n_entries = sizeof entries / sizeof entries[0],
};
