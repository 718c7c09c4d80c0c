/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes that use the primitives at once: transfers and queries are atomic,
 * and all of them have one order. What the actors see goes to world->shared, where one
 * of them checks it after a barrier.
 */
#include <sched.h>
#include <string.h>

#include "tests/transport/world.h"

#define N_ACTORS 6
#define BLOCK_WORDS 1024
#define BLOCK_BYTES (BLOCK_WORDS * sizeof(uint64_t))

/* Where the objects of this file lie; the same in all actors. */
static uint64_t x_gva, y_gva, block_gva, event_gva;

static struct world *world_start(int index)
{
    static struct world world;

    world_init(&world, index);
    x_gva = world_reserve(&world, 8, 64);
    y_gva = world_reserve(&world, 8, 64);
    block_gva = world_reserve(&world, BLOCK_BYTES, 64);
    event_gva = world_event(&world);
    return &world;
}

/* The actors' own memory is apart; what one found out is told to the others here. */
static void tell(struct actor *me, uint32_t word, uint64_t value)
{
    /* Pairs with told; the meetings in between order them anyway. */
    __atomic_store_n(&me->world->shared->words[word], value, __ATOMIC_RELEASE);
}

static uint64_t told(struct actor *me, uint32_t word)
{
    return __atomic_load_n(&me->world->shared->words[word], __ATOMIC_ACQUIRE);
}

/* A barrier that lets all go at the same moment, as far as there are cores. */
static void meet(struct actor *me)
{
    uint64_t *n_met = &me->world->shared->words[WORLD_N_WORDS - 1];
    uint64_t target = ++me->n_meetings * me->world->n_actors;

    __atomic_fetch_add(n_met, 1, __ATOMIC_ACQ_REL);
    for (int n_tries = 0; __atomic_load_n(n_met, __ATOMIC_ACQUIRE) < target;
         n_tries++) {
        if (n_tries > 1000) {
            sched_yield();
        }
    }
}

/* ------------------------------------------------------------------ many writers */

/* A random set that has at least one node. */
static struct bcs_node_set random_set(struct actor *me)
{
    uint32_t mask = actor_random(me) & 0xf;

    return set_of_mask(mask | 1u << actor_random(me) % WORLD_N_NODES);
}

/* Whether the block of a node is from one writer; then also from whom and when. */
static bool block_is_whole(struct actor *me, uint32_t node, uint64_t *stamp_out)
{
    struct bcs_core *core = world_core(me->world, node);
    const uint64_t *block = bcs_core_address(core, block_gva);
    bool is_whole = true;

    for (size_t i = 1; i < BLOCK_WORDS; i++) {
        is_whole = is_whole && block[i] == block[0];
    }
    *stamp_out = block[0];
    bcs_core_destroy(core);
    return is_whole;
}

/* No two nodes may have got two transfers that both had both nodes, in other orders. A
 * stamp is round * N_ACTORS + writer; words[writer] is the writer's set. */
static void blocks_check(struct actor *me, uint64_t round)
{
    uint64_t stamps[WORLD_N_NODES];

    for (uint32_t node = 0; node < WORLD_N_NODES; node++) {
        actor_expect(me, block_is_whole(me, node, &stamps[node]), "a torn block");
    }
    for (uint32_t a = 0; a < WORLD_N_NODES; a++) {
        for (uint32_t b = 0; b < a; b++) {
            uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;
            bool is_common = stamps[a] / N_ACTORS == round &&
                             stamps[b] / N_ACTORS == round &&
                             (told(me, stamps[a] % N_ACTORS) & both) == both &&
                             (told(me, stamps[b] % N_ACTORS) & both) == both;

            actor_expect(me, !is_common || stamps[a] == stamps[b],
                         "two nodes disagree on who was last");
        }
    }
}

static void put_to_random_sets(struct actor *me)
{
    uint64_t block[BLOCK_WORDS];

    for (uint64_t round = 1; round <= me->world->n_rounds; round++) {
        struct bcs_node_set dests = random_set(me);

        for (size_t i = 0; i < BLOCK_WORDS; i++) {
            block[i] = round * N_ACTORS + me->index;
        }
        tell(me, me->index, dests.marks[0]);
        actor_barrier(me);
        for (int i = 0; i < 4; i++) {
            actor_expect(me,
                         actor_put(me, &dests, block_gva, block, BLOCK_BYTES, 0) == 0,
                         "a put failed");
        }
        actor_barrier(me);
        if (me->index == 0) {
            blocks_check(me, round);
        }
        actor_barrier(me);
    }
}

