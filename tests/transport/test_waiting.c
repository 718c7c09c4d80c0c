/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test-Event in its blocking form, with the waiter really asleep when the signal comes.
 */
#include <errno.h>
#include <sched.h>

#include "libbcs/fabric/transport/event_word.h"
#include "tests/transport/world.h"

static uint64_t event_gva;

static void wait_once(struct actor *me)
{
    actor_expect(me, bcs_test_event(me->core, event_gva, 1, true) == 0,
                 "waiting failed");
}

/* Until so many processes sleep on the event of node 0, or are about to. */
static void sleepers_await(struct actor *me, uint32_t n_sleepers)
{
    struct bcs_event *event = bcs_core_address(me->core, event_gva);

    /* Pairs with the sleepers' increment. */
    while (__atomic_load_n(bcs_event_n_waiters(event), __ATOMIC_ACQUIRE) !=
           n_sleepers) {
        sched_yield();
    }
}

static void signal_node_0(struct actor *me)
{
    struct bcs_node_set dests = bcs_node_set_one(0);
    struct bcs_xfer signal = {.dests = &dests, .remote_event_gva = event_gva};

    ck_assert_int_eq(bcs_xfer_and_signal(me->core, &signal), 0);
    ck_assert_int_eq(bcs_core_flush(me->core), 0);
}

