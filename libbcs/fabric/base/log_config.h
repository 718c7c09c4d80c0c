/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the log: read by each process at start and handed to bcs_log_setup.
 */
#ifndef LIBBCS_FABRIC_BASE_LOG_CONFIG_H
#define LIBBCS_FABRIC_BASE_LOG_CONFIG_H

#include "libbcs/fabric/base/config.h"

/** BCS_LOG and BCS_FINDINGS. level is an enum bcs_log_level. */
struct bcs_log_config {
    uint64_t level;
    /* Only checked here: programs that are no ranks append findings, too, and take it
     * from the environment (libbcs/report/finding.c). */
    char findings[BCS_CONFIG_TEXT_BYTES];
};

extern const struct bcs_config_table bcs_log_config_table;

#endif
