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
 * How it is found, and why it is true. Times are named in their order.
 *
 * t1 All records are read (libbcs/fabric/ring/stand.h). Those who could not go on if
 *     all that their records say were still so are suspected.
 * t2 They are asked. Each finds out anew what it waits for, and whether anything else
 *     of its process could act, and answers. A wait that has ended meanwhile, or is
 *     about something else, has another sequence.
 * t3 Their records are read again. t4 Desk by desk, under its lock: the rings and links
 * to it hold nothing that a suspect has
 *     posted, its batch is empty, and the operation stands in the queue of what has no
 *     partner (roles/unmatched.h), or, if it is a receive and no message waits, still
 *     in its ring. Or it is a send that a matched probe of its receiver has taken, and
 *     no receive has got. Of a collective that the engine carries out: the member has
 *     not come to it. Where messages go from node to node in rounds, it is seen before
 *     on all nodes that nothing of the suspects' waits to go.
 * t5  The sequences of all suspects are what they were at t1, also those of records
 *     that were empty then. A thread that has told in between is not looked at as one
 *     that could act, since it waits; but its wait was not looked at either.
 *
 * So each suspect was in the same wait from t1 to t5, and its record of t1 is true at a
 * time between t2 and t3. In a wait a process posts nothing but what its collectives by
 * messages need next (they are in S as well), parts of transfers whose partners have
 * been found, and orders to itself. What it had posted before t1 was published before
 * its record, and is seen at t4: it has been read, and matched if it can be. An
 * operation that stands in a queue at t4 is taken out only by a descriptor that is
 * posted later, by its partner, who is in S, or, a send, by its own sender in a call of
 * its own (withdraw.h), who is in S as well. A message that a matched probe has taken
 * only its holder can receive, by a receive that it posts later: the holder is the rank
 * that the send names, and is in S. It waits for something else there, and must first
 * leave that wait. A member of S that has not come to a collective comes only after its
 * own wait has ended. So none of S can be the first to go on. Ranks beside them may do
 * what they like: what they post is not what S waits for.
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
#include "nic_threads/node/views.h"
#include "nic_threads/referee/proof.h"
#include "nic_threads/rules/deadlock.h"

#define LOOK_NS 12000000u           /* between two looks, at first, */
#define LONGEST_PAUSE_NS 100000000u /* and at last, while what it suspects is not so */
#define TELL_NS 2000000u            /* for who was woken to tell */
#define ANSWERS_NS 20000000u        /* for answers, at most */
#define ANSWERS_STEP_NS 100000u
#define DOUBT_NS                                                                       \
    1000000000u /* since when ranks wait that are told of without a proof, */
#define THREADS_DOUBT_NS 5000000000u /* and where other threads may use MPI */
#define DOUBT_PAUSE_NS 500000000u    /* at last, while it finds a reason for doubt */

enum {
    UNRECEIVED_MOST = 100, /* that a report may name */
    LOOKS_IN_VAIN = 8,     /* while somebody sleeps and does not tell */
    RANKS_A_LOOK = 64,     /* of more, a pause is longer: a look takes longer */
    /* Questions about a doubt before it is told: a machine that has stood still for a
     * while has given nobody the time to change anything. */
    DOUBT_QUESTIONS = 8,
};

