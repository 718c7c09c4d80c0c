/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends a job that is deadlocked; see deadlock_tell.h. The process leaves without more
 * ado, since its threads wait; the launcher ends the others.
 */
#include "libbcs/api/record/deadlock_tell.h"

#include <inttypes.h>
#include <stdio.h>

#include "libbcs/api/context/context.h"
#include "libbcs/api/context/plan_tag.h"
#include "libbcs/api/record/collective_words.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/report/deadlock_report.h"
#include "nic_threads/referee/snapshot.h"

enum {
    MESSAGES_MOST = 100,
    MESSAGE_BYTES = 96 + BCS_PART_WORDS_BYTES,
    DEBUGGERS_MOST = 16,
    DEBUGGER_BYTES = 56
};

/** Whether a message is a part of a collective. */
static bool is_part(const struct nic_unreceived *message)
{
    return message->context_id % 2 != 0;
}

/** Whether it is one of the program's, or a part of what it has called: members of
 *  communicators tell each other of their end, too. */
static bool is_programs(const struct nic_unreceived *message)
{
    return !is_part(message) || bcs_plan_tag_is_valid(message->tag);
}

/** A message as bcs-top takes it. */
static void describe(const struct nic_unreceived *one, char text_out[MESSAGE_BYTES])
{
    char part[BCS_PART_WORDS_BYTES] = "";

    if (is_part(one)) {
        bcs_part_words(one->tag, part);
    }
    snprintf(text_out, MESSAGE_BYTES,
             "%u,%u,%" PRId32 ",%" PRIu64 ",%" PRIu64 ",%d%s%s", one->from, one->to,
             one->tag, one->n_bytes, one->context_id, one->is_taken,
             *part == '\0' ? "" : ",", part);
}

/** Say what has been sent to the ranks, and is not what they wait for. */
static void tell_unreceived(const struct nic_verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->n_unreceived; i++) {
        const struct nic_unreceived *one = &verdict->unreceived[i];
        char part[BCS_PART_WORDS_BYTES];

        if (!is_programs(one)) {
            continue;
        }
        if (is_part(one)) {
            bcs_part_words(one->tag, part);
            bcs_error(
                "  rank %u has sent rank %u its part of a collective (%s, %" PRIu64
                " bytes), which has not been received",
                one->from, one->to, part, one->n_bytes);
        } else {
            bcs_error("  rank %u has sent to rank %u, tag %d, %" PRIu64
                      " bytes, which %s",
                      one->from, one->to, one->tag, one->n_bytes,
                      one->is_taken
                          ? "that rank holds from a matched probe and has not received"
                          : "has not been received");
        }
    }
}

/** Report it; bcs-top, if it is there, knows who waits for what, and tells of messages
 *  better. */
static void report(struct bcs_context *context, const struct nic_verdict *verdict)
{
    char texts[MESSAGES_MOST][MESSAGE_BYTES], *messages[MESSAGES_MOST];
    struct bcs_deadlock deadlock = {
        .stuck = verdict->stuck,
        .n_ranks = context->size,
        .status = context->config.referee == NIC_REFEREE_ABORT ? BCS_EXIT_DEADLOCK : 0,
        /* acquire: pairs with the release in bcs_context_report_into */
        .path = atomic_load_explicit(&context->report_path, memory_order_acquire),
        .messages = messages,
    };

    for (uint32_t i = 0;
         i < verdict->n_unreceived && deadlock.n_messages < MESSAGES_MOST; i++) {
        char *text = texts[deadlock.n_messages];

        if (!is_programs(&verdict->unreceived[i])) {
            continue;
        }
        messages[deadlock.n_messages++] = text;
        describe(&verdict->unreceived[i], text);
    }
    if (!bcs_deadlock_report(&deadlock)) {
        tell_unreceived(verdict);
    }
}

/** What a rank is in: the first call that it has told. */
static const char *call_of(const void *snapshot, uint32_t rank)
{
    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        const struct bcs_stand *stand = nic_snapshot_stand(snapshot, rank, i);

        if (stand != NULL) {
            return bcs_stand_called(stand);
        }
    }
    return "";
}

/** What could act of a rank. @return "": nothing */
static const char *agent_of(const struct nic_snapshot *snapshot, uint32_t rank)
{
    for (uint32_t i = 0; i < BCS_STAND_THREADS; i++) {
        const struct bcs_stand *stand = nic_snapshot_stand(snapshot, rank, i);

        if (stand != NULL && stand->agent != BCS_AGENT_NONE) {
            return stand->agent_words;
        }
    }
    return "";
}

void bcs_on_doubt(const struct nic_engine_params *params, const struct nic_doubt *doubt)
{
    const struct bcs_context *context = params->owner;
    struct bcs_suspicion suspicion = {
        .ranks = doubt->suspected,
        .n_ranks = context->size,
        .call_of = call_of,
        .arg = doubt->snapshot,
        .words = "",
    };

    for (uint32_t i = 0; i < context->size && *suspicion.words == '\0'; i++) {
        if ((doubt->suspected[i / 64] >> i % 64 & 1) != 0) {
            suspicion.rank = i;
            suspicion.words = agent_of(doubt->snapshot, i);
        }
    }
    bcs_suspicion_report(&suspicion);
}

/** Say how to look at the deadlocked ranks of this machine, the first ones. */
static void tell_debuggers(const struct bcs_context *context,
                           const struct nic_verdict *verdict)
{
    struct nic_engine *engine = context->engine;
    const struct bcs_machine *machine = engine->machine;
    char lines[DEBUGGERS_MOST * DEBUGGER_BYTES] = "";
    size_t n = 0;

    for (uint32_t i = 0; i < context->size; i++) {
        uint32_t port = bcs_port_of(context->map, i);

        if ((verdict->stuck[i / 64] >> i % 64 & 1) != 0 &&
            port - machine->first_port < machine->n_ports &&
            n + DEBUGGER_BYTES <= sizeof(lines)) {
            n += (size_t)snprintf(lines + n, DEBUGGER_BYTES,
                                  "\n  gdb -p %" PRId64 "   # rank %" PRIu32,
                                  nic_engine_port(engine, port)->pid, i);
        }
    }
    bcs_error("BCS_REFEREE=hold: the ranks wait; to look at one:%s", lines);
}

void bcs_on_deadlock(const struct nic_engine_params *params,
                     const struct nic_verdict *verdict)
{
    struct bcs_context *context = params->owner;

    report(context, verdict);
    switch ((enum nic_referee_mode)params->config->referee) {
    case NIC_REFEREE_ABORT:
        bcs_error("the job ends with exit status %d; to keep the job alive: "
                  "BCS_REFEREE=report, or hold for gdb; see docs/my-program-hangs.md",
                  BCS_EXIT_DEADLOCK);
        if (context->hooks.end_job != NULL) {
            context->hooks.end_job(BCS_EXIT_DEADLOCK);
        }
        bcs_deadlock_exit();
    case NIC_REFEREE_HOLD:
        tell_debuggers(context, verdict);
        break;
    default:
        bcs_error("BCS_REFEREE=report: the ranks go on waiting");
        break;
    }
}
