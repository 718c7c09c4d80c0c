/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of all configuration tables, and the check of the environment against it.
 * Used by bcs-info, bcsrun and the preload, at start, by one thread.
 */
#include "libbcs/session/variables.h"

#include "libbcs/fabric/base/log_config.h"
#include "mds/mds_config.h"
#include "nic_threads/nic_config.h"

static const struct bcs_config_table *const tables[] = {
    &nic_config_table,
    &mds_config_table,
    &bcs_log_config_table,
};

#define N_TABLES (sizeof tables / sizeof tables[0])

const struct bcs_config_table *const *bcs_variables_tables(size_t *n_tables_out)
{
    *n_tables_out = N_TABLES;
    return tables;
}

int bcs_variables_check(char *error, size_t n_error_bytes)
{
    int err = bcs_config_check_names(tables, N_TABLES, error, n_error_bytes);

    for (size_t i = 0; i < N_TABLES && !err; i++) {
        err = bcs_config_check_values(tables[i], error, n_error_bytes);
    }
    return err;
}
