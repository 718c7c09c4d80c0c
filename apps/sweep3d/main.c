/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep3d: a discrete-ordinates transport solver with the structure of SWEEP3D. This
 * file is the order of events: command line, input, process grid, memory, iteration,
 * report.
 *
 * Every rank runs it. Whatever goes wrong is agreed upon by all ranks and said once, by
 * rank 0, and all leave through MPI_Finalize with the same exit status. Output is
 * flushed before that: a launcher may end the job as soon as one rank has left with a
 * non-zero status.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/message.h"
#include "apps/sweep3d/checks.h"
#include "apps/sweep3d/decomposition.h"
#include "apps/sweep3d/fields.h"
#include "apps/sweep3d/flux_file.h"
#include "apps/sweep3d/flux_plane.h"
#include "apps/sweep3d/input.h"
#include "apps/sweep3d/options.h"
#include "apps/sweep3d/report.h"
#include "apps/sweep3d/solve.h"
#include "apps/sweep3d/sweep.h"
#include "apps/sweep3d/symmetry.h"
#include "apps/sweep3d/totals.h"

#define EXIT_CHECK_FAILED 1
#define EXIT_UNUSABLE 2

struct run {
    struct options options;
    struct input input;
    struct decomposition decomposition;
    struct fields fields;
    struct sweep *sweep;
    struct flux_plane *plane;
    /* Open on rank 0 if --flux is given. */
    FILE *flux_file;
};

static bool is_root(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

static void say_error(const char *message)
{
    if (is_root()) {
        fprintf(stderr, "sweep3d: %s\n", message);
    }
}

/* Rank 0 reads the file; all get its contents, or all get the error. */
static int read_input(struct run *run, char *message)
{
    int result = 0;

    if (is_root()) {
        result = input_read(run->options.input_path, &run->input, message);
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (result == 0) {
        MPI_Bcast(&run->input, sizeof(run->input), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return result;
}

/* The file is opened before the iteration, so that a wrong name costs no time. */
static int open_flux_file(struct run *run, char *message)
{
    int result = 0;

    if (run->options.flux_path == NULL) {
        return 0;
    }
    if (is_root()) {
        run->flux_file = fopen(run->options.flux_path, "w");
        if (run->flux_file == NULL) {
            result = -errno;
            message_set(message, "--flux %s: %s", run->options.flux_path,
                        strerror(-result));
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
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

static int set_up(struct run *run, char *message)
{
    int result = read_input(run, message);

    if (result == 0) {
        result = decomposition_init(&run->decomposition, &run->input, &run->options,
                                    message);
    }
    if (result == 0) {
        result = open_flux_file(run, message);
    }
    if (result == 0) {
        result = allocate(run, message);
    }
    return result;
}

static int write_flux(struct run *run, char *message)
{
    int result = 0;

    if (run->options.flux_path == NULL) {
        return 0;
    }
    flux_file_write(run->flux_file, &run->input, &run->fields, run->plane);
    if (is_root()) {
        bool is_broken = ferror(run->flux_file) != 0;
        is_broken = fclose(run->flux_file) != 0 || is_broken;
        run->flux_file = NULL;
        if (is_broken) {
            result = -EIO;
            message_set(message, "--flux %s: the file could not be written in full",
                        run->options.flux_path);
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

static void report(const struct run *run, const struct solution *solution,
                   const struct totals *totals, const struct check *checks, bool passed)
{
    long n_fixed = 0;

    MPI_Reduce(&solution->n_fixed, &n_fixed, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (is_root()) {
        report_totals(solution, totals, n_fixed);
        report_times(&run->input, solution, sweep_n_steps(run->sweep));
        check_report("sweep3d", checks, N_CHECKS, passed);
    }
}

static int solve_and_report(struct run *run, char *message)
{
    struct check checks[N_CHECKS];
    struct solution solution;
    struct totals totals;
    double symmetry_error[3];
    bool passed;

    if (is_root()) {
        report_problem(&run->input, &run->decomposition, run->options.nonblocking);
    }
    solve(&run->input, &run->decomposition, run->sweep, &run->fields, &solution);
    totals_collect(&totals, &run->input, &run->decomposition, &run->fields);
    symmetry_measure(symmetry_error, &run->input, &run->fields, run->plane);
    passed = checks_run(checks, &run->input, &solution, &totals, symmetry_error);
    report(run, &solution, &totals, checks, passed);
    if (write_flux(run, message) != 0) {
        say_error(message);
        return EXIT_UNUSABLE;
    }
    return passed ? EXIT_SUCCESS : EXIT_CHECK_FAILED;
}

static void tear_down(struct run *run)
{
    if (run->flux_file != NULL) {
        fclose(run->flux_file);
    }
    flux_plane_destroy(run->plane);
    sweep_destroy(run->sweep);
    fields_fini(&run->fields);
}

static int run_program(int argc, char **argv)
{
    struct run run = {0};
    char message[MESSAGE_BYTES] = "";
    int status = EXIT_UNUSABLE;

    if (options_parse(argc, argv, &run.options, message) != 0) {
        say_error(message);
    } else if (run.options.help) {
        if (is_root()) {
            fputs(options_help, stdout);
        }
        status = EXIT_SUCCESS;
    } else if (set_up(&run, message) != 0) {
        say_error(message);
    } else {
        status = solve_and_report(&run, message);
    }
    tear_down(&run);
    return status;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    status = run_program(argc, argv);
    fflush(stdout);
    MPI_Finalize();
    return status;
}
