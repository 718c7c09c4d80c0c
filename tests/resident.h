/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory this process has, for tests that bound it.
 */
#ifndef TESTS_RESIDENT_H
#define TESTS_RESIDENT_H

#include <check.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/** Memory of this process that is there, shared memory that it has touched included,
 *  and the page tables that lead to it; in bytes. */
static inline uint64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    uint64_t n_kb = 0, n_all_kb = 0;
    char line[256];

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if ((strncmp(line, "VmRSS:", 6) == 0 || strncmp(line, "VmPTE:", 6) == 0) &&
            sscanf(line + 6, "%" SCNu64, &n_kb) == 1) {
            n_all_kb += n_kb;
        }
    }
    fclose(file);
    ck_assert_uint_gt(n_all_kb, 0);
    return n_all_kb << 10;
}

#endif
