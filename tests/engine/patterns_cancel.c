/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns of the engine tests: sends that are taken back. Run by every rank.
 */
#include <stdlib.h>

#include "nic_threads/node/node.h"
#include "tests/engine/patterns.h"
#include "tests/pattern.h"

enum { MOST_BYTES = 300000, TAG_TAKEN = 30, TAG_LAST = 31 };

#ifdef __SANITIZE_THREAD__
enum { N_SENDS = 20 };
#else
enum { N_SENDS = 120 };
#endif

static const size_t lengths[] = {0, 8, 80, 300, 5000, 30000, MOST_BYTES};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/** How many of this process's blocks are in use. */
static uint32_t n_busy_blocks(const struct rank *me)
{
    const struct bcs_poster *poster = &me->context->poster;
    uint32_t n = 0;

    for (int class = 0; class < BCS_BLOCK_CLASSES; class ++) {
        const struct bcs_block_pool *pool = &poster->blocks[class];

        for (uint32_t i = 0; i < pool->n_touched; i++) {
            const struct bcs_block *block =
                bcs_poster_block_at(poster, nic_region_gva(&pool->region, i));

            n += atomic_load_explicit(&block->busy, memory_order_acquire);
        }
    }
    return n;
}

/** Send to the next rank and take that back, one by one or two at a time. */
static void send_and_take_back(struct rank *me, int32_t next, uint8_t *data)
{
    struct bcs_request requests[2];

    for (int i = 0; i < N_SENDS; i++) {
        enum bcs_send_mode mode =
            i / N_LENGTHS % 2 == 0 ? BCS_SEND_STANDARD : BCS_SEND_SYNCHRONOUS;
        struct bcs_message message =
            rank_message(me, next, TAG_TAKEN, data, lengths[i % N_LENGTHS]);
        int n = 1 + i % 2;

        for (int k = 0; k < n; k++) {
            rank_expect(me, bcs_send(me->context, &message, mode, &requests[k]) == 0,
                        "a send failed");
        }
        for (int k = 0; k < n; k++) {
            rank_expect(
                me,
                bcs_cancel_send(me->context, &requests[k], me->world.ports[next]) &&
                    bcs_is_done(&requests[k]),
                "a send was not taken back");
        }
    }
}

/** What is sent behind is whole. */
static void exchange(struct rank *me, int32_t next, int32_t last, uint8_t *data)
{
    struct bcs_message out, in;
    struct bcs_request request;

    for (int i = 0; i < N_LENGTHS; i++) {
        size_t n_bytes = lengths[i];

        pattern_fill(data, n_bytes, pattern_seed((uint32_t)(i + me->rank)));
        out = rank_message(me, next, TAG_LAST, data, n_bytes);
        in = rank_message(me, last, TAG_LAST, data + MOST_BYTES, MOST_BYTES);
        bcs_send(me->context, &out, BCS_SEND_STANDARD, &request);
        rank_expect(me, bcs_recv(me->context, &in, NULL, NULL) == 0,
                    "a receive failed");
        rank_expect(me, bcs_test(me->context, &request, true) == 0, "a send failed");
        rank_expect(me,
                    pattern_is_filled(data + MOST_BYTES, n_bytes,
                                      pattern_seed((uint32_t)(i + last))),
                    "a message is wrong");
    }
}

void pattern_taken_back(struct rank *me)
{
    int32_t next = (me->rank + 1) % me->size;
    int32_t last = (me->rank + me->size - 1) % me->size;
    uint8_t *data = calloc(2, MOST_BYTES);
    const struct nic_view *view = nic_engine_own(me->context->engine);

    send_and_take_back(me, next, data);
    rank_expect(
        me, bcs_poster_n_available(&me->context->poster) == me->job->config.descriptors,
        "a cell is left");
    rank_expect(me, n_busy_blocks(me) == 0, "a block is left");
    exchange(me, next, last, data);
    rank_meet(me);
    rank_expect(me,
                nic_match_n_sends(
                    &view->per_port.match[nic_view_seat(view, me->context->port)]) == 0,
                "a message is left");
    free(data);
}