START_TEST(overlapping_puts_are_neither_torn_nor_mixed)
{
    struct world *world = world_start(_i);

    world_run(world, N_ACTORS, put_to_random_sets);
    world_fini(world);
}
END_TEST

static void put_to_all(struct actor *me)
{
    uint64_t block[BLOCK_WORDS], stamps[WORLD_N_NODES];

    for (size_t i = 0; i < BLOCK_WORDS; i++) {
        block[i] = me->index + 1;
    }
    for (uint64_t round = 1; round <= me->world->n_rounds; round++) {
        for (int i = 0; i < 3; i++) {
            actor_put(me, &me->world->all, block_gva, block, BLOCK_BYTES, 0);
        }
        actor_barrier(me);
        for (uint32_t node = 0; me->index == 0 && node < WORLD_N_NODES; node++) {
            actor_expect(me, block_is_whole(me, node, &stamps[node]), "a torn block");
            actor_expect(me, stamps[node] == stamps[0], "nodes have different blocks");
        }
        actor_barrier(me);
    }
}

START_TEST(puts_to_all_nodes_leave_all_nodes_the_same)
{
    struct world *world = world_start(_i);

    world_run(world, N_ACTORS, put_to_all);
    world_fini(world);
}
END_TEST

/* -------------------------------------------------------------- compare-and-write */

/* Sets differ and have only node 0 in common: that must do. */
static void test_and_set(struct actor *me)
{
    struct bcs_node_set dests = set_of_two(0, me->index % WORLD_N_NODES);

    for (uint64_t round = 1; round <= me->world->n_rounds; round++) {
        meet(me);
        if (actor_swap(me, &dests, x_gva, 0, 1)) {
            __atomic_fetch_add(&me->world->shared->words[0], 1, __ATOMIC_RELAXED);
        }
        meet(me);
        if (me->index == 0) {
            actor_expect(me, told(me, 0) == round, "not exactly one winner");
            actor_put_word(me, &me->world->all, x_gva, 0);
        }
    }
}

START_TEST(a_test_and_set_has_exactly_one_winner)
{
    struct world *world = world_start(_i);

    world_run(world, N_ACTORS, test_and_set);
    world_fini(world);
}
END_TEST

/* A lock made of the primitives guards a counter that is read and written in steps. */
static void count_under_a_lock(struct actor *me)
{
    struct bcs_node_set dests = set_of_two(0, me->index % WORLD_N_NODES);

    meet(me);
    for (uint64_t i = 0; i < 10 * me->world->n_rounds; i++) {
        while (!actor_swap(me, &dests, x_gva, 0, 1)) {
            sched_yield();
        }
        tell(me, 0, told(me, 0) + 1);
        actor_put_word(me, &dests, x_gva, 0);
    }
}

START_TEST(a_lock_of_compare_and_write_lets_one_in_at_a_time)
{
    struct world *world = world_start(_i);

    world_run(world, 3, count_under_a_lock);
    ck_assert_uint_eq(world->shared->words[0], 3 * 10 * world->n_rounds);
    world_fini(world);
}
END_TEST

/* The tries are limited, so that nodes which disagree do not make it endless. */
static void count_up(struct actor *me)
{
    meet(me);
    for (uint64_t i = 0; i < 50 * me->world->n_rounds; i++) {
        uint64_t seen = word_on(me->core, x_gva);

        if (actor_swap(me, &me->world->all, x_gva, seen, seen + 1)) {
            __atomic_fetch_add(&me->world->shared->words[0], 1, __ATOMIC_RELAXED);
        }
    }
}

START_TEST(a_counter_by_compare_and_write_loses_nothing)
{
    struct world *world = world_start(_i);
    struct actor me;

    world_run(world, 3, count_up);
    actor_init(&me, world, WORLD_MAX_ACTORS);
    ck_assert(actor_query(&me, &world->all, x_gva, world->shared->words[0]));
    actor_fini(&me);
    world_fini(world);
}
END_TEST

