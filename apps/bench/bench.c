/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of every benchmark program: it reads the options, walks over the lengths,
 * has each one verified and then timed in batches, and prints medians. Called by the
 * main() of the programs; runs on every rank. A plain MPI program: nothing in here
 * knows what carries out its MPI calls.
 */
#include "apps/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/line_trips.h"
#include "apps/bench/median.h"

#define OPTIONS_HELP 1
#define MAX_BYTES (1L << 30)
#define MAX_ITERATIONS 10000000L
#define PATTERN_PERIOD 251
#define MAX_BODIES 2 /* that batches_run() takes turns with */

enum option_kind { OPTION_INTEGER, OPTION_REAL };

struct option {
    const char *name;
    unsigned group;
    enum option_kind kind;
    size_t offset;
    long least;
    long most;
    const char *help;
};

static const struct option options[] = {
    {"--min", BENCH_OPTION_LENGTHS, OPTION_INTEGER, offsetof(struct bench, n_bytes_min),
     0, MAX_BYTES, "shortest message in bytes; K, M and G are understood"},
    {"--max", BENCH_OPTION_LENGTHS, OPTION_INTEGER, offsetof(struct bench, n_bytes_max),
     0, MAX_BYTES, "longest message in bytes"},
    {"--factor", BENCH_OPTION_LENGTHS, OPTION_INTEGER,
     offsetof(struct bench, n_bytes_factor), 2, MAX_BYTES,
     "from one length to the next, from --min on"},
    {"--window", BENCH_OPTION_WINDOW, OPTION_INTEGER, offsetof(struct bench, n_window),
     1, 4096, "messages under way at a time (fewer when they exceed 16 MB)"},
    {"--compute", BENCH_OPTION_COMPUTE, OPTION_REAL, offsetof(struct bench, compute_ms),
     0, 10000, "milliseconds of computation beside, or before, each exchange"},
    {"--computing", BENCH_OPTION_COMPUTE, OPTION_INTEGER,
     offsetof(struct bench, n_computing), 0, 1000000,
     "first ranks that compute, while the others wait at once; 0: all"},
    {"--iterations", BENCH_OPTION_COMMON, OPTION_INTEGER,
     offsetof(struct bench, n_iterations), 0, MAX_ITERATIONS,
     "exchanges in a batch; 0: as many as take --batch-ms"},
    {"--batches", BENCH_OPTION_COMMON, OPTION_INTEGER,
     offsetof(struct bench, n_batches), 1, 10000,
     "timed batches, of which the median is printed"},
    {"--batch-ms", BENCH_OPTION_COMMON, OPTION_REAL, offsetof(struct bench, batch_ms),
     0, 10000, "aimed length of a batch in milliseconds"},
};

#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

static int option_applies(const struct option *option, const struct bench_spec *spec)
{
    return option->group == BENCH_OPTION_COMMON || (spec->options & option->group);
}

static double option_value(const struct option *option, const struct bench *bench)
{
    const char *field = (const char *)bench + option->offset;

    if (option->kind == OPTION_REAL) {
        return *(const double *)field;
    }
    return (double)*(const long *)field;
}

static void help_print(const struct bench *bench)
{
    const struct bench_spec *spec = bench->spec;

    printf("usage: mpirun -n N bench_%s [options]\n\n%s\n\n", spec->name,
           spec->summary);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (option_applies(&options[i], spec)) {
            printf("  %-12s %s (%.12g)\n", options[i].name, options[i].help,
                   option_value(&options[i], bench));
        }
    }
    printf("  %-12s print this text\n\nEach output line: name n_bytes value unit\n",
           "--help");
}

static double suffix_factor(const char *suffix)
{
    if (!strcmp(suffix, "")) {
        return 1;
    }
    if (!strcmp(suffix, "K")) {
        return 1 << 10;
    }
    if (!strcmp(suffix, "M")) {
        return 1 << 20;
    }
    if (!strcmp(suffix, "G")) {
        return 1 << 30;
    }
    return 0;
}

/* Store text in the field of option. Returns 0, or -EINVAL and changes nothing. */
static int option_store(const struct option *option, const char *text,
                        struct bench *bench)
{
    char *field = (char *)bench + option->offset;
    char *end;
    double value = strtod(text, &end);
    double factor = suffix_factor(end);

    if (end == text || factor == 0) {
        return -EINVAL;
    }
    value *= factor;
    if (!(value >= (double)option->least && value <= (double)option->most)) {
        return -EINVAL;
    }
    if (option->kind == OPTION_REAL) {
        *(double *)field = value;
        return 0;
    }
    if (value != (double)(long)value) {
        return -EINVAL;
    }
    *(long *)field = (long)value;
    return 0;
}

static const struct option *option_find(const struct bench_spec *spec, const char *name)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (!strcmp(options[i].name, name) && option_applies(&options[i], spec)) {
            return &options[i];
        }
    }
    return NULL;
}

