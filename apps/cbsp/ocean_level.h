/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One level of the grid of ocean, dealt out by rows, and the exchange of rows with the
 * processes that need them.
 *
 * A level has (n + 1) x (n + 1) points; those on the edge are fixed, rows 1 to n - 1
 * are dealt out. A process stores its rows, and the one before and the one after them.
 * The next coarser level has every second row; it belongs to the owner of the same row
 * here. So on coarse levels some processes own nothing; whether one needs rows of
 * others follows from its place and the level.
 */
#ifndef CBSP_OCEAN_LEVEL_H
#define CBSP_OCEAN_LEVEL_H

#include <stddef.h>

#include "apps/cbsp/world.h"

/* A row of ours that another process needs, and its place there: 0 or the last. */
struct ocean_link {
    int process;
    size_t row;
    size_t place;
};

struct ocean_level {
    struct world *world;
    /* Intervals along each axis. */
    size_t n;
    /* Own rows: first to end - 1. */
    size_t first;
    size_t end;
    struct ocean_link *links;
    int n_links;
    /* Rows that come in at an exchange. */
    int n_in;
};

/* Values at all stored points of a level. */
struct ocean_field {
    struct area area;
};

/** Make the level with n intervals that is this many levels below the finest. */
void ocean_level_init(struct ocean_level *level, struct world *world, size_t n_finest,
                      int depth);

/** Free it. */
void ocean_level_fini(struct ocean_level *level);

/** Number of stored points. */
size_t ocean_level_points(const struct ocean_level *level);

/** Make a field of zeros. Collective. */
void ocean_field_init(struct ocean_field *field, const struct ocean_level *level);

/** Free it; collective. */
void ocean_field_fini(struct ocean_field *field);

/** A row of a field: an own one, or the one before or after. Its points are 0 to n. */
static inline double *ocean_row(const struct ocean_field *field,
                                const struct ocean_level *level, size_t row)
{
    return (double *)field->area.mine + (row + 1 - level->first) * (level->n + 1);
}

/** Bring rows next to the own ones up to date, in one superstep for n_fields fields. */
void ocean_exchange(const struct ocean_level *level, struct ocean_field *const fields[],
                    int n_fields);

#endif
