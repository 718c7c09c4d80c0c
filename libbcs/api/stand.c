/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling where a wait stands; see stand.h. Only waits of some length come here. Runs in the thread
 * that waits, which has the context.
 */
#include "libbcs/api/stand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/api/context.h"
#include "libbcs/base/clock.h"
#include "libbcs/base/log.h"

/* From when on a wait is told of: long beside what that takes, short beside what users wait. */
#define STAND_NS 1000000u

/** What is kept for telling. The records are of bcs_stand_words words. */
struct bcs_stand_teller {
    struct bcs_clock_moment began; /* for the rate of ticks */
    uint64_t stand_ticks;          /* STAND_NS */
    struct bcs_stands *stands;     /* of this port; NULL: not looked up yet */
    uint32_t used;                 /* bits: slots of threads that wait */
    struct bcs_stand *draft;       /* what is told now, */
    struct bcs_stand *told[BCS_STAND_THREADS]; /* and what stands in each slot */
};

static size_t n_record_bytes(const struct bcs_context *context)
{
    return bcs_stand_words(context->size) * sizeof(uint64_t);
}

int bcs_stand_init(struct bcs_context *context)
{
    size_t n_bytes = n_record_bytes(context);
    struct bcs_stand_teller *teller =
        calloc(1, sizeof(*teller) + (1 + BCS_STAND_THREADS) * n_bytes);
    char *records = (char *)(teller + 1);

    if (teller == NULL) {
        bcs_error("no memory for where rank %u stands", context->rank);
        return -ENOMEM;
    }
    teller->draft = (void *)records;
    for (size_t i = 0; i < BCS_STAND_THREADS; i++) {
        teller->told[i] = (void *)(records + (i + 1) * n_bytes);
    }
    teller->began = bcs_clock_moment();
    context->teller = teller;
    return 0;
}

void bcs_stand_fini(struct bcs_context *context)
{
    free(context->teller);
    context->teller = NULL;
}

bool bcs_stand_is_due(const struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    uint64_t now = bcs_clock_ticks();

    if (waiter->since_ticks == 0) {
        waiter->since_ticks = now;
    }
    if (teller->stand_ticks == 0) {
        teller->stand_ticks = bcs_clock_ticks_in(STAND_NS, teller->began);
    }
    /* Told once for each sleep, or each time between some looks. */
    waiter->is_asked =
        !waiter->is_asked && now - waiter->since_ticks >= teller->stand_ticks;
    return waiter->is_asked;
}

void bcs_stand_begin(struct bcs_context *context, bool needs_all)
{
    memset(context->teller->draft, 0, n_record_bytes(context));
    context->teller->draft->needs_all = needs_all;
    context->teller->draft->is_waiting = true;
    context->teller->draft->has_plans = context->plans.first != NULL;
}

static void add_rank(struct bcs_stand *stand, uint32_t rank)
{
    bcs_stand_ranks(stand)[rank / 64] |= UINT64_C(1) << rank % 64;
}

/** Who can release an operation: its peer, or all of its group but this process itself, unless the
 *  operation is a message, which may come from oneself. */
static void add_ranks(struct bcs_context *context, const struct bcs_stand_about *about)
{
    struct bcs_stand *draft = context->teller->draft;

    if (about->peer >= 0) {
        add_rank(draft, about->group->ports[about->peer]);
        return;
    }
    for (int32_t i = 0; i < about->group->size; i++) {
        if (about->kind != BCS_STAND_COLLECTIVE ||
            about->group->ports[i] != context->rank) {
            add_rank(draft, about->group->ports[i]);
        }
    }
}

/** What the first operation says of the whole wait. */
static void add_group(struct bcs_context *context, const struct bcs_stand_about *about)
{
    struct bcs_stand *draft = context->teller->draft;

    draft->number = about->number;
    if (about->collective != NULL) {
        strncpy(draft->collective, about->collective, sizeof(draft->collective) - 1);
    }
    if (about->group != NULL) {
        draft->context_id = about->group->context_id;
        draft->comm_rank = about->group->rank;
        draft->comm_size = about->group->size;
        draft->slot = about->group->slot;
        if (context->hooks.name_group != NULL) {
            context->hooks.name_group(about->group, draft->comm, sizeof(draft->comm));
        }
    }
}

void bcs_stand_add(struct bcs_context *context, const struct bcs_stand_about *about)
{
    struct bcs_stand *draft = context->teller->draft;
    struct bcs_stand_operation operation = {
        .n_bytes = about->n_bytes,
        .peer = -1,
        .tag = about->tag < 0 ? -1 : about->tag,
        .cell = BCS_CELL_NONE,
        .kind = (uint8_t)about->kind,
    };

    if (about->request != NULL) {
        if (bcs_is_done(about->request)) {
            return;
        }
        operation.cell = bcs_inside(about->request)->cell;
    }
    if (about->group != NULL) {
        operation.context_id = about->group->context_id;
        operation.peer =
            about->peer < 0 ? -1 : (int32_t)about->group->ports[about->peer];
        add_ranks(context, about);
    }
    if (draft->n_operations == 0) {
        add_group(context, about);
    }
    if (draft->n_operations < BCS_STAND_OPERATIONS) {
        draft->operations[draft->n_operations] = operation;
    }
    draft->n_operations++;
}