/* Everybody writes another value under a condition that is always true. */
static void write_own_value(struct actor *me)
{
    struct bcs_comparison comparison = {
        .variable_gva = x_gva,
        .op = BCS_COMPARE_GE,
        .dests = &me->world->all,
        .write_gva = y_gva,
    };
    bool is_true;

    for (uint64_t round = 1; round <= me->world->n_rounds; round++) {
        for (uint64_t i = 0; i < 8; i++) {
            comparison.write_value = (round * 8 + i) * N_ACTORS + me->index;
            actor_expect(me,
                         bcs_compare_and_write(me->core, &comparison, &is_true) == 0 &&
                             is_true,
                         "an unconditional write failed");
        }
        actor_barrier(me);
        if (me->index < WORLD_N_NODES) {
            actor_expect(
                me, actor_query(me, &me->world->all, y_gva, word_on(me->core, y_gva)),
                "nodes have different values");
        }
        actor_barrier(me);
    }
}

START_TEST(writers_that_overlap_leave_the_same_value_on_all_nodes)
{
    struct world *world = world_start(_i);

    world_run(world, N_ACTORS, write_own_value);
    world_fini(world);
}
END_TEST

/* -------------------------------------------------------------------- litmus tests */

/* Each writes its own variable on one node and asks for the other's on another. */
static void dekker(struct actor *me)
{
    struct bcs_node_set mine = bcs_node_set_one(me->index + 1);
    struct bcs_node_set others = bcs_node_set_one(2 - me->index);
    uint64_t my_gva = me->index == 0 ? x_gva : y_gva;
    uint64_t other_gva = me->index == 0 ? y_gva : x_gva;

    for (uint64_t round = 1; round <= 20 * me->world->n_rounds; round++) {
        meet(me);
        actor_put_word(me, &mine, my_gva, round);
        tell(me, me->index, actor_query(me, &others, other_gva, round));
        meet(me);
        actor_expect(me, told(me, 0) || told(me, 1), "both came first");
    }
}

START_TEST(of_two_who_write_and_then_ask_at_least_one_sees_the_other)
{
    struct world *world = world_start(_i);

    world_run(world, 2, dekker);
    world_fini(world);
}
END_TEST

/* Two write, x on nodes 0 and 1, y on 2 and 3; two read, each from other nodes. */
static void independent_reads(struct actor *me)
{
    struct bcs_node_set x_nodes = set_of_two(0, 1), y_nodes = set_of_two(2, 3);
    struct bcs_node_set x_at = bcs_node_set_one(me->index - 2);
    struct bcs_node_set y_at = bcs_node_set_one(me->index);

    for (uint64_t round = 1; round <= 2 * me->world->n_rounds; round++) {
        meet(me);
        if (me->index == 0) {
            actor_put_word(me, &x_nodes, x_gva, round);
        } else if (me->index == 1) {
            actor_put_word(me, &y_nodes, y_gva, round);
        } else if (me->index == 2) {
            tell(me, 0, actor_query(me, &x_at, x_gva, round));
            tell(me, 1, actor_query(me, &y_at, y_gva, round));
        } else {
            tell(me, 2, actor_query(me, &y_at, y_gva, round));
            tell(me, 3, actor_query(me, &x_at, x_gva, round));
        }
        meet(me);
        actor_expect(me, !(told(me, 0) && !told(me, 1) && told(me, 2) && !told(me, 3)),
                     "two readers saw two writes in different orders");
    }
}

START_TEST(all_readers_see_independent_writes_in_one_order)
{
    struct world *world = world_start(_i);

    world_run(world, 4, independent_reads);
    world_fini(world);
}
END_TEST

/* Actor 0 writes x everywhere; the others look on one node and then on another. */
static void look_twice(struct actor *me)
{
    uint64_t n_rounds = 100 * me->world->n_rounds;

    meet(me);
    for (uint64_t round = 1; me->index == 0 && round <= n_rounds; round++) {
        actor_put_word(me, &me->world->all, x_gva, round);
    }
    while (me->index != 0 && word_on(me->core, x_gva) < n_rounds) {
        struct bcs_node_set later = bcs_node_set_one(actor_random(me) % WORLD_N_NODES);
        struct bcs_comparison comparison = {
            .variable_gva = x_gva,
            .op = BCS_COMPARE_GE,
            .value = word_on(me->core, x_gva),
            .dests = &later,
        };
        bool is_true = false;

        bcs_compare_and_write(me->core, &comparison, &is_true);
        actor_expect(me, is_true, "a node has not what another node has shown");
    }
}

