/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of driver `threads`. Each process that is the first of its node runs one crew.
 *
 * Who touches what. The strobe receiver and the roles share one engine; the receiver hands
 * a step over and waits for it, so that only one of them runs at a time (the semaphores
 * order their accesses). It holds the node's engine lock while it steps. The strobe sender
 * has an engine of its own, and the words of node 0 that are its own (strobe_sender.c); to
 * begin a slice on an idle node it takes that node's lock.
 *
 * No wake-up is lost. A thread reads how often the bell of its node has rung, looks for work,
 * and only then sleeps, until the bell rings once more. Whoever makes work stores or puts it
 * first, and rings then: either before the thread has read the count, and it finds the work, or
 * later, and it does not sleep. The strobe sender and the strobe receiver of node 0 have one
 * bell; each looks in vain now and then.
 *
 * Why in the first process and not in a helper of its own: it ends with the job however the
 * job ends, it may copy the ranks' memory by the same right as they, and a launcher that
 * counts or binds processes sees none that it has not started. What it costs: a debugger
 * that stops the first process stops its node.
 */
#include "nic_threads/drivers/crew.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "nic_threads/drivers/service_thread.h"
#include "nic_threads/drivers/strobe_timer.h"
#include "nic_threads/node/engine_lock.h"
#include "nic_threads/node/waking.h"
#include "nic_threads/roles/roles.h"

/** A role's thread. */
struct hand {
    struct nic_crew *crew;
    pthread_t thread;
    bool is_started;
    sem_t work; /* posted by the strobe receiver after step was set */
    sem_t done; /* posted by the thread after the step */
    nic_role_fn step;
};

struct nic_crew {
    struct nic_engine *engine;
    struct nic_view *view; /* of the node */
    struct nic_engine *sender_engine;
    pthread_t receiver, sender;
    bool has_receiver, has_sender;
    _Atomic bool is_stopping; /* set before the bell is rung for it */
    struct hand hands[NIC_ROLES];
};

static bool is_stopping(const struct nic_crew *crew)
{
    return atomic_load_explicit(&crew->is_stopping, memory_order_seq_cst);
}

static void hand_over(struct nic_crew *crew, enum nic_role role, nic_role_fn step)
{
    struct hand *hand = &crew->hands[role];

    hand->step = step;
    sem_post(&hand->work);
    while (sem_wait(&hand->done) != 0) {
    }
}

static const struct nic_crew_ops ops = {.hand_over = hand_over};

/**
 * Of a clock's slices, each phase must begin in time. On demand, a thread had better be on
 * an idle core than wake at once: the kernel puts a real-time one on the core that it had
 * last, even if a rank computes there.
 */
static void be_prompt_if_timed(const struct nic_crew *crew)
{
    if (crew->engine->is_timed) {
        nic_service_thread_be_prompt();
    }
}

static void *run_hand(void *argument)
{
    struct hand *hand = argument;

    be_prompt_if_timed(hand->crew);
    for (;;) {
        while (sem_wait(&hand->work) != 0) {
        }
        if (hand->step == NULL) {
            return NULL;
        }
        hand->step(hand->crew->view);
        sem_post(&hand->done);
    }
}

/** One step of the node, if there is anything to do. */
static bool receive(struct nic_crew *crew)
{
    struct nic_view *view = crew->view;
    bool has_done;

    if (!nic_strobe_receiver_has_work(view) || !nic_engine_try_lock(view)) {
        return false;
    }
    has_done = nic_is_alone(crew->engine) ? nic_strobe_receiver_run_alone(view)
                                          : nic_strobe_receiver_step(view);
    nic_engine_unlock(view);
    if (has_done && !nic_is_alone(crew->engine)) {
        nic_engine_ring(view, 0); /* the strobe sender: a microphase is done here */
    }
    return has_done;
}

/** Lead the nodes to the next microphase, if the last one is complete. */
static bool lead(struct nic_crew *crew)
{
    return nic_strobe_sender_step(&crew->sender_engine->views[0]);
}

/** Do a step, or sleep until the bell of the view's node rings. */
static void step_or_sleep(struct nic_crew *crew, struct nic_view *view,
                          bool (*step)(struct nic_crew *crew))
{
    uint64_t n_rings = nic_engine_n_rings(view);

    if (!step(crew) && !is_stopping(crew)) {
        nic_engine_await_bell(view, n_rings);
    }
}

