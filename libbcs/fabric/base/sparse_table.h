/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of one process that have an entry for each partner there may be, of whom it
 * meets a few. A table is zero at first. It costs address space, and memory only where
 * it has been touched. Called by whoever attaches to a job; any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_SPARSE_TABLE_H
#define LIBBCS_FABRIC_BASE_SPARSE_TABLE_H

#include <stddef.h>

/** Make a table of n elements. @return NULL: no memory, or address space; else end it
 *  with bcs_sparse_free */
void *bcs_sparse_new(size_t n, size_t n_bytes);

/** Free a table, which was made of so many elements. Accepts NULL. */
void bcs_sparse_free(void *table, size_t n, size_t n_bytes);

#endif
