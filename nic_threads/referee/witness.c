/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The witness of a machine; a thread of the service. It does for the ranks of its
 * machine what the referee does for those of its own, and only when it is asked to.
 *
 * Questions. The referee puts a letter at the machine's first node, and rings its bell.
 * The thread that serves the bell (far_progress.c) ends the parking of the witness. The
 * witness carries the question out, and then puts its answer. So what it says was so
 * between the question and the answer.
 *
 * Records. The witness puts a copy of each record that has changed since it put it
 * last into node 0, before its answer, in the order that bcs_stand_write has: the odd
 * sequence, the words, the even one. A time is put as the clock of the referee's
 * machine has it. What they differ by is found once, at the first question, so that
 * equal records stay equal.
 *
 * Rest. While the referee rests, this machine's `referee_rests` says so, too. Whoever
 * begins to wait then wakes the witness as it would wake the referee, and the witness
 * rouses the referee. It sets the word (seq_cst) before it looks what has changed, and
 * the referee compares that. So either the look sees the wait, or the rank sees the
 * word, as on one machine.
 *
 * Invariant: what node 0 has of a record is what `puts` says, but for the words of one
 * that is there no more.
 */
#include "nic_threads/referee/witness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/process.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/referee_wake.h"
#include "nic_threads/referee/near_ranks.h"
#include "nic_threads/referee/question.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/rules/deadlock.h"

/** What was put of a thread's record. */
struct put {
    uint64_t sequence, answered;
    uint64_t bases[BCS_STAND_FRAMES]; /* of the files of its frames */
};

struct witness {
    struct nic_engine *engine;
    struct nic_view *view; /* of the machine's first node, */
    struct nic_node *node;
    struct nic_snapshot *snapshot;
    struct put *puts;    /* [ranks][BCS_STAND_THREADS] */
    uint32_t *parks;     /* [ranks] see near_ranks.h */
    uint64_t *suspected; /* bits by rank, */
    uint64_t *writers;   /* and by port */
    uint64_t n_answered; /* the number of the last question */
    uint64_t ahead_ns;   /* the clock of the referee's machine, modulo 2^64 */
    bool has_clock;
};

static uint32_t n_ranks(const struct witness *witness)
{
    return nic_engine_n_ranks(witness->engine);
}

static uint32_t port_of(const struct witness *witness, uint32_t rank)
{
    return nic_engine_port_of(witness->engine, rank);
}

/* ------------------------------------------------------------------ records */

/** Put something at node 0. */
static void put(struct witness *witness, uint64_t gva, const void *src, size_t n_bytes)
{
    const struct bcs_node_set first = bcs_node_set_one(0);

    nic_engine_put_own(
        witness->view, NIC_NODE_GVA(witness->view, record_event),
        &(struct bcs_xfer){
            .src = src, .n_bytes = n_bytes, .dest_gva = gva, .dests = &first});
}

/** Where node 0 has what it knows of a rank. */
static uint64_t far_stand_gva(const struct witness *witness, uint32_t rank)
{
    return nic_layout_far_stand_gva(&witness->engine->layout, port_of(witness, rank));
}

/** Where node 0 has the slot of a thread. */
static uint64_t slot_gva(const struct witness *witness, uint32_t rank, uint32_t thread)
{
    return far_stand_gva(witness, rank) + sizeof(struct bcs_far_stand) +
           bcs_stand_slot_offset(thread, n_ranks(witness));
}

/** Put the words of a record. @param stand  NULL: the thread does not wait */
static void put_words(struct witness *witness, uint64_t gva,
                      const struct bcs_stand *stand)
{
    static const uint64_t nothing;
    struct bcs_stand_part parts[BCS_STAND_PARTS];
    uint32_t n_parts = bcs_stand_parts(stand, n_ranks(witness), parts);
    const uint64_t *words = (const uint64_t *)(const void *)stand;

    for (uint32_t i = 0; i < n_parts; i++) {
        put(witness, gva + parts[i].begin * sizeof(uint64_t),
            words == NULL ? &nothing : words + parts[i].begin,
            (parts[i].end - parts[i].begin) * sizeof(uint64_t));
    }
}

