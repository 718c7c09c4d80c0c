/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the command line of overhead_measure from one table. Called once on every rank.
 */
#include "apps/overhead/measure/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1L << 26)
#define MAX_COUNT 1000000L
#define MAX_ROOM (1L << 30) /* bytes of receives of one rank */

enum option_kind { OPTION_INTEGER, OPTION_REAL };

struct option {
    const char *name;
    enum option_kind kind;
    size_t offset;
    double least, most;
    const char *help;
};

static const struct option table[] = {
    {"--iterations", OPTION_INTEGER, offsetof(struct options, n_iterations), 1,
     MAX_COUNT, "messages, barriers or calls of one sample (200)"},
    {"--rounds", OPTION_INTEGER, offsetof(struct options, n_rounds), 1, MAX_COUNT,
     "samples of each point, beside the first (10)"},
    {"--seconds", OPTION_REAL, offsetof(struct options, n_seconds), 0, 1e6,
     "begin no round after so long; at least one is run (60)"},
    {"--min", OPTION_INTEGER, offsetof(struct options, n_bytes_min), 0, MAX_BYTES,
     "shortest message in bytes (0)"},
    {"--max", OPTION_INTEGER, offsetof(struct options, n_bytes_max), 0, MAX_BYTES,
     "longest message (16000)"},
    {"--step", OPTION_INTEGER, offsetof(struct options, n_bytes_step), 1, MAX_BYTES,
     "from one length to the next (64)"},
    {"--matchings", OPTION_INTEGER, offsetof(struct options, n_matchings), 1, MAX_COUNT,
     "random matchings (256)"},
    {"--seed", OPTION_INTEGER, offsetof(struct options, seed), 0, 2147483647,
     "of the random matchings (1)"},
    {"--slow", OPTION_REAL, offsetof(struct options, slow_percent), 0, 1000,
     "make each sample longer by so many per cent, to test a comparison (0)"},
};

enum { N_TABLE = sizeof table / sizeof *table };

const struct experiment *experiment_find(const char *name)
{
    const struct experiment *lists[] = {exchange_experiments, local_experiments};

    for (int i = 0; i < 2; i++) {
        for (const struct experiment *e = lists[i]; e->name != NULL; e++) {
            if (strcmp(e->name, name) == 0) {
                return e;
            }
        }
    }
    return NULL;
}

void help_print(void)
{
    const struct experiment *lists[] = {exchange_experiments, local_experiments};

    printf("usage: mpirun -n N overhead_measure EXPERIMENT [options]\n\n"
           "Carries out one experiment and prints each sample as a line of JSON.\n\n");
    for (int i = 0; i < 2; i++) {
        for (const struct experiment *e = lists[i]; e->name != NULL; e++) {
            printf("  %-12s %s\n", e->name, e->summary);
        }
    }
    printf("\n");
    for (int i = 0; i < N_TABLE; i++) {
        printf("  %-12s %s\n", table[i].name, table[i].help);
    }
    printf("  %-12s CPU of each rank, as 0,1 (where the launcher puts it)\n"
           "  %-12s print this text\n",
           "--cpus", "--help");
}

static int value_store(const struct option *option, const char *text,
                       struct options *options)
{
    char *field = (char *)options + option->offset, *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' ||
        !(value >= option->least && value <= option->most) ||
        (option->kind == OPTION_INTEGER && value != (double)(long)value)) {
        return -EINVAL;
    }
    if (option->kind == OPTION_REAL) {
        *(double *)field = value;
    } else {
        *(long *)field = (long)value;
    }
    return 0;
}

static int cpus_store(const char *text, struct options *options)
{
    options->n_cpus = 0;
    while (options->n_cpus < MAX_CPUS) {
        char *end;
        long cpu = strtol(text, &end, 10);

        if (end == text || cpu < 0 || cpu > 65535) {
            return -EINVAL;
        }
        options->cpus[options->n_cpus++] = (int)cpu;
        if (*end == '\0') {
            return 0;
        }
        if (*end != ',') {
            return -EINVAL;
        }
        text = end + 1;
    }
    return -EINVAL;
}

