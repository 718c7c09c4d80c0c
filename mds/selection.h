/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user selects by a text: ranks and primitives. Pure.
 */
#ifndef MDS_SELECTION_H
#define MDS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#define MDS_RANKS_FORM "all, or ranks and ranges with commas, as 0,4-7"
#define MDS_NAMES_FORM "patterns of names with commas, as MPI_Send,MPI_I*"

/** Whether a text is as MDS_RANKS_FORM says. */
bool mds_ranks_is_valid(const char *text);

/** Whether a text that is valid selects a rank. */
bool mds_ranks_has(const char *text, uint32_t rank);

/** Whether one of a text's patterns, those of a shell, fits a name. */
bool mds_names_has(const char *text, const char *name);

#endif
