/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks can never go on; see proof.h. Why a verdict is true is argued in
 * referee.c.
 *
 * What has to be seen in desks of other machines is gathered first, by the same way
 * through the records that finds the verdict, and asked for all together. The second
 * way looks into the desks of this machine, and finds the answers of the others.
 *
 * A record has a page of its operations at a time. What the wait is about as a whole,
 * the sets of the record say, so that a page is enough to suspect. To convict, page by
 * page is looked at, and what was found is kept meanwhile. Of a wait that ends when all
 * is over each operation that is found adds to those who must act. Of a wait that ends
 * when one is over, and of what goes on by itself, all must have been found, one after
 * another; if one is missing, or was not on its page, nothing is said of that wait.
 * Each operation is looked at on its own anyway, at a time at which its rank is in the
 * wait. So it does not matter that pages are looked at one after another.
 */
#include "nic_threads/referee/proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/roles/unmatched.h"
#include "nic_threads/rules/deadlock.h"

enum { WAITS_A_RANK = BCS_STAND_THREADS + 1 /* of what goes on by itself */ };

struct nic_proof {
    struct nic_engine *engine;
    const struct nic_snapshot *snapshot;
    struct nic_far_side *far;
    struct nic_check_list checks; /* that other machines are to make, or have made */
    uint32_t n_ranks, n_words;    /* and of a set of them */
    uint64_t *suspected, *stuck;  /* sets */
    uint64_t *writers;            /* the ports of those that are suspected */
    struct nic_deadlock_rank *ranks;
    struct nic_deadlock_wait *waits; /* [n_ranks][WAITS_A_RANK], and one to gather by */
    uint64_t *sets;                  /* two of each wait */
    uint32_t *n_found;               /* of each wait: the first ones of what it lists */
    bool is_strict;                  /* only what stands in the desks counts */
    bool is_first;                   /* it is the first page */
    bool is_gathering;               /* the checks, and so all of them hold */
    bool but_agents;                 /* of what nobody waits in does not count */
    bool owes_turn;                  /* somebody could not lock a desk meanwhile */
};

static void set_bit(uint64_t *set, uint32_t rank)
{
    set[rank / 64] |= UINT64_C(1) << rank % 64;
}

int nic_proof_create(struct nic_engine *engine, const struct nic_snapshot *snapshot,
                     struct nic_far_side *far, struct nic_proof **proof_out)
{
    struct nic_proof *proof = calloc(1, sizeof(*proof));
    uint32_t n = nic_engine_n_ranks(engine);
    size_t n_waits = (size_t)n * WAITS_A_RANK + 1;

    if (proof == NULL) {
        return -ENOMEM;
    }
    proof->engine = engine;
    proof->snapshot = snapshot;
    proof->far = far;
    proof->n_ranks = n;
    proof->n_words = nic_deadlock_words(n);
    proof->suspected = calloc(proof->n_words, sizeof(uint64_t));
    proof->stuck = calloc(proof->n_words, sizeof(uint64_t));
    proof->writers =
        calloc(nic_deadlock_words(engine->layout.shape.n_ports), sizeof(uint64_t));
    proof->ranks = calloc(n, sizeof(*proof->ranks));
    proof->waits = calloc(n_waits, sizeof(*proof->waits));
    proof->sets = calloc(2 * n_waits, proof->n_words * sizeof(uint64_t));
    proof->n_found = calloc(n_waits, sizeof(*proof->n_found));
    if (proof->suspected == NULL || proof->stuck == NULL || proof->writers == NULL ||
        proof->ranks == NULL || proof->waits == NULL || proof->sets == NULL ||
        proof->n_found == NULL) {
        nic_proof_destroy(proof);
        return -ENOMEM;
    }
    *proof_out = proof;
    return 0;
}

void nic_proof_destroy(struct nic_proof *proof)
{
    if (proof != NULL) {
        free(proof->suspected);
        free(proof->stuck);
        free(proof->writers);
        free(proof->ranks);
        free(proof->waits);
        free(proof->sets);
        free(proof->n_found);
        nic_check_list_fini(&proof->checks);
        free(proof);
    }
}

/* ------------------------------------------------------- what stands in the desks */

/** Whether something is so that stands in a desk. */
static bool holds(struct nic_proof *proof, const struct nic_desk_check *check)
{
    struct nic_engine *engine = proof->engine;
    bool is_near =
        nic_engine_is_near(engine, nic_layout_node(&engine->layout, check->at));

    if (proof->is_gathering) {
        if (!is_near) {
            nic_check_list_add(&proof->checks, check);
        }
        return true;
    }
    return is_near ? nic_desk_check(engine, proof->writers, check, &proof->owes_turn)
                   : nic_check_list_holds(&proof->checks, check);
}

