/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats the report. Runs on rank 0. %.17g gives back the same double when it is read.
 */
#include "apps/sweep3d/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "apps/sweep3d/quadrature.h"

static const char *const face_names[N_FACES] = {
    [FACE_WEST] = "west (low i)",     [FACE_EAST] = "east (high i)",
    [FACE_SOUTH] = "south (low j)",   [FACE_NORTH] = "north (high j)",
    [FACE_BOTTOM] = "bottom (low k)", [FACE_TOP] = "top (high k)",
};

void report_problem(const struct input *input,
                    const struct decomposition *decomposition, bool is_nonblocking)
{
    printf("problem: %d x %d x %d cells, S%d (%d angles an octant), P%d scattering, "
           "fixup %s\n",
           input->it, input->jt, input->kt, quadrature_order(input->mm), input->mm,
           input->isct, input->ifixups != 0 ? "on" : "off");
    printf("run: %d ranks as %d x %d, blocks of %d planes and %d angles, %s\n",
           decomposition->n_ranks, decomposition->i.n_processes,
           decomposition->j.n_processes, input->mk, input->mmi,
           is_nonblocking ? "non-blocking" : "blocking");
    fflush(stdout);
}

static void print_value(const char *name, double value)
{
    printf("%-24s %.17g\n", name, value);
}

void report_totals(const struct solution *solution, const struct totals *totals,
                   long n_fixed)
{
    char name[40];

    printf("%-24s %d\n", "iterations", solution->n_iterations);
    print_value("last change", solution->change);
    printf("%-24s %ld\n", "fixups", n_fixed);
    printf("%-24s %016" PRIx64 "\n", "flux hash", totals->flux_hash);
    print_value("flux integral", totals->flux_integral);
    print_value("flux min", totals->flux_min);
    print_value("flux max", totals->flux_max);
    print_value("flux centre", totals->flux_centre);
    print_value("source", totals->source);
    print_value("absorption", totals->absorbed);
    for (int face = 0; face < N_FACES; face++) {
        snprintf(name, sizeof(name), "leakage %s", face_names[face]);
        print_value(name, totals->leakage[face]);
    }
    print_value("leakage all", totals->leakage_all);
    print_value("steady-state error", totals->steady_state);
    print_value("balance error", totals->balance);
}

void report_times(const struct input *input, const struct solution *solution,
                  int n_steps)
{
    double n_iterations = solution->n_iterations;
    double n_unknowns = 8.0 * input->mm * input->it * input->jt * input->kt;

    printf("time: solve %.6f s\n", solution->time_s);
    printf("time: grind %.4f ns a cell, angle and iteration\n",
           1e9 * solution->time_s / n_iterations / n_unknowns);
    printf("time: step  %.3f us, %d steps an iteration\n",
           1e6 * solution->time_s / n_iterations / n_steps, n_steps);
}
