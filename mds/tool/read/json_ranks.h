/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a JSON array as words. Pure.
 */
#ifndef MDS_TOOL_READ_JSON_RANKS_H
#define MDS_TOOL_READ_JSON_RANKS_H

#include <jansson.h>
#include <stdio.h>

/** Print ranks as "0-3,7", so many ranges at most; "..." stands for others.
 *  @param ranks  ascending */
void json_ranks_print(FILE *out, const json_t *ranks, size_t n_most);

#endif
