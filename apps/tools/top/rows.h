/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two looks at a job tell, as rows of a table: one for each wait of each rank, or
 * one for the ranks that wait alike. Pure.
 */
#ifndef APPS_TOOLS_TOP_ROWS_H
#define APPS_TOOLS_TOP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "job_look.h"

/** In which order rows stand. All but the first: the largest first. */
enum rows_order {
    ROWS_BY_RANK,
    ROWS_BY_SINCE, /* who waits longest */
    ROWS_BY_CPU,
    ROWS_BY_COMMUNICATION,
    ROWS_BY_MESSAGES,
    ROWS_ORDERS
};

/** A row. */
struct row {
    uint32_t *ranks; /* ascending; within those of the table */
    uint32_t n_ranks;
    uint32_t wait; /* of the later look, the first rank's; ROWS_NO_WAIT */
    bool is_alike; /* all wait for the same rank with the same tag, or none does */
    int32_t core;  /* -1: not known, or several ranks */
    /* Of the first rank's: */
    double cpu;                 /* of a core, mean over the ranks; -1: not known */
    double communication;       /* share of the time seen in waits; -1: not known */
    double messages_s, bytes_s; /* that the ranks send, together */
    double since_s;             /* for how long all of them have waited */
};

#define ROWS_NO_WAIT UINT32_MAX

/** Rows, and what they say of the whole job. */
struct rows {
    struct row *rows;
    uint32_t n;
    uint32_t *ranks; /* of all rows */
    double cpu, communication, messages_s, bytes_s, collectives_s, slices_s;
    /* Means over the ranks of what they do while they are not seen to wait: they
     * compute at most as much as they have a core; else they have none. -1: not
     * known. */
    double computing, without_core;
    uint32_t n_waiting; /* ranks */
};

/**
 * Make rows.
 *
 * @param before  the look before; NULL: there is none, and nothing is known of rates
 * @return 0, end with rows_fini; or -ENOMEM
 */
int rows_make(const struct job_look *before, const struct job_look *now,
              bool is_grouped, enum rows_order order, struct rows *rows_out);

/** Free rows. Accepts zeroed ones. */
void rows_fini(struct rows *rows);

/** What ranks do besides waiting, the heaviest pairs of them. */
struct rows_pair {
    uint32_t from, to;
    double messages_s, bytes_s;
};

/** The pairs that have moved most bytes, then most messages, first.
 *  @return how many, up to n_most */
uint32_t rows_pairs(const struct job_look *before, const struct job_look *now,
                    struct rows_pair pairs_out[], uint32_t n_most);

/**
 * Who has not come to a collective: who could end a wait, and does not stand in the
 * same one.
 *
 * @param ranks_out  the first n_most of them
 * @return how many there are; 0 also of what is no collective
 */
uint32_t rows_missing(const struct job_look *now, uint32_t wait, uint32_t ranks_out[],
                      uint32_t n_most);

#endif
