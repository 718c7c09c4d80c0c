/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting descriptors and waiting, as all API calls do it. Internal to libbcs/api; called
 * by the process that owns the context, one thread at a time.
 */
#ifndef BCS_API_POST_H
#define BCS_API_POST_H

#include "libbcs/api/plan.h"

/** Wait for room in the ring. @return the entry; never NULL */
struct bcs_descriptor *bcs_post_wait_for_entry(struct bcs_context *context);

/** Say that all cells are pending. @return -ENOMEM */
int bcs_post_no_cell(const struct bcs_context *context);

/** The next ring entry, with kind set and flags cleared; fill it, then bcs_post_end. */
static inline struct bcs_descriptor *bcs_post_begin(struct bcs_context *context,
                                                    enum bcs_descriptor_kind kind)
{
    struct bcs_descriptor *entry = bcs_poster_entry(&context->poster);

    if (__builtin_expect(entry == NULL, 0)) {
        entry = bcs_post_wait_for_entry(context);
    }
    entry->kind = (uint8_t)kind;
    entry->flags = 0;
    return entry;
}

/** Publish an entry; the caller is about to wait. */
static inline void bcs_post_end(struct bcs_context *context,
                                struct bcs_descriptor *entry)
{
    bcs_poster_publish(&context->poster, entry);
}

/** Publish an entry when the caller will not wait: see that somebody looks at it. */
static inline void bcs_post_kick(struct bcs_context *context,
                                 struct bcs_descriptor *entry)
{
    bcs_poster_publish(&context->poster, entry);
    context->driver->kick(context->engine);
}

/**
 * After the kick for an operation that the engine must move on before it can complete: have
 * it carried out also if nobody waits. (Short messages have no need of it: they lie in NIC
 * memory until their receiver looks.)
 */
static inline void bcs_post_leave(struct bcs_context *context)
{
    context->driver->leave(context->engine);
}

/** Do this process's part of the transfers that the engine has ordered it to take part in,
 *  for whatever request they are. */
void bcs_serve_orders(struct bcs_context *context);

/** Have bcs_serve_orders look at the operation of one of this process's cells. */
void bcs_order_self(struct bcs_context *context, uint32_t cell);

/** Go on with the orders and plans that there are. */
void bcs_post_move(struct bcs_context *context);

/** From now on there is something to move, also without a new order. */
static inline void bcs_post_expect(struct bcs_context *context)
{
    context->n_orders_idle = context->poster.n_orders_seen - 1;
}

/** This process's part of what is pending beside the operation that a call is about. One
 *  comparison finds whether there is any: n_orders_idle is the number of orders as long as
 *  none of them and no plan has to go on. @return whether there is */
static inline bool bcs_post_progress(struct bcs_context *context)
{
    /* relaxed: take_orders acquires */
    bool has_work =
        atomic_load_explicit(&context->poster.port->n_orders, memory_order_relaxed) !=
        context->n_orders_idle;

    if (__builtin_expect(has_work, 0)) {
        bcs_post_move(context);
    }
    return has_work;
}

/** One turn of a wait, with what else has to happen meanwhile in this process. */
void bcs_wait_turn(struct bcs_context *context, struct nic_waiter *waiter);

/** A caller that polls has found nothing: look elsewhere and yield the core now and then. */
void bcs_wait_in_vain(struct bcs_context *context);

static inline void bcs_wait_stop(struct bcs_context *context, struct nic_waiter *waiter)
{
    context->driver->stop(context->engine, waiter);
}

#endif
