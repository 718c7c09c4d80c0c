/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline`, simulated; see inline.h.
 */
#include "tests/sim/inline.h"

#include <check.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/service/background.h"
#include "tests/sim/script.h"

enum {
    STEP_NS = 2000,
    STEPS_BUSY = 300, /* at most of others, about */
    /* A look at the clock, whatever the waiter's kind of waiting: a common multiple of
     * the looks from one to the next, less one. */
    LOOKS_BEFORE_A_CLOCK = 319,
};

/* Times that no wait lasts by itself. */
static const uint64_t yield_ticks = UINT64_C(1) << 60, sleep_ticks = UINT64_C(1) << 61;

static struct {
    uint64_t *state;
    uint32_t impatience[JOB_MAX_RANKS]; /* one turn in so many is the last; 0: none */
    uint32_t in_a_row; /* steps of one process, before another one's turn, about */
    uint32_t last;     /* who went on last */
} inline_job;

/** One wait in so many turns has lasted long enough to yield, or to sleep. */
static void lose_patience(const struct nic_engine *engine, struct bcs_waiter *waiter)
{
    uint32_t one_in = inline_job.impatience[engine->port];
    bool sleeps;

    if (one_in == 0 || waiter->spell.is_announced ||
        sim_random(inline_job.state, one_in) != 0) {
        return;
    }
    sleeps = sim_random(inline_job.state, 3) != 0;
    waiter->spell.since_ticks =
        bcs_clock_ticks() - (sleeps ? 2 * sleep_ticks : yield_ticks + yield_ticks / 2);
    waiter->spell.n_yields = UINT32_MAX / 2;
    waiter->spell.n_looks = LOOKS_BEFORE_A_CLOCK;
}

static void kick(struct nic_engine *engine, uint32_t reader)
{
    sim_process_stop();
    nic_driver_inline.kick(engine, reader);
}

static void leave(struct nic_engine *engine, uint32_t reader)
{
    sim_process_stop();
    nic_driver_inline.leave(engine, reader);
}

static void wait_for_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                          uint32_t reader)
{
    sim_process_stop();
    nic_driver_inline.wait_for_room(engine, waiter, reader);
}

static void turn(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    lose_patience(engine, waiter);
    sim_process_stop();
    nic_driver_inline.turn(engine, waiter);
}

static void stop(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    sim_process_stop();
    nic_driver_inline.stop(engine, waiter);
}

static bool progress(struct nic_engine *engine)
{
    sim_process_stop();
    return nic_driver_inline.progress(engine);
}

static const struct nic_driver_ops driver = {
    .name = "sim inline",
    .kick = kick,
    .leave = leave,
    .progress = progress,
    .wait_for_room = wait_for_room,
    .turn = turn,
    .stop = stop,
};

/** The background thread, as the service runs it. */
static void run_background(void *arg)
{
    struct sim_world *world = arg;
    _Atomic uint32_t *park = nic_background_worker.wakers(world->background, 0).park;

    for (;;) {
        uint32_t announced = bcs_park_announce(park, NULL);
        struct nic_rest rest = nic_background_worker.look(world->background, 0);

        if (rest.kind == NIC_REST_PARK) {
            bcs_park_sleep(park, announced, rest.until_ns);
        }
        bcs_park_end(park);
        sim_process_stop();
    }
}

static void start_background(struct sim_world *world)
{
    const struct nic_engine_params params = {
        .memory = world->job.memory,
        .machine = &world->job.shared->machine,
        .n_ports = world->n_ranks,
        .config = &world->job.config,
        .is_direct = world->job.shape.is_direct,
        .is_background = true,
    };

    ck_assert_int_eq(nic_background_worker.create(&params, &world->background), 0);
    sim_process_init(&world->processes[world->n_ranks], world->n_ranks, run_background,
                     world);
    world->n_processes++;
}

void sim_inline_init(struct sim_world *world, bool has_background, uint64_t *state)
{
    static const uint32_t one_in[] = {0, 1, 3, 10, 30}, in_a_row[] = {1, 4, 20, 60};

    sim_processes_begin();
    inline_job.state = state;
    inline_job.last = 0;
    inline_job.in_a_row =
        in_a_row[sim_random(state, sizeof(in_a_row) / sizeof(in_a_row[0]))];
    for (uint32_t i = 0; i < world->n_ranks; i++) {
        struct bcs_context *context = world->ranks[i].context;

        inline_job.impatience[i] =
            one_in[sim_random(state, sizeof(one_in) / sizeof(one_in[0]))];
        context->driver = &driver;
        context->engine->spin_ticks = yield_ticks;
        context->engine->stay_ticks = sleep_ticks;
    }
    world->n_processes = world->n_ranks;
    if (has_background) {
        start_background(world);
    }
}

void sim_inline_start(struct sim_world *world, uint32_t rank, void (*fn)(void *arg),
                      void *arg)
{
    sim_process_init(&world->processes[rank], rank, fn, arg);
    sim_process_man(&world->processes[rank], world->ranks[rank].context->engine);
}

void sim_inline_fini(struct sim_world *world)
{
    for (uint32_t i = 0; i < world->n_processes; i++) {
        sim_process_fini(&world->processes[i]);
    }
    if (world->background != NULL) {
        nic_background_worker.destroy(world->background);
    }
}

/** Somebody who is awake; most often who has just gone on. @return NULL: nobody is */
static struct sim_process *choose(struct sim_world *world)
{
    uint32_t first = sim_random(inline_job.state, inline_job.in_a_row) != 0
                         ? inline_job.last
                         : sim_random(inline_job.state, world->n_processes);

    for (uint32_t i = 0; i < world->n_processes; i++) {
        uint32_t number = (first + i) % world->n_processes;

        if (sim_process_is_awake(&world->processes[number])) {
            inline_job.last = number;
            return &world->processes[number];
        }
    }
    return NULL;
}

/** Let something land that a rank has put as some node. */
static void land(struct sim_world *world)
{
    struct nic_engine *engine =
        world->ranks[sim_random(inline_job.state, world->n_ranks)].context->engine;
    uint32_t node = sim_random(inline_job.state, world->n_nodes);

    ck_assert_int_eq(
        bcs_core_progress(
            nic_engine_view_at(engine, node * engine->layout.n_desks)->core),
        0);
}

/** Let one of those who are busy go on. @return whether there was one */
static bool run_busy(struct sim_world *world)
{
    uint32_t first = sim_random(inline_job.state, world->n_processes);

    for (uint32_t i = 0; i < world->n_processes; i++) {
        inline_job.last = (first + i) % world->n_processes;
        if (world->processes[inline_job.last].is_busy) {
            sim_process_run(&world->processes[inline_job.last]);
            return true;
        }
    }
    return false;
}

bool sim_inline_step(struct sim_world *world)
{
    struct sim_process *process = choose(world);

    sim_process_pass_time(STEP_NS);
    if (world->n_nodes > 1) {
        land(world);
    }
    if (process == NULL) {
        return false;
    }
    sim_process_run(process);
    if (sim_random(inline_job.state, STEPS_BUSY) == 0) {
        run_busy(world); /* who is awake may do nothing but wait for it */
    }
    return true;
}

bool sim_inline_rouse(struct sim_world *world)
{
    return (sim_random(inline_job.state, 2) == 0 && sim_process_pass_sleep()) ||
           run_busy(world) || sim_process_pass_sleep();
}
