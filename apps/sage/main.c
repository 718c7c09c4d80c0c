/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sage: an Euler solver on an adaptive mesh with the communication of SAGE. This file
 * is the order of events: command line, deck, mesh, cycles, report.
 *
 * Every rank runs it; see apps/common/program.h.
 */
#include <mpi.h>
#include <stdbool.h>

#include "apps/common/program.h"
#include "apps/common/root_file.h"
#include "apps/sage/cell_file.h"
#include "apps/sage/checks.h"
#include "apps/sage/input.h"
#include "apps/sage/input_check.h"
#include "apps/sage/options.h"
#include "apps/sage/report.h"
#include "apps/sage/simulation.h"
#include "apps/sage/solve.h"
#include "apps/sage/start.h"
#include "apps/sage/totals.h"

struct run {
    struct options options;
    struct input input;
    struct simulation simulation;
    struct root_file cell_file;
};

/* Rank 0 reads the deck; all get its contents, or all get the error. */
static int read_input(struct run *run, const char *path, char *message)
{
    int result = 0;

    if (program_is_root()) {
        result = input_read(path, run->options.settings, run->options.n_settings,
                            &run->input, message);
        if (result == 0) {
            result = input_check(path, &run->input, message);
        }
    }
    return program_share_input(result, &run->input, sizeof(run->input));
}

static int set_up(void *arg, const char *input_path, char *message)
{
    struct run *run = arg;
    int n_ranks;
    int result = read_input(run, input_path, message);

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (result == 0) {
        result = input_check_ranks(input_path, &run->input, n_ranks, message);
    }
    if (result == 0) {
        run->cell_file =
            (struct root_file){.option = "--cells", .path = run->options.cells_path};
        result = root_file_open(&run->cell_file, message);
    }
    if (result == 0) {
        simulation_start(&run->simulation, &run->input);
    }
    return result;
}

static void report(const struct run *run, const struct solution *solution,
                   const struct final_totals *totals, const struct check *checks,
                   bool passed)
{
    int mine = halo_distance(&run->simulation.halo, run->simulation.mesh.rank);
    int distance = 0;

    MPI_Reduce(&mine, &distance, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (program_is_root()) {
        report_result(&run->simulation, solution, totals, distance);
        check_report("sage", checks, N_CHECKS, passed);
    }
}

static int compute(void *arg, bool *passed_out, char *message)
{
    struct run *run = arg;
    struct check checks[N_CHECKS];
    struct solution solution;
    struct final_totals totals;

    if (program_is_root()) {
        report_problem(&run->simulation);
    }
    solve(&run->simulation, &solution);
    totals_collect_final(&totals, &run->simulation, solution.time);
    *passed_out = checks_run(checks, &run->simulation, &solution, &totals);
    report(run, &solution, &totals, checks, *passed_out);
    if (run->cell_file.path != NULL) {
        cell_file_write(run->cell_file.stream, &run->simulation);
    }
    return root_file_close(&run->cell_file, message);
}

static void tear_down(void *arg)
{
    struct run *run = arg;

    if (run->cell_file.stream != NULL) {
        fclose(run->cell_file.stream);
    }
    simulation_fini(&run->simulation);
}

int main(int argc, char **argv)
{
    struct run run = {0};
    const struct program program = {
        .line = options_line,
        .help = options_help,
        .options = &run.options,
        .run = &run,
        .set_up = set_up,
        .compute = compute,
        .tear_down = tear_down,
    };

    return program_main(&program, argc, argv);
}
