/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The referee; a thread of the service.
 *
 * What a verdict says: each rank of a set S is in a wait, and nothing else in its
 * process could act (libbcs/fabric/base/agents.h); and whoever could end such a wait is
 * in S: one of those that must all act, or all of those of whom one suffices
 * (rules/deadlock.h). A collective that goes on by itself counts as one more thread of
 * its process.
 *
 * How it is found, and why it is true. Times are named in their order. On each other
 * machine a witness does the same for its ranks and desks (witness.c), when the referee
 * asks, and has done it when it answers. One question ends before the next one is put
 * (far_side.h). So the times are in this order on all machines together.
 *
 * t1 All records are read (libbcs/fabric/ring/stand.h). Those who could not go on if
 *     all that their records say were still so are suspected.
 * t2 They are asked. Each finds out anew what it waits for, and whether anything else
 *     of its process could act, and answers. A wait that has ended meanwhile, or is
 *     about something else, has another sequence.
 * t3 Their records are read again.
 * t4 Desk by desk, under its lock, on its own machine: the rings and links to it hold
 *     nothing that a suspect has posted, its batch is empty, and the operation stands
 *     in the queue of what has no partner (roles/unmatched.h), or, if it is a receive
 *     and no message waits, still in its ring. Or it is a send that a matched probe of
 *     its receiver has taken, and no receive has got. Of a collective that the engine
 *     carries out: the member has not come to it. Where messages go from node to node
 *     in rounds, it is seen before on all nodes that nothing of the suspects' waits to
 *     go.
 * t5  The waits of all suspects are what they were at t1, by their numbers, also those
 *     of records that were empty then. A thread that has told in between is not looked
 *     at as one that could act, since it waits; but its wait was not looked at either.
 *
 * If a wait is about more than a record has room for, t2 to t4 are done page by page,
 * until all suspects are proved to be stuck, or there are no more pages. At last the
 * first page is asked for again, which is what a report should have.
 *
 * So each suspect was in the same wait from t1 to t5, and its record of t1 is true at a
 * time between t2 and t3. In a wait a process posts nothing but what its collectives by
 * messages need next, parts of transfers whose partners have been found, and orders to
 * itself. Before a collective posts anything the sequences of its process's records
 * change (bcs_stand_go_on), so that none has: what is looked for at t4 is what the
 * record means, and no later operation whose cell has the same number. What it had
 * posted before t1 was published before its record, and is seen at t4: it has been
 * read, and matched if it can be. If it went to another node, the put that carried it
 * was over before: whoever puts for a node flushes before it unlocks a desk, and a
 * process before it goes on (engine_xfer.h). With a transport that is late nobody
 * judges. An operation that stands in a queue at t4 is taken out only by a descriptor
 * that is posted later, by its partner, who is in S, or, a send, by its own sender in a
 * call of its own (withdraw.h), who is in S as well. A message that a matched probe has
 * taken only its holder can receive, by a receive that it posts later: the holder is
 * the rank that the send names, and is in S. It waits for something else there, and
 * must first leave that wait. A member of S that has not come to a collective comes
 * only after its own wait has ended. So none of S can be the first to go on. Ranks
 * beside them may do what they like: what they post is not what S waits for.
 *
 * Nothing else of its process acts in between: at a time between t2 and t3 all of its
 * threads slept until one of them, or of those that wait, wakes them; no timer was
 * armed that calls a handler of the program.
 *
 * What it does not see it does not judge: a rank that has no record may act. So is one
 * that polls, that waits in the MPI library, for I/O, or for room in a ring; one with
 * more threads in MPI than records are told apart; and all, where puts between nodes
 * may be late.
 *
 * If S is one only if nothing else could act in its processes, that is a doubt. It is
 * told once when it has lasted, as a suspicion; and they are asked again, at longer and
 * longer intervals, until nothing can.
 *
 * Machines. The referee runs where node 0 is, so that what a witness puts there is
 * read by address. A witness that does not answer in time proves nothing.
 *
 * When it looks. While something changes every LOOK_NS, when nothing does not at all,
 * or, if somebody is to tell, or suspected, after a longer pause: then it sets
 * `referee_rests` (seq_cst) and looks once more whether anything has changed. Who
 * begins to wait has announced that, or told, before it reads `referee_rests` (both
 * seq_cst): one of the two sees the other. Ranks that have slept from one look to the
 * next and have told nothing are woken, without a reason, so that they do.
 */