/** Whether an operation of a rank has no partner, and all is known that could be
 *  one. */
static bool has_no_partner(struct nic_proof *proof, uint32_t rank,
                           const struct bcs_stand_operation *operation)
{
    bool is_send = operation->kind == BCS_STAND_SEND;
    uint32_t receiver = is_send ? (uint32_t)operation->peer : rank;

    return operation->cell != BCS_CELL_NONE && receiver < proof->n_ranks &&
           holds(proof, &(struct nic_desk_check){
                            .kind = is_send ? NIC_CHECK_SEND : NIC_CHECK_RECEIVE,
                            .port = nic_engine_port_of(proof->engine, rank),
                            .at = nic_engine_port_of(proof->engine, receiver),
                            .place = operation->cell,
                        });
}

/** Whether a rank has not come to a collective that the engine carries out. */
static bool is_missing(struct nic_proof *proof, uint32_t rank,
                       const struct bcs_stand *stand)
{
    uint32_t port = nic_engine_port_of(proof->engine, rank);

    return holds(proof, &(struct nic_desk_check){
                            .kind = NIC_CHECK_MISSING,
                            .port = port,
                            .at = port,
                            .place = stand->slot,
                            .number = stand->number,
                        });
}

/* ------------------------------------------------------------------ who waits for
 * whom */

/** A wait of a rank that is being found out. */
struct finding {
    uint32_t rank;
    const struct bcs_stand *stand;
    struct nic_deadlock_wait *wait;
    uint64_t *all, *any; /* its sets */
    uint32_t *n_found;   /* of what it lists */
};

/** Whether an operation is pending. */
static bool is_pending(struct nic_proof *proof, uint32_t rank,
                       const struct bcs_stand_operation *operation)
{
    switch (operation->kind) {
    case BCS_STAND_SEND:
    case BCS_STAND_RECEIVE:
    case BCS_STAND_PROBE:
        return has_no_partner(proof, rank, operation);
    default:
        return false;
    }
}

static const uint64_t *set_of(const struct nic_proof *proof,
                              const struct finding *finding, enum bcs_stand_set set)
{
    return bcs_stand_set(finding->stand, set, proof->n_ranks);
}

/** Somebody of a set of the record must act, or everybody. */
static void take_set(const struct nic_proof *proof, const struct finding *finding,
                     enum bcs_stand_set set, uint64_t *set_out)
{
    memcpy(set_out, set_of(proof, finding, set), proof->n_words * sizeof(uint64_t));
}

/** Add those of a collective who have not come: the record has them, or, if the engine
 *  carries it out, all members. */
static void add_missing(struct nic_proof *proof, const struct bcs_stand *stand,
                        uint64_t *all)
{
    bool is_engines = stand->operations[0].cell != BCS_CELL_NONE;

    for (uint32_t i = 0; i < proof->n_ranks; i++) {
        if (bcs_stand_has(stand, i) &&
            (!proof->is_strict || !is_engines ||
             (nic_deadlock_has(proof->suspected, i) && is_missing(proof, i, stand)))) {
            set_bit(all, i);
        }
    }
}

/** A wait that ends when all is over, as the record says. */
static void suspect_all(const struct nic_proof *proof, const struct finding *finding)
{
    finding->wait->all = finding->all;
    take_set(proof, finding, BCS_STAND_PARTNERS, finding->all);
    if (finding->stand->has_any) {
        finding->wait->any = finding->any;
        take_set(proof, finding, BCS_STAND_RELEASING, finding->any);
    }
}

/** A wait that ends when all is over: whoever one operation needs must act; of one that
 *  anybody can release, somebody must. */
static void find_all(struct nic_proof *proof, const struct finding *finding)
{
    const struct bcs_stand *stand = finding->stand;

    for (uint32_t i = 0; i < bcs_stand_n_listed(stand); i++) {
        const struct bcs_stand_operation *one = &stand->operations[i];

        if (!is_pending(proof, finding->rank, one)) {
            continue;
        }
        if (one->peer >= 0) {
            finding->wait->all = finding->all;
            set_bit(finding->all, (uint32_t)one->peer);
        } else {
            finding->wait->any = finding->any;
            take_set(proof, finding, BCS_STAND_RELEASING, finding->any);
        }
    }
}

/** Find the operations of a page, if it is the next one. @param first,n  their
 *  numbers */
static void find_each(struct nic_proof *proof, const struct finding *finding,
                      const struct bcs_stand_operation list[], uint32_t first,
                      uint32_t n)
{
    if (first != *finding->n_found) {
        return;
    }
    for (uint32_t i = 0; i < n && is_pending(proof, finding->rank, &list[i]); i++) {
        ++*finding->n_found;
    }
}

