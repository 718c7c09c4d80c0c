/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats the report. Runs on rank 0. %.17g gives back the same double when it is read.
 */
#include "apps/sage/report.h"

#include <inttypes.h>
#include <stdio.h>

static void print_value(const char *name, double value)
{
    printf("%-24s %.17g\n", name, value);
}

static void print_count(const char *name, int64_t count)
{
    printf("%-24s %" PRId64 "\n", name, count);
}

void report_problem(const struct simulation *simulation)
{
    const struct input *input = simulation->input;

    printf("problem: %s, %d x %d x %d root cells of width %g, %d levels above them, "
           "gamma %g, conductivity %g\n",
           input->problem == PROBLEM_BLAST ? "blast" : "shock tube", input->cells[0],
           input->cells[1], input->cells[2], input->cell_width, input->max_level,
           input->gamma, input->conductivity);
    printf("run: %d ranks\n", simulation->mesh.n_ranks);
    fflush(stdout);
}

void report_cycle(const struct solution *solution, const struct units *units)
{
    const struct totals *totals = &solution->last;

    printf("cycle %5d   time %.9g   step %.4g   cells %" PRId64
           "   mass %.12g   energy %.12g   density %.6g\n",
           solution->n_cycles, solution->time, solution->time_step, totals->n_cells,
           wide_sum_value(&totals->conserved[MASS]) * units->size[MASS],
           wide_sum_value(&totals->conserved[ENERGY]) * units->size[ENERGY],
           totals->density_max);
    fflush(stdout);
}

static void report_mesh(const struct simulation *simulation,
                        const struct solution *solution,
                        const struct final_totals *totals)
{
    char name[40];

    print_count("cells", solution->last.n_cells);
    for (int level = 0; level <= simulation->input->max_level; level++) {
        snprintf(name, sizeof(name), "cells of level %d", level);
        print_count(name, totals->n_at_level[level]);
    }
    print_count("cells refined", solution->adapt.n_refined);
    print_count("families coarsened", solution->adapt.n_coarsened);
}

static void report_conserved(const struct simulation *simulation,
                             const struct solution *solution)
{
    static const char *const names[N_CONSERVED] = {"mass", "momentum x less walls",
                                                   "momentum y less walls",
                                                   "momentum z less walls", "energy"};

    for (int n = 0; n < N_CONSERVED; n++) {
        print_value(names[n], wide_sum_value(&solution->last.conserved[n]) *
                                  simulation->units.size[n]);
    }
}

void report_result(const struct simulation *simulation, const struct solution *solution,
                   const struct final_totals *totals, int distance)
{
    print_count("cycles", solution->n_cycles);
    print_value("time", solution->time);
    print_value("last time step", solution->time_step);
    report_mesh(simulation, solution, totals);
    report_conserved(simulation, solution);
    print_value("entropy gained", solution->last_entropy - solution->first_entropy);
    print_value("density min", totals->density_min);
    print_value("density max", solution->last.density_max);
    print_value("pressure min", totals->pressure_min);
    print_value("pressure max", solution->last.pressure_max);
    print_value("speed max", solution->last.speed_max);
    print_value("mach max", solution->last.mach_max);
    print_count("fallbacks", solution->n_fallbacks);
    print_count("conduction iterations", solution->n_cg_iterations);
    if (totals->density_error >= 0) {
        print_value("density error", totals->density_error);
    }
    printf("%-24s %016" PRIx64 "\n", "checksum", totals->checksum);
    printf("run: %d adaptations, %d times shared out again, largest share %" PRId64
           " cells, neighbours up to %d ranks away\n",
           solution->adapt.n_adaptations, solution->adapt.n_rebalances,
           solution->last.n_cells_most, distance);
    printf("time: solve %.6f s\n", solution->wall_s);
    printf("time: grind %.4f ns a cell and cycle\n",
           1e9 * solution->wall_s / (double)solution->n_cell_cycles);
    printf("time: cycle %.3f us\n", 1e6 * solution->wall_s / solution->n_cycles);
}
