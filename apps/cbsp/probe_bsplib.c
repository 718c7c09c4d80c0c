/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bsplib_probe: p, L, g and s of a BSPlib. It uses nothing but bsp.h and probe.c, so
 * the same source measures any implementation: compile both files with its compiler.
 *
 * Processes may be threads: what is static is set before they begin.
 *
 * Usage: bsplib_probe [BATCHES]
 */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/cbsp/probe.h"

struct context {
    const struct probe_library *library;
    double *inbox; /* [process][word] */
    double *times; /* [process] */
};

/* On the process that has the command line. */
static int n_batches_wanted = 21;

static double go(void *argument, int n_words, int n_supersteps)
{
    struct context *context = argument;
    int pid = context->library->pid;
    double start;

    bsp_sync();
    start = bsp_time();
    for (int n = 0; n < n_supersteps; n++) {
        for (int word = 0; word < n_words; word++) {
            double value = 1000.0 * pid + word;
            int offset = (pid * PROBE_MAX_WORDS + word) * (int)sizeof(double);

            bsp_put(probe_receiver(context->library, word), &value, context->inbox,
                    offset, (int)sizeof(value));
        }
        bsp_sync();
    }
    bsp_sync();
    return bsp_time() - start;
}

static double slowest(void *argument, double seconds)
{
    struct context *context = argument;
    int p = context->library->n_processes;
    double most = seconds;

    for (int process = 0; process < p; process++) {
        bsp_put(process, &seconds, context->times,
                context->library->pid * (int)sizeof(double), (int)sizeof(double));
    }
    bsp_sync();
    for (int process = 0; process < p; process++) {
        most = context->times[process] > most ? context->times[process] : most;
    }
    bsp_sync();
    return most;
}

static void check_words(const struct context *context)
{
    const struct probe_library *library = context->library;
    struct probe_library other = *library;

    for (other.pid = 0; other.pid < other.n_processes; other.pid++) {
        for (int word = 0; word < PROBE_MAX_WORDS; word++) {
            double value = context->inbox[other.pid * PROBE_MAX_WORDS + word];

            if (probe_receiver(&other, word) == library->pid &&
                value != 1000.0 * other.pid + word) {
                bsp_abort("bsplib_probe: word %d of process %d is wrong\n", word,
                          other.pid);
            }
        }
    }
}

static double *array(int n)
{
    double *numbers = calloc((size_t)n, sizeof(*numbers));

    if (numbers == NULL) {
        bsp_abort("bsplib_probe: no memory for %d numbers\n", n);
    }
    bsp_push_reg(numbers, n * (int)sizeof(*numbers));
    return numbers;
}

static void probe(struct context *context)
{
    struct probe_library library = {.name = "bsplib",
                                    .pid = bsp_pid(),
                                    .n_processes = bsp_nprocs(),
                                    .context = context,
                                    .go = go,
                                    .slowest = slowest};
    int n_batches = n_batches_wanted;

    context->library = &library;
    context->inbox = array(library.n_processes * PROBE_MAX_WORDS);
    context->times = array(library.n_processes);
    bsp_push_reg(&n_batches, (int)sizeof(n_batches));
    bsp_sync();
    bsp_get(0, &n_batches, 0, &n_batches, (int)sizeof(n_batches));
    bsp_sync();
    probe_run(&library, n_batches);
    check_words(context);
    if (library.pid == 0) {
        printf("bsplib_probe: PASSED\n");
        fflush(stdout);
    }
}

/* Not static: some implementations find it in other processes by its name. */
void bsplib_probe(void);

void bsplib_probe(void)
{
    struct context context;

    bsp_begin(bsp_nprocs());
    probe(&context);
    bsp_sync();
    free(context.inbox);
    free(context.times);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(bsplib_probe, argc, argv);
    if (argc > 1) {
        char *end;
        long number = strtol(argv[1], &end, 10);

        if (argc > 2 || *end != '\0' || end == argv[1] || number < 1 || number > 1000) {
            fprintf(stderr, "usage: bsplib_probe [BATCHES]; allowed: 1 to 1000\n");
            return 2;
        }
        n_batches_wanted = (int)number;
    }
    bsplib_probe();
    return 0;
}