/** A wait that ends when one operation is over. */
static void find_any(struct nic_proof *proof, const struct finding *finding)
{
    const struct bcs_stand *stand = finding->stand;

    if (proof->is_strict) {
        find_each(proof, finding, stand->operations, stand->first,
                  bcs_stand_n_listed(stand));
    }
    if (stand->n_listed > 0 && !stand->has_unknown &&
        (!proof->is_strict || *finding->n_found == stand->n_listed)) {
        finding->wait->any = finding->any;
        take_set(proof, finding, BCS_STAND_RELEASING, finding->any);
    }
}

/** The wait of collectives that go on by themselves: until one of them can. */
static void find_plans(struct nic_proof *proof, const struct finding *finding)
{
    const struct bcs_stand *stand = finding->stand;

    if (proof->is_strict) {
        find_each(proof, finding, stand->plans, stand->first_plan,
                  bcs_stand_n_plans(stand));
    }
    if (!proof->is_strict || *finding->n_found == stand->n_plans) {
        finding->wait->any = finding->any;
        take_set(proof, finding, BCS_STAND_NEEDED, finding->any);
    }
}

/** The wait of a thread. */
static void find_wait(struct nic_proof *proof, const struct finding *finding)
{
    const struct bcs_stand *stand = finding->stand;

    if (!stand->needs_all) {
        find_any(proof, finding);
    } else if (stand->n_operations == 1 &&
               stand->operations[0].kind == BCS_STAND_COLLECTIVE) {
        finding->wait->all = finding->all;
        add_missing(proof, stand, finding->all);
    } else if (proof->is_strict) {
        find_all(proof, finding);
    } else {
        suspect_all(proof, finding);
    }
}

/** Add a wait of a rank: nothing is known of it on the first page, and later on what
 *  was found before. To gather is to begin with nothing, and to keep nothing. */
static struct finding add_wait(struct nic_proof *proof, uint32_t rank,
                               const struct bcs_stand *stand)
{
    struct nic_deadlock_rank *one = &proof->ranks[rank];
    size_t number = (size_t)rank * WAITS_A_RANK + one->n_waits++;
    size_t to_gather_by = (size_t)proof->n_ranks * WAITS_A_RANK;
    size_t place = proof->is_gathering ? to_gather_by : number;
    uint64_t *sets = proof->sets + 2 * place * proof->n_words;

    if (proof->is_gathering || proof->is_first) {
        memset(sets, 0, 2 * proof->n_words * sizeof(uint64_t));
        proof->waits[place] = (struct nic_deadlock_wait){0};
        proof->n_found[place] = 0;
    }
    if (proof->is_gathering && !proof->is_first) {
        proof->n_found[place] = proof->n_found[number];
    }
    return (struct finding){
        .rank = rank,
        .stand = stand,
        .wait = &proof->waits[place],
        .all = sets,
        .any = sets + proof->n_words,
        .n_found = &proof->n_found[place],
    };
}

/** Whether all peers of a record are ranks. */
static bool is_sound(const struct nic_proof *proof, const struct bcs_stand *stand)
{
    for (uint32_t i = 0; i < bcs_stand_n_listed(stand); i++) {
        if (stand->operations[i].peer >= (int32_t)proof->n_ranks) {
            return false;
        }
    }
    return true;
}

/** Find the waits of a rank. */
static void find_waits(struct nic_proof *proof, uint32_t rank)
{
    struct nic_deadlock_rank *one = &proof->ranks[rank];
    uint32_t n_there = 0;

    *one =
        (struct nic_deadlock_rank){.waits = &proof->waits[(size_t)rank * WAITS_A_RANK]};
    for (uint32_t thread = 0; thread < BCS_STAND_THREADS; thread++) {
        const struct bcs_stand *stand =
            nic_snapshot_stand(proof->snapshot, rank, thread);
        struct finding finding;

        if (stand == NULL) {
            continue;
        }
        finding = add_wait(proof, rank, stand);
        if (is_sound(proof, stand)) {
            find_wait(proof, &finding);
        } else {
            one->can_act = true;
        }
        if (n_there++ == 0 && stand->n_plans > 0) {
            finding = add_wait(proof, rank, stand);
            find_plans(proof, &finding);
        }
        one->can_act |=
            stand->has_others || (!proof->but_agents && stand->agent != BCS_AGENT_NONE);
    }
    one->can_act |= n_there == 0;
}

/** Find who of a set cannot go on; others can. */
static uint32_t find_stuck(struct nic_proof *proof, const uint64_t *of,
                           uint64_t *stuck_out)
{
    for (uint32_t i = 0; i < proof->n_ranks; i++) {
        if (of != NULL && !nic_deadlock_has(of, i)) {
            proof->ranks[i] = (struct nic_deadlock_rank){.can_act = true};
        } else {
            find_waits(proof, i);
        }
    }
    return nic_deadlock_find(proof->ranks, proof->n_ranks, stuck_out);
}

