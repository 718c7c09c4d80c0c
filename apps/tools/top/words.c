/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts rows into words; see words.h.
 */
#include "words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MISSING = 64, MISSING_BYTES = 24 };

struct words words_begin(char *room, size_t n_bytes)
{
    room[0] = '\0';
    return (struct words){.text = room, .n_room = n_bytes};
}

void words_add(struct words *words, const char *format, ...)
{
    size_t n_left = words->n_room - words->n;
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(words->text + words->n, n_left, format, list);
    va_end(list);
    if (n > 0) {
        words->n += (size_t)n < n_left ? (size_t)n : n_left - 1;
    }
}

void words_add_foreign(struct words *words, const char *text)
{
    for (; *text != '\0'; text++) {
        words_add(words, "%c", *text >= ' ' && *text <= '~' ? *text : '?');
    }
}

void words_add_number(struct words *words, double number)
{
    static const char units[] = "kMGTP";
    const char *unit = NULL;

    /* What would be rounded to 1000 is one of the next unit. */
    while (number >= 999.5 && (unit == NULL || unit[1] != '\0')) {
        number /= 1000;
        unit = unit == NULL ? units : unit + 1;
    }
    if (unit == NULL) {
        words_add(words, number == 0 || number >= 9.95 ? "%.0f" : "%.1f", number);
    } else {
        words_add(words, number < 99.95 ? "%.1f%c" : "%.0f%c", number, *unit);
    }
}

void words_add_time(struct words *words, double seconds)
{
    if (seconds < 0.9995) {
        words_add(words, "%.0fms", seconds * 1000);
    } else if (seconds < 99.95) {
        words_add(words, "%.1fs", seconds);
    } else if (seconds < 3600) {
        words_add(words, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    } else if (seconds < 100 * 3600.0) {
        words_add(words, "%dh%02d", (int)seconds / 3600, (int)seconds / 60 % 60);
    } else {
        words_add(words, "%.0fd", floor(seconds / 86400));
    }
}

void words_add_ranks(struct words *words, const uint32_t *ranks, uint32_t n,
                     size_t n_most)
{
    const char *comma = "";
    size_t n_before = words->n;

    for (uint32_t i = 0; i < n;) {
        uint32_t first = ranks[i], last = first;
        char range[32];
        int n_range;

        for (i++; i < n && ranks[i] == last + 1; i++) {
            last++;
        }
        n_range = first == last
                      ? snprintf(range, sizeof(range), "%s%u", comma, first)
                      : snprintf(range, sizeof(range), "%s%u-%u", comma, first, last);
        /* Behind it there must be room to say that there are more. */
        if (words->n - n_before + (size_t)n_range + (i < n ? strlen(",...") : 0) >
            n_most) {
            words_add(words, "%s...", comma);
            return;
        }
        words_add(words, "%s", range);
        comma = ",";
    }
}

/** For whom a message waits, with which tag. */
static void add_partner(struct words *words, const struct bcs_stand *stand,
                        bool is_alike)
{
    const struct bcs_stand_operation *one = &stand->operations[0];

    if (one->kind == BCS_STAND_SEND) {
        words_add(words, " to ");
    } else if (one->kind == BCS_STAND_RECEIVE || one->kind == BCS_STAND_PROBE) {
        words_add(words, " from ");
    } else {
        words_add(words, one->kind == BCS_STAND_FOREIGN ? " (of the MPI library)" : "");
        return;
    }
    if (!is_alike) {
        words_add(words, "one each");
        return;
    }
    if (one->peer < 0) {
        words_add(words, "any");
    } else {
        words_add(words, "%d", one->peer);
    }
    /* One of a collective's, or that the program does not see, has none of its own. */
    if (one->context_id % 2 == 0 && (one->context_id & BCS_CONTEXT_HIDDEN) == 0) {
        words_add(words, one->tag < 0 ? ", any tag" : ", tag %d", one->tag);
    }
}

/** Who has not come to a collective. */
static void add_missing(struct words *words, const struct job_look *now, uint32_t wait)
{
    uint32_t ranks[MOST_MISSING];
    uint32_t n = rows_missing(now, wait, ranks, MOST_MISSING);

    if (n > 0) {
        words_add(words, " without ");
        words_add_ranks(words, ranks, n < MOST_MISSING ? n : MOST_MISSING,
                        MISSING_BYTES);
        words_add(words, n > MOST_MISSING ? ",... (%u)" : "", n);
    }
}

void words_add_wait(struct words *words, const struct job_look *now,
                    const struct row *row, const char *place)
{
    const struct bcs_stand *stand;

    if (row->wait == ROWS_NO_WAIT) {
        words_add(words, "-");
        return;
    }
    stand = &now->waits[row->wait].stand;
    words_add_foreign(
        words, *bcs_stand_called(stand) == '\0' ? "a call" : bcs_stand_called(stand));
    if (*stand->collective != '\0') {
        add_missing(words, now, row->wait);
    } else if (stand->n_operations > 0) {
        add_partner(words, stand, row->is_alike);
        if (stand->n_operations > 1) {
            words_add(words, ", %s %u more", stand->needs_all ? "and" : "or",
                      stand->n_operations - 1);
        }
    }
    if (place != NULL) {
        words_add(words, ", ");
        words_add_foreign(words, place);
    }
    if (*stand->comm != '\0') {
        words_add(words, ", on ");
        words_add_foreign(words, stand->comm);
    }
}
