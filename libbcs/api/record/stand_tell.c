/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling where a wait stands; see stand_tell.h. Only waits of some length come here.
 * Runs in the thread that waits, which has the context.
 */
#include "libbcs/api/record/stand_tell.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/plan_tag.h"
#include "libbcs/api/record/collective_words.h"
#include "libbcs/api/record/stand_poll.h"
#include "libbcs/api/record/stand_teller.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/sparse_table.h"
#include "nic_threads/node/referee_wake.h"

/* From when on a wait is told of: long beside what that takes, short beside what users
 * wait. */
#define STAND_NS 1000000u

static size_t n_record_bytes(const struct bcs_context *context)
{
    return bcs_stand_words(context->size) * sizeof(uint64_t);
}

/** Bytes of a teller with its records, most of which it may never need. */
static size_t n_teller_bytes(const struct bcs_context *context)
{
    return sizeof(struct bcs_stand_teller) +
           (1 + BCS_STAND_THREADS) * n_record_bytes(context);
}

int bcs_stand_init(struct bcs_context *context)
{
    size_t n_bytes = n_record_bytes(context);
    struct bcs_stand_teller *teller = bcs_sparse_new(1, n_teller_bytes(context));
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
    bcs_sparse_free(context->teller, 1, n_teller_bytes(context));
    context->teller = NULL;
}

/** Whether a wait that has told is asked anew. What it finds out from here on is an
 *  answer. */
static bool is_asked(const struct bcs_context *context, const struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;

    if (waiter->stand == 0) {
        return false;
    }
    /* seq_cst: partner of the store of who asks */
    teller->asked =
        atomic_load_explicit(&bcs_stand_own(context)->asked, memory_order_seq_cst);
    return teller->asked != teller->answered[waiter->stand - 1];
}

bool bcs_stand_is_due(const struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    uint64_t now = bcs_clock_ticks();

    if (context->is_nested) { /* the call within which this one is has the draft,
                                 perhaps */
        return false;
    }
    if (waiter->since_ticks == 0) {
        waiter->since_ticks = now;
    }
    if (teller->stand_ticks == 0) {
        teller->stand_ticks = bcs_clock_ticks_in(STAND_NS, teller->began);
    }
    /* Told once for each sleep, or each time between some looks. */
    teller->is_asked = is_asked(context, waiter);
    waiter->is_asked =
        teller->is_asked ||
        (!waiter->is_asked && now - waiter->since_ticks >= teller->stand_ticks);
    return waiter->is_asked;
}

/** Find out which page is wanted: that of the last question, whoever it was for. */
static uint32_t find_page(const struct bcs_context *context)
{
    /* relaxed: what stands on the page is true whenever it is told */
    uint64_t asked =
        atomic_load_explicit(&bcs_stand_own(context)->asked, memory_order_relaxed);

    return (uint32_t)(asked & ((UINT64_C(1) << BCS_STAND_PAGE_BITS) - 1));
}

void bcs_stand_begin(struct bcs_context *context, bool needs_all)
{
    struct bcs_stand *draft = context->teller->draft;

    context->teller->page = find_page(context);
    memset(draft, 0, n_record_bytes(context));
    draft->root = -1;
    draft->needs_all = needs_all;
    draft->is_waiting = true;
    bcs_stand_tell_process(context);
}

static void add_rank(const struct bcs_context *context, uint32_t rank)
{
    bcs_stand_mark(context->teller->draft, BCS_STAND_RELEASING, rank, context->size);
}

/** Whether a member of a group can release an operation that names nobody: all of a
 *  collective but this process itself, and those that have come; a message may be one's
 *  own. */
static bool can_release(const struct bcs_context *context,
                        const struct bcs_stand_about *about, int32_t member)
{
    return about->kind != BCS_STAND_COLLECTIVE ||
           (about->group->ranks[member] != context->rank &&
            (about->has_come == NULL || !about->has_come(about->arg, member)));
}

