/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is behind the entry points of <bcs/bcs.h>: bcs_api_<name> does what bcs_<name>
 * does, and is not recorded. For whoever in the library does what the program has asked
 * for by another call: libbcs/api itself, and the shim. Called by the process that owns
 * the context.
 */
#ifndef LIBBCS_API_CONTEXT_API_CALLS_H
#define LIBBCS_API_CONTEXT_API_CALLS_H

#include <bcs/bcs.h>

#define BCS_CALL(name, mark, blocks, parameters, arguments, BEFORE, AFTER)             \
    int bcs_api_##name parameters;
#include "libbcs/api/context/api_calls.def"

#endif