/* Fill bench from the command line. Returns 0, OPTIONS_HELP, or -EINVAL with error set.
 */
static int options_parse(struct bench *bench, int argc, char **argv, char *error,
                         size_t error_bytes)
{
    for (int i = 1; i < argc; i++) {
        const struct option *option = option_find(bench->spec, argv[i]);

        if (!strcmp(argv[i], "--help")) {
            return OPTIONS_HELP;
        }
        if (!option) {
            snprintf(error, error_bytes, "%s is not an option (see --help)", argv[i]);
            return -EINVAL;
        }
        if (++i == argc || option_store(option, argv[i], bench)) {
            snprintf(error, error_bytes, "%s %s: allowed is %s from %ld to %ld",
                     option->name, i == argc ? "without a value" : argv[i],
                     option->kind == OPTION_REAL ? "a number" : "a whole number",
                     option->least, option->most);
            return -EINVAL;
        }
    }
    if (bench->n_bytes_min > bench->n_bytes_max) {
        snprintf(error, error_bytes, "--min %ld is more than --max %ld",
                 bench->n_bytes_min, bench->n_bytes_max);
        return -EINVAL;
    }
    if (bench->n_bytes_min % bench->spec->unit_bytes) {
        snprintf(error, error_bytes, "--min %ld: allowed are multiples of %ld",
                 bench->n_bytes_min, bench->spec->unit_bytes);
        return -EINVAL;
    }
    return 0;
}

int bench_is_timed(const struct bench *bench)
{
    return bench->spec->n_ranks_timed == BENCH_ALL_RANKS ||
           bench->rank < bench->spec->n_ranks_timed;
}

int bench_partner(const struct bench *bench)
{
    int partner = bench->rank ^ 1;

    return partner < bench->n_ranks ? partner : MPI_PROC_NULL;
}

long bench_one_slot(const struct bench *bench, size_t n_bytes)
{
    (void)bench;
    (void)n_bytes;
    return 1;
}

static unsigned char pattern_byte(size_t i, long key)
{
    return (unsigned char)(1 + ((size_t)key * 101 + i) % PATTERN_PERIOD);
}

void bench_fill(unsigned char *data, size_t n_bytes, long key)
{
    for (size_t i = 0; i < n_bytes; i++) {
        data[i] = pattern_byte(i, key);
    }
}

long bench_check(const struct bench *bench, const unsigned char *data, size_t n_bytes,
                 long key)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (data[i] != pattern_byte(i, key)) {
            fprintf(stderr,
                    "bench_%s: rank %d: byte %zu of a message of %zu bytes is 0x%02x, "
                    "not 0x%02x\n",
                    bench->spec->name, bench->rank, i, n_bytes, data[i],
                    pattern_byte(i, key));
            return 1;
        }
    }
    return 0;
}

