/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's variables: each is read into its own field, and its bounds are what the
 * engine can take.
 */
#include "libbcs/fabric/ring/nic_memory.h"
#include "nic_threads/nic_config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/ring/port.h"
#include "nic_threads/drivers/driver.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
    for (size_t i = 0; i < nic_config_table.n_entries; i++) {
        unsetenv(nic_config_table.entries[i].name);
    }
}

static struct nic_config read_config(void)
{
    struct nic_config config;
    char error[256] = "";

    memset(&config, 0xff, sizeof(config));
    ck_assert_msg(bcs_config_read(&nic_config_table, &config, error, sizeof(error)) ==
                      0,
                  "%s", error);
    return config;
}

static void expect_refused(const char *name, const char *text)
{
    struct nic_config config;
    char error[256] = "";

    setenv(name, text, 1);
    ck_assert_int_eq(bcs_config_read(&nic_config_table, &config, error, sizeof(error)),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, name));
    unsetenv(name);
}

START_TEST(the_defaults_are_within_their_bounds)
{
    struct nic_config config = read_config();

    ck_assert_uint_eq(config.node_ranks, 0);
    ck_assert_uint_eq(config.strobe, NIC_STROBE_DEMAND);
    ck_assert_uint_eq(config.driver, NIC_DRIVER_INLINE);
    ck_assert_uint_eq(config.copy, NIC_COPY_AUTO);
    ck_assert_uint_eq(config.buffering, NIC_BUFFERING_EAGER);
    ck_assert_uint_ge(config.eager_limit_bytes, 4096);
    ck_assert_uint_ge(config.descriptors, 64);
}
END_TEST

START_TEST(every_field_has_one_variable)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < nic_config_table.n_entries; i++) {
        size_t offset = nic_config_table.entries[i].offset;

        ck_assert_uint_eq(offset % sizeof(uint64_t), 0);
        ck_assert_uint_lt(offset, sizeof(struct nic_config));
        ck_assert_uint_eq(seen >> offset / sizeof(uint64_t) & 1, 0);
        seen |= UINT64_C(1) << offset / sizeof(uint64_t);
    }
    /* the limits are one variable, and stand last but for a text */
    ck_assert_uint_eq(nic_config_table.n_entries - 2,
                      offsetof(struct nic_config, limits) / sizeof(uint64_t));
}
END_TEST

START_TEST(every_variable_is_read_into_its_field)
{
    struct nic_config config;

    setenv("BCS_NODE_RANKS", "3", 1);
    setenv("BCS_COPY", "pooled", 1);
    setenv("BCS_BUFFERING", "none", 1);
    setenv("BCS_EAGER_LIMIT", "5000", 1);
    setenv("BCS_CHUNK", "6k", 1);
    setenv("BCS_SLICE_BYTES", "7m", 1);
    setenv("BCS_DESCRIPTORS", "100", 1);
    setenv("BCS_COMMUNICATORS", "11", 1);
    setenv("BCS_LIMITS", "wire=8,ring=4", 1);
    setenv("BCS_SPIN", "9us", 1);
    config = read_config();
    ck_assert_uint_eq(config.node_ranks, 3);
    ck_assert_uint_eq(config.copy, NIC_COPY_POOLED);
    ck_assert_uint_eq(config.buffering, NIC_BUFFERING_NONE);
    ck_assert_uint_eq(config.eager_limit_bytes, 5000);
    ck_assert_uint_eq(config.chunk_bytes, 6144);
    ck_assert_uint_eq(config.slice_bytes, 7 << 20);
    ck_assert_uint_eq(config.descriptors, 100);
    ck_assert_uint_eq(config.communicators, 11);
    ck_assert_uint_eq(config.limits.ring, 4);
    ck_assert_uint_eq(config.limits.wire, 8);
    ck_assert_uint_eq(config.limits.batch, 64);
    ck_assert_uint_eq(config.spin_ns, 9000);
    setenv("BCS_COPY", "direct", 1);
    ck_assert_uint_eq(read_config().copy, NIC_COPY_DIRECT);
}
END_TEST

START_TEST(the_digest_tells_settings_apart)
{
    struct nic_config config = read_config();
    uint64_t digest = nic_config_digest(&config);

    config.spin_ns = 77;
    ck_assert_uint_eq(nic_config_digest(&config), digest);
    config.limits.cbsp_buffer = 4096;
    ck_assert_uint_ne(nic_config_digest(&config), digest);
    config = read_config();
    config.node_ranks = 1;
    ck_assert_uint_ne(nic_config_digest(&config), digest);
    config = read_config();
    config.record
        .metrics--; /* what is recorded besides is each process's own business */
    ck_assert_uint_eq(nic_config_digest(&config), digest);
    config.record.n_spans--;
    ck_assert_uint_ne(nic_config_digest(&config), digest);
}
END_TEST

