/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map of ranks and ports: what holds of each, of random ones, and some by hand.
 */
#include "libbcs/fabric/ring/port_map.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"

enum { RANKS_MOST = 40, N_RANDOM = 2000 };

static uint32_t machines[RANKS_MOST];
static struct bcs_port_plan plan;
static struct bcs_port_map *map;
static uint64_t seed;

static uint32_t a_random(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static void set_up(void)
{
    seed = 1;
    map = NULL;
    plan = (struct bcs_port_plan){.machines = machines};
}

static void tear_down(void)
{
    bcs_port_map_destroy(map);
}

static void make(void)
{
    bcs_port_map_destroy(map);
    ck_assert_int_eq(bcs_port_map_create(&plan, &map), 0);
}

/** Ranks of a machine. */
static uint32_t n_of_machine(uint32_t machine)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan.n_ranks; i++) {
        n += plan.machines == NULL ? machine == 0 : machines[i] == machine;
    }
    return n;
}

/** Check one machine, whose first node it is. @return the node behind its last one */
static uint32_t check_machine(uint32_t machine, uint32_t first_node)
{
    uint32_t n = n_of_machine(machine), first = first_node * map->node_ranks;
    uint32_t n_nodes = (n + map->node_ranks - 1) / map->node_ranks;
    uint32_t before = 0;

    for (uint32_t i = 0; i < n_nodes * map->node_ranks; i++) {
        uint32_t port = first + i, node = port / map->node_ranks;
        uint32_t rank = port < map->n_ports ? map->ranks[port] : BCS_PORT_HOLE;
        struct bcs_node_range near = bcs_port_map_near(map, node);

        ck_assert_uint_eq(near.first, first_node);
        ck_assert_uint_eq(near.n, n_nodes);
        ck_assert_uint_eq(rank == BCS_PORT_HOLE, i >= n); /* holes are behind all */
        if (i >= n) {
            continue;
        }
        ck_assert_uint_lt(rank, plan.n_ranks);
        ck_assert_uint_eq(plan.machines == NULL ? 0 : machines[rank], machine);
        ck_assert_uint_eq(bcs_port_of(map, rank), port);
        ck_assert_uint_eq(bcs_rank_of(map, port), rank);
        ck_assert_uint_eq(bcs_node_of_rank(map, rank), node);
        ck_assert(i == 0 || (plan.is_falling ? rank < before : rank > before));
        before = rank;
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t n_rest = n - i * map->node_ranks;

        ck_assert_uint_eq(map->n_local[first_node + i],
                          n_rest < map->node_ranks ? n_rest : map->node_ranks);
        ck_assert_uint_eq(bcs_first_rank_of(map, first_node + i),
                          map->ranks[first + i * map->node_ranks]);
    }
    return first_node + n_nodes;
}

/** Check a map against what it was made from. */
static void check_map(void)
{
    uint32_t node = 0, n_machines = 0, most = 0, n_identical = 0;

    for (uint32_t i = 0; i < plan.n_ranks; i++) {
        most = n_of_machine(i) > most ? n_of_machine(i) : most;
        n_machines += n_of_machine(i) > 0;
    }
    ck_assert_uint_eq(map->n_ranks, plan.n_ranks);
    ck_assert_uint_eq(map->n_machines, n_machines);
    ck_assert_uint_eq(map->node_ranks, plan.node_ranks > 0 && plan.node_ranks < most
                                           ? plan.node_ranks
                                           : most);
    for (uint32_t i = 0; i < plan.n_ranks; i++) {
        node = n_of_machine(i) > 0 ? check_machine(i, node) : node;
        n_identical += bcs_port_of(map, i) == i;
    }
    ck_assert_uint_eq(map->n_nodes, node);
    ck_assert_uint_ne(map->ranks[map->n_ports - 1], BCS_PORT_HOLE);
    ck_assert(map->is_identity == (n_identical == plan.n_ranks));
}

START_TEST(every_rank_has_a_port_on_its_machine_and_holes_are_at_ends)
{
    for (int i = 0; i < N_RANDOM; i++) {
        plan.n_ranks = 1 + a_random(RANKS_MOST);
        plan.node_ranks = a_random(6);
        plan.is_falling = a_random(4) == 0;
        for (uint32_t k = 0; k < plan.n_ranks; k++) {
            machines[k] = a_random(1 + a_random(plan.n_ranks));
        }
        make();
        check_map();
    }
}
END_TEST

START_TEST(on_one_machine_each_rank_is_its_own_port)
{
    plan.machines = NULL;
    for (plan.n_ranks = 1; plan.n_ranks <= RANKS_MOST; plan.n_ranks++) {
        for (plan.node_ranks = 0; plan.node_ranks < 5; plan.node_ranks++) {
            make();
            check_map();
            ck_assert(map->is_identity);
            ck_assert_uint_eq(map->n_ports, plan.n_ranks);
            ck_assert_uint_eq(map->n_machines, 1);
        }
    }
}
END_TEST

START_TEST(ranks_that_are_dealt_in_turn_leave_holes)
{
    static const uint32_t in_turn[] = {0, 2, 0, 2, 0};
    static const uint32_t ports[] = {0, 4, 1, 5, 2};
    static const uint32_t ranks[] = {0, 2, 4, BCS_PORT_HOLE, 1, 3};
    static const uint32_t n_local[] = {2, 1, 2};

    memcpy(machines, in_turn, sizeof(in_turn));
    plan.n_ranks = 5;
    plan.node_ranks = 2;
    make();
    ck_assert_uint_eq(map->n_ports, 6);
    ck_assert_uint_eq(map->n_nodes, 3);
    ck_assert_uint_eq(map->n_machines, 2);
    ck_assert_mem_eq(map->ports, ports, sizeof(ports));
    ck_assert_mem_eq(map->ranks, ranks, sizeof(ranks));
    ck_assert_mem_eq(map->n_local, n_local, sizeof(n_local));
    ck_assert(!map->is_identity);
}
END_TEST

START_TEST(ports_may_fall_for_tests)
{
    static const uint32_t ports[] = {2, 1, 0};

    plan.machines = NULL;
    plan.n_ranks = 3;
    plan.node_ranks = 2;
    plan.is_falling = true;
    make();
    ck_assert_uint_eq(map->n_ports, 3);
    ck_assert_mem_eq(map->ports, ports, sizeof(ports));
    ck_assert(!map->is_identity);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("port map");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_rank_has_a_port_on_its_machine_and_holes_are_at_ends);
    tcase_add_test(tcase, on_one_machine_each_rank_is_its_own_port);
    tcase_add_test(tcase, ranks_that_are_dealt_in_turn_leave_holes);
    tcase_add_test(tcase, ports_may_fall_for_tests);
    return run_tcase("port map", tcase);
}