START_TEST(a_sleeper_is_woken_by_another_process)
{
    struct world world;
    struct actor me;

    world_init(&world, _i);
    actor_init(&me, &world, WORLD_MAX_ACTORS);
    for (int round = 0; round < 20; round++) {
        pid_t pid;

        event_gva = world_event(&world);
        pid = world_fork(&world, 0, wait_once);
        sleepers_await(&me, 1);
        signal_node_0(&me);
        world_join(&world, pid);
        sleepers_await(&me, 0);
    }
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

/* Sleeps for a signal that may be any of several things. */
static void await_once(struct actor *me)
{
    struct bcs_event *event = bcs_core_address(me->core, event_gva);

    /* Pairs with the signaller's increment. */
    while (__atomic_load_n(&event->count, __ATOMIC_ACQUIRE) == 0) {
        actor_expect(me, bcs_await_event(me->core, event_gva, 0) == 0,
                     "awaiting failed");
    }
    actor_expect(me, bcs_await_event(me->core, event_gva, 0) == 0,
                 "a count that has gone on made it wait");
}

START_TEST(an_awaited_signal_wakes)
{
    struct world world;
    struct actor me;
    pid_t pid;

    world_init(&world, _i);
    actor_init(&me, &world, WORLD_MAX_ACTORS);
    event_gva = world_event(&world);
    ck_assert_int_eq(bcs_await_event(me.core, event_gva, 0), 0); /* not for ever */
    pid = world_fork(&world, 0, await_once);
    sleepers_await(&me, 1);
    signal_node_0(&me);
    world_join(&world, pid);
    ck_assert_int_eq(bcs_await_event(me.core, 0, 0), -EINVAL);
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

START_TEST(one_signal_wakes_all_sleepers)
{
    struct world world;
    struct actor me;
    pid_t pids[2];

    world_init(&world, _i);
    actor_init(&me, &world, WORLD_MAX_ACTORS);
    event_gva = world_event(&world);
    for (uint32_t i = 0; i < 2; i++) {
        pids[i] = world_fork(&world, i * WORLD_N_NODES, wait_once);
    }
    sleepers_await(&me, 2);
    signal_node_0(&me);
    for (uint32_t i = 0; i < 2; i++) {
        world_join(&world, pids[i]);
    }
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

static void wait_for_third(struct actor *me)
{
    actor_expect(me, bcs_test_event(me->core, event_gva, 3, true) == 0,
                 "waiting failed");
    actor_expect(me, bcs_test_event(me->core, event_gva, 4, false) == BCS_E_PENDING,
                 "there was a fourth signal");
}

START_TEST(a_sleeper_waits_for_the_count_that_it_named)
{
    struct world world;
    struct actor me;
    pid_t pid;

    world_init(&world, _i);
    actor_init(&me, &world, WORLD_MAX_ACTORS);
    event_gva = world_event(&world);
    pid = world_fork(&world, 0, wait_for_third);
    for (int i = 0; i < 3; i++) {
        sleepers_await(&me, 1);
        signal_node_0(&me);
    }
    world_join(&world, pid);
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

/* The signal passes round all actors; more actors than cores, so that most sleep. */
static void pass_signal_round(struct actor *me)
{
    uint32_t next = (me->index + 1) % me->world->n_actors;
    struct bcs_node_set next_node = bcs_node_set_one(next % WORLD_N_NODES);
    uint64_t my_gva = event_gva + me->index * sizeof(struct bcs_event);
    struct bcs_xfer signal = {
        .dests = &next_node,
        .remote_event_gva = event_gva + next * sizeof(struct bcs_event),
    };

    for (uint64_t round = 1; round <= 2000; round++) {
        if (me->index == 0) {
            actor_expect(me, bcs_xfer_and_signal(me->core, &signal) == 0, "no signal");
        }
        actor_expect(me, bcs_test_event(me->core, my_gva, round, true) == 0, "no wait");
        if (me->index != 0) {
            actor_expect(me, bcs_xfer_and_signal(me->core, &signal) == 0, "no signal");
        }
    }
}

START_TEST(a_signal_goes_round_a_ring_and_is_never_lost)
{
    struct world world;

    world_init(&world, _i);
    event_gva = world_reserve(&world, WORLD_MAX_ACTORS * sizeof(struct bcs_event),
                              sizeof(struct bcs_event));
    world_run(&world, WORLD_MAX_ACTORS, pass_signal_round);
    world_fini(&world);
}
END_TEST

/* Without a time limit, so that a lost signal is a hang and no mere delay. */
static void sleep_in_turns(struct actor *me)
{
    struct bcs_core *core = world_core(me->world, 0);
    struct bcs_event *events = bcs_core_address(core, event_gva);

    for (uint64_t round = 0; round < 20000; round++) {
        for (uint64_t turn = 0; turn < 2; turn++) {
            struct bcs_event *event = &events[turn];

            if (me->index == turn) {
                bcs_event_signal(event);
                bcs_event_wake(event);
            }
            /* Pairs with the increment of the signal. */
            while (__atomic_load_n(&event->count, __ATOMIC_ACQUIRE) == round) {
                bcs_event_sleep(event, round, UINT64_C(1) << 60);
            }
        }
    }
    bcs_core_destroy(core);
}

START_TEST(a_signal_finds_whoever_is_about_to_sleep)
{
    struct world world;
    pid_t pids[2];

    world_init(&world, 0);
    event_gva =
        world_reserve(&world, 2 * sizeof(struct bcs_event), sizeof(struct bcs_event));
    for (uint32_t i = 0; i < 2; i++) {
        pids[i] = world_fork(&world, i, sleep_in_turns);
    }
    for (uint32_t i = 0; i < 2; i++) {
        world_join(&world, pids[i]);
    }
    world_fini(&world);
}
END_TEST

TCase *waiting_tcase(int n_transports)
{
    TCase *tcase = tcase_create("waiting");

    tcase_add_loop_test(tcase, a_sleeper_is_woken_by_another_process, 0, n_transports);
    tcase_add_loop_test(tcase, an_awaited_signal_wakes, 0, n_transports);
    tcase_add_loop_test(tcase, one_signal_wakes_all_sleepers, 0, n_transports);
    tcase_add_loop_test(tcase, a_sleeper_waits_for_the_count_that_it_named, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_signal_goes_round_a_ring_and_is_never_lost, 0,
                        n_transports);
    tcase_add_test(tcase, a_signal_finds_whoever_is_about_to_sleep);
    return tcase;
}
