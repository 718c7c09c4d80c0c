/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the log's variables. Constant data, used by every process at start.
 */
#include "libbcs/fabric/base/log_config.h"

/* In the order of enum bcs_log_level. */
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};

static const struct bcs_config_entry entries[] = {
    {
        .name = "BCS_LOG",
        .fallback = "warn",
        .kind = BCS_CONFIG_CHOICE,
        .offset = offsetof(struct bcs_log_config, level),
        .choices = levels,
        .help = "How much is logged on standard error: this level and those before it.",
    },
    {
        .name = "BCS_FINDINGS",
        .fallback = "",
        .kind = BCS_CONFIG_TEXT,
        .form = "the path of a folder, or nothing",
        .offset = offsetof(struct bcs_log_config, findings),
        .help = "A folder, by its whole path, to which each report is also written as "
                "a line of JSON, in a file for each machine. bcsrun --json, --sarif, "
                "--junit and --diagnose set it.",
    },
};

const struct bcs_config_table bcs_log_config_table = {
    .module = "log",
    .entries = entries,
    .n_entries = sizeof entries / sizeof entries[0],
};
