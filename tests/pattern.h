/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that tests send: words that depend on a seed and on where they are, with a tail
 * of less than a word. For programs with MPI and without.
 */
#ifndef TESTS_PATTERN_H
#define TESTS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A seed for a small number of the program's own. Those of numbers that are less than
 *  256 apart give other first bytes, too. */
static inline uint64_t pattern_seed(uint32_t key)
{
    return (uint64_t)key << 32;
}

/** The word that begins at a byte of the pattern of a seed; no two places have the
 *  same. */
static inline uint64_t pattern_word(uint64_t seed, size_t at)
{
    uint64_t word = (seed + at + 1) * UINT64_C(0x9E3779B97F4A7C15);

    return word ^ word >> 32;
}

/** Fill n bytes with the pattern of a seed. */
static inline void pattern_fill(void *data, size_t n_bytes, uint64_t seed)
{
    unsigned char *bytes = data;
    uint64_t word;
    size_t at = 0;

    for (; n_bytes - at >= sizeof(word); at += sizeof(word)) {
        word = pattern_word(seed, at);
        memcpy(bytes + at, &word, sizeof(word));
    }
    if (at < n_bytes) {
        word = pattern_word(seed, at);
        memcpy(bytes + at, &word, n_bytes - at);
    }
}

/** Whether the n bytes are those of pattern_fill with this seed. */
static inline bool pattern_is_filled(const void *data, size_t n_bytes, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t word, found;
    size_t at = 0;

    for (; n_bytes - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&found, bytes + at, sizeof(found));
        if (found != pattern_word(seed, at)) {
            return false;
        }
    }
    word = pattern_word(seed, at);
    return n_bytes == at || memcmp(bytes + at, &word, n_bytes - at) == 0;
}

#endif