static int option_read(const char *name, const char *text, struct options *options,
                       char *error)
{
    const char *shown = text == NULL ? "without a value" : text;

    if (strcmp(name, "--cpus") == 0) {
        if (text != NULL && cpus_store(text, options) == 0) {
            return 0;
        }
        snprintf(error, OPTIONS_ERROR_BYTES,
                 "--cpus %s: allowed are up to %d numbers of CPUs with commas", shown,
                 MAX_CPUS);
        return -EINVAL;
    }
    for (int i = 0; i < N_TABLE; i++) {
        if (strcmp(table[i].name, name) == 0) {
            if (text != NULL && value_store(&table[i], text, options) == 0) {
                return 0;
            }
            snprintf(error, OPTIONS_ERROR_BYTES,
                     "%s %s: allowed is %s from %.0f to %.0f", name, shown,
                     table[i].kind == OPTION_REAL ? "a number" : "a whole number",
                     table[i].least, table[i].most);
            return -EINVAL;
        }
    }
    snprintf(error, OPTIONS_ERROR_BYTES, "%s is not an option (see --help)", name);
    return -EINVAL;
}

/* Whether the experiment can run on so many ranks. */
static int ranks_check(const struct measure *measure, char *error)
{
    const struct experiment *e = measure->experiment;
    int n = measure->n_ranks;

    if (n < e->n_ranks_least || (e->n_ranks_most > 0 && n > e->n_ranks_most)) {
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: %d ranks; allowed are %s%d", e->name,
                 n, e->n_ranks_most > 0 ? "exactly " : "at least ", e->n_ranks_least);
        return -EINVAL;
    }
    if (e->is_even && n % 2 != 0) {
        snprintf(error, OPTIONS_ERROR_BYTES,
                 "%s: %d ranks; allowed are even numbers of them", e->name, n);
        return -EINVAL;
    }
    if (e->is_power && (n & (n - 1)) != 0) {
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: %d ranks; allowed are powers of 2",
                 e->name, n);
        return -EINVAL;
    }
    return 0;
}

static int options_check(const struct measure *measure, char *error)
{
    const struct options *options = &measure->options;

    if (options->n_bytes_min > options->n_bytes_max) {
        snprintf(error, OPTIONS_ERROR_BYTES, "--min %ld is more than --max %ld",
                 options->n_bytes_min, options->n_bytes_max);
        return -EINVAL;
    }
    if (options->n_iterations > MAX_ROOM / (options->n_bytes_max + 64)) {
        snprintf(error, OPTIONS_ERROR_BYTES,
                 "--iterations %ld of --max %ld: allowed are %ld bytes together",
                 options->n_iterations, options->n_bytes_max, MAX_ROOM);
        return -EINVAL;
    }
    if (options->n_cpus > 0 && options->n_cpus != measure->n_ranks) {
        snprintf(error, OPTIONS_ERROR_BYTES,
                 "--cpus has %d CPUs; allowed is one for each of the %d ranks",
                 options->n_cpus, measure->n_ranks);
        return -EINVAL;
    }
    return ranks_check(measure, error);
}

int options_read(struct measure *measure, int argc, char **argv, char *error)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            return OPTIONS_HELP;
        }
    }
    if (argc < 2 || (measure->experiment = experiment_find(argv[1])) == NULL) {
        snprintf(error, OPTIONS_ERROR_BYTES, "%s: no experiment (see --help)",
                 argc < 2 ? "nothing given" : argv[1]);
        return -EINVAL;
    }
    for (int i = 2; i < argc; i += 2) {
        const char *text = i + 1 < argc ? argv[i + 1] : NULL;

        if (option_read(argv[i], text, &measure->options, error) != 0) {
            return -EINVAL;
        }
    }
    return options_check(measure, error);
}
