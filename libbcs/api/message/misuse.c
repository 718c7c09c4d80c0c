/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines about calls that the standard forbids; see misuse.h. Who is to be looked at
 * publishes where it stands, as a wait does, but as one that may go on, so that the
 * referee does not count on it.
 */
#include "libbcs/api/message/misuse.h"

#include <bcs/bcs.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/plan_tag.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/collective_words.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/report/deadlock_report.h"
#include "nic_threads/referee/proof.h"

enum {
    N_NAME_BYTES = 96,
    PREFIX_BYTES = 32,
    TEXT_BYTES = 768,
    TOLD_MOST = 10,
    LEFT_MOST = 3,
    LEFT_TURNS = 4
};

#define LEFT_KEY UINT64_MAX /* of no group */
#define HOLD_NS 1000000000u /* for who prints, at most */
#define HOLD_STEP_NS 200000u
#define FATAL_NS 5000000000u /* for who ends the job, at most */

bool bcs_misuse_is_told(struct bcs_context *context)
{
    return context->hooks.find_call == NULL || context->n_misuses++ < TOLD_MOST;
}

/** It has told of one: say so if it tells of no more. */
static void tell_last(const struct bcs_context *context)
{
    if (context->n_misuses == TOLD_MOST) {
        bcs_error("this rank tells of no more such errors");
    }
}

/** Whether there is anybody to find out where a call stands, and to print it. */
static bool can_show(const struct bcs_context *context)
{
    return context->hooks.find_call != NULL &&
           context->config.referee != NIC_REFEREE_OFF;
}

/** Print an error with where ranks stand that have published it, or, if nobody can find
 *  that out, without. */
static void show(const struct bcs_context *context, const struct bcs_places *places)
{
    struct nic_engine *engine = context->engine;
    struct bcs_places of_machine = *places;

    of_machine.n_ranks = context->size;
    of_machine.pid = nic_engine_port(engine, engine->machine->first_port)->pid;
    bcs_places_report(&of_machine);
}

/** The two parts of what is told of an error, around the places. */
struct parts {
    char before[TEXT_BYTES], after[TEXT_BYTES];
};

static void part_write(char part_out[TEXT_BYTES], const char *begin, const char *text)
{
    size_t n = (size_t)snprintf(part_out, TEXT_BYTES, "%s%s\n", begin, text);

    if (n >= TEXT_BYTES) {
        part_out[TEXT_BYTES - 2] = '\n';
    }
}

static struct parts parts_of(const struct bcs_misuse *misuse)
{
    char prefix[PREFIX_BYTES];
    struct parts parts;

    bcs_log_prefix(prefix, sizeof(prefix));
    part_write(parts.before, prefix, misuse->what);
    part_write(parts.after, "  ", misuse->demand);
    return parts;
}

/** What is told, for who collects that. */
static struct bcs_finding finding_of(const struct bcs_misuse *misuse)
{
    return (struct bcs_finding){
        .kind = misuse->kind, .message = misuse->what, .demand = misuse->demand};
}

/** Print an error, without places. */
static void say(const struct bcs_misuse *misuse)
{
    const struct bcs_finding finding = finding_of(misuse);

    bcs_error("%s\n  %s", misuse->what, misuse->demand);
    bcs_finding_tell(&finding);
}

/** A set of no ranks. @return for free, or NULL */
static uint64_t *ranks_new(const struct bcs_context *context)
{
    return calloc(bcs_stand_rank_words(context->size), sizeof(uint64_t));
}

static void add_rank(uint64_t *ranks, uint32_t rank)
{
    ranks[rank / 64] |= UINT64_C(1) << rank % 64;
}

void bcs_misuse_withdraw(struct bcs_context *context, struct bcs_waiter *waiter)
{
    if (waiter->stand != 0) {
        bcs_stand_withdraw(context, waiter);
    }
}

void bcs_misuse_stand(struct bcs_context *context, struct bcs_waiter *waiter)
{
    if (can_show(context) && !bcs_stand_is_told(context)) {
        waiter->since_ticks = bcs_clock_ticks();
        bcs_stand_here(context, waiter, NULL, NULL);
    }
}

