/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of plans: carried out at once, or put down and carried out later. Runs in
 * the process that owns the context: in the call that makes the plan, and in whatever
 * it calls afterwards (bcs_plans_move).
 */
#include "libbcs/api/collective/plan.h"

#include <bcs/status.h>
#include <errno.h>
#include <string.h>

#include "libbcs/api/collective/disagreement.h"
#include "libbcs/api/collective/plan_step.h"
#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "nic_threads/rules/reduce_ops.h"

/* Cells that only the oldest plan may take. */
#define RESERVED_CELLS 16u

static void note_status(struct bcs_plan *plan, int status)
{
    if (plan->status == 0 || (plan->status > 0 && status < 0)) {
        plan->status = status;
    }
}

/** A message of a plan has another length than its receive. The sender of an empty one
 *  has failed, and has said why. */
static __attribute__((cold)) void note_wrong_length(struct bcs_plan *plan,
                                                    const struct bcs_result *result,
                                                    size_t n_expected)
{
    int status = BCS_E_TRUNCATED;

    if (result->n_bytes > 0) {
        status = bcs_wrong_length(plan->context, plan->group, plan->peers, result,
                                  n_expected);
    }
    note_status(plan, status);
}

/** A message of a plan has come. */
static inline void note_received(struct bcs_plan *plan, const struct bcs_result *result,
                                 size_t n_expected)
{
    if (__builtin_expect(result->error != 0 || result->n_bytes != n_expected, 0)) {
        note_wrong_length(plan, result, n_expected);
    }
}

/** A transfer of a plan is over. Sends do not fail. */
static inline void note_transfer(struct bcs_plan *plan,
                                 const struct bcs_request *request)
{
    if (!bcs_request_state(request)->is_send) {
        note_received(plan, &request->result, bcs_request_state(request)->n_bytes);
    }
}

static inline void list_append(struct bcs_step_list *list, struct bcs_step *step)
{
    step->next = NULL;
    *list->end = step;
    list->end = &step->next;
}

/** Take out the step that *link points to. */
static inline struct bcs_step *list_take(struct bcs_step_list *list,
                                         struct bcs_step **link)
{
    struct bcs_step *step = *link;

    *link = step->next;
    if (step->next == NULL) {
        list->end = link;
    }
    return step;
}

static inline void step_free(struct bcs_context *context, struct bcs_step *step)
{
    step->next = context->plans.free_steps;
    context->plans.free_steps = step;
}

/** A step to be filled, or NULL: the plan has failed. */
static inline struct bcs_step *step_new(struct bcs_plan *plan, enum step_kind kind)
{
    struct bcs_plans *plans = &plan->context->plans;
    struct bcs_step *step;

    if (plan->status < 0) {
        return NULL;
    }
    if (plans->free_steps == NULL && !bcs_steps_add(plans)) {
        note_status(plan, -ENOMEM);
        return NULL;
    }
    step = plans->free_steps;
    plans->free_steps = step->next;
    step->kind = (uint8_t)kind;
    return step;
}

/** Whether a plan may take one more cell; its transfer may do without. */
static inline bool may_take_cell(const struct bcs_plan *plan)
{
    const struct bcs_plans *plans = &plan->context->plans;

    return plan->request == NULL || plans->first == NULL || plans->first == plan ||
           bcs_poster_n_available(&plan->context->poster) > RESERVED_CELLS;
}

/** What has become of a step that was to be carried out. */
enum outcome { OVER, STARTED, NO_CELL };

/** A message of a plan to or from one of its peers. */
static inline struct bcs_message message_of(const struct bcs_plan *plan, int32_t peer,
                                            void *data, size_t n_bytes)
{
    return (struct bcs_message){
        .group = plan->peers,
        .data = data,
        .n_bytes = n_bytes,
        .peer = peer,
        .tag = plan->tag,
        .will_wait = plan->request == NULL && !plan->has_receives,
        .reserved = {BCS_SPACE_COLLECTIVE, plan->request == NULL},
    };
}