START_TEST(what_one_node_shows_a_query_finds_on_all)
{
    struct world *world = world_start(_i);

    world_run(world, 4, look_twice);
    world_fini(world);
}
END_TEST

/* Actor 0 puts and signals; all others look at the block by address, then say so. */
static void pass_messages(struct actor *me)
{
    uint64_t block[BLOCK_WORDS];

    for (uint64_t round = 1; round <= me->world->n_rounds; round++) {
        const uint64_t *copy = bcs_core_address(me->core, block_gva);
        bool is_whole = true;

        for (size_t i = 0; i < BLOCK_WORDS; i++) {
            block[i] = round + i;
        }
        if (me->index == 0) {
            actor_put(me, &me->world->all, block_gva, block, BLOCK_BYTES, event_gva);
        }
        actor_expect(me, bcs_test_event(me->core, event_gva, round, true) == 0,
                     "waiting failed");
        for (size_t i = 0; i < BLOCK_WORDS; i++) {
            is_whole = is_whole && copy[i] == block[i];
        }
        actor_expect(me, is_whole, "data came later than their event");
        actor_barrier(me);
    }
}

START_TEST(whoever_sees_the_event_sees_the_data)
{
    struct world *world = world_start(_i);

    world_run(world, N_ACTORS, pass_messages);
    world_fini(world);
}
END_TEST

/* Actor 0 puts blocks; the others poll the last word, without an event. */
static void poll_last_words(struct actor *me)
{
    const uint64_t *copy = bcs_core_address(me->core, block_gva);
    struct bcs_node_set others = set_of_two(1, 2);
    uint64_t block[16];

    for (uint64_t round = 1; round <= 10 * me->world->n_rounds; round++) {
        for (size_t i = 0; i < 16; i++) {
            block[i] = round;
        }
        if (me->index == 0) {
            actor_put(me, &others, block_gva, block, sizeof(block), 0);
        } else {
            /* Pairs with the transport's store of the last word. */
            while (__atomic_load_n(&copy[15], __ATOMIC_ACQUIRE) < round) {
                sched_yield();
            }
            actor_expect(me, memcmp(copy, block, sizeof(block)) == 0,
                         "a flag came before its block");
        }
        meet(me);
    }
}

START_TEST(whoever_sees_the_last_word_sees_the_block)
{
    struct world *world = world_start(_i);

    world_run(world, 3, poll_last_words);
    world_fini(world);
}
END_TEST

TCase *consistency_tcase(int n_transports)
{
    TCase *tcase = tcase_create("consistency");

    tcase_add_loop_test(tcase, overlapping_puts_are_neither_torn_nor_mixed, 0,
                        n_transports);
    tcase_add_loop_test(tcase, puts_to_all_nodes_leave_all_nodes_the_same, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_test_and_set_has_exactly_one_winner, 0, n_transports);
    tcase_add_loop_test(tcase, a_lock_of_compare_and_write_lets_one_in_at_a_time, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_counter_by_compare_and_write_loses_nothing, 0,
                        n_transports);
    tcase_add_loop_test(tcase, writers_that_overlap_leave_the_same_value_on_all_nodes,
                        0, n_transports);
    tcase_add_loop_test(tcase,
                        of_two_who_write_and_then_ask_at_least_one_sees_the_other, 0,
                        n_transports);
    tcase_add_loop_test(tcase, all_readers_see_independent_writes_in_one_order, 0,
                        n_transports);
    tcase_add_loop_test(tcase, what_one_node_shows_a_query_finds_on_all, 0,
                        n_transports);
    tcase_add_loop_test(tcase, whoever_sees_the_event_sees_the_data, 0, n_transports);
    tcase_add_loop_test(tcase, whoever_sees_the_last_word_sees_the_block, 0,
                        n_transports);
    return tcase;
}
