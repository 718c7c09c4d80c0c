/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of several nodes; see the header.
 *
 * The process that serves node 0 is the sequencer: it carries out one operation after
 * the other. The process that serves the first node of a machine is the machine's
 * holder. An operation has up to three steps, each one message to every holder of the
 * set's machines and one back:
 *
 *   LOCK     the holder takes shm's locks of its nodes of the set, in ascending order,
 *            and compares; LOCKED is its answer. Nothing has been changed.
 *   COMMIT   it stores the data, or the value of a Compare-And-Write that is true
 *            everywhere; COMMITTED. Without events, or without effect, it lets go.
 *   RELEASE  it signals the events, lets go, and wakes; RELEASED.
 *
 * Atomicity and order are those of transport shm (libbcs/fabric/transport/shm/shm.c):
 * every effect on a node's memory is made under its lock, whoever makes it, and an
 * operation has all its locks before it touches any node and gives none back before it
 * has touched the last. Nobody waits in a circle. Locks of a machine are taken in
 * ascending order; an operation waits for no other one, as there is one at a time; and
 * a holder waits for its locks only while somebody copies. What comes over the network
 * to a node that its holder holds waits in its stream and lets others pass
 * (ucx_stream.c), and the messages of this file wait for nothing.
 *
 * If a holder dies before COMMIT is sent, the others let go and nothing was changed. If
 * it dies later, its nodes are gone, and all nodes that are left have the data. If the
 * sequencer dies, nobody can tell how far its operation has come on other machines: the
 * holders mark the nodes that they hold as broken, as if a writer had died there.
 */
#include "libbcs/fabric/transport/ucx/ucx_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/node_set.h"
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/ucx/ucx_send.h"

static void *keep(const void *data, size_t n_bytes)
{
    void *copy = malloc(n_bytes);

    if (copy == NULL) {
        bcs_fatal("no memory for an operation of several machines");
    }
    memcpy(copy, data, n_bytes);
    return copy;
}

static void *room_for(size_t n, size_t n_bytes)
{
    void *room = calloc(n, n_bytes);

    if (room == NULL) {
        bcs_fatal("no memory for an operation of several machines");
    }
    return room;
}

static struct bcs_node_set set_of(const struct ucx_operation *operation)
{
    return (struct bcs_node_set){
        .first = operation->first,
        .n_nodes = operation->n_nodes,
        .marks = operation->n_words == 0 ? NULL : operation->marks,
    };
}

static const void *data_of(const struct ucx_operation *operation)
{
    return operation->marks + operation->n_words;
}

static bool is_query(const struct ucx_operation *operation)
{
    return operation->variable_gva != 0;
}

/* ------------------------------------------------------------------- the sequencer */

/** Whether a step has an effect after which another one follows. */
static bool has_events(const struct ucx_job *job)
{
    return !is_query(job->operation) && job->operation->event_gva != 0;
}

/** Send a step to a holder. @param is_answered  it will say that it has done it */
static void send_step(struct ucx_worker *worker, struct ucx_job *job,
                      struct ucx_holder *holder, enum ucx_kind kind, bool has_effect,
                      bool is_answered)
{
    struct ucx_record *record = ucx_record_new(worker, kind);

    if (record == NULL) {
        bcs_fatal("no memory for an operation of several machines");
    }
    record->head.ticket = job->ticket;
    record->head.result = has_effect;
    record->head.event_gva = kind == UCX_COMMIT && has_effect && has_events(job);
    if (kind == UCX_LOCK &&
        ucx_record_data(record, job->operation, job->n_bytes, false) < 0) {
        bcs_fatal("no memory for an operation of several machines");
    }
    if (ucx_send(record, &worker->peers[holder->node]) == 0 && is_answered) {
        holder->is_awaited = true;
        job->n_awaited++;
    }
}

