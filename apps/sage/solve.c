/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cycle: time step, hydrodynamics, conduction, totals, and now and then adaptation.
 * Rank 0 decides how the cycle goes and broadcasts that. All ranks run it together.
 */
#include "apps/sage/solve.h"

#include <mpi.h>
#include <stdio.h>

#include "apps/sage/conduction.h"
#include "apps/sage/hydro.h"
#include "apps/sage/report.h"

/* A step may be so much longer than the one before. */
#define MAX_GROWTH 1.25

struct control {
    double time_step;
    int is_last;
    int has_adaptation;
    int has_line;
};

static struct control decide(const struct input *input, const struct solution *solution,
                             double rate)
{
    struct control control = {.time_step = input->cfl / rate};
    int cycle = solution->n_cycles + 1;

    if (solution->n_cycles > 0 &&
        control.time_step > MAX_GROWTH * solution->time_step) {
        control.time_step = MAX_GROWTH * solution->time_step;
    }
    if (input->end_time > 0 && solution->time + control.time_step >= input->end_time) {
        control.time_step = input->end_time - solution->time;
        control.is_last = 1;
    }
    if (cycle == input->cycles) {
        control.is_last = 1;
    }
    control.has_adaptation =
        input->adapt_every > 0 && cycle % input->adapt_every == 0 && !control.is_last;
    control.has_line = input->print_every > 0 && cycle % input->print_every == 0;
    return control;
}

static struct control next_control(const struct simulation *simulation,
                                   const struct solution *solution)
{
    double rate = hydro_rate(simulation);
    struct control control = {0};

    if (simulation->mesh.rank == 0) {
        control = decide(simulation->input, solution, rate);
    }
    MPI_Bcast(&control, sizeof(control), MPI_BYTE, 0, MPI_COMM_WORLD);
    return control;
}

static void run_cycle(struct simulation *simulation, const struct control *control,
                      struct solution *solution)
{
    solution->n_cycles++;
    solution->n_cell_cycles += solution->last.n_cells;
    solution->time += control->time_step;
    solution->time_step = control->time_step;
    solution->is_valid =
        hydro_advance(simulation, control->time_step, &solution->n_fallbacks);
    if (!solution->is_valid) {
        return;
    }
    if (simulation->input->conductivity > 0) {
        simulation_update_primitive(simulation);
        solution->is_converged = conduction_advance(simulation, control->time_step,
                                                    &solution->n_cg_iterations) &&
                                 solution->is_converged;
    }
    simulation_share_primitive(simulation);
    solution->is_valid = hydro_is_valid(simulation);
    totals_collect(&solution->last, simulation);
    if (control->has_line && simulation->mesh.rank == 0) {
        report_cycle(solution, &simulation->units);
    }
    if (control->has_adaptation && solution->is_valid) {
        adapt_mesh(simulation, &solution->adapt);
    }
}

void solve(struct simulation *simulation, struct solution *solution_out)
{
    struct solution solution = {.is_valid = true, .is_converged = true};
    struct control control = {0};
    double start_s;

    totals_collect(&solution.first, simulation);
    solution.last = solution.first;
    solution.first_entropy = totals_entropy(simulation);
    MPI_Barrier(MPI_COMM_WORLD);
    start_s = MPI_Wtime();
    while (!control.is_last && solution.is_valid) {
        control = next_control(simulation, &solution);
        run_cycle(simulation, &control, &solution);
    }
    solution.wall_s = MPI_Wtime() - start_s;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &solution.wall_s, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &solution.n_fallbacks, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    solution.last_entropy = totals_entropy(simulation);
    *solution_out = solution;
}