#include "nic_threads/referee/referee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/ring/stand.h"
#include "nic_threads/referee/far_side.h"
#include "nic_threads/referee/near_ranks.h"
#include "nic_threads/referee/proof.h"
#include "nic_threads/referee/question.h"
#include "nic_threads/rules/deadlock.h"

#define LOOK_NS 12000000u           /* between two looks, at first, */
#define LONGEST_PAUSE_NS 100000000u /* and at last, while what it suspects is not so */
#define TELL_NS 2000000u            /* for who was woken to tell */
#define ANSWERS_NS 100000000u       /* for answers, at most: some list much */
#define ANSWERS_STEP_NS 100000u
#define DOUBT_NS                                                                       \
    1000000000u /* since when ranks wait that are told of without a proof, */
#define THREADS_DOUBT_NS 5000000000u /* and where other threads may use MPI */
#define DOUBT_PAUSE_NS 500000000u    /* at last, while it finds a reason for doubt */

enum {
    UNRECEIVED_MOST = 100, /* that a report may name */
    LOOKS_IN_VAIN = 8,     /* while somebody sleeps and does not tell */
    RANKS_A_LOOK = 64,     /* of more, a pause is longer: a look takes longer, */
    MACHINES_A_LOOK = 16,  /* and so of machines, which are asked one after another */
    /* Questions about a doubt before it is told: a machine that has stood still for a
     * while has given nobody the time to change anything. */
    DOUBT_QUESTIONS = 8,
};

struct referee {
    const struct nic_engine_params *params;
    struct nic_engine *engine;
    struct nic_far_side *far; /* other machines; NULL: there are none */
    struct nic_snapshot *snapshot;
    struct nic_proof *proof;
    uint32_t *parks; /* of each rank of this machine, at the last look */
    uint64_t asked;
    uint64_t changes; /* at the last look */
    uint64_t filed;   /* changes after which others have told their files */
    uint64_t pause_ns;
    uint32_t n_in_vain;
    uint64_t doubted;    /* waits of which something may be thought, but not proved, */
    uint64_t doubted_ns; /* since then, */
    uint32_t n_doubt_questions; /* that were asked about them */
    uint64_t doubt_next_ns;     /* when to look into that again */
    uint64_t doubt_pause_ns;
    bool has_doubted;  /* that has been told */
    uint64_t least_ns; /* of a pause */
    uint64_t until_ns; /* no look before */
    bool has_judged;
};

static uint32_t n_ranks(const struct referee *referee)
{
    return nic_engine_n_ranks(referee->engine);
}

static bool have_all_answered(const struct referee *referee, const uint64_t *suspected)
{
    for (uint32_t i = 0; i < n_ranks(referee); i++) {
        if (nic_deadlock_has(suspected, i) &&
            !nic_snapshot_have_answer(referee->snapshot, i, referee->asked)) {
            return false;
        }
    }
    return true;
}

/** Ask all who are suspected. @return false: a witness has not answered */
static bool ask(struct referee *referee, const uint64_t *suspected, uint32_t page)
{
    referee->asked =
        (((referee->asked >> BCS_STAND_PAGE_BITS) + 1) << BCS_STAND_PAGE_BITS) | page;
    nic_ranks_ask(referee->engine, suspected, referee->asked);
    return nic_far_ask(referee->far, suspected, referee->asked);
}

/** Whether all suspects are in the waits that were read, now. */
static bool are_the_same(const struct referee *referee)
{
    return nic_far_look(referee->far, NIC_LOOKS_AT_RECORDS, NULL) &&
           !nic_snapshot_have_changed(referee->snapshot,
                                      nic_proof_suspected(referee->proof));
}

/** Have all suspects answer, by some page. @return whether they have, and have told
 *  nothing else */