/** Send a step to all that have the locks, or LOCK to all. */
static void send_all(struct ucx_worker *worker, struct ucx_job *job, enum ucx_kind kind,
                     bool has_effect, bool is_answered)
{
    job->phase = kind;
    for (uint32_t i = 0; i < job->n_holders; i++) {
        if (kind == UCX_LOCK || job->holders[i].is_locked) {
            send_step(worker, job, &job->holders[i], kind, has_effect, is_answered);
        }
    }
}

/** Find the holders of an operation's nodes. @return how many; into `holders`, unless
 *  it is NULL */
static uint32_t find_holders(const struct ucx_worker *worker,
                             const struct ucx_operation *operation,
                             struct ucx_holder *holders)
{
    const struct bcs_node_set set = set_of(operation);
    uint32_t n = 0, node = bcs_node_set_step(&set, 0);

    while (node != BCS_NODE_NONE) {
        const struct ucx_peer *peer = &worker->peers[node];

        if (holders != NULL) {
            holders[n].node = peer->machine;
        }
        n++;
        node = bcs_node_set_step(&set, peer->end);
    }
    return n;
}

static void job_free(struct ucx_job *job)
{
    free(job->operation);
    free(job->holders);
    free(job);
}

static void start(struct ucx_worker *worker, struct ucx_job *job)
{
    job->ticket = ++worker->n_tickets;
    job->result = 1;
    job->n_holders = find_holders(worker, job->operation, NULL);
    job->holders = room_for(job->n_holders, sizeof(*job->holders));
    find_holders(worker, job->operation, job->holders);
    send_all(worker, job, UCX_LOCK, false, true);
    if (job->n_awaited < job->n_holders) {
        job->result = -EOWNERDEAD;
    }
}

/** All holders have answered LOCK. @return whether the operation has ended */
static bool decide(struct ucx_worker *worker, struct ucx_job *job)
{
    const struct ucx_operation *operation = job->operation;

    if (job->result <= 0 || (is_query(operation) && operation->write_gva == 0)) {
        send_all(worker, job, UCX_COMMIT, false, false);
        return true;
    }
    send_all(worker, job, UCX_COMMIT, true, true);
    return false;
}

/** Take the steps of the first operation that can be taken. @return whether it has
 *  ended */
static bool step(struct ucx_worker *worker, struct ucx_job *job)
{
    bool has_ended = false;

    while (job->n_awaited == 0 && !has_ended) {
        switch (job->phase) {
        case UCX_LOCK:
            has_ended = decide(worker, job);
            break;
        case UCX_COMMIT:
            has_ended = !has_events(job);
            if (!has_ended) {
                send_all(worker, job, UCX_RELEASE, true, true);
            }
            break;
        default: /* UCX_RELEASE */
            has_ended = true;
        }
    }
    return has_ended;
}

/** Go on with the operations, as far as possible. */
static void run_jobs(struct ucx_worker *worker)
{
    struct ucx_job *job;

    while ((job = worker->jobs) != NULL) {
        if (job->phase == 0) {
            start(worker, job);
        }
        if (!step(worker, job)) {
            return;
        }
        if (job->asked.token != 0) {
            ucx_answer(worker, job->reply, &job->asked, job->result);
        }
        job->stream->is_asking = false;
        job->stream->n_done = job->asked.number;
        worker->must_drain = true;
        worker->jobs = job->next;
        job_free(job);
    }
}

void ucx_job_add(struct ucx_worker *worker, struct ucx_stream *stream,
                 const struct ucx_head *asked, const void *operation, size_t n_bytes,
                 ucp_ep_h reply)
{
    struct ucx_job *job = room_for(1, sizeof(*job)), **place = &worker->jobs;

    job->stream = stream;
    job->asked = *asked;
    job->reply = reply;
    job->operation = keep(operation, n_bytes);
    job->n_bytes = n_bytes;
    while (*place != NULL) {
        place = &(*place)->next;
    }
    *place = job;
    if (worker->jobs == job) {
        run_jobs(worker);
    }
}

