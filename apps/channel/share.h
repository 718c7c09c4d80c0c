/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a triangular system that one process has. They are dealt out in blocks,
 * one after the other, and each process solves its own level by level. [Low Latency
 * Messages, section 4.1]
 */
#ifndef CHANNEL_SHARE_H
#define CHANNEL_SHARE_H

#include "apps/channel/sparse.h"

/**
 * What a process knows of the system: its own rows, and to whom others belong. Row k of
 * it is the k-th that it solves; its entries are starts[k] to starts[k + 1] - 1.
 */
struct share {
    int rank, size;
    size_t n_all; /* rows of the system */
    size_t block; /* rows dealt out at once */
    size_t n_rows;
    uint32_t n_levels; /* of the system */
    uint32_t *rows;    /* [n_rows] their numbers in the system */
    uint32_t *levels;  /* [n_rows] ascending */
    size_t *starts;    /* [n_rows + 1] */
    uint32_t *columns; /* numbers in the system; of each row of such a number ... */
    uint32_t *below;   /* ... its level, ... */
    uint32_t *turns;   /* ... and that it is the turns-th that its owner solves */
    double *values;
    double *rhs; /* [n_rows] */
    double *y;   /* [n_rows] the solution */
};

/** Whose a row of the system is. */
static inline int share_owner(const struct share *share, size_t row)
{
    return (int)(row / share->block % (size_t)share->size);
}

/**
 * Deal out a system that rank 0 has. Collective. All get the whole of it for a moment,
 * and keep their own rows.
 *
 * @param lower      on rank 0; others' is not used
 * @param rhs        the same
 * @param block      rows dealt out at once
 * @return 0, or -ENOMEM on all ranks; share_fini in any case
 */
int share_deal(const struct sparse *lower, const double *rhs, size_t block,
               struct share *share_out);

/** Free it. Accepts one that is all zero. */
void share_fini(struct share *share);

/** Make the solution a value that no row gives. */
void share_clear(const struct share *share);

/**
 * Whether the solution of all is another one, to the last bit. Collective.
 *
 * @param y  on rank 0, what it must be
 * @return the same on all ranks: whether it is, or -ENOMEM
 */
int share_is_right(const struct share *share, const double *y);

#endif
