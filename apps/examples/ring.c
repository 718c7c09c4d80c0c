/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example of the BCS API: a token runs around a ring of processes, then all send long
 * messages to their right neighbours at the same time. Prints the time of one hop and
 * the bandwidth of each process, and checks all that arrives.
 *
 * Usage: ring [rounds]
 */
#include <bcs/bcs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG_TOKEN, TAG_DATA, DEFAULT_ROUNDS = 1000, N_WORDS = 1 << 17, N_MESSAGES = 20 };

/** One process of the ring. */
struct place {
    struct bcs_context *context;
    struct bcs_group *world;
    int32_t rank, size;
    int32_t left, right;
};

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/** End this process after an error; the launcher then ends the others. */
static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "ring: %s: status %d\n", what, status);
        exit(EXIT_FAILURE);
    }
}

static struct bcs_message message_of(const struct place *me, int32_t peer, int32_t tag,
                                     void *data, size_t n_bytes)
{
    return (struct bcs_message){
        .group = me->world, .peer = peer, .tag = tag, .data = data, .n_bytes = n_bytes};
}

/** The token counts its hops. @return seconds of one hop */
static double run_token(const struct place *me, int64_t n_rounds)
{
    int64_t token = 0;
    struct bcs_message in = message_of(me, me->left, TAG_TOKEN, &token, sizeof(token));
    struct bcs_message out =
        message_of(me, me->right, TAG_TOKEN, &token, sizeof(token));
    struct bcs_result result;
    double start;

    check(bcs_barrier(me->context, me->world, NULL), "barrier");
    start = now_seconds();
    for (int64_t round = 0; round < n_rounds; round++) {
        if (me->rank > 0) {
            check(bcs_recv(me->context, &in, &result, NULL), "receive");
        }
        token++;
        check(bcs_send(me->context, &out, BCS_SEND_STANDARD, NULL), "send");
        if (me->rank == 0) {
            check(bcs_recv(me->context, &in, &result, NULL), "receive");
        }
        check(result.source != me->left || result.n_bytes != sizeof(token) ||
                  token != me->size * round + (me->rank == 0 ? me->size : me->rank + 1),
              "the token has been changed");
    }
    return (now_seconds() - start) / (double)(n_rounds * me->size);
}

/** Everybody sends to the right and receives from the left. @return bytes a second */
static double run_bandwidth(const struct place *me)
{
    size_t n_bytes = N_WORDS * sizeof(uint64_t);
    uint64_t *from = malloc(n_bytes), *to = calloc(1, n_bytes);
    struct bcs_message in = message_of(me, me->left, TAG_DATA, to, n_bytes);
    struct bcs_message out = message_of(me, me->right, TAG_DATA, from, n_bytes);
    double start, seconds;

    check(from == NULL || to == NULL, "no memory");
    for (uint64_t i = 0; i < N_WORDS; i++) {
        from[i] = i * 2654435761u + (uint64_t)me->rank;
    }
    check(bcs_barrier(me->context, me->world, NULL), "barrier");
    start = now_seconds();
    for (int i = 0; i < N_MESSAGES; i++) {
        struct bcs_request requests[2];

        check(bcs_recv(me->context, &in, NULL, &requests[0]), "start a receive");
        check(bcs_send(me->context, &out, BCS_SEND_STANDARD, &requests[1]),
              "start a send");
        check(bcs_testall(me->context, requests, 2, true), "wait");
    }
    seconds = now_seconds() - start;
    for (uint64_t i = 0; i < N_WORDS; i++) {
        check(to[i] != i * 2654435761u + (uint64_t)me->left, "wrong data");
    }
    free(from);
    free(to);
    return (double)N_MESSAGES * (double)n_bytes / seconds;
}

int main(int argc, char **argv)
{
    int64_t n_rounds = argc > 1 ? strtoll(argv[1], NULL, 10) : DEFAULT_ROUNDS;
    struct place me;
    double hop, bandwidth;

    if (n_rounds < 1) {
        fprintf(stderr, "usage: ring [rounds]\n");
        return EXIT_FAILURE;
    }
    check(bcs_init(&me.context), "cannot start");
    me.world = bcs_world(me.context);
    me.rank = bcs_group_rank(me.world);
    me.size = bcs_group_size(me.world);
    me.left = (me.rank + me.size - 1) % me.size;
    me.right = (me.rank + 1) % me.size;
    hop = run_token(&me, n_rounds);
    bandwidth = run_bandwidth(&me);
    if (me.rank == 0) {
        printf("ring of %d: %.3f us a hop, %.0f MB/s for each process\n", me.size,
               hop * 1e6, bandwidth * 1e-6);
    }
    check(bcs_finalize(me.context), "end");
    return EXIT_SUCCESS;
}