/** A holder has answered, or has died. */
static void hear(struct ucx_job *job, struct ucx_holder *holder, int64_t result)
{
    holder->is_awaited = false;
    job->n_awaited--;
    if (job->phase == UCX_LOCK) {
        holder->is_locked = result >= 0;
        job->result = result < job->result ? result : job->result;
    }
}

static void hear_answer(struct ucx_worker *worker, const struct ucx_head *head)
{
    struct ucx_job *job = worker->jobs;

    for (uint32_t i = 0;
         job != NULL && job->ticket == head->ticket && i < job->n_holders; i++) {
        if (job->holders[i].node == head->node && job->holders[i].is_awaited) {
            hear(job, &job->holders[i], head->result);
            run_jobs(worker);
            return;
        }
    }
}

/** At the sequencer: holders have died. */
static void bury_holders(struct ucx_worker *worker)
{
    struct ucx_job *job = worker->jobs;

    for (uint32_t i = 0; job != NULL && i < job->n_holders; i++) {
        struct ucx_holder *holder = &job->holders[i];

        if (worker->peers[holder->node].is_dead && holder->is_awaited) {
            hear(job, holder, -EOWNERDEAD);
        }
    }
    if (job != NULL) {
        run_jobs(worker);
    }
}

/* --------------------------------------------------------------------- the holders */

bool ucx_is_held(const struct ucx_worker *worker, uint32_t node)
{
    return worker->is_holding && bcs_node_set_has(&worker->claims->set, node);
}

/** Answer the sequencer, who serves node 0. */
static void answer_sequencer(struct ucx_worker *worker, enum ucx_kind kind,
                             uint64_t ticket, int64_t result)
{
    struct ucx_record *record = ucx_record_new(worker, kind);

    if (record != NULL) {
        record->head.ticket = ticket;
        record->head.result = result;
        record->head.node = worker->memory->base.near.first;
        ucx_send(record, &worker->peers[0]); /* a dead one needs no answer */
    }
}

/** The nodes of an operation that are on this machine. */
static void find_nodes(const struct ucx_worker *worker, struct ucx_claim *claim)
{
    const struct bcs_node_set *near = &worker->memory->base.near;
    const struct bcs_node_set all = set_of(claim->operation);

    claim->marks = room_for(bcs_node_words(near->n_nodes), sizeof(*claim->marks));
    for (uint32_t node = bcs_node_set_step(&all, near->first);
         node != BCS_NODE_NONE && node - near->first < near->n_nodes;
         node = bcs_node_set_step(&all, node + 1)) {
        bcs_node_mark(claim->marks, node - near->first);
    }
    claim->set = (struct bcs_node_set){near->first, near->n_nodes, claim->marks};
}

static struct bcs_comparison comparison_of(const struct ucx_claim *claim)
{
    const struct ucx_operation *operation = claim->operation;

    return (struct bcs_comparison){
        .variable_gva = operation->variable_gva,
        .op = (enum bcs_compare)operation->op,
        .value = operation->value,
        .dests = &claim->set,
        .write_gva = operation->write_gva,
        .write_value = operation->write_value,
    };
}

static struct bcs_xfer xfer_of(const struct ucx_claim *claim)
{
    const struct ucx_operation *operation = claim->operation;

    return (struct bcs_xfer){
        .src = data_of(operation),
        .n_bytes = operation->n_bytes,
        .dest_gva = operation->gva,
        .dests = &claim->set,
        .remote_event_gva = operation->event_gva,
    };
}

static void claim_drop(struct ucx_worker *worker)
{
    struct ucx_claim *claim = worker->claims;

    worker->claims = claim->next;
    free(claim->operation);
    free(claim->marks);
    free(claim);
}