static bool hear(struct referee *referee, uint32_t page)
{
    const uint64_t *suspected = nic_proof_suspected(referee->proof);
    uint64_t until_ns;

    if (!ask(referee, suspected, page)) {
        return false;
    }
    until_ns = bcs_clock_now_ns() + ANSWERS_NS;
    while (!have_all_answered(referee, suspected)) {
        if (bcs_clock_now_ns() >= until_ns || !are_the_same(referee)) {
            return false;
        }
        bcs_rest(ANSWERS_STEP_NS);
    }
    return are_the_same(referee);
}

/** nic_proof_convict, while no timed slice runs. */
static uint32_t convict(struct referee *referee, uint32_t page)
{
    return nic_proof_convict(referee->proof, referee->params->slice, page == 0);
}

/** Look into a suspicion. @return whether it is proved */
static bool prove(struct referee *referee, uint32_t n_suspected)
{
    const uint64_t *suspected = nic_proof_suspected(referee->proof);
    uint32_t n_pages = nic_proof_n_pages(referee->proof), page = 0, n_stuck = 0;
    bool are_there = true;

    for (; are_there && n_stuck < n_suspected && page < n_pages; page++) {
        are_there = hear(referee, page) &&
                    (n_pages == 1 || nic_snapshot_turn(referee->snapshot, suspected));
        n_stuck = are_there ? convict(referee, page) : 0;
    }
    if (page > 1) {
        are_there &= hear(referee, 0);
    }
    return are_there && n_stuck > 0 && are_the_same(referee);
}

/** Look at other machines. @return false: a witness has not answered */
static bool look_far(const struct referee *referee, uint32_t looks,
                     struct nic_far_found *found_out)
{
    *found_out = (struct nic_far_found){0};
    return nic_far_look(referee->far, looks, found_out);
}

/** A number as nic_snapshot_changes, for all machines. */
static uint64_t changes_of(const struct referee *referee,
                           const struct nic_far_found *found)
{
    return nic_snapshot_changes(referee->snapshot) + found->changes;
}

/** Have other machines tell where their ranks are, unless they have: who looks at a job
 *  that stands still can say so then. */
static void take_files(struct referee *referee)
{
    if (referee->filed != referee->changes && nic_far_files(referee->far)) {
        referee->filed = referee->changes;
    }
}

/** Look again after a pause, or, if it is a long one, or without an end, when somebody
 *  begins to wait, unless that has just happened. @param pause_ns 0: without an end */
static struct nic_rest rest_for(struct referee *referee, uint64_t pause_ns)
{
    _Atomic uint32_t *rests = &referee->engine->machine->referee_rests;
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t least_ns = referee->least_ns;
    struct nic_far_found found;

    if (pause_ns == 0 || pause_ns > LOOK_NS) {
        take_files(referee);
        /* seq_cst: partner of the load in nic_wake_referee */
        atomic_store_explicit(rests, BCS_REFEREE_RESTS, memory_order_seq_cst);
        if (!look_far(referee, NIC_LOOKS_REST, &found) ||
            changes_of(referee, &found) != referee->changes) {
            atomic_store_explicit(rests, BCS_REFEREE_LOOKS, memory_order_relaxed);
            pause_ns = LOOK_NS;
        }
    }
    referee->until_ns = pause_ns == 0
                            ? UINT64_MAX
                            : now_ns + (pause_ns > least_ns ? pause_ns : least_ns);
    return (struct nic_rest){NIC_REST_PARK, pause_ns == 0 ? 0 : referee->until_ns};
}

/** It is proved: tell. */
static void judge(struct referee *referee)
{
    struct nic_unreceived unreceived[UNRECEIVED_MOST];
    const struct nic_verdict verdict = {
        .stuck = nic_proof_stuck(referee->proof),
        .unreceived = unreceived,
        .n_unreceived =
            nic_proof_unreceived(referee->proof, unreceived, UNRECEIVED_MOST),
    };

    referee->has_judged = true;
    nic_far_files(referee->far); /* else the report has none */
    referee->params->on_deadlock(referee->params, &verdict);
}

/** When to look again if somebody is to tell: soon, but a thread that computes is
 *  waited for with patience. */