/** Print an error of this process alone. */
static void tell_own(struct bcs_context *context, const struct bcs_group *group,
                     const struct bcs_misuse *misuse)
{
    struct bcs_waiter waiter = {.since_ticks = bcs_clock_ticks()};
    uint64_t *ranks = can_show(context) ? ranks_new(context) : NULL;
    const struct bcs_finding finding = finding_of(misuse);
    struct parts parts = parts_of(misuse);

    if (ranks == NULL) {
        say(misuse);
        return;
    }
    add_rank(ranks, context->rank);
    bcs_stand_here(context, &waiter, group, NULL);
    show(context, &(struct bcs_places){.ranks = ranks,
                                       .before = parts.before,
                                       .after = parts.after,
                                       .finding = &finding});
    bcs_misuse_withdraw(context, &waiter);
    free(ranks);
}

void bcs_misuse_tell(struct bcs_context *context, const struct bcs_group *group,
                     const char *demand, const char *format, ...)
{
    char what[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    tell_own(context, group, &(struct bcs_misuse){what, demand, BCS_FINDING_MISUSE});
    tell_last(context);
}

/** Stay until it has been printed. */
static void hold(const struct bcs_context *context, uint64_t key)
{
    const _Atomic uint64_t *told = &context->engine->machine->told;
    uint64_t until_ns = bcs_clock_now_ns() + HOLD_NS;

    /* acquire: pairs with the release of who has printed */
    while (atomic_load_explicit(told, memory_order_acquire) != key &&
           bcs_clock_now_ns() < until_ns) {
        bcs_rest(HOLD_STEP_NS);
    }
}

void bcs_misuse_tell_all(struct bcs_context *context, const struct bcs_group *group,
                         uint64_t key, const struct bcs_misuse *misuse)
{
    struct bcs_waiter waiter = {.since_ticks = bcs_clock_ticks()};
    uint64_t *ranks = can_show(context) ? ranks_new(context) : NULL;

    if (ranks == NULL) {
        if (misuse != NULL) {
            say(misuse);
        }
        return;
    }
    for (int32_t i = 0; i < group->size; i++) {
        add_rank(ranks, group->ranks[i]);
    }
    bcs_stand_here(context, &waiter, group, NULL);
    if (misuse != NULL) {
        const struct bcs_finding finding = finding_of(misuse);
        struct parts parts = parts_of(misuse);

        show(context, &(struct bcs_places){.ranks = ranks,
                                           .before = parts.before,
                                           .after = parts.after,
                                           .finding = &finding});
        tell_last(context);
        /* release: pairs with the acquire in hold */
        atomic_store_explicit(&context->engine->machine->told, key,
                              memory_order_release);
    } else {
        hold(context, key);
    }
    bcs_misuse_withdraw(context, &waiter);
    free(ranks);
}

void bcs_misuse_call(const struct bcs_context *context,
                     char call_out[BCS_STAND_CALL_BYTES])
{
    struct bcs_stand stand = {.call = ""};

    if (context != NULL && context->hooks.find_call != NULL) {
        context->hooks.find_call(&stand);
    }
    memcpy(call_out, stand.call, BCS_STAND_CALL_BYTES);
}

/** Print an error that ends the job. @param ranks all of the job; NULL: nobody can tell
 *  where they stand */
static void tell_end(const struct bcs_context *context,
                     const struct bcs_fatal_error *error, uint64_t *ranks)
{
    const struct bcs_finding finding = {
        .kind = error->kind, .status = error->status, .message = error->what};
    char prefix[PREFIX_BYTES];
    struct parts parts;

    if (error->what == NULL) {
        bcs_error("%s", error->next);
        return;
    }
    bcs_log_prefix(prefix, sizeof(prefix));
    part_write(parts.before, prefix, error->what);
    part_write(parts.after, prefix, error->next);
    if (ranks == NULL) {
        bcs_error("%s\n%.*s", error->what, (int)strlen(parts.after) - 1, parts.after);
        bcs_finding_tell(&finding);
        return;
    }
    memset(ranks, 0xff, bcs_stand_rank_words(context->size) * sizeof(*ranks));
    show(context, &(struct bcs_places){.ranks = ranks,
                                       .are_failing = true,
                                       .before = parts.before,
                                       .after = parts.after,
                                       .finding = &finding});
}

void bcs_misuse_tell_fatal(struct bcs_context *context,
                           const struct bcs_fatal_error *error)
{
    struct bcs_waiter waiter = {.since_ticks = bcs_clock_ticks()};
    uint64_t *ranks;

    if (context == NULL) {
        tell_end(NULL, error, NULL);
        return;
    }
    ranks = can_show(context) ? ranks_new(context) : NULL;
    if (ranks != NULL && error->what != NULL) {
        bcs_stand_here(context, &waiter, NULL, error->comm);
    }
    /* relaxed: nothing else is ordered by it */
    if (atomic_exchange_explicit(&context->engine->machine->has_fatal, 1,
                                 memory_order_relaxed) == 0) {
        tell_end(context, error, ranks);
    } else {
        bcs_rest(FATAL_NS);
    }
    free(ranks);
}

void bcs_misuse_truncation(struct bcs_context *context, const struct bcs_group *peers,
                           const struct bcs_result *result)
{
    char name[N_NAME_BYTES] = "a communicator", source[24] = "a rank";
    char what[TEXT_BYTES];

    if (!bcs_misuse_is_told(context)) {
        return;
    }
    if (peers != NULL) {
        snprintf(source, sizeof(source), "rank %u", peers->ranks[result->source]);
    }
    if (peers != NULL && context->hooks.name_group != NULL) {
        context->hooks.name_group(peers, name, sizeof(name));
    }
    snprintf(what, sizeof(what),
             "truncation: %s sent %zu bytes to rank %u, tag %d, on %s; the receive has "
             "room for %zu",
             source, bcs_result_sent(result), context->rank, result->tag, name,
             result->n_bytes);
    tell_own(context, peers,
             &(struct bcs_misuse){what,
                                  "MPI-3.1, 3.2.4: a message must not be longer than "
                                  "its receive's buffer",
                                  BCS_FINDING_TRUNCATION});
    tell_last(context);
}

void bcs_misuse_left(struct bcs_context *context, const struct bcs_group *group)
{
    struct nic_unreceived left[LEFT_MOST];
    char name[N_NAME_BYTES], part[BCS_PART_WORDS_BYTES], what[TEXT_BYTES];
    uint32_t n;

    if (context->n_misuses > 0 || context->plans.first != NULL ||
        context->hooks.name_group == NULL) {
        return;
    }
    for (int i = 0; i < LEFT_TURNS; i++) {
        bcs_progress(context); /* takes what has come */
    }
    n = nic_proof_left(context->engine, context->port, NIC_UNMATCHED_PART, left,
                       LEFT_MOST);
    /* relaxed: it orders nothing else */
    if (n == 0 || atomic_exchange_explicit(&context->engine->machine->told, LEFT_KEY,
                                           memory_order_relaxed) == LEFT_KEY) {
        return; /* nothing, or another rank tells of what it has */
    }
    context->hooks.name_group(group, name, sizeof(name));
    for (uint32_t i = 0; i < n; i++) {
        const struct nic_unreceived *one = &left[i];
        bool is_named = one->context_id == group->context_id + BCS_SPACE_COLLECTIVE;

        if (bcs_plan_tag_is_valid(one->tag)) {
            bcs_part_words(one->tag, part);
            snprintf(what, sizeof(what),
                     "not received: rank %u's part of a collective (%s, %" PRIu64
                     " bytes) on %s, not called by rank %u, or not alike",
                     one->from, part, one->n_bytes,
                     is_named ? name : "another communicator", one->to);
            say(&(struct bcs_misuse){what, BCS_MISUSE_ALIKE, BCS_FINDING_MISUSE});
        }
    }
}
