/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes exchange the names of their machines, and what map comes of them.
 */
#include "libbcs/session/mapping.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum { N = 6, NAME_BYTES = 64 };

static const char *const *hosts; /* by rank; NULL: nobody may exchange */
static int n_exchanges, result;
static struct nic_config config;
static struct bcs_port_map *map;
static struct bcs_bootstrap bootstrap;

/** Every process is on the machine that `hosts` says, whatever this one has told. */
static int allgather(void *arg, const void *mine, size_t n_bytes, void *all_out)
{
    (void)arg;
    (void)mine;
    ck_assert_ptr_nonnull(hosts);
    ck_assert_uint_eq(n_bytes, NAME_BYTES);
    for (uint32_t i = 0; i < bootstrap.size; i++) {
        strcpy((char *)all_out + i * n_bytes, hosts[i]);
    }
    n_exchanges++;
    return result;
}

static void set_up(void)
{
    char error[256];

    ck_assert_int_eq(bcs_config_read(&nic_config_table, &config, error, sizeof(error)),
                     0);
    hosts = NULL;
    map = NULL;
    n_exchanges = result = 0;
    bootstrap = (struct bcs_bootstrap){.size = N, .n_near = N, .allgather = allgather};
}

static void tear_down(void)
{
    bcs_port_map_destroy(map);
}

static void find(void)
{
    ck_assert_int_eq(bcs_mapping_find(&bootstrap, &config, &map), 0);
    ck_assert_uint_eq(config.node_ranks, map->node_ranks);
}

START_TEST(on_one_machine_nobody_exchanges_anything)
{
    config.node_ranks = 4;
    find();
    ck_assert(map->is_identity);
    ck_assert_uint_eq(map->n_nodes, 2);
    ck_assert_uint_eq(n_exchanges, 0);
}
END_TEST

START_TEST(a_process_alone_exchanges_nothing)
{
    bootstrap.size = 1;
    bootstrap.n_near = 0;
    find();
    ck_assert_uint_eq(map->n_ports, 1);
    ck_assert_uint_eq(n_exchanges, 0);
}
END_TEST

START_TEST(ranks_of_a_machine_have_ports_that_follow_each_other)
{
    static const char *const names[N] = {"b", "a", "b", "c", "c", "b"};
    static const uint32_t ports[N] = {0, 3, 1, 6, 7, 2};

    hosts = names;
    bootstrap.n_near = 3;
    find();
    ck_assert_uint_eq(map->n_machines, 3);
    ck_assert_uint_eq(map->n_ports, 8);
    ck_assert_mem_eq(map->ports, ports, sizeof(ports));
    ck_assert_uint_eq(n_exchanges, 1);
}
END_TEST

START_TEST(names_are_exchanged_if_the_launcher_says_nothing)
{
    static const char *const names[N] = {"a", "a", "a", "a", "a", "a"};

    hosts = names;
    bootstrap.n_near = 0;
    find();
    ck_assert(map->is_identity);
    ck_assert_uint_eq(n_exchanges, 1);
}
END_TEST

START_TEST(ranks_are_dealt_to_machines_that_are_played)
{
    static const uint32_t ports[][N] = {
        [NIC_FAR_BLOCK] = {0, 1, 2, 3, 4, 5},
        [NIC_FAR_CYCLIC] = {0, 2, 4, 1, 3, 5},
        [NIC_FAR_UNEVEN] = {0, 3, 1, 6, 2, 4},
        [NIC_FAR_FALLING] = {1, 0, 3, 2, 5, 4},
    };

    config.far = 3;
    for (uint64_t i = NIC_FAR_BLOCK; i <= NIC_FAR_FALLING; i++) {
        config.far_map = i;
        config.node_ranks = 0;
        find();
        ck_assert_uint_eq(map->n_machines, 3);
        ck_assert_mem_eq(map->ports, ports[i], sizeof(ports[i]));
        bcs_port_map_destroy(map);
        map = NULL;
    }
    ck_assert_uint_eq(n_exchanges, 0);
}
END_TEST

START_TEST(a_failed_exchange_is_forwarded)
{
    static const char *const names[N] = {"a", "a", "a", "a", "a", "b"};

    hosts = names;
    bootstrap.n_near = 5;
    result = -EIO;
    caught_stderr_begin();
    ck_assert_int_eq(bcs_mapping_find(&bootstrap, &config, &map), -EIO);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "the ports of 6 ranks"));
    caught_stderr_end();
    ck_assert_ptr_null(map);
}
END_TEST

START_TEST(launchers_say_how_many_are_here)
{
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("MPI_LOCALNRANKS");
    ck_assert_uint_eq(bcs_mapping_n_near(), 0);
    setenv("MPI_LOCALNRANKS", "5", 1);
    ck_assert_uint_eq(bcs_mapping_n_near(), 5);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "12", 1);
    ck_assert_uint_eq(bcs_mapping_n_near(), 12);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "many", 1);
    ck_assert_uint_eq(bcs_mapping_n_near(), 5);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("mapping");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, on_one_machine_nobody_exchanges_anything);
    tcase_add_test(tcase, a_process_alone_exchanges_nothing);
    tcase_add_test(tcase, ranks_of_a_machine_have_ports_that_follow_each_other);
    tcase_add_test(tcase, names_are_exchanged_if_the_launcher_says_nothing);
    tcase_add_test(tcase, ranks_are_dealt_to_machines_that_are_played);
    tcase_add_test(tcase, a_failed_exchange_is_forwarded);
    tcase_add_test(tcase, launchers_say_how_many_are_here);
    return run_tcase("mapping", tcase);
}
