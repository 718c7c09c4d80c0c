/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel_pipeline: the pipelined solve of a banded lower triangular system, by one of
 * the ways of the paper; prints the time of an iteration, of which how much is
 * computation, and checks the solution. [Low Latency Messages, section 4]
 *
 * A time is "the time for the last processor to complete divided by the number of
 * iterations". Computation is what an iteration takes the last process where all
 * products are at hand; communication is the rest.
 */
#include "apps/channel/pipeline.h"

#include <bcs/channel.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/clock.h"
#include "apps/bench/median.h"
#include "apps/channel/agree.h"
#include "apps/channel/kind.h"
#include "apps/channel/number_option.h"
#include "apps/channel/way_option.h"
#include "apps/common/check.h"
#include "apps/common/message.h"
#include "apps/common/program.h"

enum { LENGTH_USUAL = 2048, LENGTH_MOST = 1 << 20, REPEATS_USUAL = 15 };
enum { REPEATS_MOST = 1000, BATCHES = 50 };

static const char help[] =
    "Usage: mpirun -n N channel_pipeline [OPTION]...\n"
    "Solve a banded lower triangular system by a pipeline of all processes.\n"
    "\n"
    "  --by WAY      how a number gets from one process to the next (open):\n"
    "                mpi       MPI_Send and MPI_Recv\n"
    "                reopened  a channel that is opened for each\n"
    "                open      a channel that stays open\n"
    "                handlers  a request, answered by a handler\n"
    "                fetch     a fetch on condition, which nobody answers\n"
    "                all       one after the other\n"
    "  --length N    numbers that a process computes (2048)\n"
    "  --repeats N   solves of which the median is printed (15)\n"
    "  --help        print this text\n"
    "\n"
    "Exit status: 0 the solutions are right, 1 one is not, 2 wrong command line or\n"
    "number of processes, or no memory.\n";

#define ALLOWED "--by WAY, --length N, --repeats N"
#define WAYS "mpi, reopened, open, handlers, fetch or all"

struct way {
    const char *name;
    bool has_channels;
    int (*solve)(const struct banded *banded);
};

static const struct way ways[] = {
    {"mpi", false, pipeline_by_messages},
    {"reopened", true, pipeline_by_reopening},
    {"open", true, pipeline_by_open_channels},
    {"handlers", true, pipeline_by_handlers},
    {"fetch", true, pipeline_by_fetches},
};

enum { N_WAYS = sizeof(ways) / sizeof(ways[0]), WAY_USUAL = 2 };

static const struct way_names way_names = {
    .first = &ways[0].name,
    .row_bytes = sizeof(ways[0]),
    .n = N_WAYS,
    .allowed = WAYS,
};

struct options {
    struct way_choice by;
    long length, repeats;
};

struct run {
    const struct options *options;
    struct banded banded;
    struct kind kind;
    bool has_channels; /* they are to be finalized */
};

enum option_id { OPTION_BY = COMMAND_LINE_HELP + 1, OPTION_LENGTH, OPTION_REPEATS };

static const struct option known[] = {
    {"by", required_argument, NULL, OPTION_BY},
    {"length", required_argument, NULL, OPTION_LENGTH},
    {"repeats", required_argument, NULL, OPTION_REPEATS},
    {"help", no_argument, NULL, COMMAND_LINE_HELP},
    {NULL, 0, NULL, 0},
};

static int take(int id, void *options_out, char *message)
{
    struct options *options = options_out;

    switch (id) {
    case OPTION_BY:
        return way_option_take(optarg, &way_names, &options->by, message);
    case OPTION_LENGTH:
        return number_option_take("--length", optarg, 1, LENGTH_MOST, &options->length,
                                  message);
    default:
        return number_option_take("--repeats", optarg, 1, REPEATS_MOST,
                                  &options->repeats, message);
    }
}

static int set_up(void *state, const char *input_path, char *message)
{
    struct run *run = state;
    int rank, size, result;

    (void)input_path;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2 || run->options->length % size != 0) {
        message_set(message,
                    "%d processes and --length %ld; allowed: 2 or more, of "
                    "which the length is a multiple",
                    size, run->options->length);
        return -EINVAL;
    }
    result = agree_least(
        banded_init(&run->banded, rank, size, (size_t)run->options->length));
    if (result != 0) {
        message_set(message, "out of memory");
        return result;
    }
    kind_init(&run->kind, rank, size);
    for (int i = 0; i < run->options->by.n; i++) {
        run->has_channels |= ways[run->options->by.first + i].has_channels;
    }
    if (run->has_channels && bcs_channels_init() < 0) {
        MPI_Abort(MPI_COMM_WORLD, PROGRAM_UNUSABLE); /* it has told why */
    }
    return 0;
}