/** Put which process a rank is. */
static void put_pid(struct witness *witness, uint32_t rank)
{
    uint64_t pid =
        (uint64_t)nic_engine_port(witness->engine, port_of(witness, rank))->pid;

    put(witness, far_stand_gva(witness, rank) + offsetof(struct bcs_far_stand, pid),
        &pid, sizeof(pid));
}

/** Put a record that has changed. */
static void put_record(struct witness *witness, uint32_t rank, uint32_t thread,
                       uint64_t sequence)
{
    const struct bcs_stand *stand = nic_snapshot_stand(witness->snapshot, rank, thread);
    uint64_t gva = slot_gva(witness, rank, thread), odd = sequence | 1;

    put_pid(witness, rank);
    put(witness, gva, &odd, sizeof(odd));
    put_words(witness, gva + offsetof(struct bcs_stand_slot, words), stand);
    if (stand != NULL) {
        uint64_t since_ns = stand->since_ns + witness->ahead_ns;

        put(witness,
            gva + offsetof(struct bcs_stand_slot, words) +
                offsetof(struct bcs_stand, since_ns),
            &since_ns, sizeof(since_ns));
    }
    put(witness, gva, &sequence, sizeof(sequence));
}

/** Put what has changed of a thread of a rank, as it was read. */
static void put_changes(struct witness *witness, uint32_t rank, uint32_t thread)
{
    struct bcs_stands *stands =
        nic_engine_stands(witness->engine, port_of(witness, rank));
    struct put *last = &witness->puts[(size_t)rank * BCS_STAND_THREADS + thread];
    uint64_t sequence = nic_snapshot_sequence(witness->snapshot, rank, thread),
             answered;

    if (sequence != last->sequence) {
        put_record(witness, rank, thread, sequence);
        last->sequence = sequence;
    }
    if (sequence == 0) {
        return;
    }
    /* acquire: pairs with the release of the answer */
    answered = atomic_load_explicit(
        &bcs_stand_slot_at(stands, thread, n_ranks(witness))->answered,
        memory_order_acquire);
    if (answered != last->answered) {
        put(witness,
            slot_gva(witness, rank, thread) + offsetof(struct bcs_stand_slot, answered),
            &answered, sizeof(answered));
        last->answered = answered;
    }
}

/** Do something for each thread of each rank of the machine. */
static void visit_threads(struct witness *witness,
                          void (*act)(struct witness *witness, uint32_t rank,
                                      uint32_t thread))
{
    for (uint32_t i = 0; i < n_ranks(witness); i++) {
        bool is_here = nic_engine_is_near_rank(witness->engine, i);

        for (uint32_t thread = 0; is_here && thread < BCS_STAND_THREADS; thread++) {
            act(witness, i, thread);
        }
    }
}

/** Find the files that the frames of a record are in. */
static void find_files(int64_t pid, const struct bcs_stand *stand,
                       struct bcs_stand_files *files_out)
{
    const struct bcs_stand_frame *frames = stand->frames;

    for (int i = 0; i < BCS_STAND_FRAMES && frames[i].address != 0; i++) {
        if (i > 0 && frames[i].base == frames[i - 1].base) {
            memcpy(files_out->paths[i], files_out->paths[i - 1], BCS_STAND_FILE_BYTES);
        } else {
            bcs_process_file(pid, frames[i].address, files_out->paths[i],
                             BCS_STAND_FILE_BYTES);
        }
    }
}

/** Note where the files of a record's frames are loaded. @return whether others were
 *  noted before */
static bool note_bases(struct put *last, const struct bcs_stand *stand)
{
    bool are_others = false;

    for (int i = 0; i < BCS_STAND_FRAMES; i++) {
        are_others |= last->bases[i] != stand->frames[i].base;
        last->bases[i] = stand->frames[i].base;
    }
    return are_others;
}

