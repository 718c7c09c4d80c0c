/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the witnesses of other machines; see far_side.h.
 *
 * A question is a letter to the first node of a machine, with a ring of its bell. The
 * answer is a letter to node 0 that has the question's number.
 *
 * Invariant: at most one question is without an answer, the last one. If a witness does
 * not answer in time, the call fails, and the next one waits for that answer first. So
 * no letter is written while its reader reads it, and no answer is taken for another
 * one.
 */
#include "nic_threads/referee/far_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/referee/question.h"
#include "nic_threads/rules/deadlock.h"

#define ANSWER_NS 500000000u /* for an answer, at most */
#define ANSWER_STEP_NS 20000u

struct nic_far_side {
    struct nic_engine *engine;
    uint64_t n_asked;
    uint32_t n_machines;
    uint32_t nodes[]; /* the first one of each */
};

int nic_far_side_create(struct nic_engine *engine, struct nic_far_side **far_out)
{
    const struct bcs_port_map *map = engine->map;
    struct nic_far_side *far;

    *far_out = NULL;
    if (!nic_engine_has_far(engine)) {
        return 0;
    }
    far = calloc(1, sizeof(*far) + map->n_machines * sizeof(far->nodes[0]));
    if (far == NULL) {
        return -ENOMEM;
    }
    far->engine = engine;
    for (uint32_t i = 0, node = 0; i < map->n_machines; i++) {
        if (!nic_engine_is_near(engine, node)) {
            far->nodes[far->n_machines++] = node;
        }
        node = map->machine_ends[i];
    }
    *far_out = far;
    return 0;
}

void nic_far_side_destroy(struct nic_far_side *far)
{
    free(far);
}

/** Put a question. */
static void put(struct nic_far_side *far, uint32_t node,
                const struct nic_question *question)
{
    struct nic_view *view = nic_engine_own(far->engine);
    const struct bcs_node_set dests = bcs_node_set_one(node);
    struct nic_letter letter = {.number = ++far->n_asked};

    memcpy(letter.bytes, question, sizeof(*question));
    nic_engine_xfer(view, &(struct bcs_xfer){
                              .src = &letter,
                              .n_bytes = sizeof(letter),
                              .dest_gva = NIC_NODE_GVA(view, question),
                              .dests = &dests,
                              .remote_event_gva = nic_bell_gva(view, node),
                          });
    nic_engine_push(view); /* this thread rests next */
}

/** Wait for the answer to the last question. @return whether it has come */
static bool await_answer(const struct nic_far_side *far)
{
    const struct nic_node *own = nic_engine_node(far->engine, 0)->node;
    const struct bcs_machine *machine = far->engine->machine;
    uint64_t until_ns = bcs_clock_now_ns() + ANSWER_NS;

    /* acquire: pairs with the put in witness.c */
    while (__atomic_load_n(&own->answer.number, __ATOMIC_ACQUIRE) != far->n_asked) {
        /* relaxed: it is looked at again and again */
        if (bcs_clock_now_ns() >= until_ns ||
            atomic_load_explicit(&machine->is_ending, memory_order_relaxed) != 0) {
            return false;
        }
        bcs_rest(ANSWER_STEP_NS);
    }
    return true;
}

/** Ask the witness of a machine. @return whether it has answered */
static bool ask(struct nic_far_side *far, uint32_t node, struct nic_question *question,
                struct nic_answer *answer_out)
{
    if (!await_answer(far)) {
        return false;
    }
    question->now_ns = bcs_clock_now_ns();
    put(far, node, question);
    if (!await_answer(far)) {
        return false;
    }
    memcpy(answer_out, nic_engine_node(far->engine, 0)->node->answer.bytes,
           sizeof(*answer_out));
    return true;
}

bool nic_far_look(struct nic_far_side *far, uint32_t looks,
                  struct nic_far_found *found_out)
{
    struct nic_question question = {.kind = NIC_QUESTION_LOOK, .looks = looks};
    struct nic_answer answer;

    for (uint32_t i = 0; far != NULL && i < far->n_machines; i++) {
        if (!ask(far, far->nodes[i], &question, &answer)) {
            return false;
        }
        if (found_out != NULL) {
            found_out->changes = found_out->changes * 31 + answer.changes;
            found_out->n_silent += answer.n_silent;
            found_out->n_woken += answer.n_woken;
        }
    }
    return true;
}