/** A slot for a wait that tells for the first time. @return its number and 1; 0: none is free */
static uint32_t take_slot(struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    const struct nic_view *view = nic_engine_own(context->engine);
    uint32_t free_slots = ~teller->used & ((1u << BCS_STAND_THREADS) - 1);

    if (teller->stands == NULL) {
        teller->stands = nic_view_at(
            view, nic_layout_stands_gva(&context->engine->layout, context->rank));
    }
    if (free_slots != 0) {
        waiter->stand = (uint32_t)__builtin_ctz(free_slots) + 1;
        teller->used |= 1u << (waiter->stand - 1);
    }
    return waiter->stand;
}

static struct bcs_stand_slot *slot_of(const struct bcs_context *context,
                                      const struct bcs_waiter *waiter)
{
    return bcs_stand_slot_at(context->teller->stands, waiter->stand - 1, context->size);
}

/** When a wait has begun, on the other clock. */
static uint64_t since_ns(const struct bcs_context *context,
                         const struct bcs_waiter *waiter)
{
    const struct bcs_clock_moment *began = &context->teller->began;
    struct bcs_clock_moment now = bcs_clock_moment();

    return now.ns - (uint64_t)((double)(now.ticks - waiter->since_ticks) *
                               (double)(now.ns - began->ns) /
                               (double)(now.ticks - began->ticks + 1));
}

/** What stays the same as long as the wait lasts. */
static void tell_place(const struct bcs_context *context,
                       const struct bcs_waiter *waiter, struct bcs_stand *draft)
{
    draft->since_ns = since_ns(context, waiter);
    draft->thread = (uint32_t)gettid();
    if (context->hooks.find_call != NULL) {
        context->hooks.find_call(draft);
    }
}

static void copy_place(const struct bcs_stand *told, struct bcs_stand *draft)
{
    draft->since_ns = told->since_ns;
    draft->thread = told->thread;
    draft->address = told->address;
    draft->base = told->base;
    memcpy(draft->call, told->call, sizeof(draft->call));
}

void bcs_stand_publish(struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    struct bcs_stand *told;

    if (waiter->stand == 0) {
        if (take_slot(context, waiter) == 0) {
            return;
        }
        tell_place(context, waiter, teller->draft);
        told = teller->told[waiter->stand - 1];
    } else {
        told = teller->told[waiter->stand - 1];
        copy_place(told, teller->draft);
        if (memcmp(told, teller->draft, n_record_bytes(context)) == 0) {
            return;
        }
    }
    memcpy(told, teller->draft, n_record_bytes(context));
    bcs_stand_write(slot_of(context, waiter), told, context->size);
}

void bcs_stand_at(struct bcs_context *context, struct bcs_waiter *waiter,
                  const struct bcs_stand_about *about)
{
    bcs_stand_begin(context, true);
    bcs_stand_add(context, about);
    bcs_stand_publish(context, waiter);
}

void bcs_stand_at_message(struct bcs_context *context, struct bcs_waiter *waiter,
                          enum bcs_stand_kind kind, const struct bcs_message *message,
                          const struct bcs_request *request)
{
    bcs_stand_at(context, waiter,
                 &(struct bcs_stand_about){
                     .kind = kind,
                     .group = message->group,
                     .peer = message->peer,
                     .tag = message->tag,
                     .n_bytes = message->n_bytes,
                     .request = request,
                 });
}

void bcs_stand_at_collective(struct bcs_context *context, struct bcs_waiter *waiter,
                             const struct bcs_group *group, const char *collective,
                             uint64_t number)
{
    bcs_stand_at(context, waiter,
                 &(struct bcs_stand_about){
                     .kind = BCS_STAND_COLLECTIVE,
                     .group = group,
                     .peer = -1,
                     .tag = -1,
                     .collective = collective,
                     .number = number,
                 });
}

void bcs_stand_at_requests(struct bcs_context *context, struct bcs_waiter *waiter,
                           const struct bcs_request requests[], size_t n_requests)
{
    bcs_stand_begin(context, true);
    for (size_t i = 0; i < n_requests; i++) {
        const struct bcs_inside *inside = bcs_inside(&requests[i]);
        struct bcs_stand_about about = {
            .kind = inside->is_collective ? BCS_STAND_COLLECTIVE
                    : inside->is_send     ? BCS_STAND_SEND
                                          : BCS_STAND_RECEIVE,
            .peer = -1,
            .tag = -1,
            .n_bytes = inside->n_bytes,
            .request = &requests[i],
        };

        if (!inside->is_pending) {
            continue;
        }
        if (context->hooks.describe != NULL) {
            context->hooks.describe(&requests[i], &about);
        }
        bcs_stand_add(context, &about);
    }
    bcs_stand_publish(context, waiter);
}

void bcs_stand_at_other(struct bcs_context *context, struct bcs_waiter *waiter)
{
    bcs_stand_at(
        context, waiter,
        &(struct bcs_stand_about){.kind = BCS_STAND_OTHER, .peer = -1, .tag = -1});
}

void bcs_stand_withdraw(struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    struct bcs_stands *stands = teller->stands;
    uint64_t began_ns = teller->told[waiter->stand - 1]->since_ns;
    uint64_t waited_ns = bcs_clock_now_ns() - began_ns;

    bcs_stand_write(slot_of(context, waiter), NULL, context->size);
    /* relaxed, and no read-modify-write: this process is the only one that writes, one thread at
     * a time */
    atomic_store_explicit(
        &stands->waited_ns,
        atomic_load_explicit(&stands->waited_ns, memory_order_relaxed) + waited_ns,
        memory_order_relaxed);
    atomic_store_explicit(&stands->n_waits,
                          atomic_load_explicit(&stands->n_waits, memory_order_relaxed) +
                              1,
                          memory_order_relaxed);
    teller->used &= ~(1u << (waiter->stand - 1));
    waiter->stand = 0;
}
