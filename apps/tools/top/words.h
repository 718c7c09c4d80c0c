/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for what rows tell. Texts of others, as names of communicators, have "?"
 * for what is not printable ASCII. Pure.
 */
#ifndef APPS_TOOLS_TOP_WORDS_H
#define APPS_TOOLS_TOP_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"

/** A text that grows up to its room, and is cut off there. */
struct words {
    char *text; /* ended by a zero */
    size_t n, n_room;
};

/** Begin with an empty text. */
struct words words_begin(char *room, size_t n_bytes);

/** Add to it. */
__attribute__((format(printf, 2, 3))) void words_add(struct words *words,
                                                     const char *format, ...);

/** Add a text of others. */
void words_add_foreign(struct words *words, const char *text);

/** Add a number in at most five characters: "999", "12.3k", "1.2M". */
void words_add_number(struct words *words, double number);

/** Add a time in at most five characters: "4ms", "12.3s", "5:07", "3h". */
void words_add_time(struct words *words, double seconds);

/** Add ranks as "0-3,7", up to n_most characters; then "..." */
void words_add_ranks(struct words *words, const uint32_t *ranks, uint32_t n,
                     size_t n_most);

/**
 * Add what a row waits in: call, for whom, tag, place, communicator.
 *
 * @param place  in words; NULL: not known
 */
void words_add_wait(struct words *words, const struct job_look *now,
                    const struct row *row, const char *place);

#endif
