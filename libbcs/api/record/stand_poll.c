/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling that a process polls: its last call that has looked in vain, for those who
 * look at the job. It is no wait, and proves nothing: it stands in a slot of its own
 * behind those of the threads, which the referee does not read. It is taken back when a
 * thread of the process tells of a wait. Runs in the thread that polls, which has the
 * context.
 */
#include "libbcs/api/record/stand_poll.h"

#include <string.h>
#include <unistd.h>

#include "libbcs/api/record/stand_teller.h"
#include "libbcs/fabric/base/clock.h"

/* A row of looks ends by a pause of so long; it is told when it has lasted for a while,
 * and again each time that this has passed. */
enum { GAP_NS = 20000000, AGAIN_NS = 20000000, LEAST_NS = 1000000 };

static struct bcs_stand_slot *slot_of_polls(const struct bcs_context *context)
{
    return bcs_stand_slot_at(bcs_stand_own(context), BCS_STAND_POLLS, context->size);
}

static void tell(struct bcs_context *context, uint64_t now_ns)
{
    struct bcs_stand_teller *teller = context->teller;
    struct bcs_stand *draft = teller->draft;

    memset(draft, 0, bcs_stand_words(context->size) * sizeof(uint64_t));
    draft->root = -1;
    draft->is_waiting = true;
    draft->since_ns = now_ns;
    draft->thread = (uint32_t)gettid();
    if (context->hooks.find_call != NULL) {
        context->hooks.find_call(draft);
    }
    bcs_stand_write(slot_of_polls(context), draft, context->size);
    teller->polls.told_ns = now_ns;
}

void bcs_stand_poll(struct bcs_context *context)
{
    struct bcs_stand_polls *polls = &context->teller->polls;
    uint64_t now_ns = bcs_clock_now_ns();

    if (now_ns - polls->last_ns > GAP_NS) {
        polls->since_ns = now_ns;
    }
    polls->last_ns = now_ns;
    if (now_ns - polls->since_ns >= LEAST_NS && now_ns - polls->told_ns >= AGAIN_NS &&
        !context->is_nested) {
        tell(context, now_ns);
    }
}

void bcs_stand_poll_over(struct bcs_context *context)
{
    struct bcs_stand_teller *teller = context->teller;

    if (teller->polls.told_ns != 0) {
        teller->polls.told_ns = 0;
        bcs_stand_write(slot_of_polls(context), NULL, context->size);
    }
}
