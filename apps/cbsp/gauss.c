/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gauss: solves a dense system of equations by Gaussian elimination with partial
 * pivoting, one superstep an equation. [cBSP section 6.2.1]
 *
 * Columns are dealt out cyclically, the right-hand side as the last one. The owner of
 * a column has all of it, so it finds the pivot alone; it sends the pivot's row and the
 * multipliers to all others in one message. So in each superstep every process but the
 * owner gets one message, whatever the numbers are: all counts are known. The owner of
 * the next column eliminates in it first and sends it, then turns to its other columns.
 * One more superstep collects the triangle on process 0, which substitutes back.
 *
 * Each number goes through the same operations in the same order whoever owns it: the
 * solution has the same bits on any number of processes.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cbsp/frame.h"

#define MAX_RESIDUAL 16.0

struct input {
    long n_equations;
    long seed;
};

struct gauss {
    struct world *world;
    size_t n;
    uint64_t seed;
    /* [own column][row]; own column c is column c * n_processes + pid. */
    double *columns;
    size_t n_columns;
    /* What the owner of step k made: from row k on, the row of the pivot, multipliers.
     * The next step's are made while those of this one are in use. */
    double *made[2];
    /* What another owner has sent. */
    struct area received;
    /* On process 0: [column][row], all columns. */
    struct area triangle;
};

static double matrix_value(const struct gauss *g, size_t row, size_t column)
{
    return frame_random(g->seed, column * g->n + row) - 0.5;
}

static int owner(const struct gauss *g, size_t column)
{
    return (int)(column % (size_t)g->world->n_processes);
}

static double *own_column(const struct gauss *g, size_t column)
{
    return g->columns + column / (size_t)g->world->n_processes * g->n;
}

/* The first own column that is not before this one. */
static size_t next_own(const struct gauss *g, size_t column)
{
    size_t p = (size_t)g->world->n_processes;

    return column + ((size_t)g->world->pid + p - column % p) % p;
}

static void gauss_init(struct gauss *g, struct world *world, const struct input *input)
{
    size_t n = (size_t)input->n_equations;
    size_t p = (size_t)world->n_processes;

    *g = (struct gauss){.world = world, .n = n, .seed = (uint64_t)input->seed};
    g->n_columns = (n + p - (size_t)world->pid) / p;
    g->columns = world_array(world, g->n_columns * n, sizeof(double));
    g->made[0] = world_array(world, n, sizeof(double));
    g->made[1] = world_array(world, n, sizeof(double));
    area_init(&g->received, world, n * sizeof(double));
    area_init(&g->triangle, world, world->pid == 0 ? (n + 1) * n * sizeof(double) : 0);
    for (size_t c = 0; c < g->n_columns; c++) {
        for (size_t i = 0; i < n; i++) {
            g->columns[c * n + i] = matrix_value(g, i, c * p + (size_t)world->pid);
        }
    }
}

static void gauss_fini(struct gauss *g)
{
    free(g->columns);
    free(g->made[0]);
    free(g->made[1]);
    area_fini(&g->received);
    area_fini(&g->triangle);
}

/* Find the pivot of step k in its column, and send it with the multipliers. */
static void make_step(struct gauss *g, size_t k)
{
    double *column = own_column(g, k);
    double *made = g->made[k % 2];
    size_t pivot = k;
    double held;

    for (size_t i = k + 1; i < g->n; i++) {
        pivot = fabs(column[i]) > fabs(column[pivot]) ? i : pivot;
    }
    held = column[k];
    column[k] = column[pivot];
    column[pivot] = held;
    made[k] = (double)pivot;
    for (size_t i = k + 1; i < g->n; i++) {
        made[i] = column[i] / column[k];
    }
    for (int process = 0; process < g->world->n_processes; process++) {
        if (process != g->world->pid) {
            world_put(process, &g->received, k * sizeof(double), made + k,
                      (g->n - k) * sizeof(double));
        }
    }
}

static void eliminate(double *restrict column, const double *restrict step, size_t k,
                      size_t n)
{
    size_t pivot = (size_t)step[k];
    double top = column[pivot];

    column[pivot] = column[k];
    column[k] = top;
    for (size_t i = k + 1; i < n; i++) {
        column[i] -= step[i] * top;
    }
}