/** Start a transfer; *message is not part of *request. */
static inline enum outcome start_transfer(struct bcs_plan *plan, enum step_kind kind,
                                          const struct bcs_message *message,
                                          struct bcs_request *request)
{
    int status = -ENOMEM;

    if (may_take_cell(plan)) {
        status = kind == STEP_SEND
                     ? bcs_api_send(plan->context, message, BCS_SEND_BUFFERED, request)
                     : bcs_api_recv(plan->context, message, NULL, request);
    }
    if (__builtin_expect(status < 0, 0)) {
        if (status == -ENOMEM) {
            return NO_CELL;
        }
        note_status(plan, status);
        return OVER;
    }
    return bcs_is_done(request) ? OVER : STARTED;
}

static void combine(const struct bcs_combiner *combiner,
                    const struct operands *operands)
{
    if (combiner->kernel >= 0) {
        nic_reduce_apply(combiner->kernel, operands->from, operands->to,
                         operands->count);
    } else {
        combiner->combine(combiner->arg, operands->from, operands->to, operands->count);
    }
}

static inline void operate(const struct bcs_plan *plan, enum step_kind kind,
                           const struct operands *operands)
{
    if (kind == STEP_COPY) {
        memmove(operands->to, operands->from, operands->count);
    } else if (!plan->is_spoiled) {
        combine(&plan->combiner, operands);
    }
}

static void wait_for_oldest(struct bcs_plan *plan)
{
    struct bcs_step *step = plan->pending.first;
    struct bcs_waiter waiter = {0};

    while (!bcs_look(plan->context, &step->request)) {
        if (bcs_wait_turn(plan->context, &waiter)) {
            bcs_plan_stand(plan, &waiter);
        }
    }
    bcs_wait_stop(plan->context, &waiter);
    note_transfer(plan, &step->request);
    step_free(plan->context, list_take(&plan->pending, &plan->pending.first));
}

/** A blocking plan has found no cell: wait until there may be one. @return whether it
 *  is worth trying again */
static bool wait_for_cell(struct bcs_plan *plan)
{
    struct bcs_waiter waiter = {0};

    if (plan->pending.first != NULL) {
        wait_for_oldest(plan);
        return true;
    }
    if (plan->context->plans.first == NULL) {
        return false;
    }
    bcs_wait_turn(plan->context, &waiter); /* too short to tell where it stands */
    bcs_wait_stop(plan->context, &waiter);
    return true;
}

/** Whether a step can be carried out when it is added: a blocking caller has waited. */
static inline bool is_ready(const struct bcs_plan *plan)
{
    return plan->request == NULL || (plan->is_open && plan->queue.first == NULL &&
                                     !(plan->is_fenced && plan->pending.first != NULL));
}

static void put_down(struct bcs_plan *plan, struct bcs_step *step)
{
    step->is_fenced = plan->is_fenced;
    plan->is_fenced = false;
    list_append(&plan->queue, step);
}

/** A transfer of a blocking plan has found no cell. */
static enum outcome start_later(struct bcs_plan *plan, enum step_kind kind,
                                const struct bcs_message *message,
                                struct bcs_request *request)
{
    enum outcome outcome = NO_CELL;

    while (outcome == NO_CELL && wait_for_cell(plan)) {
        outcome = start_transfer(plan, kind, message, request);
    }
    if (outcome == NO_CELL) {
        note_status(plan, bcs_post_no_cell(plan->context));
        outcome = OVER;
    }
    return outcome;
}

/** A step that has been carried out goes where its outcome says. */
static inline void settle(struct bcs_plan *plan, struct bcs_step *step,
                          enum outcome outcome)
{
    if (outcome == STARTED) {
        list_append(&plan->pending, step);
    } else {
        step_free(plan->context, step);
    }
}