/** Put which process a rank is, and which files the frames of a thread are in, unless
 *  they are those that it was in before. */
static void put_files(struct witness *witness, uint32_t rank, uint32_t thread)
{
    const struct bcs_stand *stand = nic_snapshot_stand(witness->snapshot, rank, thread);
    struct put *last = &witness->puts[(size_t)rank * BCS_STAND_THREADS + thread];
    struct bcs_stand_files files = {0};

    if (thread == 0) {
        put_pid(witness, rank);
    }
    if (stand != NULL && note_bases(last, stand)) {
        find_files(nic_engine_port(witness->engine, port_of(witness, rank))->pid, stand,
                   &files);
        put(witness,
            far_stand_gva(witness, rank) + offsetof(struct bcs_far_stand, files) +
                thread * sizeof(files),
            &files, sizeof(files));
    }
}

/* ------------------------------------------------------------------ answers */

/** Look at the ranks of this machine. */
static void answer_look(struct witness *witness, const struct nic_question *question,
                        struct nic_answer *answer)
{
    _Atomic uint32_t *rests = &witness->engine->machine->referee_rests;

    if ((question->looks & (NIC_LOOKS_AWAKE | NIC_LOOKS_REST)) != 0) {
        /* seq_cst: partner of the load in nic_wake_referee */
        atomic_store_explicit(rests,
                              (question->looks & NIC_LOOKS_REST) != 0
                                  ? BCS_REFEREE_RESTS
                                  : BCS_REFEREE_LOOKS,
                              memory_order_seq_cst);
    }
    answer->changes = nic_snapshot_changes(witness->snapshot);
    if ((question->looks & NIC_LOOKS_AT_RECORDS) != 0) {
        nic_snapshot_read(witness->snapshot);
        visit_threads(witness, put_changes);
    }
    if ((question->looks & NIC_LOOKS_REMIND) != 0) {
        answer->n_silent = nic_ranks_remind(witness->engine, witness->snapshot,
                                            witness->parks, &answer->n_woken);
    }
}

/** Take some words of the set of those that are suspected. */
static void take_suspects(struct witness *witness, const struct nic_question *question)
{
    memcpy(witness->suspected + question->first, question->words,
           question->n * sizeof(uint64_t));
    nic_ports_of_ranks(witness->engine, witness->suspected, witness->writers);
}

/** Look at desks. */
static void answer_checks(struct witness *witness, const struct nic_question *question,
                          struct nic_answer *answer, bool *owes_turn)
{
    for (uint32_t i = 0; i < question->n; i++) {
        answer->holds |= (uint64_t)nic_desk_check(witness->engine, witness->writers,
                                                  &question->checks[i], owes_turn)
                         << i;
    }
}

/** List messages, but for the first ones, which were told before. */
static void answer_unreceived(struct witness *witness,
                              const struct nic_question *question,
                              struct nic_answer *answer, bool *owes_turn)
{
    uint32_t n_most = question->first + NIC_ANSWER_MESSAGES;
    struct nic_unreceived *list = calloc(n_most, sizeof(*list));
    uint32_t n =
        list == NULL
            ? 0
            : nic_desk_unreceived(witness->engine, port_of(witness, question->rank),
                                  question->kinds, list, n_most, owes_turn);

    if (n > question->first) {
        answer->n = n - question->first;
        memcpy(answer->messages, list + question->first, answer->n * sizeof(list[0]));
    }
    free(list);
}

/** Carry out a question. */
static void serve(struct witness *witness, const struct nic_question *question,
                  struct nic_answer *answer)
{
    bool owes_turn = false;

