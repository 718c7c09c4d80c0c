/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a record says of the whole process: its collectives that go on by themselves,
 * and whether anything else could act. Runs in the thread that waits, which has the
 * context.
 */
#include <string.h>
#include <unistd.h>

#include "libbcs/api/record/stand_tell.h"
#include "libbcs/api/record/stand_teller.h"

void bcs_stand_set_tasks(struct bcs_context *context, const struct bcs_tasks *tasks)
{
    context->teller->tasks = *tasks;
    context->teller->knows_tasks = true;
}

/** Several threads of this process may be in the API. */
static bool is_threaded(const struct bcs_context *context)
{
    return context->hooks.turns != NULL;
}

/** Find out whether anything of this process could act while all of its threads that
 *  have told wait: that takes longer than the rest, and is of use to who has asked. */
static void tell_agent(const struct bcs_context *context, struct bcs_stand *draft)
{
    const struct bcs_stand_teller *teller = context->teller;
    uint32_t waiting[BCS_STAND_THREADS];
    struct bcs_agents_but but = {
        .tasks = &teller->tasks,
        .waiting = waiting,
        .door = context->hooks.turns == NULL ? NULL : context->hooks.turns->door,
    };
    struct bcs_agent agent;

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        if ((teller->used >> i & 1) != 0) {
            waiting[but.n_waiting++] = teller->told[i]->thread;
        }
    }
    agent = bcs_agent_find(&but);
    draft->agent = (uint8_t)agent.kind;
    memcpy(draft->agent_words, agent.text, sizeof(draft->agent_words));
}

/** A bcs_take_need_fn, into the draft of a context. */
static void add_need(void *arg, const struct bcs_stand_operation *need)
{
    const struct bcs_context *context = arg;
    struct bcs_stand_teller *teller = context->teller;

    bcs_stand_list_plan(teller->draft, context->size, teller->page, need);
}

void bcs_stand_tell_process(struct bcs_context *context)
{
    const struct bcs_stand_teller *teller = context->teller;
    struct bcs_stand *draft = teller->draft;

    draft->has_others =
        !context->find_needs(context, NULL, add_need, context) ||
        (context->hooks.has_others != NULL && context->hooks.has_others());
    draft->is_threaded = is_threaded(context);
    draft->n_threads = draft->is_threaded && teller->knows_tasks
                           ? bcs_agents_count(&teller->tasks)
                           : 1;
    if (teller->is_asked && teller->knows_tasks) {
        tell_agent(context, draft);
    }
}

/** The slots that this thread has told in, a bit each. */
static uint32_t slots_of_thread(const struct bcs_context *context)
{
    const struct bcs_stand_teller *teller = context->teller;
    uint32_t slots = teller->used;

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        if (teller->told[i]->thread != (uint32_t)gettid()) {
            slots &= ~(1u << i);
        }
    }
    return slots;
}

bool bcs_stand_is_told(const struct bcs_context *context)
{
    return slots_of_thread(context) != 0;
}

void bcs_stand_abandon(struct bcs_context *context)
{
    uint32_t slots = slots_of_thread(context);

    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        if ((slots >> i & 1) != 0) {
            bcs_stand_write(bcs_stand_slot_at(bcs_stand_own(context), i, context->size),
                            NULL, context->size);
        }
    }
    context->teller->used &= ~slots;
}