/** What a blocking plan can do at once needs no step: short sends never wait. @return
 *  whether it is done */
static inline bool send_now(struct bcs_plan *plan, const struct bcs_message *message)
{
    if (plan->request != NULL || message->n_bytes > BCS_INLINE_BYTES ||
        plan->status < 0) {
        return false;
    }
    note_status(plan, bcs_api_send(plan->context, message, BCS_SEND_BUFFERED, NULL));
    return true;
}

static void add_transfer(struct bcs_plan *plan, enum step_kind kind,
                         const struct bcs_message *message)
{
    struct bcs_step *step = step_new(plan, kind);
    enum outcome outcome = NO_CELL;

    if (step == NULL) {
        return;
    }
    step->rank = message->group->ranks[message->peer];
    if (is_ready(plan)) {
        outcome = start_transfer(plan, kind, message, &step->request);
        if (__builtin_expect(outcome == NO_CELL && plan->request == NULL, 0)) {
            outcome = start_later(plan, kind, message, &step->request);
        }
    }
    if (outcome == NO_CELL) {
        step->message = *message;
        put_down(plan, step);
        return;
    }
    plan->is_fenced = false;
    settle(plan, step, outcome);
}

static inline void add_send(struct bcs_plan *plan, int32_t to, const void *data,
                            size_t n_bytes)
{
    const struct bcs_message message =
        message_of(plan, to, (void *)(uintptr_t)data, n_bytes);

    if (!send_now(plan, &message)) {
        add_transfer(plan, STEP_SEND, &message);
    }
}

static inline void add_receive(struct bcs_plan *plan, int32_t from, void *data,
                               size_t n_bytes)
{
    const struct bcs_message message = message_of(plan, from, data, n_bytes);

    add_transfer(plan, STEP_RECEIVE, &message);
}

void bcs_plan_send(struct bcs_plan *plan, int32_t to, const void *data, size_t n_bytes)
{
    if (n_bytes > 0) {
        add_send(plan, to, data, plan->is_spoiled ? 0 : n_bytes);
    }
}

void bcs_plan_receive(struct bcs_plan *plan, int32_t from, void *data, size_t n_bytes)
{
    plan->has_receives = true;
    if (n_bytes > 0) {
        add_receive(plan, from, data, n_bytes);
    }
}

void bcs_plan_tell(struct bcs_plan *plan, int32_t to)
{
    add_send(plan, to, NULL, 0);
}

void bcs_plan_await(struct bcs_plan *plan, int32_t from, void *data, size_t n_bytes)
{
    const struct bcs_message message = message_of(plan, from, data, n_bytes);
    struct bcs_result result;
    int status = -ENOMEM;

    if (plan->request == NULL && plan->pending.first == NULL && n_bytes > 0 &&
        plan->status >= 0) {
        status = bcs_api_recv(plan->context, &message, &result, NULL);
    }
    if (status == -ENOMEM) {
        bcs_plan_receive(plan, from, data, n_bytes);
        bcs_plan_fence(plan);
    } else if (status < 0) {
        note_status(plan, status);
    } else {
        note_received(plan, &result, n_bytes);
        plan->is_spoiled = plan->status > 0;
    }
}

void bcs_plan_hear(struct bcs_plan *plan, int32_t from)
{
    add_receive(plan, from, NULL, 0);
}

static inline void add_operands(struct bcs_plan *plan, enum step_kind kind,
                                const struct operands *operands)
{
    struct bcs_step *step;

    if (is_ready(plan)) {
        if (plan->status >= 0) {
            operate(plan, kind, operands);
        }
        plan->is_fenced = false;
        return;
    }
    step = step_new(plan, kind);
    if (step != NULL) {
        step->operands = *operands;
        put_down(plan, step);
    }
}

void bcs_plan_copy(struct bcs_plan *plan, void *to, const void *from, size_t n_bytes)
{
    if (n_bytes > 0 && to != from) {
        add_operands(plan, STEP_COPY, &(struct operands){from, to, n_bytes});
    }
}

