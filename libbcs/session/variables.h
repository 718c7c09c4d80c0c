/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every configuration variable of bcs: the list of all modules' tables. Used by
 * bcs-info to list them, by bcsrun before it launches anything, by the preload before
 * the program starts, and without it by a process that enters its job; always by one
 * thread.
 */
#ifndef BCS_SESSION_VARIABLES_H
#define BCS_SESSION_VARIABLES_H

#include <stddef.h>

#include "libbcs/fabric/base/config.h"

/** All tables, n_tables_out of them, in the order in which bcs-info lists them. */
const struct bcs_config_table *const *bcs_variables_tables(size_t *n_tables_out);

/**
 * Check all BCS_* variables of the environment, their names and then their values.
 *
 * @param error  receives one line that names the variable and what is allowed
 * @return 0        all known and good
 * @return -EINVAL  error says which one is not
 */
int bcs_variables_check(char *error, size_t n_error_bytes);

#endif
