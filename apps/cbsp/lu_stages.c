/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of the decomposition, with the grid distribution of Bisseling and McColl.
 * [cBSP section 6.2.3] Every process runs stage k in five supersteps:
 *
 *   1. Those who have a part of column k tell each other their largest element.
 *   2. All of them know the winner; they tell it to their rows of the grid, and divide
 *      their parts of the column.
 *   3. Rows k and pivot change places.
 *   4. Multipliers and top row are broadcast in two phases: their owners deal out
 *      blocks of them,
 *   5. and who has a block sends it to the others. Then all update what is left.
 *
 * How many messages come in depends on the place in the grid, on k, and in superstep 3
 * on the pivot, which all know by then.
 *
 * Of equal elements the one in the upper row wins, so the result has the same bits on
 * any grid.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cbsp/lu.h"

/* A vector dealt out over the processes of one row or column of the grid, to all of
 * which its owner, one of them, broadcasts elements [first, n). */
struct broadcast {
    const struct area *area;
    size_t first;
    size_t n;
    /* In this row or column: number of processes, own index, index of the owner. */
    int parts;
    int index;
    int owner;
    /* Process of index i is first_process + i * stride. */
    int first_process;
    int stride;
};

size_t lu_n_before(size_t first, int index, int parts)
{
    return (first + (size_t)(parts - 1 - index)) / (size_t)parts;
}

static int process_at(const struct lu_grid *grid, int row, int column)
{
    return row + column * grid->rows;
}

static size_t own_row(const struct lu *lu, size_t row)
{
    return row / (size_t)lu->grid.rows;
}

static size_t own_column(const struct lu *lu, size_t column)
{
    return column / (size_t)lu->grid.columns;
}

static bool has_row(const struct lu *lu, size_t row)
{
    return (int)(row % (size_t)lu->grid.rows) == lu->grid.row;
}

static bool has_column(const struct lu *lu, size_t column)
{
    return (int)(column % (size_t)lu->grid.columns) == lu->grid.column;
}

double *lu_element(const struct lu *lu, size_t row, size_t column)
{
    double *matrix = (double *)lu->matrix.mine;

    return matrix + own_row(lu, row) * lu->n_columns + own_column(lu, column);
}

/* --- supersteps 1 and 2: the pivot
 * -------------------------------------------------- */

static bool is_better(const struct lu_candidate *a, const struct lu_candidate *b)
{
    double size_a = fabs(a->value);
    double size_b = fabs(b->value);

    return size_a > size_b || (size_a == size_b && a->row < b->row);
}

static struct lu_candidate own_candidate(const struct lu *lu, size_t k)
{
    struct lu_candidate best = {.value = 0, .row = SIZE_MAX};
    size_t first = lu_n_before(k, lu->grid.row, lu->grid.rows);

    for (size_t i = first; i < lu->n_rows; i++) {
        size_t row = i * (size_t)lu->grid.rows + (size_t)lu->grid.row;
        struct lu_candidate next = {.value = *lu_element(lu, row, k), .row = row};

        best = is_better(&next, &best) ? next : best;
    }
    return best;
}

static void tell_candidates(struct lu *lu, size_t k)
{
    struct lu_candidate *candidates = (struct lu_candidate *)lu->candidates.mine;
    const struct lu_grid *grid = &lu->grid;
    struct lu_candidate *mine = &candidates[grid->row];

    if (!has_column(lu, k)) {
        world_sync(lu->world, 0);
        return;
    }
    *mine = own_candidate(lu, k);
    for (int row = 0; row < grid->rows; row++) {
        if (row != grid->row) {
            world_put(process_at(grid, row, grid->column), &lu->candidates,
                      (size_t)grid->row * sizeof(*mine), mine, sizeof(*mine));
        }
    }
    world_sync(lu->world, grid->rows - 1);
}

static void divide_column(const struct lu *lu, size_t k,
                          const struct lu_candidate *best)
{
    size_t first = lu_n_before(k, lu->grid.row, lu->grid.rows);

    for (size_t i = first; i < lu->n_rows; i++) {
        size_t row = i * (size_t)lu->grid.rows + (size_t)lu->grid.row;
        if (row != best->row) {
            *lu_element(lu, row, k) /= best->value;
        }
    }
}

