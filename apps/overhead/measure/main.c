/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead_measure: one experiment on what communication costs. A plain MPI program
 * that knows nothing of what carries out its calls; compiles with any mpicc.
 * bcs-overhead runs it and reads its lines, of which each is one object of JSON.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/overhead/measure/measure.h"
#include "apps/overhead/measure/options.h"

/* Where a rank runs. */
struct place {
    char host[MPI_MAX_PROCESSOR_NAME];
    int cpu;
};

/* A string of JSON. */
static void text_print(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;

        if (letter == '"' || letter == '\\') {
            printf("\\%c", letter);
        } else if (letter < ' ') {
            printf("\\u%04x", letter);
        } else {
            putchar(letter);
        }
    }
    putchar('"');
}

/* Where all ranks are, in order. Collective. */
static void places_print(const struct measure *measure, const char *when)
{
    struct place mine = {.cpu = sched_getcpu()};
    struct place *places = calloc((size_t)measure->n_ranks, sizeof *places);
    int length;

    MPI_Get_processor_name(mine.host, &length);
    if (places == NULL) {
        fprintf(stderr, "overhead_measure: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        abort();
    }
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (measure->rank == 0) {
        printf("{\"overhead\":\"places\",\"when\":\"%s\",\"hosts\":[", when);
        for (int i = 0; i < measure->n_ranks; i++) {
            printf("%s", i > 0 ? "," : "");
            text_print(places[i].host);
        }
        printf("],\"cpus\":[");
        for (int i = 0; i < measure->n_ranks; i++) {
            printf("%s%d", i > 0 ? "," : "", places[i].cpu);
        }
        printf("]}\n");
    }
    free(places);
}

static void head_print(const struct measure *measure)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    struct timespec resolution = {0};
    int length;

    MPI_Get_library_version(library, &length);
    clock_getres(CLOCK_MONOTONIC, &resolution);
    printf("{\"overhead\":\"head\",\"experiment\":\"%s\",\"ranks\":%d,\"mpi\":",
           measure->experiment->name, measure->n_ranks);
    text_print(library);
    printf(",\"wtick_ns\":%.6g,\"clock_ns\":%ld,\"coordinates\":[", 1e9 * MPI_Wtick(),
           (long)resolution.tv_nsec);
    for (int i = 0; i < N_COORDINATES && measure->experiment->coordinates[i]; i++) {
        printf("%s\"%s\"", i > 0 ? "," : "", measure->experiment->coordinates[i]);
    }
    printf("]}\n");
}

/* Go to the CPU that --cpus has for this rank. Collective. @return 0, or -EINVAL if a
 * rank may not */
static int cpu_take(const struct measure *measure)
{
    int is_refused = 0, n_refused;
    cpu_set_t cpus;

    if (measure->options.n_cpus > 0) {
        int cpu = measure->options.cpus[measure->rank];

        CPU_ZERO(&cpus);
        if (cpu < CPU_SETSIZE) {
            CPU_SET((size_t)cpu, &cpus);
        }
        is_refused = sched_setaffinity(0, sizeof cpus, &cpus) != 0;
    }
    MPI_Allreduce(&is_refused, &n_refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return n_refused > 0 ? -EINVAL : 0;
}

/* @return the exit status */
static int experiment_run(struct measure *measure)
{
    int n_wrong;

    if (cpu_take(measure) != 0) {
        if (measure->rank == 0) {
            fprintf(stderr, "overhead_measure: --cpus: allowed are CPUs that this "
                            "process may use\n");
        }
        return 2;
    }
    if (measure->rank == 0) {
        head_print(measure);
    }
    places_print(measure, "begin");
    n_wrong = rounds_run(measure);
    places_print(measure, "end");
    if (measure->rank == 0) {
        printf("{\"overhead\":\"end\",\"wrong\":%d}\n", n_wrong);
    }
    return n_wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct measure measure = {.options = {.n_iterations = 200,
                                          .n_rounds = 10,
                                          .n_seconds = 60,
                                          .n_bytes_max = 16000,
                                          .n_bytes_step = 64,
                                          .n_matchings = 256,
                                          .seed = 1}};
    char error[OPTIONS_ERROR_BYTES] = "";
    int result, status = 2;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &measure.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &measure.n_ranks);
    result = options_read(&measure, argc, argv, error);
    if (result == 0) {
        status = experiment_run(&measure);
    } else if (measure.rank == 0 && result == OPTIONS_HELP) {
        help_print();
    } else if (measure.rank == 0) {
        fprintf(stderr, "overhead_measure: %s\n", error);
    }
    if (result == OPTIONS_HELP) {
        status = 0;
    }
    free(measure.points);
    free(measure.partners);
    free(measure.requests);
    free(measure.source);
    free(measure.target);
    MPI_Finalize();
    return status;
}
