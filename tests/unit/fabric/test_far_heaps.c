/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heaps of far nodes: no process has them by address, and the primitives reach them.
 * Two memories stand for the processes of two machines.
 */
#include <bcs/primitives.h>
#include <check.h>
#include <errno.h>
#include <string.h>

#include "libbcs/fabric/transport/transport.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

enum {
    N_NODES = 3, /* the first two are on one machine */
    HEAP_BYTES = 1 << 20,
    WHOLE_BYTES = 8192,
    WINDOW_BYTES = 65536,
    WORD = 512,
    EVENT = 1024,
    LONG = 2 * WINDOW_BYTES - 64, /* a block from there goes over windows */
    LONG_BYTES = 3 * WINDOW_BYTES,
};

static struct bcs_memory *memories[2]; /* of a process on each machine */
static struct bcs_core *first, *last;  /* nodes 0 and 2 */

static struct bcs_memory *make(uint32_t node, uint32_t n_nodes)
{
    struct bcs_memory_params params = {
        .transport = bcs_transport_names()[0],
        .n_nodes = N_NODES,
        .heap_bytes = HEAP_BYTES,
        .whole_bytes = WHOLE_BYTES,
        .window_bytes = WINDOW_BYTES,
    };
    struct bcs_memory *memory;

    params.makes = params.near = bcs_node_set_range(node, n_nodes);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    return memory;
}

static void setup(void)
{
    struct bcs_memory_address addresses[N_NODES];

    memories[0] = make(0, 2);
    memories[1] = make(2, 1);
    for (uint32_t i = 0; i < N_NODES; i++) {
        addresses[i] = bcs_memory_address(memories[i / 2], i);
    }
    ck_assert_int_eq(bcs_memory_connect(memories[0], addresses), 0);
    ck_assert_int_eq(bcs_memory_connect(memories[1], addresses), 0);
    bcs_memory_seal(memories[0]);
    bcs_memory_seal(memories[1]);
    ck_assert_int_eq(bcs_core_create(memories[0], 0, &first), 0);
    ck_assert_int_eq(bcs_core_create(memories[1], 2, &last), 0);
}

static void teardown(void)
{
    bcs_core_destroy(first);
    bcs_core_destroy(last);
    bcs_memory_destroy(memories[0]);
    bcs_memory_destroy(memories[1]);
}

START_TEST(near_heaps_have_an_address_and_far_ones_have_none)
{
    for (uint32_t i = 0; i < N_NODES; i++) {
        ck_assert((bcs_memory_heap(memories[0], i) != NULL) == (i < 2));
        ck_assert((bcs_memory_heap(memories[1], i) != NULL) == (i == 2));
    }
}
END_TEST

START_TEST(nobody_acts_as_a_far_node)
{
    struct bcs_core *core = NULL;

    caught_stderr_begin();
    ck_assert_int_eq(bcs_core_create(memories[0], 2, &core), -EINVAL);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "is not mapped here"));
    caught_stderr_end();
    ck_assert_ptr_null(core);
}
END_TEST

START_TEST(a_put_reaches_near_and_far_nodes)
{
    static uint8_t block[LONG_BYTES];
    const struct bcs_node_set all = bcs_node_set_range(0, N_NODES);
    struct bcs_xfer xfer = {
        .src = block,
        .n_bytes = LONG_BYTES,
        .dest_gva = LONG,
        .dests = &all,
        .remote_event_gva = EVENT,
    };

    for (size_t i = 0; i < LONG_BYTES; i++) {
        block[i] = (uint8_t)(i * 7 + i / 256);
    }
    ck_assert_int_eq(bcs_xfer_and_signal_blocking(first, &xfer), 0);
    ck_assert_int_eq(bcs_test_event(last, EVENT, 1, true), 0);
    for (size_t i = 0; i < LONG_BYTES; i += 61) {
        ck_assert_uint_eq(*(uint8_t *)bcs_core_address(last, LONG + i), block[i]);
        ck_assert_uint_eq(*(uint8_t *)bcs_core_address(first, LONG + i), block[i]);
    }
}
END_TEST

START_TEST(a_query_asks_near_and_far_nodes)
{
    const struct bcs_node_set all = bcs_node_set_range(0, N_NODES);
    const struct bcs_comparison comparison = {
        .variable_gva = WORD,
        .op = BCS_COMPARE_EQ,
        .value = 0,
        .write_gva = WORD,
        .write_value = 5,
        .dests = &all,
    };
    uint64_t *word = bcs_core_address(last, WORD);
    bool is_true;

    *word = 1;
    ck_assert_int_eq(bcs_compare_and_write(first, &comparison, &is_true), 0);
    ck_assert(!is_true);
    *word = 0;
    ck_assert_int_eq(bcs_compare_and_write(first, &comparison, &is_true), 0);
    ck_assert(is_true);
    ck_assert_uint_eq(*word, 5);
    ck_assert_uint_eq(*(uint64_t *)bcs_core_address(first, WORD), 5);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("far heaps");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, near_heaps_have_an_address_and_far_ones_have_none);
    tcase_add_test(tcase, nobody_acts_as_a_far_node);
    tcase_add_test(tcase, a_put_reaches_near_and_far_nodes);
    tcase_add_test(tcase, a_query_asks_near_and_far_nodes);
    return run_tcase("far_heaps", tcase);
}
