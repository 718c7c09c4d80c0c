/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The banded lower triangular system of the pipelined solve, as one process has it, and
 * a step of its solution, which is the same however the products travel. [Low Latency
 * Messages, section 4]
 *
 * The system comes from a grid of M lines of N points, M being the number of processes:
 * y(i) = rhs(i) - y(i-1) near(i-1) - y(i-N) far(i-N), without the second term in the
 * first column and without the third in the first line. Values are dealt out
 * cyclically, i to process i mod M, and N is a multiple of M: so a process has whole
 * columns, and the third term is its own. It goes through its columns one by one, each
 * from the first line to the last. The product of the second term comes from the
 * process before it, which has made it in the step before, so that all go through the
 * grid like one wave: each step needs a message.
 */
#ifndef CHANNEL_BANDED_H
#define CHANNEL_BANDED_H

#include <stdbool.h>
#include <stddef.h>

/** What one process has: n_steps values of each, in the order of its steps. */
struct banded {
    int rank, size;  /* of the process; of the job, and the grid's number of lines */
    int left, right; /* processes whose product comes here, and to which that from here
                        goes */
    size_t n_steps;  /* N */
    double *rhs, *near, *far;
    double *y; /* the solution */
};

/** Where a process is in its column. Zero it to start. */
struct banded_place {
    size_t line;
    double above; /* the product from the line above, 0 in the first */
};

/**
 * Make the part of a process. The coefficients follow from their number alone.
 *
 * @param n_steps   a multiple of size
 * @return 0 or -ENOMEM; banded_fini in any case
 */
int banded_init(struct banded *banded, int rank, int size, size_t n_steps);

/** Free it. */
void banded_fini(struct banded *banded);

/** Make the solution a value that no step gives. */
void banded_clear(const struct banded *banded);

/**
 * Whether all parts together are the solution that one process finds alone, going
 * through the values by their number, to the last bit. Collective; @return the same on
 * all ranks, or -ENOMEM on all
 */
int banded_is_right(const struct banded *banded);

/** The first step that needs a product; all after it do. */
static inline size_t banded_first_received(const struct banded *banded)
{
    return banded->rank == 0 ? (size_t)banded->size : 0;
}

/** Whether a step needs a product: not in the first column. */
static inline bool banded_has_left(const struct banded *banded, size_t step)
{
    return step >= banded_first_received(banded);
}

/** Whether the product of a step is needed: not in the last column. */
static inline bool banded_has_right(const struct banded *banded, size_t step)
{
    return banded->rank != banded->size - 1 ||
           step < banded->n_steps - (size_t)banded->size;
}

/** The step of the process before that gives the product of a step. */
static inline size_t banded_source_step(const struct banded *banded, size_t step)
{
    return step - banded_first_received(banded);
}

/** How many of its products are needed. */
static inline size_t banded_n_sent(const struct banded *banded)
{
    return banded->n_steps -
           (banded->rank == banded->size - 1 ? (size_t)banded->size : 0);
}

/** Carry out a step. @param product  of the process before; 0 in the first column.
 *  @return the product for the next one */
static inline double banded_step(const struct banded *banded,
                                 struct banded_place *place, size_t step,
                                 double product)
{
    double y = banded->rhs[step] - product - place->above;

    place->line = place->line + 1 == (size_t)banded->size ? 0 : place->line + 1;
    place->above = place->line == 0 ? 0 : y * banded->far[step];
    banded->y[step] = y;
    return y * banded->near[step];
}

#endif
