/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel_triangle: the sparse triangular solve, of an incomplete factor or of a matrix
 * from a file, whose dependences are known at run time only. Prints what a solve takes
 * beside that of one process alone, and checks the solution. [Low Latency Messages,
 * section 4.1]
 */
#include "apps/channel/triangle.h"

#include <bcs/channel.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/bench/clock.h"
#include "apps/bench/median.h"
#include "apps/channel/agree.h"
#include "apps/channel/kind.h"
#include "apps/channel/number_option.h"
#include "apps/channel/system_input.h"
#include "apps/channel/way_option.h"
#include "apps/common/check.h"
#include "apps/common/message.h"
#include "apps/common/program.h"

enum { REPEATS_USUAL = 15, REPEATS_MOST = 1000, QUIET_US = 500 };

static const char help[] =
    "Usage: mpirun -n N channel_triangle [OPTION]...\n"
    "Solve a sparse lower triangular system, the rows dealt out to all processes.\n"
    "\n"
    "  --by WAY        how a value gets to who needs it (channels):\n"
    "                  mpi       MPI_Isend and MPI_Recv, one in a message\n"
    "                  channels  open channels\n"
    "                  levels    level by level, MPI_Isend and MPI_Irecv of many\n"
    "                  fetch     fetches on condition, from who has it\n"
    "                  all       one after the other\n"
    "  --grid POINTS   the matrix of Poisson's equation on a grid, NXxNY or NXxNYxNZ\n"
    "                  (200x200)\n"
    "  --matrix FILE   a square matrix from a Matrix Market file, instead of the "
    "grid's\n"
    "  --factor WHAT   ilu: solve the lower one of its incomplete factors, ILU(0)\n"
    "                  (default); lower: its own lower triangle\n"
    "  --block N       rows that are dealt out at once (1)\n"
    "  --repeats N     solves of which the median is printed (15)\n"
    "  --help          print this text\n"
    "\n"
    "Exit status: 0 the solutions are right, 1 one is not, 2 wrong command line or\n"
    "file, or no memory.\n";

#define ALLOWED                                                                        \
    "--by WAY, --grid POINTS, --matrix FILE, --factor WHAT, --block N, --repeats N"
#define WAYS "mpi, channels, levels, fetch or all"

struct way {
    const char *name;
    bool has_channels;
    int (*begin)(struct triangle *triangle);
    int (*solve)(struct triangle *triangle);
    int (*end)(struct triangle *triangle);
};

static const struct way ways[] = {
    {"mpi", false, triangle_begin_messages, triangle_solve_messages,
     triangle_end_messages},
    {"channels", true, triangle_begin_channels, triangle_solve_channels,
     triangle_end_channels},
    {"levels", false, triangle_begin_levels, triangle_solve_levels,
     triangle_end_levels},
    {"fetch", true, triangle_begin_fetches, triangle_solve_fetches,
     triangle_end_fetches},
};

enum { N_WAYS = sizeof(ways) / sizeof(ways[0]), WAY_USUAL = 1 };

static const struct way_names way_names = {
    .first = &ways[0].name,
    .row_bytes = sizeof(ways[0]),
    .n = N_WAYS,
    .allowed = WAYS,
};

struct options {
    struct way_choice by;
    struct system_input input;
    long block, repeats;
};

struct run {
    const struct options *options;
    struct sparse lower; /* of rank 0; the system, and its serial solution */
    double *rhs, *y;
    double serial_ms;
    struct share share;
    struct kind kind;
    bool has_channels; /* they are to be finalized */
};

enum option_id {
    OPTION_BY = COMMAND_LINE_HELP + 1,
    OPTION_GRID,
    OPTION_MATRIX,
    OPTION_FACTOR,
    OPTION_BLOCK,
    OPTION_REPEATS,
};

static const struct option known[] = {
    {"by", required_argument, NULL, OPTION_BY},
    {"grid", required_argument, NULL, OPTION_GRID},
    {"matrix", required_argument, NULL, OPTION_MATRIX},
    {"factor", required_argument, NULL, OPTION_FACTOR},
    {"block", required_argument, NULL, OPTION_BLOCK},
    {"repeats", required_argument, NULL, OPTION_REPEATS},
    {"help", no_argument, NULL, COMMAND_LINE_HELP},
    {NULL, 0, NULL, 0},
};

static int take_factor(const char *what, struct options *options, char *message)
{
    if (strcmp(what, "ilu") != 0 && strcmp(what, "lower") != 0) {
        message_set(message, "--factor is '%s'; allowed: ilu or lower", what);
        return -EINVAL;
    }
    options->input.is_triangle = strcmp(what, "lower") == 0;
    return 0;
}

static int take(int id, void *options_out, char *message)
{
    struct options *options = options_out;

    switch (id) {
    case OPTION_BY:
        return way_option_take(optarg, &way_names, &options->by, message);
    case OPTION_GRID:
        return system_input_take_grid(optarg, options->input.points, message);
    case OPTION_MATRIX:
        options->input.path = optarg;
        return 0;
    case OPTION_FACTOR:
        return take_factor(optarg, options, message);
    case OPTION_BLOCK:
        return number_option_take("--block", optarg, 1, SPARSE_ROWS_MOST,
                                  &options->block, message);
    default:
        return number_option_take("--repeats", optarg, 1, REPEATS_MOST,
                                  &options->repeats, message);
    }
}

/** Wait until all are here, asleep: who is still at work shall have a core. */
static void meet_quietly(void)
{
    MPI_Request request;
    int is_done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), !is_done) {
        usleep(QUIET_US);
    }
}

