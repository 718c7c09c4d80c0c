/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What slice_traffic.c does, on the BCS API: so many short messages from each rank to
 * the next one, and so many barriers.
 *
 *     slice_traffic_api MESSAGES BARRIERS [WAIT_US | disagree | stuck]
 *
 * Between two barriers each rank computes for WAIT_US microseconds, 0 if it is not
 * given. With "disagree" the first rank makes a broadcast in place of bcs_finalize, so
 * that the others leave alone, which they tell; it stays until it is killed. With
 * "stuck" each rank waits in the end for a message that nobody sends.
 */
#include <bcs/bcs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct bcs_context *context;
static struct bcs_group *world;
static int32_t rank, size;

static void must(int rc)
{
    if (rc != 0) {
        fprintf(stderr, "slice_traffic_api: rank %d: %d\n", (int)rank, rc);
        exit(EXIT_FAILURE);
    }
}

static void send_on(char *out, char *in, size_t n_bytes)
{
    const struct bcs_message to = {
        .group = world, .data = out, .n_bytes = n_bytes, .peer = (rank + 1) % size};
    const struct bcs_message from = {.group = world,
                                     .data = in,
                                     .n_bytes = n_bytes,
                                     .peer = (rank + size - 1) % size};
    struct bcs_request request;

    must(bcs_recv(context, &from, NULL, &request));
    must(bcs_send(context, &to, BCS_SEND_STANDARD, NULL));
    must(bcs_test(context, &request, true));
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void compute(double us)
{
    double end = now_us() + us;

    while (now_us() < end) {
    }
}

/** Leave otherwise than the first rank. */
static int disagree(void)
{
    int64_t word = 0;

    if (rank == 0) {
        bcs_bcast(context, world, &word, sizeof(word), 0, NULL);
        for (;;) {
            pause();
        }
    }
    printf("left alone: %d\n", bcs_finalize(context) == BCS_E_DISAGREED);
    return EXIT_SUCCESS;
}

/** Wait for the next rank, which does the same. */
static void wait_for_ever(void)
{
    char word[8];
    const struct bcs_message from = {.group = world,
                                     .data = word,
                                     .n_bytes = sizeof(word),
                                     .peer = (rank + 1) % size};

    must(bcs_recv(context, &from, NULL, NULL));
}

int main(int argc, char **argv)
{
    static char out[8], in[8];
    const char *last = argc > 3 ? argv[3] : "0";

    if (argc < 3) {
        fprintf(stderr, "slice_traffic_api: two numbers are expected\n");
        return EXIT_FAILURE;
    }
    must(bcs_init(&context));
    world = bcs_world(context);
    rank = bcs_group_rank(world);
    size = bcs_group_size(world);
    for (int i = 0; i < atoi(argv[1]); i++) {
        send_on(out, in, sizeof(out));
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        compute(atof(last));
        must(bcs_barrier(context, world, NULL));
    }
    if (strcmp(last, "disagree") == 0) {
        return disagree();
    }
    if (strcmp(last, "stuck") == 0) {
        wait_for_ever();
    }
    must(bcs_finalize(context));
    return EXIT_SUCCESS;
}