static uint64_t pause_for_silent(struct referee *referee, uint32_t n_woken)
{
    return referee->n_in_vain > LOOKS_IN_VAIN ? LONGEST_PAUSE_NS
           : n_woken > 0                      ? TELL_NS
                                              : LOOK_NS;
}

/** Look into a suspicion; if nothing comes of it less often from now on, while nothing
 *  changes. */
static uint64_t look_into(struct referee *referee, uint32_t n_suspected,
                          bool has_changed)
{
    if (prove(referee, n_suspected)) {
        judge(referee);
    }
    referee->pause_ns = has_changed ? LOOK_NS : 2 * referee->pause_ns;
    if (referee->pause_ns > LONGEST_PAUSE_NS) {
        referee->pause_ns = LONGEST_PAUSE_NS;
    }
    return referee->pause_ns;
}

/** Since when ranks must wait to be told of without a proof. @return 0: not at all, as
 *  a thread of theirs runs that may use MPI */
static uint64_t doubt_limit_ns(const struct referee *referee)
{
    const uint64_t *suspected = nic_proof_suspected(referee->proof);
    uint64_t limit_ns = DOUBT_NS;

    for (uint32_t i = 0; i < n_ranks(referee); i++) {
        for (uint32_t thread = 0;
             nic_deadlock_has(suspected, i) && thread < BCS_STAND_THREADS; thread++) {
            const struct bcs_stand *stand =
                nic_snapshot_stand(referee->snapshot, i, thread);

            if (stand == NULL || !stand->is_threaded) {
                continue;
            }
            if (stand->agent == BCS_AGENT_RUNS) {
                return 0;
            }
            limit_ns = THREADS_DOUBT_NS;
        }
    }
    return limit_ns;
}

/** Say once of waits that may be a deadlock, if they have lasted for some time. */
static void tell_doubt(struct referee *referee, uint64_t now_ns)
{
    uint64_t limit_ns = doubt_limit_ns(referee);
    const struct nic_doubt doubt = {nic_proof_suspected(referee->proof),
                                    referee->snapshot};

    if (!referee->has_doubted && limit_ns != 0 &&
        now_ns - referee->doubted_ns >= limit_ns &&
        referee->n_doubt_questions >= DOUBT_QUESTIONS && convict(referee, 0) > 0 &&
        referee->params->on_doubt != NULL) {
        referee->has_doubted = true;
        referee->params->on_doubt(referee->params, &doubt);
    }
}

/** Look into waits that would be a deadlock if nothing else of their processes could
 *  act: ask anew now and then whether it still can. @return when to look again */
static uint64_t doubt(struct referee *referee)
{
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t waits =
        nic_snapshot_waits(referee->snapshot, nic_proof_suspected(referee->proof));

    if (waits != referee->doubted) {
        referee->doubted = waits;
        referee->doubted_ns = now_ns;
        referee->n_doubt_questions = 0;
        referee->doubt_pause_ns = LOOK_NS;
    } else if (now_ns >= referee->doubt_next_ns) {
        uint64_t most_ns =
            now_ns - referee->doubted_ns < DOUBT_NS ? LONGEST_PAUSE_NS : DOUBT_PAUSE_NS;

        hear(referee, 0);
        referee->n_doubt_questions++;
        tell_doubt(referee, now_ns);
        referee->doubt_pause_ns *= 2;
        if (referee->doubt_pause_ns > most_ns) {
            referee->doubt_pause_ns = most_ns;
        }
    } else {
        return referee->doubt_next_ns - now_ns;
    }
    referee->doubt_next_ns = now_ns + referee->doubt_pause_ns;
    return referee->doubt_pause_ns;
}

/** Look into what the records say. @param n_suspected_out  how many ranks wait for
 *  each other @return when to look again */
static uint64_t suspect(struct referee *referee, bool has_changed,
                        uint32_t *n_suspected_out)
{
    *n_suspected_out = nic_proof_suspect(referee->proof, false);
    if (*n_suspected_out > 0) {
        return look_into(referee, *n_suspected_out, has_changed);
    }
    referee->pause_ns = LOOK_NS;
    *n_suspected_out = nic_proof_suspect(referee->proof, true);
    return *n_suspected_out > 0 ? doubt(referee) : LOOK_NS;
}

