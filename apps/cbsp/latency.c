/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cbsp_latency: how long short messages take, by counting and by global
 * synchronisation: figure 2 of the cBSP paper. In the ping-pong processes 0 and 1 send
 * in turns, one message a superstep; in the all-to-all every process sends to every
 * other one in each superstep. Batches of both synchronisations take turns; the median
 * of each is printed.
 *
 * Each message carries the number of its superstep, at the start and at the end, which
 * is looked at whenever one has come in.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cbsp/frame.h"
#include "apps/common/message.h"

#define MAX_BYTES 65536
#define MAX_BATCHES 1001

struct input {
    long n_bytes_min;
    long n_bytes_max;
    long n_supersteps;
    long n_batches;
};

struct bench {
    struct world *world;
    struct area inbox; /* [process][n_bytes] */
    size_t n_bytes;
    char *message;
    uint32_t n_sent; /* supersteps so far */
    int64_t n_wrong;
};

typedef void body_fn(struct bench *bench);

static void stamp(struct bench *bench)
{
    uint32_t number = ++bench->n_sent;

    memcpy(bench->message, &number, sizeof(number));
    memcpy(bench->message + bench->n_bytes - sizeof(number), &number, sizeof(number));
}

static void send_to(const struct bench *bench, int process)
{
    world_put(process, &bench->inbox, (size_t)bench->world->pid * bench->n_bytes,
              bench->message, bench->n_bytes);
}

static void check_from(struct bench *bench, int process)
{
    const char *message = bench->inbox.mine + (size_t)process * bench->n_bytes;

    if (memcmp(message, bench->message, sizeof(uint32_t)) != 0 ||
        memcmp(message + bench->n_bytes - sizeof(uint32_t), bench->message,
               sizeof(uint32_t)) != 0) {
        bench->n_wrong++;
    }
}

/* One way. */
static void pingpong(struct bench *bench)
{
    struct world *world = bench->world;
    int sender;

    stamp(bench);
    sender = (int)(bench->n_sent % 2);
    if (world->pid == sender) {
        send_to(bench, 1 - sender);
    }
    world_sync(world, world->pid == 1 - sender ? 1 : 0);
    if (world->pid == 1 - sender) {
        check_from(bench, sender);
    }
}

static void alltoall(struct bench *bench)
{
    struct world *world = bench->world;

    stamp(bench);
    for (int i = 1; i < world->n_processes; i++) {
        send_to(bench, (world->pid + i) % world->n_processes);
    }
    world_sync(world, world->n_processes - 1);
    for (int i = 1; i < world->n_processes; i++) {
        check_from(bench, (world->pid + i) % world->n_processes);
    }
}

/* No message and no synchronization: where processes share a core, every other one of
 * that core runs meanwhile. Each superstep of an all-to-all needs as much. */
static void yield(struct bench *bench)
{
    (void)bench;
    sched_yield();
}

static double batch_us(struct bench *bench, body_fn *body, bool is_counting,
                       long n_supersteps)
{
    struct world *world = bench->world;

    world->is_counting = is_counting;
    world_start(world);
    for (long n = 0; n < n_supersteps; n++) {
        body(bench);
    }
    world_stop(world);
    return 1e6 * world->timed.seconds / (double)n_supersteps;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* Sorts the times. */
static void report(const char *name, size_t n_bytes, double *times, long n_batches)
{
    qsort(times, (size_t)n_batches, sizeof(double), compare);
    printf("%s %zu %.4f us\n", name, n_bytes, times[n_batches / 2]);
    fflush(stdout);
}

static void measure(struct bench *bench, const struct input *input, const char *name,
                    body_fn *body)
{
    static const char *const syncs[] = {"gsync", "nsync"};
    char title[64];
    double times[2][MAX_BATCHES];
    long n_batches = input->n_batches;

    batch_us(bench, body, true, input->n_supersteps / 10 + 1);
    for (long n = 0; n < 2 * n_batches; n++) {
        int sync = (int)((n + n / 2) % 2);
        times[sync][n / 2] = batch_us(bench, body, sync == 1, input->n_supersteps);
    }
    for (int sync = 0; sync < 2 && bench->world->pid == 0; sync++) {
        snprintf(title, sizeof(title), "%s_%s", name, syncs[sync]);
        report(title, bench->n_bytes, times[sync], n_batches);
    }
}

static void measure_yield(struct bench *bench, const struct input *input)
{
    double times[MAX_BATCHES];

    for (long n = 0; n < input->n_batches; n++) {
        times[n] = batch_us(bench, yield, true, input->n_supersteps);
    }
    if (bench->world->pid == 0) {
        report("yield", 0, times, input->n_batches);
    }
}

/* Mistakes of all processes. */
static int64_t n_wrong_of_all(struct bench *bench)
{
    struct world *world = bench->world;
    const int64_t *all;
    struct area area;
    int64_t sum = 0;

    area_init(&area, world, (size_t)world->n_processes * sizeof(int64_t));
    world_share(world, &area, &bench->n_wrong, sizeof(int64_t));
    all = (const int64_t *)area.mine;
    for (int process = 0; process < world->n_processes; process++) {
        sum += all[process];
    }
    area_fini(&area);
    return sum;
}

static void run(struct world *world, const void *problem, struct frame_result *result)
{
    const struct input *input = problem;
    struct bench bench = {.world = world};
    size_t room = (size_t)input->n_bytes_max;

    area_init(&bench.inbox, world, (size_t)world->n_processes * room);
    bench.message = world_array(world, room, 1);
    for (long n = input->n_bytes_min; n <= input->n_bytes_max; n *= 2) {
        bench.n_bytes = (size_t)n;
        if (world->n_processes > 1) {
            measure(&bench, input, "pingpong", pingpong);
        }
        measure(&bench, input, "alltoall", alltoall);
    }
    measure_yield(&bench, input);
    world->timed = (struct world_timing){0};
    result->checks[result->n_checks++] = (struct check){
        .name = "messages",
        .applies = true,
        .value = (double)n_wrong_of_all(&bench),
        .rule = "all messages must be those of their superstep",
    };
    result->checks[0].passed = result->checks[0].value == 0;
    free(bench.message);
    area_fini(&bench.inbox);
}

static int check_input(const void *problem, char *message)
{
    const struct input *input = problem;

    if (input->n_bytes_min > input->n_bytes_max) {
        message_set(message, "--min %ld is more than --max %ld", input->n_bytes_min,
                    input->n_bytes_max);
        return -EINVAL;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct input input = {
        .n_bytes_min = 4, .n_bytes_max = 512, .n_supersteps = 2000, .n_batches = 21};
    const struct frame_option options[] = {
        {"--min", &input.n_bytes_min, 4, MAX_BYTES, "bytes of the shortest message"},
        {"--max", &input.n_bytes_max, 4, MAX_BYTES, "bytes of the longest message"},
        {"--supersteps", &input.n_supersteps, 1, 10000000, "supersteps of a batch"},
        {"--batches", &input.n_batches, 1, MAX_BATCHES, "batches of each kind"},
    };
    const struct frame_program program = {
        .name = "cbsp_latency",
        .summary = "Time of short messages, by counting and by global synchronization.",
        .options = options,
        .n_options = sizeof(options) / sizeof(options[0]),
        .problem = "ping-pong and all-to-all",
        .input = &input,
        .check_input = check_input,
        .run = run,
    };

    return frame_main(argc, argv, &program);
}
