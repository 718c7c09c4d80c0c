/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Independent progress: long messages whose ends do something else. How soon they are
 * over is not taken from a clock, which a busy machine would spoil, but counted: in
 * what the background thread means to sleep between its looks, or in timed slices.
 */
#include <sched.h>
#include <stdlib.h>

#include "tests/engine/patterns.h"
#include "tests/pattern.h"

enum {
    N_BYTES = 300000,
    /* Two looks, half a slice from each other, or 20 slices; and the one that is under
     * way when the message is left. [docs/slices.md] */
    MOST_HALVES = 3,
    MOST_HALVES_IF_BUSY = 2 * 40 + 1,
    /* Seven chunks, the slice that matches, and the one in which they were left. */
    MOST_TIMED_SLICES = 9
};

/** How far the engine has come by its own measure: timed slices, or halves of slices
 *  that the background thread has meant to sleep. */
static uint64_t progress_of(const struct rank *me)
{
    const struct nic_engine *engine = me->context->engine;

    return me->job->shape.is_timed ? bcs_context_slices(me->context)
                                   : atomic_load(&engine->machine->watched_ns) /
                                         (engine->config->slice_ns / 2);
}

static uint64_t most_progress(const struct rank *me)
{
    if (me->job->shape.is_timed) {
        return MOST_TIMED_SLICES;
    }
    return nic_engine_has_idle_core(me->context->engine) ? MOST_HALVES
                                                         : MOST_HALVES_IF_BUSY;
}

/** Whether rank 1's message is there. */
static bool is_over(const struct rank *me, const struct bcs_request *request)
{
    const struct bcs_cell *cell =
        bcs_poster_cell_at(&me->context->poster, bcs_request_state(request)->cell);
    enum bcs_cell_state state = bcs_cell_state(cell);

    return state == BCS_CELL_DONE ||
           (state != BCS_CELL_PENDING &&
            atomic_load(&cell->transfer.moved) == bcs_request_state(request)->n_bytes);
}

/** Neither end calls the API until somebody else has copied the message, which must be
 *  soon; what is measured before a look that does not find it has not been too much. */
static void stay_busy(struct rank *me, const struct bcs_request *request,
                      uint64_t round)
{
    _Atomic uint64_t *n_moved = &me->job->shared->words[0];
    _Atomic uint64_t *n_posted = &me->job->shared->words[1];
    bool is_measured = !me->job->shape.has_crew || me->job->shape.is_timed;
    uint64_t start, passed = 0;

    atomic_fetch_add(n_posted, 1);
    while (atomic_load(n_posted) < 2 * round) {
        sched_yield();
    }
    start = progress_of(me);
    while (atomic_load(n_moved) < round) {
        uint64_t now = progress_of(me) - start;

        if (me->rank == 1 && is_over(me, request)) {
            atomic_store(n_moved, round);
        } else if (me->rank == 1) {
            passed = now;
        }
        sched_yield();
    }
    rank_expect(me, !is_measured || passed <= most_progress(me),
                "a message that its ends left was late");
}

void pattern_busy_ends(struct rank *me)
{
    const struct nic_engine *engine = me->context->engine;
    bool has_mover = me->job->shape.is_timed || me->job->shape.has_crew;
    uint8_t *data = calloc(1, N_BYTES);

    for (uint32_t round = 1; me->rank < 2 && round <= 3; round++) {
        struct bcs_message message = rank_message(me, 1 - me->rank, 1, data, N_BYTES);
        struct bcs_request request;

        if (me->rank == 0) {
            pattern_fill(data, N_BYTES, pattern_seed(round));
            bcs_send(me->context, &message, BCS_SEND_STANDARD, &request);
        } else {
            bcs_recv(me->context, &message, NULL, &request);
        }
        if (engine->is_direct && (engine->n_nodes == 1 || has_mover)) {
            stay_busy(me, &request, round);
        }
        rank_expect(me, bcs_test(me->context, &request, true) == 0, "waiting failed");
        rank_expect(me, pattern_is_filled(data, N_BYTES, pattern_seed(round)),
                    "a wrong message");
    }
    free(data);
}