/** One solve. @return microseconds of an iteration, from when the last process began
 *  until the last one has ended */
static double solve(const struct banded *banded, const struct way *way)
{
    double start, end;

    banded_clear(banded);
    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now_seconds();
    if (way->solve(banded) != 0) {
        fprintf(stderr, "channel_pipeline: process %d cannot go on\n", banded->rank);
        MPI_Abort(MPI_COMM_WORLD, PROGRAM_UNUSABLE);
    }
    end = bench_now_seconds();
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return 1e6 * (end - start) / (double)banded->n_steps;
}

/** Microseconds of an iteration of this process with all products at hand: the quickest
 *  of some passes, as others may want the core. */
static double compute(const struct banded *banded)
{
    double least = 0;

    for (int batch = 0; batch < BATCHES; batch++) {
        struct banded_place place = {0};
        double start = bench_now_seconds();
        double product = 0, seconds;

        for (size_t step = 0; step < banded->n_steps; step++) {
            product = banded_step(banded, &place, step,
                                  banded_has_left(banded, step) ? product : 0);
        }
        seconds = bench_now_seconds() - start;
        least = batch == 0 || seconds < least ? seconds : least;
    }
    return 1e6 * least / (double)banded->n_steps;
}

/** Solve by one way, and print what it took. @return whether the solutions are right,
 *  or -ENOMEM; the same on all ranks */
static int run_way(struct run *run, const struct way *way)
{
    const struct banded *banded = &run->banded;
    double times[REPEATS_MOST], computation, iteration;
    size_t n = (size_t)run->options->repeats;
    int is_right = 1;

    /* The first one finds pages that nobody has touched. */
    for (size_t i = 0; i < n + 1 && is_right == 1; i++) {
        times[i == 0 ? 0 : i - 1] = solve(banded, way);
        kind_look(&run->kind);
        is_right = banded_is_right(banded);
    }
    computation = compute(banded);
    MPI_Bcast(&computation, 1, MPI_DOUBLE, banded->size - 1, MPI_COMM_WORLD);
    if (banded->rank == 0 && is_right == 1) {
        iteration = median_of(times, (int)n);
        printf("run: %d processes, by %s, %zu solves\n", banded->size, way->name, n);
        printf("time: iteration %.4f us\n", iteration);
        printf("time: computation %.4f us\n", computation);
        printf("time: communication %.4f us\n", iteration - computation);
    }
    kind_print(&run->kind);
    return is_right;
}

static int run_all(void *state, bool *passed_out, char *message)
{
    struct run *run = state;
    const struct options *options = run->options;
    struct check check = {
        .name = "solution",
        .applies = true,
        .passed = true,
        .rule = "all bits must be those of the serial solution",
    };

    for (int i = 0; i < options->by.n && check.passed; i++) {
        int result = run_way(run, &ways[options->by.first + i]);

        if (result < 0) {
            message_set(message, "out of memory for the serial solution");
            return result;
        }
        check.passed = result == 1;
    }
    if (run->banded.rank == 0) {
        printf("pipeline: %d lines of %ld points\n", run->banded.size, options->length);
        check_report("channel_pipeline", &check, 1, check.passed);
    }
    *passed_out = check.passed;
    return 0;
}

static void tear_down(void *state)
{
    struct run *run = state;

    if (run->has_channels) {
        bcs_channels_finalize();
    }
    kind_fini(&run->kind);
    banded_fini(&run->banded);
}

int main(int argc, char **argv)
{
    struct options options = {
        .by = {.first = WAY_USUAL, .n = 1},
        .length = LENGTH_USUAL,
        .repeats = REPEATS_USUAL,
    };
    struct run run = {.options = &options};
    const struct program program = {
        .line =
            {
                .program = "channel_pipeline",
                .allowed = ALLOWED,
                .options = known,
                .take = take,
            },
        .help = help,
        .options = &options,
        .run = &run,
        .set_up = set_up,
        .compute = run_all,
        .tear_down = tear_down,
    };

    return program_main(&program, argc, argv);
}