/* Returns the row of the pivot. */
static size_t tell_pivot(struct lu *lu, size_t k)
{
    const struct lu_candidate *candidates =
        (const struct lu_candidate *)lu->candidates.mine;
    const struct lu_grid *grid = &lu->grid;
    size_t *pivot = (size_t *)lu->pivot.mine;
    struct lu_candidate best = candidates[0];

    if (!has_column(lu, k)) {
        world_sync(lu->world, 1);
        return *pivot;
    }
    for (int row = 1; row < grid->rows; row++) {
        best = is_better(&candidates[row], &best) ? candidates[row] : best;
    }
    /* A column of zeros or of what is not a number stays where it is. */
    *pivot = best.row == SIZE_MAX ? k : best.row;
    for (int column = 0; column < grid->columns; column++) {
        if (column != grid->column) {
            world_put(process_at(grid, grid->row, column), &lu->pivot, 0, pivot,
                      sizeof(*pivot));
        }
    }
    divide_column(lu, k, &best);
    world_sync(lu->world, 0);
    return *pivot;
}

/* --- superstep 3: the rows
 * ---------------------------------------------------------- */

static void swap_here(const struct lu *lu, size_t a, size_t b)
{
    double *row_a = lu_element(lu, a, (size_t)lu->grid.column);
    double *row_b = lu_element(lu, b, (size_t)lu->grid.column);

    for (size_t j = 0; j < lu->n_columns; j++) {
        double held = row_a[j];
        row_a[j] = row_b[j];
        row_b[j] = held;
    }
}

/* Send row mine to the place of row other. The data are written when all have been
 * sent, so nothing is lost. */
static void send_row(struct lu *lu, size_t mine, size_t other)
{
    int row = (int)(other % (size_t)lu->grid.rows);
    size_t offset = own_row(lu, other) * lu->n_columns * sizeof(double);

    world_put(process_at(&lu->grid, row, lu->grid.column), &lu->matrix, offset,
              lu_element(lu, mine, (size_t)lu->grid.column),
              lu->n_columns * sizeof(double));
}

static void swap_rows(struct lu *lu, size_t k, size_t pivot)
{
    size_t held = lu->permutation[k];
    int64_t n_messages = 0;

    lu->permutation[k] = lu->permutation[pivot];
    lu->permutation[pivot] = held;
    if (lu->n_columns > 0) {
        if (has_row(lu, k) && has_row(lu, pivot)) {
            swap_here(lu, k, pivot);
        } else if (has_row(lu, k)) {
            send_row(lu, k, pivot);
            n_messages = 1;
        } else if (has_row(lu, pivot)) {
            send_row(lu, pivot, k);
            n_messages = 1;
        }
    }
    if (lu->is_swap_counted) {
        world_sync(lu->world, n_messages);
    } else {
        world_sync_unknown(lu->world);
    }
}

/* --- supersteps 4 and 5: multipliers and top row
 * -------------------------------------- */

static size_t block_start(const struct broadcast *b, int block)
{
    return b->first + (b->n - b->first) * (size_t)block / (size_t)b->parts;
}

static void send_block(const struct broadcast *b, int block, int to)
{
    size_t start = block_start(b, block) * sizeof(double);
    size_t end = block_start(b, block + 1) * sizeof(double);

    if (end > start && to != b->index && to != b->owner) {
        world_put(b->first_process + to * b->stride, b->area, start,
                  b->area->mine + start, end - start);
    }
}

/* Whether there is anything in a block. */
static int64_t n_in_block(const struct broadcast *b, int block)
{
    return block_start(b, block + 1) > block_start(b, block) ? 1 : 0;
}

/* The owner keeps its own block and sends the others. Returns how many come in. */
static int64_t deal_out(const struct broadcast *b)
{
    if (b->index != b->owner) {
        return n_in_block(b, b->index);
    }
    for (int block = 0; block < b->parts; block++) {
        send_block(b, block, block);
    }
    return 0;
}

/* All but the owner, which has everything, get the other blocks. */
static int64_t gather(const struct broadcast *b)
{
    int64_t n_messages = 0;

    for (int to = 0; to < b->parts; to++) {
        send_block(b, b->index, to);
    }
    for (int block = 0; block < b->parts && b->index != b->owner; block++) {
        n_messages += block != b->index ? n_in_block(b, block) : 0;
    }
    return n_messages;
}

