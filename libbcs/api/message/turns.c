/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads, handlers and longjmp in a context; see turns.h.
 */
#include "libbcs/api/message/turns.h"

#include <pthread.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/drivers/waiting.h"

void bcs_context_ask_in(struct bcs_context *context, const struct bcs_turns *turns)
{
    /* relaxed: who reads it has it sooner or later, and it does not change any more */
    __atomic_store_n(&context->hooks.turns, turns, __ATOMIC_RELAXED);
}

void bcs_context_wake_referee(struct bcs_context *context)
{
    bcs_word_wake(&nic_engine_port(context->engine, context->port)->park);
}

void bcs_context_take_turns(struct bcs_context *context)
{
    context->engine->is_threaded = true;
}

void bcs_context_nest(struct bcs_context *context, bool is_nested)
{
    context->is_nested = is_nested;
}

/** A part of a stack on which nothing stands any more. */
struct dead {
    uintptr_t begin, end;
};

/** What is below a frame of this thread. */
static struct dead dead_below(const void *frame)
{
    struct dead dead = {(uintptr_t)frame, (uintptr_t)frame};
    pthread_attr_t attributes;
    void *begin;
    size_t n_bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &begin, &n_bytes) == 0 &&
            (uintptr_t)begin < dead.end) {
            dead.begin = (uintptr_t)begin;
        }
        pthread_attr_destroy(&attributes);
    }
    return dead;
}

/** Take an operation back whose request is not there any more. */
static void drop(struct bcs_context *context, uint32_t cell)
{
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_CANCEL);

    context->pending[cell].request = NULL;
    entry->cell = cell;
    bcs_post_kick(context, ring, entry);
}

void bcs_context_abandon(struct bcs_context *context)
{
    struct dead dead = dead_below(__builtin_frame_address(0));

    bcs_stand_abandon(context);
    nic_waiter_abandon(context->engine);
    for (uint32_t i = 0; i < context->n_pending; i++) {
        uintptr_t request = (uintptr_t)context->pending[i].request;

        if (request >= dead.begin && request < dead.end) {
            drop(context, i);
        }
    }
}