/** Look at all ranks. Nobody need look again if nobody is suspected, or silent, and
 *  nothing changes. */
static struct nic_rest look_at_all(struct referee *referee)
{
    struct nic_far_found found;
    bool has_all = look_far(
        referee, NIC_LOOKS_AWAKE | NIC_LOOKS_AT_RECORDS | NIC_LOOKS_REMIND, &found);
    uint64_t changes = changes_of(referee, &found), pause_ns;
    bool has_changed = changes != referee->changes;
    uint32_t n_silent, n_woken, n_suspected;

    if (!has_all) {
        return rest_for(referee, LOOK_NS);
    }
    referee->changes = changes;
    nic_snapshot_read(referee->snapshot);
    pause_ns = suspect(referee, has_changed, &n_suspected);
    n_silent = found.n_silent + nic_ranks_remind(referee->engine, referee->snapshot,
                                                 referee->parks, &n_woken);
    referee->n_in_vain = has_changed ? 0 : referee->n_in_vain + 1;
    if (referee->has_judged) {
        return (struct nic_rest){NIC_REST_PARK, 0};
    }
    if (n_silent > 0) {
        uint64_t silent_ns = pause_for_silent(referee, found.n_woken + n_woken);

        pause_ns = silent_ns < pause_ns ? silent_ns : pause_ns;
    }
    return rest_for(referee,
                    n_suspected == 0 && n_silent == 0 && !has_changed ? 0 : pause_ns);
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct referee *referee = state;
    _Atomic uint32_t *rests = &referee->engine->machine->referee_rests;

    (void)part;
    if (referee->has_judged) {
        return (struct nic_rest){NIC_REST_PARK, 0};
    }
    if (bcs_clock_now_ns() < referee->until_ns &&
        /* acquire: pairs with the store in nic_wake_referee */
        atomic_load_explicit(rests, memory_order_acquire) != BCS_REFEREE_WOKEN) {
        return (struct nic_rest){
            NIC_REST_PARK, referee->until_ns == UINT64_MAX ? 0 : referee->until_ns};
    }
    /* relaxed: it looks at all now */
    atomic_store_explicit(rests, BCS_REFEREE_LOOKS, memory_order_relaxed);
    return look_at_all(referee);
}

static void destroy(void *state)
{
    struct referee *referee = state;

    nic_proof_destroy(referee->proof);
    nic_snapshot_destroy(referee->snapshot);
    nic_far_side_destroy(referee->far);
    nic_engine_destroy(referee->engine);
    free(referee->parks);
    free(referee);
}

/** The least pause of a job of this size. */
static uint64_t least_pause_ns(const struct nic_engine_params *params)
{
    uint32_t n_machines = params->map == NULL ? 1 : params->map->n_machines;
    uint32_t n_by_ranks = params->n_ports / RANKS_A_LOOK;
    uint32_t n_by_machines = n_machines / MACHINES_A_LOOK;

    return (n_by_ranks > n_by_machines ? n_by_ranks : n_by_machines) *
           (uint64_t)LOOK_NS;
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct referee *referee = calloc(1, sizeof(*referee));
    int rc;

    if (referee == NULL) {
        return -ENOMEM;
    }
    referee->params = params;
    referee->pause_ns = LOOK_NS;
    referee->least_ns = least_pause_ns(params);
    referee->parks = calloc(params->n_ports, sizeof(referee->parks[0]));
    rc = referee->parks == NULL ? -ENOMEM : nic_engine_create(params, &referee->engine);
    rc = rc < 0 ? rc : nic_far_side_create(referee->engine, &referee->far);
    rc = rc < 0 ? rc : nic_snapshot_create(referee->engine, false, &referee->snapshot);
    rc = rc < 0 ? rc
                : nic_proof_create(referee->engine, referee->snapshot, referee->far,
                                   &referee->proof);
    if (rc < 0) {
        destroy(referee);
        return rc;
    }
    *state_out = referee;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct referee *referee = state;

    (void)part;
    return (struct nic_wakers){.park = &referee->engine->machine->referee_park};
}

const struct nic_worker_ops nic_referee_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .look = look,
};