/* Multipliers go along the rows of the grid, the top row along its columns. */
static void set_broadcasts(const struct lu *lu, size_t k, struct broadcast both[2])
{
    const struct lu_grid *grid = &lu->grid;

    both[0] = (struct broadcast){
        .area = &lu->multipliers,
        .first = lu_n_before(k + 1, grid->row, grid->rows),
        .n = lu->n_rows,
        .parts = grid->columns,
        .index = grid->column,
        .owner = (int)(k % (size_t)grid->columns),
        .first_process = process_at(grid, grid->row, 0),
        .stride = grid->rows,
    };
    both[1] = (struct broadcast){
        .area = &lu->top,
        .first = lu_n_before(k + 1, grid->column, grid->columns),
        .n = lu->n_columns,
        .parts = grid->rows,
        .index = grid->row,
        .owner = (int)(k % (size_t)grid->rows),
        .first_process = process_at(grid, 0, grid->column),
        .stride = 1,
    };
}

/* Copies what this process owns of them to where all have them. */
static void take_own(const struct lu *lu, size_t k, const struct broadcast both[2])
{
    const double *matrix = (const double *)lu->matrix.mine;

    if (has_column(lu, k)) {
        double *multipliers = (double *)lu->multipliers.mine;
        for (size_t i = both[0].first; i < both[0].n; i++) {
            multipliers[i] = matrix[i * lu->n_columns + own_column(lu, k)];
        }
    }
    if (has_row(lu, k) && lu->n_columns > 0) {
        memcpy(lu->top.mine, matrix + own_row(lu, k) * lu->n_columns,
               lu->n_columns * sizeof(double));
    }
}

static void broadcast_both(struct lu *lu, const struct broadcast both[2])
{
    int64_t n_messages = deal_out(&both[0]) + deal_out(&both[1]);

    world_sync(lu->world, n_messages);
    n_messages = gather(&both[0]) + gather(&both[1]);
    world_sync(lu->world, n_messages);
}

static void update_row(double *restrict row, const double *restrict top,
                       double multiplier, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        row[j] -= multiplier * top[j];
    }
}

static void update(const struct lu *lu, const struct broadcast both[2])
{
    const double *multipliers = (const double *)lu->multipliers.mine;
    const double *top = (const double *)lu->top.mine + both[1].first;
    double *matrix = (double *)lu->matrix.mine + both[1].first;

    for (size_t i = both[0].first; i < both[0].n; i++) {
        update_row(matrix + i * lu->n_columns, top, multipliers[i],
                   both[1].n - both[1].first);
    }
}

/* --- all stages
 * ------------------------------------------------------------------------ */

void lu_decompose(struct lu *lu)
{
    for (size_t k = 0; k < lu->n; k++) {
        struct broadcast both[2];

        tell_candidates(lu, k);
        swap_rows(lu, k, tell_pivot(lu, k));
        set_broadcasts(lu, k, both);
        take_own(lu, k, both);
        broadcast_both(lu, both);
        update(lu, both);
    }
}

/* The grid is as square as the number of processes allows. */
static struct lu_grid grid_of(const struct world *world)
{
    struct lu_grid grid = {.rows = 1};

    for (int rows = 1; rows * rows <= world->n_processes; rows++) {
        grid.rows = world->n_processes % rows == 0 ? rows : grid.rows;
    }
    grid.columns = world->n_processes / grid.rows;
    grid.row = world->pid % grid.rows;
    grid.column = world->pid / grid.rows;
    return grid;
}

void lu_init(struct lu *lu, struct world *world, size_t n, bool is_swap_counted)
{
    struct lu_grid grid = grid_of(world);

    *lu = (struct lu){.world = world,
                      .grid = grid,
                      .n = n,
                      .is_swap_counted = is_swap_counted,
                      .n_rows = lu_n_before(n, grid.row, grid.rows),
                      .n_columns = lu_n_before(n, grid.column, grid.columns)};
    lu->permutation = world_array(world, n, sizeof(*lu->permutation));
    for (size_t i = 0; i < n; i++) {
        lu->permutation[i] = i;
    }
    area_init(&lu->matrix, world, lu->n_rows * lu->n_columns * sizeof(double));
    area_init(&lu->candidates, world, (size_t)grid.rows * sizeof(struct lu_candidate));
    area_init(&lu->pivot, world, sizeof(size_t));
    area_init(&lu->multipliers, world, lu->n_rows * sizeof(double));
    area_init(&lu->top, world, lu->n_columns * sizeof(double));
}

void lu_fini(struct lu *lu)
{
    free(lu->permutation);
    area_fini(&lu->matrix);
    area_fini(&lu->candidates);
    area_fini(&lu->pivot);
    area_fini(&lu->multipliers);
    area_fini(&lu->top);
}