void bcs_plan_deliver(struct bcs_plan *plan, void *to, size_t n_expected,
                      const void *from, size_t n_bytes)
{
    if (__builtin_expect(n_bytes == n_expected, 1)) {
        bcs_plan_copy(plan, to, from, n_bytes);
    } else {
        const struct bcs_result result = {.source = plan->peers->rank,
                                          .n_bytes = n_bytes};

        note_status(plan, bcs_wrong_length(plan->context, plan->group, plan->peers,
                                           &result, n_expected));
    }
}

void bcs_plan_combine(struct bcs_plan *plan, const void *left, void *right,
                      size_t count)
{
    add_operands(plan, STEP_COMBINE, &(struct operands){left, right, count});
}

void bcs_plan_fence(struct bcs_plan *plan)
{
    if (plan->request != NULL) {
        plan->is_fenced = true;
        return;
    }
    while (plan->pending.first != NULL) {
        wait_for_oldest(plan);
    }
    plan->has_receives = false;
    plan->is_spoiled = plan->status > 0;
}

/** A plan that has failed: its other steps are not carried out. */
static void drop_queue(struct bcs_plan *plan)
{
    while (plan->queue.first != NULL) {
        step_free(plan->context, list_take(&plan->queue, &plan->queue.first));
    }
}

/** Carry out a step that was put down. */
static enum outcome carry_out(struct bcs_plan *plan, struct bcs_step *step)
{
    if (step->kind == STEP_SEND || step->kind == STEP_RECEIVE) {
        struct bcs_message message = step->message;
        enum outcome outcome;

        if (step->kind == STEP_SEND && plan->is_spoiled) {
            message.n_bytes = 0;
        }
        step->rank = message.group->ranks[message.peer];
        bcs_stand_go_on(plan->context);
        outcome =
            start_transfer(plan, (enum step_kind)step->kind, &message, &step->request);
        if (outcome == NO_CELL) {
            step->message = message;
        }
        return outcome;
    }
    operate(plan, (enum step_kind)step->kind, &step->operands);
    return OVER;
}

static void start_queue(struct bcs_plan *plan)
{
    struct bcs_step *step;

    while ((step = plan->queue.first) != NULL && plan->status >= 0 &&
           !(step->is_fenced && plan->pending.first != NULL)) {
        enum outcome outcome;

        if (step->is_fenced) {
            plan->is_spoiled = plan->status > 0;
        }
        outcome = carry_out(plan, step);
        if (outcome == NO_CELL) {
            return;
        }
        settle(plan, list_take(&plan->queue, &plan->queue.first), outcome);
    }
    if (plan->status < 0) {
        drop_queue(plan);
    }
}

/** A transfer of a non-blocking plan is over. bcs_look has noted its stamp, unless
 *  bcs_serve_orders had completed it before, for the call that was under way then. */
static inline void note_stamp(struct bcs_context *context,
                              const struct bcs_request *request)
{
    if (context->stamps.is_on) {
        bcs_stamps_note(&context->stamps, bcs_request_state(request)->stamp,
                        bcs_request_state(request)->is_send ? BCS_STAMP_CAUSE_RECEIVER
                                                            : BCS_STAMP_CAUSE_SENDER);
    }
}

bool bcs_plan_advance(struct bcs_plan *plan)
{
    struct bcs_step **link = &plan->pending.first;

    while (*link != NULL) {
        struct bcs_request *request = &(*link)->request;

        if (bcs_look(plan->context, request)) {
            note_stamp(plan->context, request);
            note_transfer(plan, request);
            step_free(plan->context, list_take(&plan->pending, link));
        } else {
            link = &(*link)->next;
        }
    }
    start_queue(plan);
    return plan->pending.first == NULL && plan->queue.first == NULL;
}
