/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ranks as people read them. One thread.
 */
#ifndef BCS_TOOLS_TOP_RANKS_H
#define BCS_TOOLS_TOP_RANKS_H

#include <jansson.h>

/** Print ranks, an array in their order, as "0-3,7"; of many ranges the first ones. */
void ranks_print(const json_t *ranks);

#endif
