/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example of the BCS API: a farm. Process 0 gives pieces of a sum to whoever asks
 * first, found by a probe of any source; a worker sends what it has computed and
 * receives its next piece at the same time, by two requests. The workers, a group of
 * their own, then add up how many pieces they had. Alone, process 0 does all by itself.
 *
 * Usage: farm [pieces]
 */
#include <bcs/bcs.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_DONE, TAG_PIECE, DEFAULT_PIECES = 1000, PIECE = 100, NO_PIECE = -1 };

/** One process of the farm. */
struct place {
    struct bcs_context *context;
    struct bcs_group *world;
    struct bcs_group *workers; /* NULL in process 0 */
    int32_t rank, size;
};

/** End this process after an error; the launcher then ends the others. */
static void check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "farm: %s: status %d\n", what, status);
        exit(EXIT_FAILURE);
    }
}

static struct bcs_message message_of(const struct place *me, int32_t peer, int32_t tag,
                                     int64_t *data)
{
    return (struct bcs_message){.group = me->world,
                                .peer = peer,
                                .tag = tag,
                                .data = data,
                                .n_bytes = sizeof(*data)};
}

/** The sum of the numbers of a piece. */
static int64_t work(int64_t piece)
{
    int64_t sum = 0;

    for (int64_t i = piece * PIECE; i < (piece + 1) * PIECE; i++) {
        sum += i;
    }
    return sum;
}

/** Process 0: give out all pieces. @return the sum of what has come back */
static int64_t give_out(const struct place *me, int64_t n_pieces)
{
    int64_t next = 0, sum = 0;

    for (int32_t n_working = me->size - 1; n_working > 0;) {
        int64_t part, piece = next < n_pieces ? next++ : NO_PIECE;
        struct bcs_message in = message_of(me, BCS_ANY_SOURCE, TAG_DONE, &part);
        struct bcs_message out = message_of(me, 0, TAG_PIECE, &piece);
        struct bcs_result found;

        check(bcs_probe(me->context, &in, true, &found), "probe");
        in.peer = found.source;
        check(bcs_recv(me->context, &in, NULL, NULL), "receive");
        sum += part;
        out.peer = found.source;
        check(bcs_send(me->context, &out, BCS_SEND_STANDARD, NULL), "send");
        n_working -= piece == NO_PIECE;
    }
    return sum;
}

/** A worker: ask for pieces until there is none. @return how many it had */
static int64_t ask(const struct place *me)
{
    int64_t part = 0, piece, n_pieces = 0;

    for (;;) {
        struct bcs_message out = message_of(me, 0, TAG_DONE, &part);
        struct bcs_message in = message_of(me, 0, TAG_PIECE, &piece);
        struct bcs_request requests[2] = {BCS_REQUEST_DONE, BCS_REQUEST_DONE};

        check(bcs_recv(me->context, &in, NULL, &requests[0]), "receive");
        check(bcs_send(me->context, &out, BCS_SEND_STANDARD, &requests[1]), "send");
        check(bcs_testall(me->context, requests, 2, true), "testall");
        if (piece == NO_PIECE) {
            return n_pieces;
        }
        part = work(piece);
        n_pieces++;
    }
}

/** All but process 0. */
static void make_workers(struct place *me)
{
    int32_t *ranks = malloc((size_t)me->size * sizeof(*ranks));

    check(ranks == NULL, "malloc");
    for (int32_t i = 1; i < me->size; i++) {
        ranks[i - 1] = i;
    }
    check(bcs_group_create(me->context, ranks, me->size - 1, &me->workers), "group");
    free(ranks);
}

/** A worker: the first of them checks that together they had all pieces. */
static void count(const struct place *me, int64_t n_mine, int64_t n_pieces)
{
    int64_t n_all = 0;

    check(bcs_reduce(me->context, me->workers,
                     &(struct bcs_reduction){.in = &n_mine,
                                             .out = &n_all,
                                             .count = 1,
                                             .op = BCS_SUM,
                                             .type = BCS_INT64},
                     0, NULL),
          "reduce");
    check(bcs_group_rank(me->workers) == 0 && n_all != n_pieces, "lost pieces");
}

int main(int argc, char *argv[])
{
    int64_t n_pieces = argc > 1 ? atoll(argv[1]) : DEFAULT_PIECES;
    int64_t n = n_pieces * PIECE, sum = 0;
    struct place me = {.workers = NULL};

    check(bcs_init(&me.context), "bcs_init");
    me.world = bcs_world(me.context);
    me.rank = bcs_group_rank(me.world);
    me.size = bcs_group_size(me.world);
    if (me.size > 1) {
        make_workers(&me);
    }
    if (me.workers != NULL) {
        count(&me, ask(&me), n_pieces);
    } else if (me.size > 1) {
        sum = give_out(&me, n_pieces);
    } else {
        for (int64_t i = 0; i < n_pieces; i++) {
            sum += work(i);
        }
    }
    if (me.rank == 0) {
        check(sum != n * (n - 1) / 2, "wrong sum");
        printf("farm of %d: %lld pieces, sum %lld\n", (int)me.size, (long long)n_pieces,
               (long long)sum);
    }
    check(bcs_finalize(me.context), "bcs_finalize");
    return 0;
}
