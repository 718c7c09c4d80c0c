/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lpf_probe: p, L, g and s of LPF by its own interface, which is below its BSPlib. Not
 * part of the build, as LPF is not needed for anything else: compile it and probe.c
 * with lpfcc. Puts are not buffered, so each word has a source of its own.
 */
#include <lpf/core.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "apps/cbsp/probe.h"

#define N_BATCHES 21
#define N_SLOTS 3

struct context {
    const struct probe_library *library;
    lpf_t lpf;
    double words[PROBE_MAX_WORDS];
    double *inbox; /* [process][word] */
    double *times; /* [process] */
    lpf_memslot_t words_slot;
    lpf_memslot_t inbox_slot;
    lpf_memslot_t times_slot;
};

static void end_if(lpf_err_t result)
{
    if (result != LPF_SUCCESS) {
        fprintf(stderr, "lpf_probe: an LPF call has failed\n");
        abort();
    }
}

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sync_all(struct context *context)
{
    end_if(lpf_sync(context->lpf, LPF_SYNC_DEFAULT));
}

static double go(void *argument, int n_words, int n_supersteps)
{
    struct context *context = argument;
    int pid = context->library->pid;
    double start;

    sync_all(context);
    start = now_seconds();
    for (int n = 0; n < n_supersteps; n++) {
        for (int word = 0; word < n_words; word++) {
            size_t offset = (size_t)(pid * PROBE_MAX_WORDS + word) * sizeof(double);

            context->words[word] = 1000.0 * pid + word;
            end_if(lpf_put(
                context->lpf, context->words_slot, (size_t)word * sizeof(double),
                (lpf_pid_t)probe_receiver(context->library, word), context->inbox_slot,
                offset, sizeof(double), LPF_MSG_DEFAULT));
        }
        sync_all(context);
    }
    sync_all(context);
    return now_seconds() - start;
}

static double slowest(void *argument, double seconds)
{
    struct context *context = argument;
    int p = context->library->n_processes;
    size_t offset = (size_t)context->library->pid * sizeof(double);
    double most = seconds;

    context->words[0] = seconds;
    for (int process = 0; process < p; process++) {
        end_if(lpf_put(context->lpf, context->words_slot, 0, (lpf_pid_t)process,
                       context->times_slot, offset, sizeof(double), LPF_MSG_DEFAULT));
    }
    sync_all(context);
    for (int process = 0; process < p; process++) {
        most = context->times[process] > most ? context->times[process] : most;
    }
    sync_all(context);
    return most;
}

static int n_wrong(const struct context *context)
{
    struct probe_library other = *context->library;
    int n = 0;

    for (other.pid = 0; other.pid < other.n_processes; other.pid++) {
        for (int word = 0; word < PROBE_MAX_WORDS; word++) {
            double value = context->inbox[other.pid * PROBE_MAX_WORDS + word];

            n += probe_receiver(&other, word) == context->library->pid &&
                 value != 1000.0 * other.pid + word;
        }
    }
    return n;
}

static void set_up(struct context *context, size_t n_processes)
{
    size_t n_messages = n_processes * PROBE_MAX_WORDS + n_processes;
    size_t n_words = n_processes * PROBE_MAX_WORDS;

    context->inbox = calloc(n_words, sizeof(double));
    context->times = calloc(n_processes, sizeof(double));
    end_if(context->inbox != NULL && context->times != NULL ? LPF_SUCCESS
                                                            : LPF_ERR_OUT_OF_MEMORY);
    end_if(lpf_resize_message_queue(context->lpf, n_messages));
    end_if(lpf_resize_memory_register(context->lpf, N_SLOTS));
    sync_all(context);
    end_if(lpf_register_local(context->lpf, context->words, sizeof(context->words),
                              &context->words_slot));
    end_if(lpf_register_global(context->lpf, context->inbox, n_words * sizeof(double),
                               &context->inbox_slot));
    end_if(lpf_register_global(context->lpf, context->times,
                               n_processes * sizeof(double), &context->times_slot));
    sync_all(context);
}

/* Not static: LPF finds it in other processes by its name. */
void lpf_probe_spmd(lpf_t lpf, lpf_pid_t pid, lpf_pid_t n_processes, lpf_args_t args);

void lpf_probe_spmd(lpf_t lpf, lpf_pid_t pid, lpf_pid_t n_processes, lpf_args_t args)
{
    struct context context = {.lpf = lpf};
    struct probe_library library = {.name = "bsplib",
                                    .pid = (int)pid,
                                    .n_processes = (int)n_processes,
                                    .context = &context,
                                    .go = go,
                                    .slowest = slowest};

    (void)args;
    context.library = &library;
    set_up(&context, n_processes);
    probe_run(&library, N_BATCHES);
    end_if(n_wrong(&context) == 0 ? LPF_SUCCESS : LPF_ERR_FATAL);
    free(context.inbox);
    free(context.times);
    if (pid == 0) {
        printf("lpf_probe: PASSED\n");
        fflush(stdout);
    }
}

int main(void)
{
    end_if(lpf_exec(LPF_ROOT, LPF_MAX_P, lpf_probe_spmd, LPF_NO_ARGS));
    return EXIT_SUCCESS;
}
