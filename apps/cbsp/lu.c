/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lu: decomposes a dense matrix, P A = L U, on a grid of processes; the stages are in
 * lu_stages.c. Process 0 then decomposes the same matrix alone, which must give the
 * same bits, and multiplies L by U.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cbsp/frame.h"
#include "apps/cbsp/lu.h"

#define MAX_ERROR 16.0

struct input {
    long n;
    long seed;
    long is_swap_counted;
};

static double matrix_value(const struct input *input, size_t row, size_t column)
{
    uint64_t index = row * (uint64_t)input->n + column;

    return frame_random((uint64_t)input->seed, index) - 0.5;
}

static void fill(struct lu *lu, const struct input *input)
{
    size_t rows = (size_t)lu->grid.rows;
    size_t columns = (size_t)lu->grid.columns;

    for (size_t i = (size_t)lu->grid.row; i < lu->n; i += rows) {
        for (size_t j = (size_t)lu->grid.column; j < lu->n; j += columns) {
            *lu_element(lu, i, j) = matrix_value(input, i, j);
        }
    }
}

/* Puts the part of a process, as that has it, where it belongs in the whole matrix. */
static void place_part(const struct lu *lu, int process, const double *part,
                       double *whole)
{
    int row = process % lu->grid.rows;
    int column = process / lu->grid.rows;
    size_t n_rows = lu_n_before(lu->n, row, lu->grid.rows);
    size_t n_columns = lu_n_before(lu->n, column, lu->grid.columns);

    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < n_columns; j++) {
            size_t global_row = i * (size_t)lu->grid.rows + (size_t)row;
            size_t global_column = j * (size_t)lu->grid.columns + (size_t)column;
            whole[global_row * lu->n + global_column] = part[i * n_columns + j];
        }
    }
}

/* The whole matrix on process 0, which frees it; NULL on the others. */
static double *collect(struct lu *lu)
{
    struct world *world = lu->world;
    /* Process (0, 0) has as many rows and columns as any. */
    size_t part_bytes = lu_n_before(lu->n, 0, lu->grid.rows) *
                        lu_n_before(lu->n, 0, lu->grid.columns) * sizeof(double);
    struct area parts;
    double *whole = NULL;

    if (world->pid == 0) {
        whole = world_array(world, lu->n * lu->n, sizeof(double));
    }
    area_init(&parts, world,
              world->pid == 0 ? part_bytes * (size_t)world->n_processes : 0);
    world_put(0, &parts, (size_t)world->pid * part_bytes, lu->matrix.mine,
              lu->n_rows * lu->n_columns * sizeof(double));
    world_sync_unknown(world);
    for (int process = 0; process < world->n_processes && world->pid == 0; process++) {
        place_part(lu, process,
                   (const double *)(parts.mine + (size_t)process * part_bytes), whole);
    }
    area_fini(&parts);
    return whole;
}

static size_t pivot_of(const double *a, size_t n, size_t k)
{
    size_t pivot = k;

    for (size_t i = k + 1; i < n; i++) {
        pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
    }
    return pivot;
}

static void swap_rows(double *a, size_t n, size_t i, size_t k)
{
    for (size_t j = 0; j < n; j++) {
        double held = a[i * n + j];
        a[i * n + j] = a[k * n + j];
        a[k * n + j] = held;
    }
}

/* The textbook's decomposition, by one process. */
static void decompose_alone(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        swap_rows(a, n, k, pivot_of(a, n, k));
        for (size_t i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; j < n; j++) {
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
            }
        }
    }
}

/* Elements that differ from those of a decomposition by one process. */
static double n_different(const struct lu *lu, const struct input *input,
                          const double *whole)
{
    size_t n = lu->n;
    double *a = world_array(lu->world, n * n, sizeof(double));
    double n_found = 0;

    for (size_t i = 0; i < n * n; i++) {
        a[i] = matrix_value(input, i / n, i % n);
    }
    decompose_alone(a, n);
    for (size_t i = 0; i < n * n; i++) {
        n_found += memcmp(&a[i], &whole[i], sizeof(double)) != 0 ? 1 : 0;
    }
    free(a);
    return n_found;
}

/* Row i of L times U, into product. */
static void multiply_row(const double *whole, size_t n, size_t i, double *product)
{
    memset(product, 0, n * sizeof(double));
    for (size_t k = 0; k <= i; k++) {
        double factor = k < i ? whole[i * n + k] : 1.0;
        for (size_t j = k; j < n; j++) {
            product[j] += factor * whole[k * n + j];
        }
    }
}

/* Largest element of P A - L U in units of rounding errors of the largest of U. */
static double scaled_error(const struct lu *lu, const struct input *input,
                           const double *whole)
{
    size_t n = lu->n;
    double *product = world_array(lu->world, n, sizeof(double));
    double worst = 0;
    double largest = 0;

    for (size_t i = 0; i < n; i++) {
        multiply_row(whole, n, i, product);
        for (size_t j = 0; j < n; j++) {
            double error =
                fabs(product[j] - matrix_value(input, lu->permutation[i], j));
            /* In this form a value that is not a number is kept. */
            worst = error <= worst ? worst : error;
            largest = fmax(largest, fabs(whole[i * n + j]));
        }
    }
    free(product);
    return worst / (DBL_EPSILON * largest * (double)n);
}

static void verify(const struct lu *lu, const struct input *input, const double *whole,
                   struct frame_result *result)
{
    double error = scaled_error(lu, input, whole);
    double different = n_different(lu, input, whole);

    result->checksum = frame_checksum(0, whole, lu->n * lu->n);
    result->checks[result->n_checks++] = (struct check){
        .name = "product",
        .applies = true,
        .passed = error <= MAX_ERROR,
        .value = error,
        .rule = "P A - L U must be within 16 rounding errors of each term",
    };
    result->checks[result->n_checks++] = (struct check){
        .name = "serial",
        .applies = true,
        .passed = different == 0,
        .value = different,
        .rule = "all elements must have the bits of a decomposition by one process",
    };
}

static void run(struct world *world, const void *problem, struct frame_result *result)
{
    const struct input *input = problem;
    struct lu lu;
    double *whole;

    lu_init(&lu, world, (size_t)input->n, input->is_swap_counted != 0);
    fill(&lu, input);
    world_start(world);
    lu_decompose(&lu);
    world_stop(world);
    whole = collect(&lu);
    if (world->pid == 0) {
        verify(&lu, input, whole, result);
    }
    free(whole);
    lu_fini(&lu);
}

int main(int argc, char **argv)
{
    struct input input = {.n = 512, .seed = 1, .is_swap_counted = 1};
    const struct frame_option options[] = {
        {"--size", &input.n, 1, 8192, "rows and columns of the matrix"},
        {"--seed", &input.seed, 0, 1000000000, "which matrix"},
        {"--count-swaps", &input.is_swap_counted, 0, 1,
         "0: take the messages of swapped rows for unknown"},
    };
    const struct frame_program program = {
        .name = "lu",
        .summary = "Decompose a dense matrix on a grid of processes, P A = L U.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "dense matrix, dealt out to a grid",
        .input = &input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
