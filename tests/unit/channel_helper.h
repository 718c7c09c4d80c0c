/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the helper thread of channels share. Included by one file of a program.
 */
#ifndef TEST_UNIT_CHANNEL_HELPER_H
#define TEST_UNIT_CHANNEL_HELPER_H

#include <sched.h>
#include <stdint.h>

static uint64_t load(const uint64_t *word)
{
    /* Pairs with the additions of the handlers. */
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(uint64_t *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE); /* pairs with load */
}

static void await(const uint64_t *word, uint64_t at_least)
{
    while (load(word) < at_least) {
        sched_yield();
    }
}

#endif
