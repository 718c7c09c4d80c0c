/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A number as a word of a region that others fetch from: 0 says that it is not there,
 * so that the condition of a fetch is the word itself, and one line has both.
 */
#ifndef CHANNEL_FETCH_WORD_H
#define CHANNEL_FETCH_WORD_H

#include <stdint.h>
#include <string.h>

/** The word of a number: at least 1. Only a NaN that no computation gives has none. */
static inline uint64_t fetch_word_of(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits + 1;
}

/** The number of a word that is not 0. */
static inline double fetch_word_number(uint64_t word)
{
    double number;

    word--;
    memcpy(&number, &word, sizeof(number));
    return number;
}

#endif