START_TEST(nodes_are_no_larger_than_the_job)
{
    struct nic_config config = read_config();

    ck_assert_uint_eq(nic_config_node_ranks(&config, 4), 4);
    for (uint32_t n = 1; n < 6; n++) {
        config.node_ranks = n;
        ck_assert_uint_eq(nic_config_node_ranks(&config, 4), n < 4 ? n : 4);
    }
}
END_TEST

START_TEST(whole_nodes_are_dealt_to_machines_that_are_played)
{
    static const struct {
        uint32_t far, node_ranks, n_ranks, rank, machine;
    } cases[] = {
        {0, 0, 4, 3, 0}, {1, 1, 4, 3, 0}, {2, 0, 4, 1, 0}, {2, 0, 4, 2, 1},
        {2, 1, 4, 1, 0}, {2, 1, 4, 3, 1}, {2, 2, 5, 4, 1}, {2, 2, 5, 3, 0},
        {3, 1, 7, 6, 2}, {8, 0, 3, 2, 2}, {2, 0, 1, 0, 0}, {2, 3, 8, 5, 0},
    };
    struct nic_config config = read_config();

    ck_assert(!nic_config_plays_machines(&config));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t machine;

        config.far = cases[i].far;
        config.node_ranks = cases[i].node_ranks;
        ck_assert(nic_config_plays_machines(&config) == (config.far > 1));
        machine = nic_config_machine(&config, cases[i].n_ranks, cases[i].rank);
        ck_assert_msg(machine == cases[i].machine, "case %zu: machine %u", i, machine);
    }
}
END_TEST

START_TEST(ranks_are_dealt_in_turn_or_unevenly)
{
    static const uint32_t uneven[] = {0, 1, 0, 2, 0, 1, 0, 0, 0, 1};
    struct nic_config config = read_config();

    config.far = 3;
    for (uint32_t rank = 0; rank < 10; rank++) {
        config.far_map = NIC_FAR_CYCLIC;
        ck_assert_uint_eq(nic_config_machine(&config, 10, rank), rank % 3);
        config.far_map = NIC_FAR_UNEVEN;
        ck_assert_uint_eq(nic_config_machine(&config, 10, rank), uneven[rank]);
    }
}
END_TEST

START_TEST(the_ports_of_one_machine_may_fall)
{
    struct nic_config config = read_config();

    config.far_map = NIC_FAR_FALLING;
    ck_assert(nic_config_plays_machines(&config));
    ck_assert_uint_eq(nic_config_machine(&config, 4, 3), 0);
    config.far = 2;
    ck_assert_uint_eq(nic_config_machine(&config, 4, 3), 1);
}
END_TEST

START_TEST(the_driver_is_chosen_by_who_runs_the_engine_and_when)
{
    struct nic_config config = read_config();

    config.record.n_spans = 0;
    ck_assert_ptr_eq(nic_driver_find(&config), &nic_driver_inline);
    config.record.n_spans = 1;
    ck_assert_ptr_eq(nic_driver_find(&config), &nic_driver_inline_recorded);
    config.strobe = NIC_STROBE_TIMED;
    ck_assert_ptr_eq(nic_driver_find(&config), &nic_driver_timed);
    config.driver = NIC_DRIVER_THREADS; /* which has timed strobes, too */
    ck_assert_ptr_eq(nic_driver_find(&config), &nic_driver_threads);
}
END_TEST

START_TEST(all_drivers_have_a_referee)
{
    static const struct nic_driver_ops *const drivers[] = {
        &nic_driver_inline, &nic_driver_inline_recorded, &nic_driver_timed,
        &nic_driver_threads};

    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        ck_assert((drivers[i]->serves & NIC_SERVES(NIC_SERVE_REFEREE)) != 0);
    }
}
END_TEST

START_TEST(a_timed_slice_moves_what_its_length_allows)
{
    struct nic_config config = read_config();

    ck_assert_uint_eq(nic_config_chunk_bytes(&config), 4 << 20);
    ck_assert_uint_eq(nic_config_slice_bytes(&config), 16 << 20);
    config.strobe = NIC_STROBE_TIMED;
    config.slice_ns = 250000;
    ck_assert_uint_eq(nic_config_chunk_bytes(&config), 500000);
    ck_assert_uint_eq(nic_config_slice_bytes(&config), 500000);
    config.slice_bytes = 1 << 20;
    ck_assert_uint_eq(nic_config_chunk_bytes(&config), 1 << 20);
    config.chunk_bytes = 5000; /* less than an eager block */
    ck_assert_uint_eq(nic_config_chunk_bytes(&config), config.eager_limit_bytes);
}
END_TEST

