/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory this process has mapped, for tests that map some.
 */
#ifndef TESTS_ADDRESS_SPACE_H
#define TESTS_ADDRESS_SPACE_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/** Address space of this process, in bytes. */
static inline uint64_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long n_pages;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &n_pages), 1);
    fclose(file);
    return (uint64_t)n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#endif