/** Tell a witness who is suspected. */
static bool tell_suspects(struct nic_far_side *far, uint32_t node,
                          const uint64_t *suspected)
{
    uint32_t n_words = nic_deadlock_words(nic_engine_n_ranks(far->engine));
    struct nic_answer answer;

    for (uint32_t first = 0; first < n_words; first += NIC_QUESTION_WORDS) {
        uint32_t n_left = n_words - first;
        struct nic_question question = {
            .kind = NIC_QUESTION_SUSPECTS,
            .first = first,
            .n = n_left < NIC_QUESTION_WORDS ? n_left : NIC_QUESTION_WORDS,
        };

        memcpy(question.words, suspected + first, question.n * sizeof(uint64_t));
        if (!ask(far, node, &question, &answer)) {
            return false;
        }
    }
    return true;
}

/** Ask each witness something, about suspects unless they are NULL. @return whether all
 *  have answered, and with `holds`, if that is wanted */
static bool ask_about(struct nic_far_side *far, const uint64_t *suspected,
                      struct nic_question *question, bool wants_hold)
{
    struct nic_answer answer;

    for (uint32_t i = 0; far != NULL && i < far->n_machines; i++) {
        if ((suspected != NULL && !tell_suspects(far, far->nodes[i], suspected)) ||
            !ask(far, far->nodes[i], question, &answer) ||
            (wants_hold && answer.holds == 0)) {
            return false;
        }
    }
    return true;
}

bool nic_far_ask(struct nic_far_side *far, const uint64_t *suspected, uint64_t asked)
{
    struct nic_question question = {.kind = NIC_QUESTION_ASK, .asked = asked};

    return ask_about(far, suspected, &question, false);
}

bool nic_far_have_sent(struct nic_far_side *far, const uint64_t *suspected)
{
    struct nic_question question = {.kind = NIC_QUESTION_SENT};

    return ask_about(far, suspected, &question, true);
}

bool nic_far_files(struct nic_far_side *far)
{
    struct nic_question question = {.kind = NIC_QUESTION_FILES};

    return ask_about(far, NULL, &question, false);
}

/** The first node of the machine of a port. */
static uint32_t node_of(const struct nic_far_side *far, uint32_t port)
{
    const struct nic_engine *engine = far->engine;

    return bcs_port_map_near(engine->map, nic_layout_node(&engine->layout, port)).first;
}

/** Ask for some checks of one machine from an entry on. @return how many; 0: no
 *  answer */
static uint32_t check_some(struct nic_far_side *far, struct nic_check_entry *entries,
                           size_t n_most)
{
    uint32_t node = node_of(far, entries[0].check.at), n = 0;
    struct nic_question question = {.kind = NIC_QUESTION_CHECK};
    struct nic_answer answer;

    while (n < NIC_QUESTION_CHECKS && n < n_most &&
           node_of(far, entries[n].check.at) == node) {
        question.checks[n] = entries[n].check;
        n++;
    }
    question.n = n;
    if (!ask(far, node, &question, &answer)) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        entries[i].holds = (answer.holds >> i & 1) != 0;
    }
    return n;
}

bool nic_far_check(struct nic_far_side *far, struct nic_check_list *list)
{
    for (size_t done = 0; done < list->n;) {
        uint32_t n = check_some(far, list->entries + done, list->n - done);

        if (n == 0) {
            return false;
        }
        done += n;
    }
    return true;
}

uint32_t nic_far_unreceived(struct nic_far_side *far, uint32_t rank, unsigned int kinds,
                            struct nic_unreceived *list_out, uint32_t n_most)
{
    uint32_t port = nic_engine_port_of(far->engine, rank), n = 0;
    struct nic_question question = {
        .kind = NIC_QUESTION_UNRECEIVED, .rank = rank, .kinds = kinds};
    struct nic_answer answer = {.n = NIC_ANSWER_MESSAGES};

    while (n < n_most && answer.n == NIC_ANSWER_MESSAGES) {
        question.first = n;
        if (!ask(far, node_of(far, port), &question, &answer)) {
            return n;
        }
        answer.n = answer.n < n_most - n ? answer.n : n_most - n;
        memcpy(list_out + n, answer.messages, answer.n * sizeof(answer.messages[0]));
        n += answer.n;
    }
    return n;
}