uint32_t nic_proof_suspect(struct nic_proof *proof, bool but_agents)
{
    proof->but_agents = but_agents;
    proof->is_strict = false;
    proof->is_first = true;
    return find_stuck(proof, NULL, proof->suspected);
}

/** Do what others had to leave undone as a desk was locked. */
static void make_good(struct nic_proof *proof)
{
    if (proof->owes_turn) {
        nic_guest_make_good(proof->engine);
    }
}

/** Whether all nodes have sent what suspects have posted for other ones. */
static bool have_sent(struct nic_proof *proof, pthread_mutex_t *slice)
{
    bool have;

    pthread_mutex_lock(slice);
    have = nic_desks_have_sent(proof->engine, proof->writers, &proof->owes_turn);
    pthread_mutex_unlock(slice);
    return have && nic_far_have_sent(proof->far, proof->suspected);
}

/** Have other machines check what stands in their desks. */
static bool check_far(struct nic_proof *proof)
{
    if (proof->far == NULL) {
        return true;
    }
    nic_check_list_clear(&proof->checks);
    proof->is_gathering = true;
    find_stuck(proof, proof->suspected, proof->stuck);
    proof->is_gathering = false;
    nic_check_list_settle(&proof->checks);
    return !proof->checks.has_lost && nic_far_check(proof->far, &proof->checks);
}

uint32_t nic_proof_n_pages(const struct nic_proof *proof)
{
    uint32_t n_most = 1;

    for (uint32_t i = 0; i < proof->n_ranks; i++) {
        for (uint32_t thread = 0;
             nic_deadlock_has(proof->suspected, i) && thread < BCS_STAND_THREADS;
             thread++) {
            const struct bcs_stand *stand =
                nic_snapshot_stand(proof->snapshot, i, thread);
            uint32_t n = stand == NULL ? 0 : bcs_stand_n_pages(stand);

            n_most = n > n_most ? n : n_most;
        }
    }
    return n_most;
}

uint32_t nic_proof_convict(struct nic_proof *proof, pthread_mutex_t *slice,
                           bool is_first)
{
    uint32_t n = 0;

    proof->is_strict = true;
    proof->is_first = is_first;
    proof->owes_turn = false;
    nic_ports_of_ranks(proof->engine, proof->suspected, proof->writers);
    if (have_sent(proof, slice) && check_far(proof)) {
        pthread_mutex_lock(slice);
        n = find_stuck(proof, proof->suspected, proof->stuck);
        pthread_mutex_unlock(slice);
    }
    make_good(proof);
    return n;
}

/** List messages to a rank that nobody has received. */
static uint32_t list_unreceived(struct nic_proof *proof, uint32_t rank,
                                struct nic_unreceived *list_out, uint32_t n_most)
{
    unsigned int kinds =
        NIC_UNMATCHED_PART |
        (nic_deadlock_has(proof->stuck, rank) ? NIC_UNMATCHED_OWN | NIC_UNMATCHED_TAKEN
                                              : 0);

    return nic_engine_is_near_rank(proof->engine, rank)
               ? nic_desk_unreceived(proof->engine,
                                     nic_engine_port_of(proof->engine, rank), kinds,
                                     list_out, n_most, &proof->owes_turn)
               : nic_far_unreceived(proof->far, rank, kinds, list_out, n_most);
}

uint32_t nic_proof_unreceived(struct nic_proof *proof, struct nic_unreceived *list_out,
                              uint32_t n_most)
{
    uint32_t n = 0;

    proof->owes_turn = false;
    for (uint32_t i = 0; i < proof->n_ranks && n < n_most; i++) {
        n += list_unreceived(proof, i, list_out + n, n_most - n);
    }
    make_good(proof);
    return n;
}

uint32_t nic_proof_left(struct nic_engine *engine, uint32_t port, unsigned int kinds,
                        struct nic_unreceived *list_out, uint32_t n_most)
{
    struct nic_view *view = nic_engine_view(engine, port);
    uint32_t n;

    while (!nic_guest_lock(view)) { /* who runs it has no core, but gets one */
    }
    n = nic_unmatched_sends(view, port, kinds, list_out, n_most);
    if (nic_engine_unlock(view)) {
        nic_guest_make_good(engine);
    }
    return n;
}

const uint64_t *nic_proof_suspected(const struct nic_proof *proof)
{
    return proof->suspected;
}

const uint64_t *nic_proof_stuck(const struct nic_proof *proof)
{
    return proof->stuck;
}