START_TEST(waiters_poll_as_usual_unless_told)
{
    struct nic_config config = read_config();

    ck_assert_uint_eq(nic_config_spin_ns(&config, 50000), 50000);
    config.spin_ns = 1;
    ck_assert_uint_eq(nic_config_spin_ns(&config, 50000), 1);
}
END_TEST

START_TEST(a_node_cannot_have_more_ranks_than_the_engine_has_room_for)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", NIC_NODE_RANKS_MOST);
    setenv("BCS_NODE_RANKS", text, 1);
    ck_assert_uint_eq(read_config().node_ranks, NIC_NODE_RANKS_MOST);
    snprintf(text, sizeof(text), "%d", NIC_NODE_RANKS_MOST + 1);
    expect_refused("BCS_NODE_RANKS", text);
}
END_TEST

START_TEST(an_eager_message_always_fits_a_block)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", BCS_CHUNK_BLOCK_BYTES);
    setenv("BCS_EAGER_LIMIT", text, 1);
    ck_assert_uint_eq(read_config().eager_limit_bytes, BCS_CHUNK_BLOCK_BYTES);
    snprintf(text, sizeof(text), "%d", BCS_CHUNK_BLOCK_BYTES + 1);
    expect_refused("BCS_EAGER_LIMIT", text);
}
END_TEST

START_TEST(a_chunk_below_the_eager_limit_is_refused)
{
    setenv("BCS_EAGER_LIMIT", "8k", 1);
    setenv("BCS_CHUNK", "8k", 1);
    ck_assert_uint_eq(read_config().chunk_bytes, 8192);
    setenv("BCS_CHUNK", "0", 1);
    ck_assert_uint_eq(read_config().chunk_bytes, 0);
    expect_refused("BCS_CHUNK", "8191");
    setenv("BCS_CHUNK", "16k", 1);
    setenv("BCS_SLICE_BYTES", "16k", 1);
    ck_assert_uint_eq(read_config().slice_bytes, 16384);
    expect_refused("BCS_SLICE_BYTES", "16383");
}
END_TEST

START_TEST(values_that_are_no_such_thing_are_refused)
{
    expect_refused("BCS_NODE_RANKS", "-1");
    expect_refused("BCS_STROBE", "never");
    expect_refused("BCS_DRIVER", "outline");
    expect_refused("BCS_COPY", "poole");
    expect_refused("BCS_CHUNK", "-4k");
    expect_refused("BCS_SLICE", "9us");
    expect_refused("BCS_BUFFERING", "nothing");
    expect_refused("BCS_SLICE_BYTES", "16mm");
    expect_refused("BCS_DESCRIPTORS", "63");
    expect_refused("BCS_SPIN", "50");
    expect_refused("BCS_LIMITS", "tiny");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("nic_config");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, the_defaults_are_within_their_bounds);
    tcase_add_test(tcase, every_field_has_one_variable);
    tcase_add_test(tcase, every_variable_is_read_into_its_field);
    tcase_add_test(tcase, the_digest_tells_settings_apart);
    tcase_add_test(tcase, nodes_are_no_larger_than_the_job);
    tcase_add_test(tcase, whole_nodes_are_dealt_to_machines_that_are_played);
    tcase_add_test(tcase, ranks_are_dealt_in_turn_or_unevenly);
    tcase_add_test(tcase, the_ports_of_one_machine_may_fall);
    tcase_add_test(tcase, the_driver_is_chosen_by_who_runs_the_engine_and_when);
    tcase_add_test(tcase, all_drivers_have_a_referee);
    tcase_add_test(tcase, a_timed_slice_moves_what_its_length_allows);
    tcase_add_test(tcase, waiters_poll_as_usual_unless_told);
    tcase_add_test(tcase, a_node_cannot_have_more_ranks_than_the_engine_has_room_for);
    tcase_add_test(tcase, an_eager_message_always_fits_a_block);
    tcase_add_test(tcase, a_chunk_below_the_eager_limit_is_refused);
    tcase_add_test(tcase, values_that_are_no_such_thing_are_refused);
    return run_tcase("nic_config", tcase);
}