struct referee {
    const struct nic_engine_params *params;
    struct nic_engine *engine;
    struct nic_snapshot *snapshot;
    struct nic_proof *proof;
    uint32_t *parks; /* of each rank, at the last look */
    uint64_t asked;
    uint64_t changes; /* at the last look */
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

static const struct bcs_port *port_of(const struct referee *referee, uint32_t rank)
{
    return nic_engine_port(referee->engine, nic_engine_port_of(referee->engine, rank));
}

static struct bcs_stands *stands_of(const struct referee *referee, uint32_t rank)
{
    return nic_engine_stands(referee->engine,
                             nic_engine_port_of(referee->engine, rank));
}

/** Wake those who sleep since the last look and have not told all. @param n_woken_out
 *  how many that were @return how many there are, with those that have just gone to
 *  sleep */
static uint32_t remind(struct referee *referee, uint32_t *n_woken_out)
{
    uint32_t n = 0;

    *n_woken_out = 0;
    for (uint32_t i = 0; i < n_ranks(referee); i++) {
        const struct bcs_port *port = port_of(referee, i);
        uint32_t park = atomic_load_explicit(&port->park, memory_order_relaxed);

        if (park % 2 != 0 && !nic_snapshot_have(referee->snapshot, i)) {
            if (park == referee->parks[i]) {
                bcs_word_wake(&port->park);
                ++*n_woken_out;
            }
            n++;
        }
        referee->parks[i] = park;
    }
    return n;
}

/** Ask all who are suspected. */
static void ask(struct referee *referee, const uint64_t *suspected)
{
    referee->asked++;
    for (uint32_t i = 0; i < n_ranks(referee); i++) {
        if (nic_deadlock_has(suspected, i)) {
            /* seq_cst: partner of the load of who answers */
            atomic_store_explicit(&stands_of(referee, i)->asked, referee->asked,
                                  memory_order_seq_cst);
            bcs_word_wake(&port_of(referee, i)->park);
        }
    }
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

/** Have all suspects answer. @return whether they have, and have told nothing else */
static bool hear(struct referee *referee)
{
    const uint64_t *suspected = nic_proof_suspected(referee->proof);
    uint64_t until_ns = bcs_clock_now_ns() + ANSWERS_NS;

    ask(referee, suspected);
    while (!have_all_answered(referee, suspected)) {
        if (bcs_clock_now_ns() >= until_ns ||
            nic_snapshot_have_changed(referee->snapshot, suspected)) {
            return false;
        }
        bcs_rest(ANSWERS_STEP_NS);
    }
    return !nic_snapshot_have_changed(referee->snapshot, suspected);
}

/** nic_proof_convict, while no timed slice runs. */
static uint32_t convict(struct referee *referee)
{
    uint32_t n;

    pthread_mutex_lock(referee->params->slice);
    n = nic_proof_convict(referee->proof);
    pthread_mutex_unlock(referee->params->slice);
    return n;
}

/** Look into a suspicion. @return whether it is proved */
static bool prove(struct referee *referee)
{
    const uint64_t *suspected = nic_proof_suspected(referee->proof);

    return hear(referee) && convict(referee) > 0 &&
           !nic_snapshot_have_changed(referee->snapshot, suspected);
}

/** Look again after a pause, or, if it is a long one, or without an end, when somebody
 *  begins to wait, unless that has just happened. @param pause_ns 0: without an end */
static struct nic_rest rest_for(struct referee *referee, uint64_t pause_ns)
{
    _Atomic uint32_t *rests = &referee->engine->machine->referee_rests;
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t least_ns = referee->least_ns;

    if (pause_ns == 0 || pause_ns > LOOK_NS) {
        /* seq_cst: partner of the load in nic_wake_referee */
        atomic_store_explicit(rests, BCS_REFEREE_RESTS, memory_order_seq_cst);
        if (nic_snapshot_changes(referee->snapshot) != referee->changes) {
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
static uint64_t look_into(struct referee *referee, bool has_changed)
{
    if (prove(referee)) {
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
        referee->n_doubt_questions >= DOUBT_QUESTIONS && convict(referee) > 0 &&
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

        hear(referee);
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

/** Look at all ranks. Nobody need look again if nobody is suspected, or silent, and
 *  nothing changes. */
static struct nic_rest look_at_all(struct referee *referee)
{
    uint64_t changes = nic_snapshot_changes(referee->snapshot), pause_ns = LOOK_NS;
    bool has_changed = changes != referee->changes;
    uint32_t n_silent, n_woken, n_suspected;

    referee->changes = changes;
    nic_snapshot_read(referee->snapshot);
    n_suspected = nic_proof_suspect(referee->proof, false);
    if (n_suspected > 0) {
        pause_ns = look_into(referee, has_changed);
    } else {
        referee->pause_ns = LOOK_NS;
        n_suspected = nic_proof_suspect(referee->proof, true);
        pause_ns = n_suspected > 0 ? doubt(referee) : LOOK_NS;
    }
    n_silent = remind(referee, &n_woken);
    referee->n_in_vain = has_changed ? 0 : referee->n_in_vain + 1;
    if (referee->has_judged) {
        return (struct nic_rest){NIC_REST_PARK, 0};
    }
    if (n_silent > 0) {
        uint64_t silent_ns = pause_for_silent(referee, n_woken);

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
    nic_engine_destroy(referee->engine);
    free(referee->parks);
    free(referee);
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
    referee->least_ns = params->n_ports / RANKS_A_LOOK * LOOK_NS;
    referee->parks = calloc(params->n_ports, sizeof(referee->parks[0]));
    rc = referee->parks == NULL ? -ENOMEM : nic_engine_create(params, &referee->engine);
    rc = rc < 0 ? rc : nic_snapshot_create(referee->engine, &referee->snapshot);
    rc = rc < 0 ? rc
                : nic_proof_create(referee->engine, referee->snapshot, &referee->proof);
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
