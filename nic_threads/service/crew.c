/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of driver `threads`. Each process that is the first of its node runs one
 * crew.
 *
 * Who touches what. The strobe receiver and the roles share one engine; the receiver
 * hands a step over and waits for it, so that only one of them runs at a time (the
 * semaphores order their accesses). It goes from desk to desk of the node, and holds
 * the engine lock of the one where it steps. The strobe sender has an engine of its
 * own, and the words of node 0 that are its own (strobe_sender.c); to begin a slice on
 * an idle node it takes that node's lock.
 *
 * A thread that runs no step sleeps: a role until the receiver has a step for it, the
 * receiver until the bell of its node rings. So does the strobe sender within a slice;
 * between timed ones it waits for its timer. The strobe sender and the strobe receiver
 * of node 0 have one bell; each looks in vain now and then. That no wake-up is lost is
 * argued in service_thread.c.
 */
#include "nic_threads/service/crew.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/park.h"
#include "nic_threads/machine/cores.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/service/strobe_timer.h"

/** A role's thread. */
struct hand {
    _Atomic uint32_t park; /* of the thread */
    _Atomic bool
        has_step; /* set by the receiver, and cleared by the thread after the step */
    struct nic_view *view; /* of the desk */
    nic_role_fn step;
};

struct nic_crew {
    struct nic_engine *engine;
    struct nic_view *view; /* of the node */
    struct nic_engine *sender_engine;
    struct nic_strobe_timer timer;  /* of the strobe sender, if slices are timed */
    _Atomic uint32_t receiver_park; /* while it waits for a role */
    struct hand hands[NIC_ROLES];
};

static void hand_over(struct nic_view *view, enum nic_role role, nic_role_fn step)
{
    struct nic_crew *crew = view->engine->crew;
    struct hand *hand = &crew->hands[role];
    bool is_done = false;

    hand->view = view;
    hand->step = step;
    /* seq_cst: work that the role is woken for; partner of the load in run_step */
    atomic_store_explicit(&hand->has_step, true, memory_order_seq_cst);
    bcs_park_wake(&hand->park);
    while (!is_done) {
        uint32_t announced = bcs_park_announce(&crew->receiver_park, NULL);

        /* acquire: pairs with the store in run_step */
        is_done = !atomic_load_explicit(&hand->has_step, memory_order_acquire);
        if (!is_done) {
            bcs_park_sleep(&crew->receiver_park, announced, 0);
        }
        bcs_park_end(&crew->receiver_park);
    }
}

/** A look of a role. @return whether it had a step to do */
static bool run_step(struct nic_crew *crew, struct hand *hand)
{
    if (!atomic_load_explicit(&hand->has_step, memory_order_acquire)) {
        return false;
    }
    hand->step(hand->view);
    /* seq_cst: what the receiver is woken for */
    atomic_store_explicit(&hand->has_step, false, memory_order_seq_cst);
    bcs_park_wake(&crew->receiver_park);
    return true;
}

static const struct nic_crew_ops ops = {.hand_over = hand_over};

/** Lead the nodes to the next microphase, if the last one is complete. */
static bool lead(struct nic_crew *crew)
{
    return nic_strobe_sender_step(nic_engine_node(crew->sender_engine, 0));
}

static struct nic_rest rest_unless(bool has_done, enum nic_rest_kind kind)
{
    return (struct nic_rest){has_done ? NIC_REST_NOT : kind, 0};
}

/** A look of the strobe sender. */
static struct nic_rest look_as_sender(struct nic_crew *crew)
{
    struct nic_view *view = nic_engine_node(crew->sender_engine, 0);
    struct nic_rest rest;

    if (!crew->engine->is_timed || nic_strobe_sender_has_work(view)) {
        return rest_unless(lead(crew), NIC_REST_BELL);
    }
    rest = nic_strobe_timer_look(&crew->timer, view);
    if (rest.kind == NIC_REST_NOT) {
        nic_strobe_sender_open_slice(view);
    }
    return rest;
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct nic_crew *crew = state;

    switch (part) {
    case NIC_CREW_SR:
        return rest_unless(nic_engine_receive(crew->view), NIC_REST_BELL);
    case NIC_CREW_SS:
        return look_as_sender(crew);
    default:
        return rest_unless(run_step(crew, &crew->hands[part]), NIC_REST_PARK);
    }
}

/**
 * Of a clock's slices, each phase must begin in time. On demand, a thread had better be
 * on an idle core than wake at once: the kernel puts a real-time one on the core that
 * it had last, even if a rank computes there.
 */
static void begin(void *state, uint32_t part)
{
    struct nic_crew *crew = state;

    if (!crew->engine->is_timed) {
        return;
    }
    if (part == NIC_CREW_SS) {
        nic_strobe_timer_start(&crew->timer, nic_engine_node(crew->sender_engine, 0));
    } else {
        nic_cores_be_prompt();
    }
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    struct nic_crew *crew = state;

    switch (part) {
    case NIC_CREW_SR:
        return (struct nic_wakers){.bell = crew->view};
    case NIC_CREW_SS:
        return (struct nic_wakers){
            .bell = nic_engine_node(crew->sender_engine, 0),
            .park = crew->engine->is_timed ? &crew->engine->machine->strobe_park : NULL,
        };
    default:
        return (struct nic_wakers){.park = &crew->hands[part].park};
    }
}

static void destroy(void *state)
{
    struct nic_crew *crew = state;

    nic_engine_destroy(crew->sender_engine);
    nic_engine_destroy(crew->engine);
    free(crew);
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct nic_crew *crew = calloc(1, sizeof(*crew));
    struct nic_engine_params own = *params;
    int rc;

    if (crew == NULL) {
        return -ENOMEM;
    }
    own.is_mover = params->is_direct;
    own.crew = crew;
    own.crew_ops = &ops;
    rc = nic_engine_create(&own, &crew->engine);
    if (rc < 0) {
        goto fail;
    }
    own.crew = NULL; /* the strobe sender has no hands */
    own.crew_ops = NULL;
    crew->view = nic_engine_node(crew->engine, crew->engine->home);
    if (crew->view->index == 0 && nic_has_strobes(crew->engine)) {
        rc = nic_engine_create(&own, &crew->sender_engine);
        if (rc < 0) {
            goto fail;
        }
    }
    *state_out = crew;
    return 0;

fail:
    destroy(crew);
    return rc;
}

const struct nic_worker_ops nic_crew_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .begin = begin,
    .look = look,
};
