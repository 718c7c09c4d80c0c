/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the MDS's variables. Constant data, used by every process at start.
 */
#include "mds/mds_config.h"

#include "libbcs/fabric/base/span.h"
#include "mds/dump.h"
#include "mds/histogram.h"
#include "mds/selection.h"

_Static_assert((uint64_t)MDS_EVENTS_MOST * sizeof(struct mds_dump_event) <=
                       MDS_DUMP_MOST_RECORDS_BYTES &&
                   sizeof(struct mds_dump_message) <= sizeof(struct mds_dump_event),
               "what is written of all events is read");

/* In the order of enum mds_mode. */
static const char *const modes[] = {"off", "mmds", "emds", "all", "trace", NULL};

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
            "What is recorded of a run. mmds: the time spent in every function of MPI, "
            "the BCS API, cBSP, BSPlib, and channels and remote commands (those with "
            "BCS_MDS_DIR), "
            "computation granularity and communication overhead, with their "
            "distributions, and the messages to and from each rank. A table over all "
            "processes is printed on standard error when the program ends, and, "
            "without BCS_MDS_DIR, one for each of them. emds: what each time slice "
            "of MPI and the BCS API took and did, on each node and over all, by the "
            "metrics of the paper. all: both. trace: the last calls of each process, "
            "too, with their begins and "
            "ends.",
    },
    {
        .name = "BCS_MDS_DIR",
        .fallback = "",
        .kind = BCS_CONFIG_TEXT,
        .form = "a folder that can be written to, or nothing",
        .offset = offsetof(struct mds_config, folder),
        .help = "Where what BCS_MDS records is written, in a new folder for each run, "
                "which is named on standard error and read with bcs-mds. A name that "
                "does not begin with / is of a folder where the program begins.",
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
                "72 bytes.",
    },
    {
        .name = "BCS_MDS_METRICS",
        .fallback = "*",
        .kind = BCS_CONFIG_TEXT,
        .form = "patterns of metrics with commas, as LTTS,NCOLL*",
        .offset = offsetof(struct mds_config, metrics),
        .help = "Metrics of slices that are recorded.",
    },
    {
        .name = "BCS_MDS_NODES",
        .fallback = "all",
        .kind = BCS_CONFIG_TEXT,
        .form = MDS_NODES_FORM,
        .fits = mds_ranks_is_valid,
        .offset = offsetof(struct mds_config, nodes),
        .help =
            "Nodes whose slices are recorded. Those of all nodes together are in any "
            "case.",
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
    {
        .name = "BCS_MDS_SLICES",
        .fallback = "8192",
        .kind = BCS_CONFIG_COUNT,
        .minimum = 2,
        .maximum = MDS_SLICES_MOST,
        .offset = offsetof(struct mds_config, n_slices),
        .help =
            "How many slices a node keeps one by one, on demand each process of it. "
            "Of a longer run, or window, two that follow each other are kept as one, "
            "then four, and so on. Each takes up to 960 bytes.",
    },
    {
        .name = "BCS_MDS_WINDOW",
        .fallback = "",
        .kind = BCS_CONFIG_TEXT,
        .form = MDS_WINDOW_FORM,
        .fits = mds_window_is_valid,
        .offset = offsetof(struct mds_config, window),
        .help =
            "Slices that are recorded: the number of the first one, and how many. On "
            "demand slices are counted by intervals of BCS_SLICE from the program's "
            "begin on. Nothing: all.",
    },
};

bool mds_records_calls(const struct mds_config *config)
{
    return config->mode != MDS_MODE_OFF && config->mode != MDS_MODE_EMDS;
}

static uint64_t metrics_of(const struct mds_config *config)
{
    uint64_t metrics = 0;

    for (enum bcs_metric metric = 0; metric < BCS_METRICS; metric++) {
        if (mds_names_has(config->metrics, bcs_metric_name(metric))) {
            metrics |= UINT64_C(1) << metric;
        }
    }
    return metrics;
}

struct mds_slices mds_slices_of(const struct mds_config *config, uint32_t node)
{
    const uint64_t of_all = (UINT64_C(1) << BCS_METRICS_LOCAL) - 1;
    struct mds_slices slices = {0};

    if (config->mode < MDS_MODE_EMDS) {
        return slices;
    }
    slices.n_spans = (config->n_slices + 1) / 2 * 2;
    slices.metrics =
        metrics_of(config) & (mds_ranks_has(config->nodes, node) ? UINT64_MAX : of_all);
    mds_window_read(config->window, &slices.first, &slices.n_slices);
    return slices;
}

const struct bcs_config_table mds_config_table = {
    .module = "mds",
    .entries = entries,
    .n_entries = sizeof entries / sizeof entries[0],
};
