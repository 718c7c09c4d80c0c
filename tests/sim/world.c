/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated job; see world.h.
 */
#include "tests/sim/world.h"

#include <check.h>

#include "nic_threads/machine/waking.h"
#include "nic_threads/roles/roles.h"
#include "nic_threads/roles/turn.h"

static void ring(struct nic_engine *engine, uint32_t reader)
{
    (void)reader;
    nic_engine_ring_own(nic_engine_own(engine));
}

static bool no_progress(struct nic_engine *engine)
{
    (void)engine;
    return false;
}

/* The world that there is. */
static struct sim_world *present;

/* A rank that has to post the part of a transfer it has done, and finds the ring
 * full. */
static void wait_for_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                          uint32_t reader)
{
    (void)waiter;
    ring(engine, reader);
    for (uint32_t node = 0; node < present->n_nodes; node++) {
        sim_land(present, node);
        sim_step_receiver(present, node);
    }
    sim_step_sender(present);
}

/* Else a simulated rank never waits: it looks again when it is its turn. */
static void refuse(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    (void)engine;
    (void)waiter;
    ck_abort_msg("a rank waits");
}

static void stop_nothing(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    (void)engine;
    (void)waiter;
}

static void leave_nothing(struct nic_engine *engine, uint32_t reader)
{
    (void)engine;
    (void)reader;
}

static const struct nic_driver_ops driver = {
    .name = "sim",
    .kick = ring,
    .leave = leave_nothing,
    .progress = no_progress,
    .wait_for_room = wait_for_room,
    .turn = refuse,
    .stop = stop_nothing,
};

static struct nic_engine *make_sender(struct sim_world *world)
{
    const struct nic_engine_params params = {
        .memory = world->job.memory,
        .machine = &world->job.shared->machine,
        .n_ports = world->n_ranks,
        .config = &world->job.config,
        .is_background = true,
    };
    struct nic_engine *engine;

    ck_assert_int_eq(nic_engine_create(&params, &engine), 0);
    return engine;
}

/** Whether somebody is awake, who looks now. */
static bool wake(struct sim_looker *looker)
{
    uint64_t n_rings = nic_engine_n_rings(looker->view);

    if (looker->is_asleep && n_rings == looker->n_rings) {
        return false;
    }
    looker->n_rings = n_rings;
    looker->is_asleep = false;
    return true;
}

/** What a strobe receiver does when it has been woken, within its fiber. */
static void look(void *arg)
{
    struct sim_looker *looker = arg;

    looker->has_done = nic_engine_receive(looker->view);
}

/** The strobe receiver hands a step to a role: let others run before it and after
 *  it. */
static void hand_over(struct nic_view *view, enum nic_role role, nic_role_fn step)
{
    struct sim_looker *looker = (struct sim_looker *)view->engine->crew;

    (void)role;
    sim_fiber_stop(&looker->fiber);
    step(view);
    sim_fiber_stop(&looker->fiber);
}

static const struct nic_crew_ops crew_ops = {.hand_over = hand_over};

/** Let the strobe receiver of a node be simulated; its engine is that of the node's
 *  first rank. */
static void man(struct sim_looker *looker, struct nic_view *view)
{
    looker->view = view;
    view->engine->crew = (struct nic_crew *)looker;
    view->engine->crew_ops = &crew_ops;
    sim_fiber_init(&looker->fiber, look, looker);
}

/** Let the threads of the crews be simulated. */
static void man_all(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        struct nic_view *view = nic_engine_own(world->ranks[i].context->engine);

        world->ranks[i].context->driver = &driver;
        if (view->first_port == i) {
            man(&world->receivers[view->index], view);
        }
    }
    if (nic_has_strobes(world->ranks[0].context->engine)) {
        world->sender_engine = make_sender(world);
        world->sender.view = nic_engine_view_at(world->sender_engine, 0);
    }
}

void sim_world_init(struct sim_world *world, const struct job_shape *shape)
{
    present = world;
    *world = (struct sim_world){.n_ranks = shape->n_ranks};
    job_open(&world->job, shape, world->ranks);
    world->n_nodes = world->ranks[0].context->engine->n_nodes;
    if (shape->has_crew) {
        man_all(world);
    }
    for (uint32_t i = 0; i < shape->n_ranks; i++) {
        rank_open_world(&world->ranks[i]);
    }
}

void sim_world_fini(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->n_nodes; i++) {
        struct sim_fiber *fiber = &world->receivers[i].fiber;

        while (fiber->is_within) {
            sim_fiber_run(fiber);
        }
        sim_fiber_fini(fiber);
    }
    nic_engine_destroy(world->sender_engine);
    job_close(&world->job, world->ranks);
}

bool sim_step_receiver(struct sim_world *world, uint32_t node)
{
    struct sim_looker *looker = &world->receivers[node];

    if (!looker->fiber.is_within && !wake(looker)) {
        return false;
    }
    if (!sim_fiber_run(&looker->fiber)) {
        return true;
    }
    looker->is_asleep = !looker->has_done;
    return looker->has_done;
}

bool sim_step_sender(struct sim_world *world)
{
    bool has_done = false;

    if (world->sender_engine != NULL) {
        struct nic_view *view = world->sender.view;

        if (view->engine->is_timed && !nic_strobe_sender_has_work(view)) {
            nic_strobe_sender_open_slice(view);
        }
        has_done = wake(&world->sender) && nic_strobe_sender_step(view);
        world->sender.is_asleep = !has_done;
    }
    return has_done;
}

void sim_land(struct sim_world *world, uint32_t node)
{
    ck_assert_int_eq(bcs_core_progress(world->receivers[node].view->core), 0);
    if (node == 0 && world->sender_engine != NULL) {
        ck_assert_int_eq(bcs_core_progress(world->sender.view->core), 0);
    }
}
