/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of the library's own: what they are, and which process runs them. Called
 * by the processes of the job; how a thread starts, parks and ends is in
 * service_thread.c.
 *
 * Who hosts them. What is one for the job runs in the process of port 0. What is one
 * for a machine runs in the machine's first process (bcs_machine.first_port), what is
 * one for a node in the node's, and not in a helper of its own: it ends with the job
 * however the job ends, it may copy the ranks' memory by the same right as they, and a
 * launcher that counts or binds processes sees none that it has not started. What it
 * costs: a debugger that stops that process stops its node.
 */
#include "nic_threads/service/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/log.h"
#include "nic_threads/referee/referee.h"
#include "nic_threads/referee/witness.h"
#include "nic_threads/service/background.h"
#include "nic_threads/service/crew.h"
#include "nic_threads/service/far_progress.h"
#include "nic_threads/service/service_thread.h"
#include "nic_threads/service/timekeeper.h"

/** What decides whether a process runs an entry. */
struct place {
    const struct nic_engine_params *params;
    struct nic_layout layout;
};

static bool is_first_of_machine(const struct place *place)
{
    return place->params->port == place->params->machine->first_port;
}

/** What is left behind by one process alone, nobody else waits for. */
static bool is_first_of_several(const struct place *place)
{
    return is_first_of_machine(place) && place->params->machine->n_ports > 1;
}

/** The job is to be judged; where puts may be late, what is under way is not known. */
static bool is_judged(const struct nic_engine_params *params)
{
    return params->on_deadlock != NULL && params->config->referee != NIC_REFEREE_OFF &&
           params->config->defer == 0;
}

static bool is_first_and_judges(const struct place *place)
{
    return place->params->port == 0 && is_judged(place->params);
}

/** The first process of a machine that the referee is not on. */
static bool is_first_and_witnesses(const struct place *place)
{
    return is_first_of_machine(place) && place->params->port != 0 &&
           is_judged(place->params);
}

static bool is_first_of_node(const struct place *place)
{
    return place->params->port % place->layout.shape.node_ranks == 0;
}

/** The first process of a node that is far to some others. */
static bool is_first_and_far(const struct place *place)
{
    const struct nic_engine_params *params = place->params;

    return is_first_of_node(place) && params->machine->n_ports < params->n_ports;
}

/** The strobe sender's process; a node that is alone needs none. */
static bool is_first_and_leads(const struct place *place)
{
    return place->params->port == 0 &&
           (place->layout.n_nodes > 1 ||
            place->params->config->strobe == NIC_STROBE_TIMED);
}

/**
 * What the service can run, a thread each.
 *
 * No driver wants both of the first two: with timed strobes the timekeeper copies what
 * its slices carry. If one did, they were two threads still, since the background
 * thread may be at a copy of many microseconds when a strobe is due, which may be late
 * by a few.
 */
static const struct entry {
    const char *name; /* up to 15 characters, as debuggers and top(1) show it */
    bool (*is_here)(const struct place *place);
    const struct nic_worker_ops
        *worker; /* the state is one for all of a worker's entries */
    uint32_t part;
} entries[NIC_SERVE_ENTRIES] = {
    /* Copies and turns that nobody waits for. Looks again in half a slice, in 20, or
     * not, as machine->watch says; who raises that ends the parking. */
    [NIC_SERVE_BACKGROUND] = {"bcs-background", is_first_of_several,
                              &nic_background_worker, 0},
    /* Looks for deadlocks, now and then while ranks begin to wait; who does ends the
     * parking. */
    [NIC_SERVE_REFEREE] = {"bcs-referee", is_first_and_judges, &nic_referee_worker, 0},
    /* Answers the referee, which is on another machine. That ends the parking, and so
     * does who begins to wait. */
    [NIC_SERVE_WITNESS] = {"bcs-witness", is_first_and_witnesses, &nic_witness_worker,
                           0},
    /* A slice of all nodes. Looks again when the next strobe is to be sent; while none
     * is needed, who posts ends the parking. */
    [NIC_SERVE_TIME] = {"bcs-time", is_first_and_leads, &nic_timekeeper_worker, 0},
    /* What far nodes put here. Woken by the node's bell. */
    [NIC_SERVE_FAR] = {"bcs-far", is_first_and_far, &nic_far_progress_worker, 0},
    /* The roles. Each does a step that the strobe receiver hands over, and is woken for
     * it. */
    [NIC_SERVE_BS] = {"bcs-bs", is_first_of_node, &nic_crew_worker, NIC_ROLE_BS},
    [NIC_SERVE_BR] = {"bcs-br", is_first_of_node, &nic_crew_worker, NIC_ROLE_BR},
    [NIC_SERVE_DH] = {"bcs-dh", is_first_of_node, &nic_crew_worker, NIC_ROLE_DH},
    [NIC_SERVE_CH] = {"bcs-ch", is_first_of_node, &nic_crew_worker, NIC_ROLE_CH},
    [NIC_SERVE_RH] = {"bcs-rh", is_first_of_node, &nic_crew_worker, NIC_ROLE_RH},
    /* The microphases of a node. Woken by the node's bell. */
    [NIC_SERVE_SR] = {"bcs-sr", is_first_of_node, &nic_crew_worker, NIC_CREW_SR},
    /* The microstrobes of all nodes. Woken by the bell of node 0; between timed slices
     * as the timekeeper is. */
    [NIC_SERVE_SS] = {"bcs-ss", is_first_and_leads, &nic_crew_worker, NIC_CREW_SS},
};

