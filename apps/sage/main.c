/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sage: an Euler solver on an adaptive mesh with the communication of SAGE. This file
 * is the order of events: command line, deck, mesh, cycles, report.
 *
 * Every rank runs it. Whatever is wrong with the command line, the deck or the file of
 * cells is agreed upon by all ranks and said once, by rank 0, and all leave through
 * MPI_Finalize with the same exit status. Output is flushed before that: a launcher may
 * end the job as soon as one rank has left with a non-zero status.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/message.h"
#include "apps/sage/cell_file.h"
#include "apps/sage/checks.h"
#include "apps/sage/input.h"
#include "apps/sage/input_check.h"
#include "apps/sage/options.h"
#include "apps/sage/report.h"
#include "apps/sage/simulation.h"
#include "apps/sage/solve.h"
#include "apps/sage/totals.h"

#define EXIT_CHECK_FAILED 1
#define EXIT_UNUSABLE 2

struct run {
    struct options options;
    struct input input;
    struct simulation simulation;
    /* Open on rank 0 if --cells is given. */
    FILE *cell_file;
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
        fprintf(stderr, "sage: %s\n", message);
    }
}

/* Rank 0 reads the deck; all get its contents, or all get the error. */
static int read_input(struct run *run, char *message)
{
    int result = 0;

    if (is_root()) {
        result = input_read(run->options.input_path, run->options.settings,
                            run->options.n_settings, &run->input, message);
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (result == 0) {
        MPI_Bcast(&run->input, sizeof(run->input), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return result;
}

/* The file is opened before the cycles, so that a wrong name costs no time. */
static int open_cell_file(struct run *run, char *message)
{
    int result = 0;

    if (run->options.cells_path == NULL) {
        return 0;
    }
    if (is_root()) {
        run->cell_file = fopen(run->options.cells_path, "w");
        if (run->cell_file == NULL) {
            result = -errno;
            message_set(message, "--cells %s: %s", run->options.cells_path,
                        strerror(-result));
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

static int set_up(struct run *run, char *message)
{
    int n_ranks;
    int result = read_input(run, message);

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (result == 0) {
        result =
            input_check_ranks(run->options.input_path, &run->input, n_ranks, message);
    }
    if (result == 0) {
        result = open_cell_file(run, message);
    }
    if (result == 0) {
        simulation_init(&run->simulation, &run->input);
    }
    return result;
}

static int write_cells(struct run *run, char *message)
{
    int result = 0;

    if (run->options.cells_path == NULL) {
        return 0;
    }
    cell_file_write(run->cell_file, &run->simulation);
    if (is_root()) {
        bool is_broken = ferror(run->cell_file) != 0;
        is_broken = fclose(run->cell_file) != 0 || is_broken;
        run->cell_file = NULL;
        if (is_broken) {
            result = -EIO;
            message_set(message, "--cells %s: the file could not be written in full",
                        run->options.cells_path);
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

static void report(const struct run *run, const struct solution *solution,
                   const struct final_totals *totals, const struct check *checks,
                   bool passed)
{
    int mine = halo_distance(&run->simulation.halo, run->simulation.mesh.rank);
    int distance = 0;

    MPI_Reduce(&mine, &distance, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (is_root()) {
        report_result(&run->simulation, solution, totals, distance);
        check_report("sage", checks, N_CHECKS, passed);
    }
}

static int solve_and_report(struct run *run, char *message)
{
    struct check checks[N_CHECKS];
    struct solution solution;
    struct final_totals totals;
    bool passed;

    if (is_root()) {
        report_problem(&run->simulation);
    }
    solve(&run->simulation, &solution);
    totals_collect_final(&totals, &run->simulation, solution.time);
    passed = checks_run(checks, &run->simulation, &solution, &totals);
    report(run, &solution, &totals, checks, passed);
    if (write_cells(run, message) != 0) {
        say_error(message);
        return EXIT_UNUSABLE;
    }
    return passed ? EXIT_SUCCESS : EXIT_CHECK_FAILED;
}

static void tear_down(struct run *run)
{
    if (run->cell_file != NULL) {
        fclose(run->cell_file);
    }
    simulation_fini(&run->simulation);
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