    switch ((enum nic_question_kind)question->kind) {
    case NIC_QUESTION_LOOK:
        answer_look(witness, question, answer);
        break;
    case NIC_QUESTION_SUSPECTS:
        take_suspects(witness, question);
        break;
    case NIC_QUESTION_ASK:
        nic_ranks_ask(witness->engine, witness->suspected, question->asked);
        break;
    case NIC_QUESTION_SENT:
        answer->holds =
            nic_desks_have_sent(witness->engine, witness->writers, &owes_turn);
        break;
    case NIC_QUESTION_CHECK:
        answer_checks(witness, question, answer, &owes_turn);
        break;
    case NIC_QUESTION_UNRECEIVED:
        answer_unreceived(witness, question, answer, &owes_turn);
        break;
    case NIC_QUESTION_FILES:
        visit_threads(witness, put_files);
        break;
    }
    if (owes_turn) {
        nic_guest_make_good(witness->engine);
    }
}

/** Serve the question that has come, if there is one. */
static void serve_question(struct witness *witness)
{
    /* acquire: pairs with the put in far_side.c */
    uint64_t number =
        __atomic_load_n(&witness->node->question.number, __ATOMIC_ACQUIRE);
    struct nic_letter letter = {.number = number};
    struct nic_question question;
    struct nic_answer answer = {0};

    if (number == witness->n_answered) {
        return;
    }
    memcpy(&question, witness->node->question.bytes, sizeof(question));
    if (!witness->has_clock) {
        witness->has_clock = true;
        witness->ahead_ns = question.now_ns - bcs_clock_now_ns();
    }
    serve(witness, &question, &answer);
    memcpy(letter.bytes, &answer, sizeof(answer));
    put(witness, NIC_NODE_GVA(witness->view, answer), &letter, sizeof(letter));
    nic_engine_push(witness->view); /* this thread may sleep next */
    witness->n_answered = number;
}

/** Rouse the referee, if somebody here has begun to wait while it rests. */
static void rouse(struct witness *witness)
{
    const struct bcs_node_set first = bcs_node_set_one(0);
    uint32_t woken = BCS_REFEREE_WOKEN;

    /* acquire: pairs with the store in nic_rouse_referee; relaxed otherwise */
    if (atomic_compare_exchange_strong_explicit(
            &witness->engine->machine->referee_rests, &woken, BCS_REFEREE_LOOKS,
            memory_order_acquire, memory_order_relaxed)) {
        nic_engine_xfer(witness->view,
                        &(struct bcs_xfer){
                            .dests = &first,
                            .remote_event_gva = NIC_NODE_GVA(witness->view, roused),
                        });
        nic_engine_ring(witness->view, 0);
    }
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct witness *witness = state;

    (void)part;
    rouse(witness);
    serve_question(witness);
    return (struct nic_rest){NIC_REST_PARK, 0};
}

static void destroy(void *state)
{
    struct witness *witness = state;

    nic_snapshot_destroy(witness->snapshot);
    nic_engine_destroy(witness->engine);
    free(witness->puts);
    free(witness->parks);
    free(witness->suspected);
    free(witness->writers);
    free(witness);
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct witness *witness = calloc(1, sizeof(*witness));
    uint32_t n = params->n_ports; /* ranks at most */
    int rc;

    if (witness == NULL) {
        return -ENOMEM;
    }
    witness->puts = calloc((size_t)n * BCS_STAND_THREADS, sizeof(witness->puts[0]));
    witness->parks = calloc(n, sizeof(witness->parks[0]));
    witness->suspected = calloc(nic_deadlock_words(n), sizeof(uint64_t));
    witness->writers = calloc(nic_deadlock_words(n), sizeof(uint64_t));
    rc = witness->puts == NULL || witness->parks == NULL ||
                 witness->suspected == NULL || witness->writers == NULL
             ? -ENOMEM
             : nic_engine_create(params, &witness->engine);
    rc = rc < 0 ? rc : nic_snapshot_create(witness->engine, true, &witness->snapshot);
    if (rc < 0) {
        destroy(witness);
        return rc;
    }
    witness->view = nic_engine_own(witness->engine);
    witness->node = witness->view->node;
    *state_out = witness;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct witness *witness = state;

    (void)part;
    return (struct nic_wakers){.park = &witness->engine->machine->referee_park};
}

const struct nic_worker_ops nic_witness_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .look = look,
};
