/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program on the BCS API, of 4 processes, whose calls run_mds_calls.py knows. With an
 * argument it aborts before it ends.
 */
#include <bcs/bcs.h>

#include <stdlib.h>
#include <string.h>

enum { N_ROUNDS = 5, N_BYTES = 100, N_SHORT = 40, N_REQUESTS = 4, RANKS = 4 };

static struct bcs_context *context;
static struct bcs_group *world;
static int32_t me, next, before;

static void must(int rc)
{
    if (rc != 0) {
        abort();
    }
}

/** Messages by calls that block, in a group of its own. */
static __attribute__((noinline)) void ring(struct bcs_group *group)
{
    char data[2 * N_BYTES];

    memset(data, 0, sizeof(data));
    for (int i = 0; i < N_ROUNDS; i++) {
        const struct bcs_message out = {
            .group = group, .data = data, .n_bytes = N_BYTES, .peer = next, .tag = 7};
        const struct bcs_message in = {.group = group,
                                       .data = data,
                                       .n_bytes = sizeof(data),
                                       .peer = before,
                                       .tag = 7};

        must(bcs_send(context, &out, BCS_SEND_BUFFERED, NULL));
        must(bcs_recv(context, &in, NULL, NULL));
    }
}

/** Messages by requests, from anybody, of which the last is too long. */
static void requests(void)
{
    static char data[N_REQUESTS][N_BYTES];
    struct bcs_request all[N_REQUESTS];

    for (int i = 0; i < N_REQUESTS / 2; i++) {
        const struct bcs_message in = {.group = world,
                                       .data = data[i],
                                       .n_bytes = i == 0 ? N_BYTES : N_SHORT / 2,
                                       .peer = BCS_ANY_SOURCE,
                                       .tag = i};

        must(bcs_recv(context, &in, NULL, &all[i]));
    }
    must(bcs_barrier(context, world, NULL));
    for (int i = N_REQUESTS / 2; i < N_REQUESTS; i++) {
        const struct bcs_message out = {.group = world,
                                        .data = data[i],
                                        .n_bytes = N_SHORT,
                                        .peer = next,
                                        .tag = i - N_REQUESTS / 2};

        must(bcs_send(context, &out, BCS_SEND_BUFFERED, &all[i]));
    }
    if (bcs_testall(context, all, N_REQUESTS, true) != BCS_E_TRUNCATED) {
        abort();
    }
    must(bcs_test(context, &all[0], false));
}

static __attribute__((noinline)) void to_oneself(void)
{
    int64_t word = 1;
    const struct bcs_message message = {
        .group = world, .data = &word, .n_bytes = sizeof(word), .peer = me, .tag = 9};
    struct bcs_result result;

    if (bcs_probe(context, &message, false, &result) != BCS_E_PENDING) {
        abort();
    }
    must(bcs_send(context, &message, BCS_SEND_BUFFERED, NULL));
    must(bcs_probe(context, &message, true, &result));
    must(bcs_recv(context, &message, &result, NULL));
}

static void collectives(void)
{
    static const size_t counts[RANKS] = {1, 2, 3, 4};
    int64_t in[16] = {0}, out[16], all[64];
    const struct bcs_blocks blocks = {.data = all, .block_bytes = 16};
    const struct bcs_blocks to_all = {.data = in, .block_bytes = 8};
    const struct bcs_part part = {.data = out, .n_bytes = 16};
    struct bcs_reduction reduction = {
        .in = in, .out = out, .count = 4, .op = BCS_SUM, .type = BCS_INT64};
    struct bcs_request request;

    must(bcs_bcast(context, world, all, 256, 0, NULL));
    must(bcs_reduce(context, world, &reduction, BCS_ROOT_ALL, NULL));
    must(bcs_scan(context, world, &reduction, false, NULL));
    must(bcs_reduce_scatter(context, world, &reduction, counts, NULL));
    must(bcs_scatter(context, world, &part, &blocks, 1, NULL));
    must(bcs_gather(context, world, me == 1 ? NULL : &part, &blocks, 1, NULL));
    must(bcs_allgather(context, world, in, &blocks, NULL));
    must(bcs_alltoall(context, world, &to_all,
                      &(struct bcs_blocks){.data = all, .block_bytes = 8}, NULL));
    must(bcs_bcast(context, world, all, 256, 0, &request));
    must(bcs_test(context, &request, true));
}

int main(int argc, char **argv)
{
    const int32_t ranks[RANKS] = {3, 2, 1, 0};
    struct bcs_group *group;

    (void)argv;
    must(bcs_init(&context));
    world = bcs_world(context);
    me = bcs_group_rank(world);
    if (bcs_group_size(world) != RANKS) {
        return EXIT_FAILURE;
    }
    must(bcs_group_create(context, ranks, RANKS, &group));
    next = (bcs_group_rank(group) + 1) % RANKS;
    before = (bcs_group_rank(group) + RANKS - 1) % RANKS;
    ring(group);
    next = (me + 1) % RANKS;
    requests();
    to_oneself();
    collectives();
    if (argc > 1) {
        must(bcs_barrier(context, world, NULL)); /* and all has been counted */
        abort();
    }
    must(bcs_finalize(context));
    return EXIT_SUCCESS;
}