static void triangulate(struct gauss *g)
{
    size_t n = g->n;

    if (owner(g, 0) == g->world->pid) {
        make_step(g, 0);
    }
    for (size_t k = 0; k < n; k++) {
        bool is_owner = owner(g, k) == g->world->pid;
        const double *step = is_owner ? g->made[k % 2] : (double *)g->received.mine;
        size_t next = next_own(g, k + 1);

        world_sync(g->world, is_owner ? 0 : 1);
        for (size_t column = next; column <= n;
             column += (size_t)g->world->n_processes) {
            eliminate(own_column(g, column), step, k, n);
            if (column == k + 1 && column < n) {
                make_step(g, column);
            }
        }
    }
}

/* Bring all columns, as far as they are not zero, to process 0. */
static void collect(struct gauss *g)
{
    size_t n = g->n;
    size_t p = (size_t)g->world->n_processes;

    for (size_t column = (size_t)g->world->pid; column <= n; column += p) {
        size_t n_rows = column < n ? column + 1 : n;
        size_t offset = column * n * sizeof(double);

        if (g->world->pid == 0) {
            memcpy(g->triangle.mine + offset, own_column(g, column),
                   n_rows * sizeof(double));
        } else {
            world_put(0, &g->triangle, offset, own_column(g, column),
                      n_rows * sizeof(double));
        }
    }
    world_sync(g->world, g->world->pid == 0 ? (int64_t)(n + 1 - g->n_columns) : 0);
}

/* Turns the last column into the solution, by columns. */
static double *substitute_back(const struct gauss *g)
{
    double *triangle = (double *)g->triangle.mine;
    double *x = triangle + g->n * g->n;

    for (size_t j = g->n; j-- > 0;) {
        const double *column = triangle + j * g->n;

        x[j] /= column[j];
        for (size_t i = 0; i < j; i++) {
            x[i] -= column[i] * x[j];
        }
    }
    return x;
}

/* Largest residual in units of rounding errors of the largest terms. */
static double scaled_residual(const struct gauss *g, const double *x)
{
    double worst = 0;
    double norm_a = 0;
    double norm_x = 0;

    for (size_t i = 0; i < g->n; i++) {
        double residual = -matrix_value(g, i, g->n);
        double row = 0;

        for (size_t j = 0; j < g->n; j++) {
            double a = matrix_value(g, i, j);
            residual += a * x[j];
            row += fabs(a);
        }
        /* In this form a value that is not a number is kept. */
        worst = fabs(residual) <= worst ? worst : fabs(residual);
        norm_a = fmax(norm_a, row);
        norm_x = fmax(norm_x, fabs(x[i]));
    }
    return worst / (DBL_EPSILON * norm_a * norm_x * (double)g->n);
}

static void run(struct world *world, const void *input, struct frame_result *result)
{
    struct gauss g;

    gauss_init(&g, world, input);
    world_start(world);
    triangulate(&g);
    collect(&g);
    if (world->pid == 0) {
        substitute_back(&g);
    }
    world_stop(world);
    if (world->pid == 0) {
        const double *x = (double *)g.triangle.mine + g.n * g.n;
        double residual = scaled_residual(&g, x);

        result->checksum = frame_checksum(0, x, g.n);
        result->checks[result->n_checks++] = (struct check){
            .name = "residual",
            .applies = true,
            .passed = residual <= MAX_RESIDUAL,
            .value = residual,
            .rule = "A x - b must be within 16 rounding errors of each term",
        };
    }
    gauss_fini(&g);
}

int main(int argc, char **argv)
{
    struct input input = {.n_equations = 1024, .seed = 1};
    const struct frame_option options[] = {
        {"--equations", &input.n_equations, 1, 16384, "number of equations"},
        {"--seed", &input.seed, 0, 1000000000, "which system"},
    };
    const struct frame_program program = {
        .name = "gauss",
        .summary = "Solve a dense system of equations, one superstep an equation.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "dense system, columns dealt out cyclically",
        .input = &input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