static void *run_receiver(void *argument)
{
    struct nic_crew *crew = argument;

    be_prompt_if_timed(crew);
    while (!is_stopping(crew)) {
        step_or_sleep(crew, crew->view, receive);
    }
    return NULL;
}

static void *run_sender_on_demand(void *argument)
{
    struct nic_crew *crew = argument;

    while (!is_stopping(crew)) {
        step_or_sleep(crew, &crew->sender_engine->views[0], lead);
    }
    return NULL;
}

static void *run_timed_sender(void *argument)
{
    struct nic_crew *crew = argument;
    struct nic_view *view = &crew->sender_engine->views[0];
    struct nic_strobe_clock clock;

    nic_strobe_timer_start(&clock, view);
    while (nic_strobe_timer_wait(&clock, view, &crew->is_stopping)) {
        nic_strobe_sender_open_slice(view);
        while (nic_strobe_sender_has_work(view) && !is_stopping(crew)) {
            step_or_sleep(crew, view, lead);
        }
    }
    return NULL;
}

static int start_hands(struct nic_crew *crew)
{
    static const char *const names[NIC_ROLES] = {"bcs-bs", "bcs-br", "bcs-dh", "bcs-ch",
                                                 "bcs-rh"};
    int rc = 0;

    for (int i = 0; rc == 0 && i < NIC_ROLES; i++) {
        struct hand *hand = &crew->hands[i];

        hand->crew = crew;
        sem_init(&hand->work, 0, 0);
        sem_init(&hand->done, 0, 0);
        rc = nic_service_thread_start(&hand->thread, run_hand, hand, names[i]);
        hand->is_started = rc == 0;
    }
    return rc;
}

static int start_strobes(struct nic_crew *crew)
{
    int rc = nic_service_thread_start(&crew->receiver, run_receiver, crew, "bcs-sr");

    crew->has_receiver = rc == 0;
    if (rc == 0 && crew->sender_engine != NULL) {
        rc = nic_service_thread_start(&crew->sender,
                                      crew->engine->is_timed ? run_timed_sender
                                                             : run_sender_on_demand,
                                      crew, "bcs-ss");
        crew->has_sender = rc == 0;
    }
    return rc;
}

int nic_crew_start(const struct nic_engine_params *params, struct nic_crew **crew_out)
{
    struct nic_crew *crew = calloc(1, sizeof(*crew));
    struct nic_engine_params own = *params;
    int rc = -ENOMEM;

    if (crew == NULL) {
        return rc;
    }
    own.is_background = true;
    own.is_mover = params->is_direct;
    own.crew = crew;
    own.crew_ops = &ops;
    rc = nic_engine_create(&own, &crew->engine);
    if (rc < 0) {
        goto fail;
    }
    own.crew = NULL; /* the strobe sender has no hands */
    own.crew_ops = NULL;
    crew->view = &crew->engine->views[crew->engine->home];
    if (crew->view->index == 0 && !nic_is_alone(crew->engine)) {
        rc = nic_engine_create(&own, &crew->sender_engine);
        if (rc < 0) {
            goto fail;
        }
    }
    rc = start_hands(crew);
    if (rc == 0) {
        rc = start_strobes(crew);
    }
    if (rc < 0) {
        goto fail;
    }
    *crew_out = crew;
    return 0;

fail:
    bcs_error("the NIC threads cannot be started: %s", strerror(-rc));
    nic_crew_stop(crew);
    return rc;
}

static void stop_strobes(struct nic_crew *crew)
{
    atomic_store_explicit(&crew->is_stopping, true, memory_order_seq_cst);
    if (crew->has_sender) {
        nic_engine_ring_own(crew->view);
        nic_strobe_timer_stop(crew->view);
        pthread_join(crew->sender, NULL);
    }
    if (crew->has_receiver) {
        nic_engine_ring_own(crew->view);
        pthread_join(crew->receiver, NULL);
    }
}

void nic_crew_stop(struct nic_crew *crew)
{
    if (crew == NULL) {
        return;
    }
    stop_strobes(crew);
    for (int i = 0; i < NIC_ROLES; i++) {
        struct hand *hand = &crew->hands[i];

        if (hand->is_started) {
            hand->step = NULL;
            sem_post(&hand->work);
            pthread_join(hand->thread, NULL);
        }
        if (hand->crew != NULL) {
            sem_destroy(&hand->work);
            sem_destroy(&hand->done);
        }
    }
    nic_engine_destroy(crew->sender_engine);
    nic_engine_destroy(crew->engine);
    free(crew);
}
