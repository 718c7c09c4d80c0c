/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cbsp_probe: p, L, g and s of cBSP, by global synchronisation and by counting.
 */
#include <stdlib.h>

#include "apps/cbsp/frame.h"
#include "apps/cbsp/probe.h"

struct input {
    long n_batches;
};

struct context {
    struct world *world;
    struct probe_library *library;
    /* [process][word] */
    struct area inbox;
    /* [process] */
    struct area times;
    int64_t n_wrong;
};

static double value_of(int pid, int word)
{
    return 1000.0 * pid + word;
}

static void send_words(const struct context *context, int n_words)
{
    int pid = context->world->pid;

    for (int word = 0; word < n_words; word++) {
        double value = value_of(pid, word);

        world_put(probe_receiver(context->library, word), &context->inbox,
                  (size_t)(pid * PROBE_MAX_WORDS + word) * sizeof(double), &value,
                  sizeof(value));
    }
}

/* Messages that come in: of each process those that go to this one. */
static int n_incoming(const struct context *context, int n_words)
{
    struct probe_library other = *context->library;
    int n = 0;

    for (other.pid = 0; other.pid < other.n_processes; other.pid++) {
        for (int word = 0; word < n_words; word++) {
            n += probe_receiver(&other, word) == context->library->pid ? 1 : 0;
        }
    }
    return n;
}

static void check_words(struct context *context, int n_words)
{
    const double *inbox = (const double *)context->inbox.mine;
    struct probe_library other = *context->library;

    for (other.pid = 0; other.pid < other.n_processes; other.pid++) {
        for (int word = 0; word < n_words; word++) {
            double value = inbox[other.pid * PROBE_MAX_WORDS + word];

            if (probe_receiver(&other, word) == context->library->pid &&
                value != value_of(other.pid, word)) {
                context->n_wrong++;
            }
        }
    }
}

static double go(void *argument, int n_words, int n_supersteps)
{
    struct context *context = argument;
    int n_messages = n_incoming(context, n_words);

    world_start(context->world);
    for (int n = 0; n < n_supersteps; n++) {
        send_words(context, n_words);
        world_sync(context->world, n_messages);
    }
    world_stop(context->world);
    check_words(context, n_words);
    return context->world->timed.seconds;
}

static double slowest(void *argument, double seconds)
{
    struct context *context = argument;
    const double *all = (const double *)context->times.mine;
    double most = seconds;

    world_share(context->world, &context->times, &seconds, sizeof(seconds));
    for (int process = 0; process < context->world->n_processes; process++) {
        most = all[process] > most ? all[process] : most;
    }
    return most;
}

static void run(struct world *world, const void *problem, struct frame_result *result)
{
    const struct input *input = problem;
    struct context context = {.world = world};
    struct probe_library library = {.pid = world->pid,
                                    .n_processes = world->n_processes,
                                    .context = &context,
                                    .go = go,
                                    .slowest = slowest};
    size_t n = (size_t)world->n_processes;

    context.library = &library;
    area_init(&context.inbox, world, n * PROBE_MAX_WORDS * sizeof(double));
    area_init(&context.times, world, n * sizeof(double));
    library.name = "gsync";
    world->is_counting = false;
    probe_run(&library, (int)input->n_batches);
    library.name = "nsync";
    world->is_counting = true;
    probe_run(&library, (int)input->n_batches);
    world->timed = (struct world_timing){0};
    result->n_checks = 1;
    result->checks[0] = (struct check){
        .name = "words",
        .applies = true,
        .passed = slowest(&context, (double)context.n_wrong) == 0,
        .value = (double)context.n_wrong,
        .rule = "all words must be where they were sent to",
    };
    area_fini(&context.inbox);
    area_fini(&context.times);
}

int main(int argc, char **argv)
{
    struct input input = {.n_batches = 21};
    const struct frame_option options[] = {
        {"--batches", &input.n_batches, 1, 1000, "batches, of which the best counts"},
    };
    const struct frame_program program = {
        .name = "cbsp_probe",
        .summary = "The parameters p, L, g and s of the BSP model, for both ways to "
                   "synchronize.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "supersteps of single words",
        .input = &input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