static void *buffer_allocate(const struct bench *bench, size_t n_bytes)
{
    size_t page = 4096;
    size_t n_pages = n_bytes / page + 1;
    void *buffer = aligned_alloc(page, n_pages * page);

    if (!buffer) {
        fprintf(stderr, "bench_%s: rank %d: no memory for a buffer of %zu bytes\n",
                bench->spec->name, bench->rank, n_bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    memset(buffer, 0, n_pages * page);
    return buffer;
}

/* Seconds of one batch on its slowest timed rank; the same on all ranks. */
static double batch_seconds(struct bench *bench, bench_body_fn body, size_t n_bytes,
                            long n_iterations)
{
    double elapsed = 0;
    double slowest;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_is_timed(bench)) {
        double start = bench_now_seconds();

        body(bench, n_bytes, n_iterations);
        elapsed = bench_now_seconds() - start;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Warm up and find the iterations of a batch. Enlarges them until a quarter of a batch
 * has been seen, so that the guess no longer rests on the first cold exchanges. */
static long batch_calibrate(struct bench *bench, bench_body_fn body, size_t n_bytes)
{
    double aim = bench->batch_ms * 1e-3;
    long n_iterations = 1;
    double seconds = batch_seconds(bench, body, n_bytes, n_iterations);

    if (bench->n_iterations) {
        batch_seconds(bench, body, n_bytes, 1 + bench->n_iterations / 10);
        return bench->n_iterations;
    }
    while (seconds < aim / 4 && n_iterations < MAX_ITERATIONS / 4) {
        n_iterations *= 4;
        seconds = batch_seconds(bench, body, n_bytes, n_iterations);
    }
    n_iterations = (long)((double)n_iterations * aim / seconds);
    return n_iterations < 1 ? 1 : n_iterations;
}

/* Seconds of a cache line's round trip between two batches; 0 if it cannot be
 * measured. */
static double trip_seconds(struct bench *bench)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return line_trip_is_possible(&bench->trip) ? line_trip_seconds(&bench->trip) : 0;
}

/* Time the bodies in turn, batch by batch. @return [n_bodies][n_batches] seconds of an
 * iteration, to be freed */
static double *batches_run(struct bench *bench, const bench_body_fn *bodies,
                           int n_bodies, size_t n_bytes)
{
    long n_batches = bench->n_batches;
    long n_iterations[MAX_BODIES];
    double *trips = buffer_allocate(bench, (size_t)n_batches * sizeof(*trips));
    double *seconds =
        buffer_allocate(bench, (size_t)n_bodies * (size_t)n_batches * sizeof(*seconds));

    for (int i = 0; i < n_bodies; i++) {
        n_iterations[i] = batch_calibrate(bench, bodies[i], n_bytes);
    }
    for (long batch = 0; batch < n_batches; batch++) {
        trips[batch] = trip_seconds(bench);
        for (int i = 0; i < n_bodies; i++) {
            seconds[i * n_batches + batch] =
                batch_seconds(bench, bodies[i], n_bytes, n_iterations[i]) /
                (double)n_iterations[i];
        }
    }
    if (bench->rank == 0 && line_trip_is_possible(&bench->trip)) {
        line_trips_print(n_bytes, trips, n_batches);
    }
    free(trips);
    return seconds;
}

double bench_seconds(struct bench *bench, bench_body_fn body, size_t n_bytes)
{
    double *seconds = batches_run(bench, &body, 1, n_bytes);
    double result = median_of(seconds, bench->n_batches);

    free(seconds);
    return result;
}

double bench_extra_seconds(struct bench *bench, bench_body_fn base, bench_body_fn body,
                           size_t n_bytes)
{
    const bench_body_fn bodies[] = {base, body};
    double *seconds = batches_run(bench, bodies, 2, n_bytes);
    double *extra = seconds + bench->n_batches;
    double result;

    for (long batch = 0; batch < bench->n_batches; batch++) {
        extra[batch] -= seconds[batch];
    }
    result = median_of(extra, bench->n_batches);
    free(seconds);
    return result;
}

void bench_print(const struct bench *bench, const char *name, size_t n_bytes,
                 double value, const char *unit)
{
    if (bench->rank == 0) {
        printf("%s %zu %.6g %s\n", name, n_bytes, value, unit);
        fflush(stdout);
    }
}

/* Verify and report one length. Returns the number of errors of all ranks. */
static long length_run(struct bench *bench, size_t n_bytes)
{
    size_t n_slots = (size_t)bench->spec->n_slots(bench, n_bytes);
    size_t n_requests = n_slots < 2 ? 2 : n_slots;
    long n_errors;
    long n_errors_all;

    bench->send = buffer_allocate(bench, n_slots * n_bytes);
    bench->receive = buffer_allocate(bench, n_slots * n_bytes);
    bench->requests = buffer_allocate(bench, n_requests * sizeof(*bench->requests));

    n_errors = bench->spec->verify(bench, n_bytes);
    MPI_Allreduce(&n_errors, &n_errors_all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (n_errors_all == 0) {
        bench->spec->report(bench, n_bytes);
    } else if (bench->rank == 0) {
        fprintf(stderr, "bench_%s: wrong result at %zu bytes, not measured\n",
                bench->spec->name, n_bytes);
    }

    free(bench->requests);
    free(bench->receive);
    free(bench->send);
    return n_errors_all;
}

static int lengths_run(struct bench *bench)
{
    long n_bytes = bench->n_bytes_min;

    if (bench->spec->setup) {
        bench->spec->setup(bench);
    }
    while (n_bytes <= bench->n_bytes_max) {
        if (length_run(bench, (size_t)n_bytes)) {
            return 1;
        }
        n_bytes = n_bytes ? n_bytes * bench->n_bytes_factor : bench->spec->unit_bytes;
    }
    return 0;
}

int bench_main(int argc, char **argv, const struct bench_spec *spec)
{
    struct bench bench = {
        .spec = spec,
        .n_bytes_min = spec->n_bytes_min,
        .n_bytes_max = spec->n_bytes_max,
        .n_bytes_factor = 2,
        .n_batches = 11,
        .batch_ms = 20,
        .n_window = 64,
        .compute_ms = spec->compute_ms,
    };
    char error[256] = "";
    int result;
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.n_ranks);

    result = options_parse(&bench, argc, argv, error, sizeof(error));
    if (result == 0 && bench.n_ranks < 2) {
        snprintf(error, sizeof(error), "needs at least 2 ranks, has %d", bench.n_ranks);
        result = -EINVAL;
    }
    if (result == 0) {
        line_trip_init(&bench.trip, bench.rank, bench.n_ranks);
        status = lengths_run(&bench);
        line_trip_fini(&bench.trip);
    } else if (result == OPTIONS_HELP) {
        status = 0;
    } else {
        status = 2;
    }
    if (bench.rank == 0 && result == OPTIONS_HELP) {
        help_print(&bench);
    }
    if (bench.rank == 0 && result < 0) {
        fprintf(stderr, "bench_%s: %s\n", spec->name, error);
    }

    MPI_Finalize();
    return status;
}
