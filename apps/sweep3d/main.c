/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep3d: a discrete-ordinates transport solver with the structure of SWEEP3D. This
 * file is the order of events: command line, input, process grid, memory, iteration,
 * report.
 *
 * Every rank runs it; see apps/common/program.h.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>

#include "apps/common/message.h"
#include "apps/common/program.h"
#include "apps/common/root_file.h"
#include "apps/sweep3d/checks.h"
#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/flux_file.h"
#include "apps/sweep3d/flux_plane.h"
#include "apps/sweep3d/input.h"
#include "apps/sweep3d/input_check.h"
#include "apps/sweep3d/options.h"
#include "apps/sweep3d/report.h"
#include "apps/sweep3d/solve.h"
#include "apps/sweep3d/sweep.h"
#include "apps/sweep3d/symmetry.h"
#include "apps/sweep3d/totals.h"

struct run {
    struct options options;
    struct input input;
    struct decomposition decomposition;
    struct fields fields;
    struct sweep *sweep;
    struct flux_plane *plane;
    struct root_file flux_file;
};

/* Rank 0 reads the file; all get its contents, or all get the error. */
static int read_input(struct run *run, char *message)
{
    int result = 0;

    if (program_is_root()) {
        result = input_read(run->options.input_path, &run->input, message);
        if (result == 0) {
            result = input_check(run->options.input_path, &run->input, message);
        }
    }
    return program_share_input(result, &run->input, sizeof(run->input));
}

static int allocate(struct run *run, char *message)
{
    int has_memory = fields_init(&run->fields, &run->decomposition, &run->input) == 0;

    if (has_memory) {
        run->sweep =
            sweep_create(&run->input, &run->decomposition, run->options.nonblocking);
        run->plane = flux_plane_create(&run->decomposition);
        has_memory = run->sweep != NULL && run->plane != NULL;
    }
    MPI_Allreduce(MPI_IN_PLACE, &has_memory, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!has_memory) {
        message_set(message,
                    "%s:%d: no memory for %d x %d x %d cells; allowed: less, or "
                    "more ranks on more machines",
                    run->options.input_path, run->input.line_at[2], run->input.it,
                    run->input.jt, run->input.kt);
        return -ENOMEM;
    }
    return 0;
}

static int set_up(void *arg, const char *input_path, char *message)
{
    struct run *run = arg;
    int result;

    run->options.input_path = input_path;
    result = read_input(run, message);
    if (result == 0) {
        result = decomposition_init(&run->decomposition, &run->input, &run->options,
                                    message);
    }
    if (result == 0) {
        run->flux_file =
            (struct root_file){.option = "--flux", .path = run->options.flux_path};
        result = root_file_open(&run->flux_file, message);
    }
    if (result == 0) {
        result = allocate(run, message);
    }
    return result;
}

static void report(const struct run *run, const struct solution *solution,
                   const struct totals *totals, const struct check *checks, bool passed)
{
    long n_fixed = 0;

    MPI_Reduce(&solution->n_fixed, &n_fixed, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (program_is_root()) {
        report_totals(solution, totals, n_fixed);
        report_times(&run->input, solution, sweep_n_steps(run->sweep));
        check_report("sweep3d", checks, N_CHECKS, passed);
    }
}

static int compute(void *arg, bool *passed_out, char *message)
{
    struct run *run = arg;
    struct check checks[N_CHECKS];
    struct solution solution;
    struct totals totals;
    double symmetry_error[3];

    if (program_is_root()) {
        report_problem(&run->input, &run->decomposition, run->options.nonblocking);
    }
    solve(&run->input, &run->decomposition, run->sweep, &run->fields, &solution);
    totals_collect(&totals, &run->input, &run->decomposition, &run->fields);
    symmetry_measure(symmetry_error, &run->input, &run->fields, run->plane);
    *passed_out = checks_run(checks, &run->input, &solution, &totals, symmetry_error);
    report(run, &solution, &totals, checks, *passed_out);
    if (run->flux_file.path != NULL) {
        flux_file_write(run->flux_file.stream, &run->input, &run->fields, run->plane);
    }
    return root_file_close(&run->flux_file, message);
}

static void tear_down(void *arg)
{
    struct run *run = arg;

    if (run->flux_file.stream != NULL) {
        fclose(run->flux_file.stream);
    }
    flux_plane_destroy(run->plane);
    sweep_destroy(run->sweep);
    fields_fini(&run->fields);
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
