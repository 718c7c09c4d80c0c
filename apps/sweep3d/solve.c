/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source iteration. All ranks run it together; they agree on the end because each gets
 * the same largest change from MPI_Allreduce.
 */
#include "apps/sweep3d/solve.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

#include "apps/sweep3d/source.h"

static double change_of_cell(double flux, double old_flux)
{
    if (flux != 0) {
        return fabs((flux - old_flux) / flux);
    }
    return old_flux != 0 ? 1.0 : 0.0;
}

static double largest_change(const struct fields *fields)
{
    double largest = 0;

    for (size_t cell = 0; cell < fields->n_cells; cell++) {
        double change = change_of_cell(fields->flux[0][cell], fields->old_flux[cell]);
        largest = change > largest ? change : largest;
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

static void print_iteration(const struct input *input,
                            const struct decomposition *decomposition,
                            const struct solution *solution)
{
    if (input->iprint != 0 && decomposition->rank == 0) {
        printf("iteration %5d   change %.17g\n", solution->n_iterations,
               solution->change);
        fflush(stdout);
    }
}

void solve(const struct input *input, const struct decomposition *decomposition,
           struct sweep *sweep, struct fields *fields, struct solution *solution_out)
{
    struct solution solution = {.is_converged = input_is_fixed_count(input)};
    bool is_done = false;
    double start_s;

    MPI_Barrier(MPI_COMM_WORLD);
    start_s = MPI_Wtime();
    while (!is_done) {
        source_update(fields, decomposition, input);
        solution.n_fixed += sweep_run(sweep, fields);
        solution.change = largest_change(fields);
        solution.n_iterations++;
        print_iteration(input, decomposition, &solution);
        if (!input_is_fixed_count(input) && solution.change < input->epsi) {
            solution.is_converged = true;
            is_done = true;
        }
        is_done = is_done || solution.n_iterations == input_max_iterations(input);
    }
    solution.time_s = MPI_Wtime() - start_s;
    MPI_Allreduce(MPI_IN_PLACE, &solution.time_s, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    *solution_out = solution;
}
