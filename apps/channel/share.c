/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deals out a system. Every rank runs it.
 */
#include "apps/channel/share.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/channel/agree.h"

/** The whole system, with the order in which its rows can be solved. */
struct whole {
    struct sparse lower;
    double *rhs;
    uint32_t *levels, *order, *turns; /* as of a share */
    uint32_t n_levels;
};

void share_fini(struct share *share)
{
    free(share->rows);
    free(share->levels);
    free(share->starts);
    free(share->columns);
    free(share->below);
    free(share->turns);
    free(share->values);
    free(share->rhs);
    free(share->y);
    *share = (struct share){0};
}

static void whole_fini(struct whole *whole)
{
    sparse_fini(&whole->lower);
    free(whole->rhs);
    free(whole->levels);
    free(whole->order);
    free(whole->turns);
}

/** Get the system from rank 0. @return 0 or -ENOMEM; whole_fini in any case */
static int whole_get(const struct sparse *lower, const double *rhs, int rank,
                     struct whole *whole)
{
    uint64_t sizes[2] = {0, 0};
    int n_rows, n_entries;

    if (rank == 0) {
        sizes[0] = lower->n_rows;
        sizes[1] = lower->starts[lower->n_rows];
    }
    MPI_Bcast(sizes, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    n_rows = (int)sizes[0];
    n_entries = (int)sizes[1];
    whole->rhs = agree_array(sizes[0], sizeof(*whole->rhs));
    whole->levels = agree_array(sizes[0], sizeof(*whole->levels));
    whole->order = agree_array(sizes[0], sizeof(*whole->order));
    whole->turns = agree_array(sizes[0], sizeof(*whole->turns));
    if (agree_least(whole->rhs == NULL || whole->levels == NULL ||
                            whole->order == NULL || whole->turns == NULL
                        ? -ENOMEM
                        : sparse_init(&whole->lower, sizes[0], sizes[1])) != 0) {
        return -ENOMEM;
    }
    if (rank == 0) {
        memcpy(whole->lower.starts, lower->starts, (sizes[0] + 1) * sizeof(size_t));
        memcpy(whole->lower.columns, lower->columns, sizes[1] * sizeof(uint32_t));
        memcpy(whole->lower.values, lower->values, sizes[1] * sizeof(double));
        memcpy(whole->rhs, rhs, sizes[0] * sizeof(double));
    }
    MPI_Bcast(whole->lower.starts, n_rows + 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(whole->lower.columns, n_entries, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(whole->lower.values, n_entries, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(whole->rhs, n_rows, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return 0;
}

/** Put all rows into an order, level by level. @return 0 or -ENOMEM */
static int whole_order(struct whole *whole)
{
    size_t *next;

    whole->n_levels = sparse_levels(&whole->lower, whole->levels);
    next = calloc((size_t)whole->n_levels + 1, sizeof(*next));
    if (next == NULL) {
        return -ENOMEM;
    }
    for (size_t row = 0; row < whole->lower.n_rows; row++) {
        next[whole->levels[row] + 1]++;
    }
    for (uint32_t level = 0; level < whole->n_levels; level++) {
        next[level + 1] += next[level];
    }
    for (size_t row = 0; row < whole->lower.n_rows; row++) {
        whole->order[next[whole->levels[row]]++] = (uint32_t)row;
    }
    free(next);
    return 0;
}

/** Count the rows of each process in that order. @return as whole_order */
static int whole_turns(struct whole *whole, const struct share *share)
{
    uint32_t *n_rows = calloc((size_t)share->size, sizeof(*n_rows));

    if (n_rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < whole->lower.n_rows; i++) {
        whole->turns[whole->order[i]] = n_rows[share_owner(share, whole->order[i])]++;
    }
    free(n_rows);
    return 0;
}

/** Make room for the rows of this process. */
static int make_room(const struct whole *whole, struct share *share)
{
    const size_t *starts = whole->lower.starts;
    size_t n_entries = 0;

    for (size_t row = 0; row < share->n_all; row++) {
        if (share_owner(share, row) == share->rank) {
            share->n_rows++;
            n_entries += starts[row + 1] - starts[row];
        }
    }
    share->rows = agree_array(share->n_rows, sizeof(*share->rows));
    share->levels = agree_array(share->n_rows, sizeof(*share->levels));
    share->starts = agree_array(share->n_rows + 1, sizeof(*share->starts));
    share->columns = agree_array(n_entries, sizeof(*share->columns));
    share->below = agree_array(n_entries, sizeof(*share->below));
    share->turns = agree_array(n_entries, sizeof(*share->turns));
    share->values = agree_array(n_entries, sizeof(*share->values));
    share->rhs = agree_array(share->n_rows, sizeof(*share->rhs));
    share->y = agree_array(share->n_rows, sizeof(*share->y));
    return share->rows == NULL || share->levels == NULL || share->starts == NULL ||
                   share->columns == NULL || share->below == NULL ||
                   share->turns == NULL || share->values == NULL ||
                   share->rhs == NULL || share->y == NULL
               ? -ENOMEM
               : 0;
}

/** Keep the rows of this process. */
static void keep_own(const struct whole *whole, struct share *share)
{
    const struct sparse *lower = &whole->lower;
    size_t k = 0, n = 0;

    share->starts[0] = 0;
    for (size_t i = 0; i < share->n_all; i++) {
        uint32_t row = whole->order[i];
        size_t begin = lower->starts[row], n_here = lower->starts[row + 1] - begin;

        if (share_owner(share, row) != share->rank) {
            continue;
        }
        share->rows[k] = row;
        share->levels[k] = whole->levels[row];
        share->rhs[k] = whole->rhs[row];
        for (size_t e = 0; e < n_here; e++) {
            share->columns[n + e] = lower->columns[begin + e];
            share->below[n + e] = whole->levels[lower->columns[begin + e]];
            share->turns[n + e] = whole->turns[lower->columns[begin + e]];
        }
        memcpy(share->values + n, lower->values + begin,
               n_here * sizeof(*share->values));
        n += n_here;
        share->starts[++k] = n;
    }
}

int share_deal(const struct sparse *lower, const double *rhs, size_t block,
               struct share *share_out)
{
    struct whole whole = {0};
    int rc;

    *share_out = (struct share){.block = block};
    MPI_Comm_rank(MPI_COMM_WORLD, &share_out->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &share_out->size);
    rc = whole_get(lower, rhs, share_out->rank, &whole);
    if (rc == 0) {
        share_out->n_all = whole.lower.n_rows;
        rc = whole_order(&whole);
        rc = rc == 0 ? whole_turns(&whole, share_out) : rc;
        share_out->n_levels = whole.n_levels;
        rc = agree_least(rc == 0 ? make_room(&whole, share_out) : rc);
    }
    if (rc == 0) {
        keep_own(&whole, share_out);
    }
    whole_fini(&whole);
    return rc;
}

void share_clear(const struct share *share)
{
    for (size_t k = 0; k < share->n_rows; k++) {
        share->y[k] = NAN;
    }
}

int share_is_right(const struct share *share, const double *y)
{
    double *all = agree_array(share->n_all, sizeof(*all));
    int result = agree_least(all == NULL ? -ENOMEM : 1);

    if (result == 1) {
        /* Each row is another's 0; bits are added as whole numbers, so that none is
         * lost. */
        memset(all, 0, share->n_all * sizeof(*all));
        for (size_t k = 0; k < share->n_rows; k++) {
            all[share->rows[k]] = share->y[k];
        }
        MPI_Reduce(share->rank == 0 ? MPI_IN_PLACE : all, all, (int)share->n_all,
                   MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (share->rank == 0) {
            result = memcmp(all, y, share->n_all * sizeof(*all)) == 0;
        }
        MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(all);
    return result;
}
