/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that show a job: what stands in each, for a width. Pure; screen.c puts them
 * on a terminal.
 */
#ifndef APPS_TOOLS_TOP_PICTURE_H
#define APPS_TOOLS_TOP_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "rows.h"
#include "words.h"

enum { PICTURE_PAIRS_MOST = 8 }; /* heaviest pairs that are shown */

/** What is shown. Texts and looks are the caller's. */
struct picture {
    uint32_t number,
        n_jobs;  /* which of those that there are, from 1 on; 0: none of them */
    int64_t pid; /* of the job's first process */
    uint32_t n_ranks, n_nodes;
    const char *program; /* with its arguments */
    const char *driver, *strobe;
    double age_s;
    double still_s; /* for how long nothing has moved; 0: something has */
    bool has_ended, is_paused, is_grouped;
    enum rows_order order;
    const struct job_look *before, *now; /* before: NULL: there is none */
    const struct rows *rows;
    const struct machine_look *machine_before, *machine_now;
};

/** Lines above the rows. */
enum picture_line {
    PICTURE_TITLE,
    PICTURE_PROGRAM,
    PICTURE_RATES,
    PICTURE_WAITS,
    PICTURE_PAIRS,
    PICTURE_MACHINE,
    PICTURE_HEAD, /* of the table */
    PICTURE_LINES
};

/** The text of one of these lines. */
void picture_add_line(struct words *words, const struct picture *picture,
                      enum picture_line line, uint32_t width);

/**
 * A row of the table: numbers, and then what the ranks wait in.
 *
 * @param place        in words; NULL: not known
 * @param n_left_out characters of what they wait in that are to be left out at its
 * begin
 */
void picture_add_row(struct words *words, const struct picture *picture,
                     const struct row *row, const char *place, uint32_t width,
                     uint32_t n_left_out);

/** The line below the rows: keys, and what is special. */
void picture_add_foot(struct words *words, const struct picture *picture);

/** The line of the help text with a number from 0 on; NULL: there is none. */
const char *picture_help(uint32_t number);

#endif
