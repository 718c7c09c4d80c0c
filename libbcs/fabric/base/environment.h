/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process environment, for the programs of apps/tools/launch: what the launcher
 * hands on to mpirun and where it looks for programs. Everything that a user may set
 * for bcs itself goes through libbcs/fabric/base/config.h instead. Single-threaded
 * callers only.
 */
#ifndef LIBBCS_FABRIC_BASE_ENVIRONMENT_H
#define LIBBCS_FABRIC_BASE_ENVIRONMENT_H

#include <stddef.h>

/** The value of a variable, or NULL if it is not set. Not owned by the caller. */
const char *bcs_environment_get(const char *name);

/**
 * Walk over the variables whose names start with prefix.
 *
 * @param cursor  0 at the first call; advanced by each
 * @return "NAME=value", not owned by the caller; NULL after the last
 */
const char *bcs_environment_next(const char *prefix, size_t *cursor);

#endif
