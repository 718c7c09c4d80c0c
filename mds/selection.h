/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user selects by a text: ranks, primitives and slices. Pure.
 */
#ifndef MDS_SELECTION_H
#define MDS_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#define MDS_RANKS_FORM "all, or ranks and ranges with commas, as 0,4-7"
#define MDS_NAMES_FORM "patterns of names with commas, as MPI_Send,MPI_I*"

#define MDS_NODES_FORM "all, or nodes and ranges with commas, as 0,4-7"
#define MDS_WINDOW_FORM                                                                \
    "the first slice and, behind a comma, how many, as 7500,5000; or nothing"

/** Whether a text is as MDS_RANKS_FORM says, or MDS_NODES_FORM. */
bool mds_ranks_is_valid(const char *text);

/** Whether a text that is valid selects a rank, or node. */
bool mds_ranks_has(const char *text, uint32_t rank);

/** Whether one of a text's patterns, those of a shell, fits a name. */
bool mds_names_has(const char *text, const char *name);

/** Whether a text is as MDS_WINDOW_FORM says. */
bool mds_window_is_valid(const char *text);

/** Read such a text: of nothing, all slices, which is 0 and 0. */
void mds_window_read(const char *text, uint64_t *first_out, uint64_t *n_out);

#endif