/** Take the locks for the first claims, as far as possible, and compare. */
static void take_claims(struct ucx_worker *worker)
{
    while (!worker->is_holding && worker->claims != NULL) {
        struct ucx_claim *claim = worker->claims;
        struct bcs_comparison comparison = comparison_of(claim);
        int rc = shm_targets_lock(worker->near, &claim->set);
        int64_t result = rc < 0 ? rc : 1;

        worker->is_holding = rc == 0;
        if (rc == 0 && is_query(claim->operation)) {
            result = shm_is_true_on_all(worker->near, &comparison);
        }
        answer_sequencer(worker, UCX_LOCKED, claim->ticket, result);
        if (rc < 0) {
            claim_drop(worker);
        }
    }
}

/** Give the locks back. */
static void let_go(struct ucx_worker *worker)
{
    shm_targets_unlock(worker->near, &worker->claims->set, BCS_NODE_NONE);
    worker->is_holding = false;
    worker->must_drain = true;
}

static void lock(struct ucx_worker *worker, const struct ucx_head *head,
                 const void *data, size_t n_bytes)
{
    struct ucx_claim *claim = room_for(1, sizeof(*claim)), **place = &worker->claims;

    claim->ticket = head->ticket;
    claim->operation = keep(data, n_bytes);
    find_nodes(worker, claim);
    while (*place != NULL) {
        place = &(*place)->next;
    }
    *place = claim;
    take_claims(worker);
}

static void commit(struct ucx_worker *worker, const struct ucx_head *head)
{
    struct bcs_comparison comparison = comparison_of(worker->claims);
    struct bcs_xfer xfer = xfer_of(worker->claims);
    bool has_effect = head->result != 0, stays = head->event_gva != 0;

    if (has_effect && is_query(worker->claims->operation)) {
        shm_write_to_all(worker->near, &comparison);
    } else if (has_effect) {
        shm_store_on_all(worker->near, &xfer);
    }
    if (!stays) {
        let_go(worker);
    }
    if (has_effect) {
        answer_sequencer(worker, UCX_COMMITTED, head->ticket, 1);
    }
    if (!stays) {
        claim_drop(worker);
        take_claims(worker);
    }
}

static void release(struct ucx_worker *worker, const struct ucx_head *head)
{
    struct bcs_xfer xfer = xfer_of(worker->claims);

    shm_events_signal(worker->near, &xfer);
    let_go(worker);
    shm_events_wake(worker->near, &xfer);
    answer_sequencer(worker, UCX_RELEASED, head->ticket, 1);
    claim_drop(worker);
    take_claims(worker);
}

void ucx_group_arrive(struct ucx_worker *worker, const struct ucx_head *head,
                      const void *data, size_t n_bytes)
{
    bool is_of_held = worker->is_holding && worker->claims->ticket == head->ticket;

    switch (head->kind) {
    case UCX_LOCK:
        lock(worker, head, data, n_bytes);
        break;
    case UCX_COMMIT:
        if (is_of_held) {
            commit(worker, head);
        }
        break;
    case UCX_RELEASE:
        if (is_of_held) {
            release(worker, head);
        }
        break;
    case UCX_LOCKED:
    case UCX_COMMITTED:
    case UCX_RELEASED:
        hear_answer(worker, head);
        break;
    default:
        bcs_fatal("a message of kind %u from another machine; is the version the same "
                  "on all?",
                  head->kind);
    }
}

void ucx_group_bury(struct ucx_worker *worker)
{
    bury_holders(worker);
    if (worker->is_holding && worker->peers[0].is_dead) {
        bcs_error("the process that orders what concerns several machines has gone in "
                  "the middle of it: the memory of nodes here can no longer be used");
        shm_targets_break(worker->near, &worker->claims->set);
        worker->is_holding = false;
        worker->must_drain = true;
        claim_drop(worker);
        take_claims(worker);
    }
}

void ucx_group_fini(struct ucx_worker *worker)
{
    struct ucx_job *next;

    if (worker->is_holding) {
        let_go(worker);
    }
    while (worker->claims != NULL) {
        claim_drop(worker);
    }
    for (struct ucx_job *job = worker->jobs; job != NULL; job = next) {
        next = job->next;
        job_free(job);
    }
}