/** Rank 0: solve by one process. @return 0 or -ENOMEM */
static int solve_alone(struct run *run, char *message)
{
    double times[REPEATS_MOST];
    size_t n = (size_t)run->options->repeats;

    run->y = agree_array(run->lower.n_rows, sizeof(*run->y));
    if (run->y == NULL) {
        message_set(message, "out of memory for the serial solution");
        return -ENOMEM;
    }
    for (size_t i = 0; i < n + 1; i++) {
        double start = bench_now_seconds();

        sparse_solve(&run->lower, run->rhs, run->y);
        times[i == 0 ? 0 : i - 1] = 1e3 * (bench_now_seconds() - start);
    }
    run->serial_ms = median_of(times, (int)n);
    return 0;
}

static int set_up(void *state, const char *input_path, char *message)
{
    struct run *run = state;
    const struct options *options = run->options;
    int result = 0;

    (void)input_path;
    if (program_is_root()) {
        result = system_input_make(&options->input, &run->lower, &run->rhs, message);
        result = result == 0 ? solve_alone(run, message) : result;
    }
    meet_quietly();
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (result != 0) {
        return result;
    }
    result = share_deal(&run->lower, run->rhs, (size_t)options->block, &run->share);
    if (result != 0) {
        message_set(message, "out of memory for the rows");
        return result;
    }
    kind_init(&run->kind, run->share.rank, run->share.size);
    for (int i = 0; i < options->by.n; i++) {
        run->has_channels |= ways[options->by.first + i].has_channels;
    }
    if (run->has_channels && bcs_channels_init() < 0) {
        MPI_Abort(MPI_COMM_WORLD, PROGRAM_UNUSABLE); /* it has told why */
    }
    return 0;
}

/** Milliseconds from when the first process began until the last one has ended.
 *  Collective. */
static double span(double start, double end)
{
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return 1e3 * (end - start);
}

static void go_on(const struct run *run, int result)
{
    if (result != 0) {
        fprintf(stderr, "channel_triangle: process %d cannot go on\n", run->share.rank);
        MPI_Abort(MPI_COMM_WORLD, PROGRAM_UNUSABLE);
    }
}

/** One solve. @return milliseconds */
static double solve(const struct run *run, const struct way *way,
                    struct triangle *triangle)
{
    double start, end;

    share_clear(&run->share);
    if (triangle->needs.known != NULL) {
        needs_clear(&triangle->needs, &run->share);
    }
    if (triangle->words != NULL) {
        memset(triangle->words, 0, triangle->n_words * sizeof(*triangle->words));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now_seconds();
    go_on(run, way->solve(triangle));
    end = bench_now_seconds();
    return span(start, end);
}

/** Solve again and again. @return as share_is_right */
static int solve_all(struct run *run, const struct way *way, struct triangle *triangle,
                     double *median_out)
{
    double times[REPEATS_MOST];
    size_t n = (size_t)run->options->repeats;
    int is_right = 1;

    /* The first one finds pages that nobody has touched. */
    for (size_t i = 0; i < n + 1 && is_right == 1; i++) {
        times[i == 0 ? 0 : i - 1] = solve(run, way, triangle);
        kind_look(&run->kind);
        is_right = share_is_right(&run->share, run->y);
    }
    *median_out = median_of(times, (int)n);
    return is_right;
}

/** Solve by one way, and print what it took. @return 1: right; 0: wrong; or -errno and
 *  a message; the same on all ranks */
static int run_way(struct run *run, const struct way *way, char *message)
{
    struct triangle triangle = {.share = &run->share, .message = message};
    double start, set_up_ms, solve_ms = 0;
    int result;

    message_set(message, "out of memory");
    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now_seconds();
    result = way->begin(&triangle);
    set_up_ms = span(start, bench_now_seconds());
    if (result == 0) {
        result = solve_all(run, way, &triangle, &solve_ms);
    }
    go_on(run, way->end(&triangle));
    if (result == 1 && run->share.rank == 0) {
        printf("run: %d processes, by %s, %ld solves\n", run->share.size, way->name,
               run->options->repeats);
        printf("time: set-up %.4f ms\n", set_up_ms);
        printf("time: solve %.4f ms\n", solve_ms);
    }
    kind_print(&run->kind);
    return result;
}

static void report_system(const struct run *run)
{
    const struct system_input *input = &run->options->input;

    printf("triangle: %s of ", input->is_triangle ? "lower triangle" : "ILU(0)");
    if (input->path != NULL) {
        printf("%s\n", input->path);
    } else {
        printf("a grid of %ldx%ldx%ld\n", input->points[0], input->points[1],
               input->points[2]);
    }
    printf("rows %zu\nentries %zu\nlevels %u\n", run->lower.n_rows,
           run->lower.starts[run->lower.n_rows], run->share.n_levels);
    printf("run: blocks of %ld rows\n", run->options->block);
    printf("time: serial %.4f ms\n", run->serial_ms);
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

    if (run->share.rank == 0) {
        report_system(run);
    }
    for (int i = 0; i < options->by.n && check.passed; i++) {
        int result = run_way(run, &ways[options->by.first + i], message);

        if (result < 0) {
            return result;
        }
        check.passed = result == 1;
    }
    if (run->share.rank == 0) {
        check_report("channel_triangle", &check, 1, check.passed);
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
    share_fini(&run->share);
    sparse_fini(&run->lower);
    free(run->rhs);
    free(run->y);
}

int main(int argc, char **argv)
{
    struct options options = {
        .by = {.first = WAY_USUAL, .n = 1},
        .input = {.points = {200, 200, 1}},
        .block = 1,
        .repeats = REPEATS_USUAL,
    };
    struct run run = {.options = &options};
    const struct program program = {
        .line =
            {
                .program = "channel_triangle",
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
