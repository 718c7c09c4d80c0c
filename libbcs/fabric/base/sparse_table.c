/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sparse tables; see the header. What is short comes from the heap. A long table has
 * pages of its own: the heap would clear most of it, and so touch it.
 */
#include "libbcs/fabric/base/sparse_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LONG_BYTES = 8 << 10 };

static bool is_long(size_t n, size_t n_bytes)
{
    return n > LONG_BYTES / n_bytes;
}

void *bcs_sparse_new(size_t n, size_t n_bytes)
{
    void *table;

    if (!is_long(n, n_bytes)) {
        return calloc(n, n_bytes);
    }
    if (n > SIZE_MAX / n_bytes) {
        return NULL;
    }
    table = mmap(NULL, n * n_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

void bcs_sparse_free(void *table, size_t n, size_t n_bytes)
{
    if (table != NULL && is_long(n, n_bytes)) {
        munmap(table, n * n_bytes);
    } else {
        free(table);
    }
}