struct nic_service {
    struct nic_engine_params params; /* of the workers' engines */
    pthread_mutex_t slice;           /* see engine.h */
    uint32_t n_threads;              /* that run */
    uint32_t n_states;
    struct nic_service_thread threads[NIC_SERVE_ENTRIES];
    struct {
        const struct nic_worker_ops *worker;
        void *state;
    } states[NIC_SERVE_ENTRIES];
};

/** What a thread with a real-time priority waits for must not be kept by one
 *  without. */
static void init_slice(pthread_mutex_t *slice)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(slice, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/** The state of a worker, made for the first of its entries. */
static int find_state(struct nic_service *service, const struct nic_worker_ops *worker,
                      void **state_out)
{
    uint32_t n = service->n_states;
    int rc;

    for (uint32_t i = 0; i < n; i++) {
        if (service->states[i].worker == worker) {
            *state_out = service->states[i].state;
            return 0;
        }
    }
    rc = worker->create(&service->params, state_out);
    if (rc == 0) {
        service->states[n].worker = worker;
        service->states[n].state = *state_out;
        service->n_states = n + 1;
    }
    return rc;
}

static int start(struct nic_service *service, const struct entry *entry)
{
    struct nic_service_thread *thread = &service->threads[service->n_threads];
    void *state;
    int rc = find_state(service, entry->worker, &state);

    if (rc < 0) {
        return rc;
    }
    *thread = (struct nic_service_thread){
        .worker = entry->worker, .state = state, .part = entry->part};
    rc = nic_service_thread_start(thread, entry->name);
    service->n_threads += rc == 0;
    return rc;
}

int nic_service_open(const struct nic_engine_params *params, uint32_t serves,
                     struct nic_service **service_out)
{
    struct place place = {.params = params};
    struct nic_service *service = calloc(1, sizeof(*service));
    int rc;

    *service_out = NULL;
    if (service == NULL) {
        bcs_error("no service of the machine: %s", strerror(ENOMEM));
        return -ENOMEM;
    }
    service->params = *params;
    service->params.is_background = true;
    service->params.slice = &service->slice;
    init_slice(&service->slice);
    rc = nic_engine_layout(params->n_ports, params->config, &place.layout);
    for (uint32_t i = 0; rc == 0 && i < NIC_SERVE_ENTRIES; i++) {
        if ((serves & NIC_SERVES(i)) != 0 && entries[i].is_here(&place)) {
            rc = start(service, &entries[i]);
            if (rc < 0) {
                bcs_error("the thread %s cannot be started: %s", entries[i].name,
                          strerror(-rc));
            }
        }
    }
    if (rc < 0 || service->n_threads == 0) {
        nic_service_close(service);
        service = NULL;
    }
    *service_out = service;
    return rc;
}

void nic_service_close(struct nic_service *service)
{
    if (service == NULL) {
        return;
    }
    if (service->n_threads > 0) {
        atomic_store_explicit(&service->params.machine->is_ending, 1,
                              memory_order_relaxed);
    }
    while (service->n_threads > 0) {
        nic_service_thread_stop(&service->threads[--service->n_threads]);
    }
    while (service->n_states > 0) {
        service->n_states--;
        service->states[service->n_states].worker->destroy(
            service->states[service->n_states].state);
    }
    pthread_mutex_destroy(&service->slice);
    free(service);
}

void nic_service_forked(struct nic_service *service)
{
    if (service != NULL) {
        service->n_threads = 0;
    }
}