/** Who can release an operation. */
static void add_ranks(struct bcs_context *context, const struct bcs_stand_about *about)
{
    if (about->peer >= 0) {
        add_rank(context, about->group->ranks[about->peer]);
        return;
    }
    for (int32_t i = 0; i < about->group->size; i++) {
        if (can_release(context, about, i)) {
            add_rank(context, about->group->ranks[i]);
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
    if (about->agreed != NULL) {
        draft->root = about->agreed->root;
        bcs_kernel_words(about->agreed->kernel, draft->reduction);
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

/** What a record says of an operation, but for a collective that goes on by itself. */
static struct bcs_stand_operation operation_of(const struct bcs_stand_about *about)
{
    struct bcs_stand_operation operation = {
        .n_bytes = about->n_bytes,
        .peer = -1,
        .tag = about->tag < 0 ? -1 : about->tag,
        .cell = about->cell == NULL ? BCS_CELL_NONE : *about->cell,
        /* Of whom nobody knows who could release it, nobody can be judged. */
        .kind = about->group == NULL && about->kind != BCS_STAND_FOREIGN
                    ? BCS_STAND_OTHER
                    : (uint8_t)about->kind,
    };

    if (about->request != NULL) {
        operation.cell = bcs_request_state(about->request)->cell;
    }
    if (about->group != NULL) {
        operation.context_id = about->group->context_id + about->space;
        operation.peer =
            about->peer < 0 ? -1 : (int32_t)about->group->ranks[about->peer];
    }
    return operation;
}

/** Add an operation; whom it is about has been added. */
static void add_operation(struct bcs_context *context,
                          const struct bcs_stand_about *about,
                          const struct bcs_stand_operation *operation)
{
    struct bcs_stand *draft = context->teller->draft;

    if (draft->n_operations == 0) {
        add_group(context, about);
    }
    bcs_stand_list(draft, context->size, context->teller->page, operation);
}

void bcs_stand_add_step(struct bcs_context *context,
                        const struct bcs_stand_about *about,
                        const struct bcs_stand_operation *step)
{
    const struct bcs_stand_agreed agreed = {
        .root = bcs_plan_tag_root(step->tag),
        .kernel = bcs_plan_tag_kernel(step->tag),
    };
    struct bcs_stand_about whole = *about;

    whole.collective = bcs_plan_words(step->tag);
    whole.number = bcs_plan_tag_number(step->tag) + 1;
    whole.agreed = &agreed;
    add_rank(context, (uint32_t)step->peer);
    add_operation(context, &whole, step);
}

/** A bcs_take_need_fn, for the need of one. */
static void keep_need(void *arg, const struct bcs_stand_operation *need)
{
    struct bcs_stand_operation *kept = arg;

    *kept = *need;
}

/** A collective by messages is pending: it waits for one of them, or for its turn, or,
 *  if it may go on, for anybody. */
static void add_plan(struct bcs_context *context, const struct bcs_stand_about *about)
{
    struct bcs_stand_operation operation = {.peer = -1, .tag = -1};

    bool is_at_rest =
        context->find_needs(context, about->request, keep_need, &operation);

    if (is_at_rest && operation.peer >= 0) {
        bcs_stand_add_step(context, about, &operation);
        return;
    }
    operation.kind = BCS_STAND_OTHER;
    operation.cell = BCS_CELL_NONE;
    if (!is_at_rest && about->group != NULL) {
        add_ranks(context, about);
    }
    add_operation(context, about, &operation);
}

void bcs_stand_add(struct bcs_context *context, const struct bcs_stand_about *about)
{
    const struct bcs_stand_operation operation = operation_of(about);

    if (about->request != NULL && bcs_is_done(about->request)) {
        return;
    }
    if (about->request != NULL && bcs_request_state(about->request)->is_collective) {
        add_plan(context, about);
        return;
    }
    if (about->group != NULL) {
        add_ranks(context, about);
    }
    add_operation(context, about, &operation);
}

/** A slot for a wait that tells for the first time. @return its number and 1; 0: none
 *  is free */
static uint32_t take_slot(struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    uint32_t free_slots = ~teller->used & ((1u << BCS_STAND_THREADS) - 1);

    if (free_slots != 0) {
        waiter->stand = (uint32_t)__builtin_ctz(free_slots) + 1;
        teller->used |= 1u << (waiter->stand - 1);
    }
    return waiter->stand;
}

static struct bcs_stand_slot *slot_of(const struct bcs_context *context,
                                      const struct bcs_waiter *waiter)
{
    return bcs_stand_slot_at(bcs_stand_own(context), waiter->stand - 1, context->size);
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

static void copy_place(const struct bcs_stand *told, bool is_asked,
                       struct bcs_stand *draft)
{
    draft->since_ns = told->since_ns;
    draft->thread = told->thread;
    memcpy(draft->frames, told->frames, sizeof(draft->frames));
    memcpy(draft->lines, told->lines, sizeof(draft->lines));
    memcpy(draft->call, told->call, sizeof(draft->call));
    if (*told->method != '\0') { /* the hook has set the communicator, too */
        memcpy(draft->method, told->method, sizeof(draft->method));
        draft->context_id = told->context_id;
    }
    if (!is_asked) { /* it was not looked for anew */
        draft->agent = told->agent;
        memcpy(draft->agent_words, told->agent_words, sizeof(draft->agent_words));
    }
}

/** What stands in a slot has been found out anew: that is an answer. */
static void answer(const struct bcs_context *context, const struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;
    uint64_t *answered = &teller->answered[waiter->stand - 1];

    if (*answered != teller->asked) {
        *answered = teller->asked;
        /* release: pairs with the acquire of who has asked */
        atomic_store_explicit(&slot_of(context, waiter)->answered, teller->asked,
                              memory_order_release);
    }
}

/** Write what is told, unless it stands there already. */
static void write_draft(const struct bcs_context *context, struct bcs_waiter *waiter,
                        bool is_first)
{
    struct bcs_stand_teller *teller = context->teller;
    struct bcs_stand *told = teller->told[waiter->stand - 1];

    if (is_first) {
        tell_place(context, waiter, teller->draft);
    } else {
        copy_place(told, teller->is_asked, teller->draft);
    }
    if (is_first || memcmp(told, teller->draft, n_record_bytes(context)) != 0) {
        bool is_turned =
            !is_first && bcs_stand_is_turned(told, teller->draft, context->size);

        memcpy(told, teller->draft, n_record_bytes(context));
        (is_turned ? bcs_stand_turn : bcs_stand_write)(slot_of(context, waiter), told,
                                                       context->size);
    }
}

void bcs_stand_publish(struct bcs_context *context, struct bcs_waiter *waiter)
{
    bool is_first = waiter->stand == 0;

    if (is_first && take_slot(context, waiter) == 0) {
        return;
    }
    if (is_first) {
        bcs_stand_poll_over(context);
    }
    write_draft(context, waiter, is_first);
    answer(context, waiter);
    context->teller->is_asked = false;
    if (is_first) {
        /* partner of the store in referee.c: that sees what is told, or it is seen
         * here */
        atomic_thread_fence(memory_order_seq_cst);
        nic_wake_referee(context->engine->machine);
    }
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
                          uint32_t cell)
{
    const struct bcs_stand_agreed agreed = {
        .root = bcs_plan_tag_root(message->tag),
        .kernel = bcs_plan_tag_kernel(message->tag),
    };
    bool is_part = bcs_message_space(message) == BCS_SPACE_COLLECTIVE;

    bcs_stand_at(context, waiter,
                 &(struct bcs_stand_about){
                     .kind = kind,
                     .number = is_part ? bcs_plan_tag_number(message->tag) + 1 : 0,
                     .agreed = is_part ? &agreed : NULL,
                     .group = message->group,
                     .peer = message->peer,
                     .tag = message->tag,
                     .n_bytes = message->n_bytes,
                     .cell = &cell,
                     .space = bcs_message_space(message),
                 });
}

void bcs_stand_add_request(struct bcs_context *context,
                           const struct bcs_request *request)
{
    const struct bcs_request_state *inside = bcs_request_state(request);
    struct bcs_stand_about about = {
        .kind = inside->is_collective ? BCS_STAND_COLLECTIVE
                : inside->is_send     ? BCS_STAND_SEND
                                      : BCS_STAND_RECEIVE,
        .peer = -1,
        .tag = -1,
        .n_bytes = inside->n_bytes,
        .request = request,
    };

    if (!inside->is_pending) {
        return;
    }
    if (context->hooks.describe != NULL) {
        context->hooks.describe(request, &about);
    }
    bcs_stand_add(context, &about);
}

void bcs_stand_at_requests(struct bcs_context *context, struct bcs_waiter *waiter,
                           const struct bcs_request requests[], size_t n_requests)
{
    bcs_stand_begin(context, true);
    for (size_t i = 0; i < n_requests; i++) {
        bcs_stand_add_request(context, &requests[i]);
    }
    bcs_stand_publish(context, waiter);
}

void bcs_stand_at_other(struct bcs_context *context, struct bcs_waiter *waiter)
{
    bcs_stand_at(
        context, waiter,
        &(struct bcs_stand_about){.kind = BCS_STAND_OTHER, .peer = -1, .tag = -1});
}

void bcs_stand_here(struct bcs_context *context, struct bcs_waiter *waiter,
                    const struct bcs_group *group, const char *name)
{
    struct bcs_stand *draft = context->teller->draft;

    bcs_stand_begin(context, true);
    add_group(context, &(struct bcs_stand_about){.group = group});
    if (name != NULL) {
        strncpy(draft->comm, name, sizeof(draft->comm) - 1);
    }
    draft->has_others = true;
    bcs_stand_publish(context, waiter);
}

void bcs_stand_go_on(struct bcs_context *context)
{
    for (uint32_t used = context->teller->used; used != 0; used &= used - 1) {
        bcs_stand_touch(bcs_stand_slot_at(
            bcs_stand_own(context), (uint32_t)__builtin_ctz(used), context->size));
    }
}

void bcs_stand_withdraw(struct bcs_context *context, struct bcs_waiter *waiter)
{
    struct bcs_stand_teller *teller = context->teller;

    bcs_stand_write(slot_of(context, waiter), NULL, context->size);
    teller->used &= ~(1u << (waiter->stand - 1));
    waiter->stand = 0;
}
