/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings between nodes: a few nodes of one port each, over one mapping, all driven
 * by this process. Nobody else is there, so that no lock is needed.
 */
#include "nic_threads/machine/wire.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "nic_threads/machine/engine.h"
#include "tests/unit/run_suite.h"

enum { N_NODES = 3, N_CELLS = 1024, N_WIRE = 256 };

static struct nic_engine *engines[N_NODES];
static struct nic_config config = {
    .node_ranks = 1,
    .chunk_bytes = 65536,
    .slice_bytes = 65536,
    .descriptors = N_CELLS,
    .communicators = 4,
};
static struct bcs_memory *memory;
static struct bcs_machine machine = {.n_cpus = 1, .n_ports = N_NODES};

static void setup(void)
{
    struct bcs_memory_params params = {.transport = "shm"};
    struct nic_layout layout;

    config.limits = bcs_limits_usual();
    ck_assert_uint_eq(config.limits.wire, N_WIRE);
    ck_assert_int_eq(nic_engine_layout(N_NODES, &config, &layout), 0);
    params.n_nodes = layout.n_nodes;
    params.heap_bytes = layout.heap_bytes;
    params.whole_bytes = layout.whole_bytes;
    params.window_bytes = config.limits.window;
    params.makes = bcs_node_set_range(0, layout.n_nodes);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    for (uint32_t port = 0; port < N_NODES; port++) {
        const struct nic_engine_params params = {
            .memory = memory,
            .machine = &machine,
            .n_ports = N_NODES,
            .port = port,
            .config = &config,
        };

        ck_assert_int_eq(nic_engine_create(&params, &engines[port]), 0);
    }
}

static void teardown(void)
{
    for (int i = 0; i < N_NODES; i++) {
        nic_engine_destroy(engines[i]);
    }
    bcs_memory_destroy(memory);
}

/** A node as its own process sees it. */
static struct nic_view *view_of(uint32_t node)
{
    return nic_engine_node(engines[node], node);
}

static void send_as(uint32_t from, uint32_t to, uint8_t kind, int32_t tag)
{
    const struct bcs_descriptor descriptor = {
        .kind = kind,
        .tag = tag,
        .source = (int32_t)from,
        .context_id = UINT64_C(0x123456789abcdef0),
        .payload = {[0] = (uint8_t)tag, [BCS_INLINE_BYTES - 1] = (uint8_t)(tag + 1)},
    };

    nic_wire_send(view_of(from), to, &descriptor, 100 + from);
}

static void send_many(uint32_t from, uint32_t to, int32_t first_tag, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        send_as(from, to, BCS_SEND, first_tag + i);
    }
}

static void empty_batch(uint32_t node)
{
    struct nic_batch *batch = &view_of(node)->desk->batch;

    batch->n_sends = 0;
    batch->n_controls = 0;
}

/** Take what has come to a node from one other, which goes on with *next_tag. */
static uint32_t take_from(uint32_t node, int32_t from, int32_t *next_tag)
{
    struct nic_view *view = view_of(node);
    uint32_t n = nic_wire_collect(view, true);
    struct nic_batch *batch = &view->desk->batch;

    ck_assert_uint_eq(batch->n_sends + batch->n_controls, n);
    for (uint32_t i = 0; i < batch->n_sends; i++) {
        const struct bcs_descriptor *got =
            nic_posted_descriptor(view, &batch->sends[i]);

        if (got->source == from) {
            ck_assert_uint_eq(batch->sends[i].port, 100 + (uint32_t)from);
            ck_assert_int_eq(got->tag, (*next_tag)++);
        }
    }
    empty_batch(node);
    return n;
}

START_TEST(an_entry_arrives_whole_with_the_number_of_its_port)
{
    struct nic_view *view = view_of(2);
    const struct bcs_descriptor *got;

    ck_assert(!nic_wire_has_work(view));
    send_as(1, 2, BCS_SEND, 42);
    ck_assert(nic_wire_has_work(view));
    ck_assert(!nic_wire_has_work(view_of(0)));
    ck_assert_uint_eq(nic_wire_collect(view, true), 1);
    ck_assert(!nic_wire_has_work(view));
    ck_assert_uint_eq(view->desk->batch.n_sends, 1);
    ck_assert_uint_eq(view->desk->batch.sends[0].port, 101);
    ck_assert_uint_eq(view->desk->batch.sends[0].item, NIC_ITEM_NONE);
    got = nic_posted_descriptor(view, &view->desk->batch.sends[0]);
    ck_assert_uint_eq(got->kind, BCS_SEND);
    ck_assert_int_eq(got->tag, 42);
    ck_assert_int_eq(got->source, 1);
    ck_assert_uint_eq(got->context_id, UINT64_C(0x123456789abcdef0));
    ck_assert_uint_eq(got->payload[0], 42);
    ck_assert_uint_eq(got->payload[BCS_INLINE_BYTES - 1], 43);
}
END_TEST

START_TEST(a_node_can_send_to_itself)
{
    int32_t next = 0;

    send_many(1, 1, 0, 10);
    ck_assert_uint_eq(take_from(1, 1, &next), 10);
    ck_assert_int_eq(next, 10);
}
END_TEST

START_TEST(sends_and_notes_are_sorted_and_stay_in_order)
{
    struct nic_view *view = view_of(0);
    const struct nic_batch *batch = &view->desk->batch;

    for (int32_t i = 0; i < 20; i++) {
        send_as(1, 0, i % 3 == 0 ? NIC_WIRE_DATA : BCS_SEND, i);
    }
    ck_assert_uint_eq(nic_wire_collect(view, true), 20);
    ck_assert_uint_eq(batch->n_sends, 13);
    ck_assert_uint_eq(batch->n_controls, 7);
    for (uint32_t i = 0; i < batch->n_controls; i++) {
        ck_assert_int_eq(nic_posted_descriptor(view, &batch->controls[i])->tag,
                         3 * (int32_t)i);
    }
    for (uint32_t i = 0; i < batch->n_sends; i++) {
        ck_assert_int_eq(nic_posted_descriptor(view, &batch->sends[i])->tag,
                         (int32_t)(i / 2 * 3 + i % 2 + 1));
    }
}
END_TEST

START_TEST(a_batch_takes_no_more_sends_than_it_has_room_for)
{
    int32_t next = 0;

    send_many(1, 0, 0, BCS_BATCH_MOST + 10);
    ck_assert_uint_eq(take_from(0, 1, &next), BCS_BATCH_MOST);
    ck_assert(nic_wire_has_work(view_of(0)));
    ck_assert_uint_eq(take_from(0, 1, &next), 10);
    ck_assert_int_eq(next, BCS_BATCH_MOST + 10);
}
END_TEST

START_TEST(a_batch_takes_no_more_notes_than_it_has_room_for)
{
    struct nic_view *view = view_of(0);

    for (int32_t i = 0; i < BCS_BATCH_MOST + 10; i++) {
        send_as(1 + (uint32_t)i % 2, 0, NIC_WIRE_PART, i);
    }
    ck_assert_uint_eq(nic_wire_collect(view, true), BCS_BATCH_MOST);
    ck_assert_uint_eq(view->desk->batch.n_controls, BCS_BATCH_MOST);
    ck_assert_uint_eq(nic_wire_collect(view, true), 0);
    empty_batch(0);
    ck_assert_uint_eq(nic_wire_collect(view, true), 10);
}
END_TEST

/* Node 1 always has more than a batch takes. */
START_TEST(every_node_comes_first_in_turn)
{
    struct nic_view *view = view_of(0);
    int32_t next = 0;

    send_many(1, 0, 0, N_WIRE);
    send_as(2, 0, BCS_SEND, 1000);
    for (int round = 0; round < N_NODES; round++) {
        view->node->round++;
        take_from(0, 1, &next);
    }
    ck_assert_int_lt(next, N_WIRE); /* else all fits, and nothing is shown */
    ck_assert_uint_eq(nic_view_wire_end(view, 2)->n_taken, 1);
}
END_TEST

START_TEST(after_scheduling_each_ring_is_read_up_to_its_first_send_or_part)
{
    struct nic_view *view = view_of(0);
    const struct nic_batch *batch = &view->desk->batch;

    for (uint32_t from = 1; from < N_NODES; from++) {
        send_as(from, 0, NIC_WIRE_GRANT, 0);
        send_as(from, 0, NIC_WIRE_DATA, 1);
        send_as(from, 0, from == 1 ? BCS_SEND : NIC_WIRE_PART, 2);
        send_as(from, 0, NIC_WIRE_MATCHED, 3); /* must not overtake */
    }
    ck_assert_uint_eq(nic_wire_collect(view, false), 4);
    ck_assert_uint_eq(batch->n_controls, 4);
    ck_assert_uint_eq(batch->n_sends, 0);
    ck_assert_uint_eq(nic_wire_collect(view, false), 0);
    ck_assert_uint_eq(nic_wire_collect(view, true), 4);
    ck_assert_uint_eq(batch->n_controls, 7);
    ck_assert_uint_eq(batch->n_sends, 1);
}
END_TEST

START_TEST(what_finds_no_room_waits_in_the_outbox)
{
    const int32_t n_sent = N_WIRE + 50;
    const struct nic_node *sender = view_of(1)->node;
    const struct nic_wire_end *end = nic_view_wire_end(view_of(1), 0);
    int32_t next = 0;

    send_many(1, 0, 0, n_sent);
    ck_assert_uint_eq(end->n_sent, N_WIRE);
    ck_assert_uint_eq(sender->n_outbox, 50);
    ck_assert_uint_eq(view_of(1)->desk->n_sends_kept, 50);
    ck_assert(!nic_wire_has_work(view_of(1)));
    ck_assert(!nic_wire_flush(view_of(1)));
    while (take_from(0, 1, &next) > 0) {
    }
    ck_assert_int_eq(next, N_WIRE);
    ck_assert(!nic_wire_flush(view_of(1))); /* read, but not given back yet */
    nic_wire_release(view_of(0));
    ck_assert(nic_wire_has_work(view_of(1)));
    ck_assert(nic_wire_flush(view_of(1)));
    ck_assert_uint_eq(sender->n_outbox, 0);
    ck_assert_uint_eq(view_of(1)->desk->n_sends_kept, 0);
    while (take_from(0, 1, &next) > 0) {
    }
    ck_assert_int_eq(next, n_sent);
}
END_TEST

START_TEST(a_later_entry_does_not_overtake_the_outbox)
{
    int32_t next = 0;

    send_many(1, 0, 0, N_WIRE + 5);
    while (take_from(0, 1, &next) > 0) {
    }
    nic_wire_release(view_of(0));
    send_as(1, 0, BCS_SEND, N_WIRE + 5); /* there is room, but others wait */
    ck_assert(nic_wire_flush(view_of(1)));
    while (take_from(0, 1, &next) > 0) {
    }
    ck_assert_int_eq(next, N_WIRE + 6);
}
END_TEST

START_TEST(a_full_ring_to_one_node_does_not_hold_up_another)
{
    int32_t next_0 = 0, next_2 = 1000;

    send_many(1, 0, 0, N_WIRE + 5);
    send_many(1, 2, 1000, 5);
    ck_assert_uint_eq(take_from(2, 1, &next_2), 5);
    ck_assert_int_eq(next_2, 1005);
    while (take_from(0, 1, &next_0) > 0) {
    }
    ck_assert_int_eq(next_0, N_WIRE);
}
END_TEST

START_TEST(a_full_node_takes_notes_but_no_sends_and_has_no_work_with_them)
{
    struct nic_view *view = view_of(0);
    uint32_t limit = nic_send_limit(view);
    int32_t next = 0;

    send_many(1, 0, 0, 3);
    send_as(2, 0, NIC_WIRE_DATA, 0);
    send_as(2, 0, BCS_SEND, 1);
    view->desk->n_sends_kept += limit;
    ck_assert(nic_wire_has_work(view));
    ck_assert_uint_eq(take_from(0, 1, &next), 1);
    ck_assert(!nic_wire_has_work(view));
    view->desk->n_sends_kept -= limit;
    ck_assert(nic_wire_has_work(view));
    ck_assert_uint_eq(take_from(0, 1, &next), 4);
    ck_assert_int_eq(next, 3);
}
END_TEST

/* Three nodes send to each other at random; no batch and no ring is ever overrun. */
START_TEST(random_traffic_keeps_every_pair_in_order)
{
    int32_t sent[N_NODES][N_NODES] = {{0}}, taken[N_NODES][N_NODES] = {{0}};

    srand((unsigned)_i + 1);
    for (int i = 0; i < 20000; i++) {
        uint32_t a = (uint32_t)rand() % N_NODES, b = (uint32_t)rand() % N_NODES;

        if (rand() % 100 < 60) {
            for (int n = rand() % 20; n > 0 && view_of(a)->node->n_outbox < 300; n--) {
                send_as(a, b, BCS_SEND, sent[a][b]++);
            }
        } else {
            struct nic_view *view = view_of(a);

            nic_wire_flush(view);
            nic_wire_collect(view, true);
            for (uint32_t k = 0; k < view->desk->batch.n_sends; k++) {
                const struct bcs_descriptor *got =
                    nic_posted_descriptor(view, &view->desk->batch.sends[k]);
                ck_assert_int_eq(got->tag, taken[got->source][a]++);
            }
            nic_wire_release(view);
            empty_batch(a);
        }
        ck_assert_uint_le(
            nic_view_wire_end(view_of(a), b)->n_sent - (uint64_t)taken[a][b], N_WIRE);
    }
    ck_assert_int_gt(taken[0][1], 3000);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("wire");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, an_entry_arrives_whole_with_the_number_of_its_port);
    tcase_add_test(tcase, a_node_can_send_to_itself);
    tcase_add_test(tcase, sends_and_notes_are_sorted_and_stay_in_order);
    tcase_add_test(tcase, a_batch_takes_no_more_sends_than_it_has_room_for);
    tcase_add_test(tcase, a_batch_takes_no_more_notes_than_it_has_room_for);
    tcase_add_test(tcase, every_node_comes_first_in_turn);
    tcase_add_test(tcase,
                   after_scheduling_each_ring_is_read_up_to_its_first_send_or_part);
    tcase_add_test(tcase, what_finds_no_room_waits_in_the_outbox);
    tcase_add_test(tcase, a_later_entry_does_not_overtake_the_outbox);
    tcase_add_test(tcase, a_full_ring_to_one_node_does_not_hold_up_another);
    tcase_add_test(tcase,
                   a_full_node_takes_notes_but_no_sends_and_has_no_work_with_them);
    tcase_add_loop_test(tcase, random_traffic_keeps_every_pair_in_order, 0, 3);
    return run_tcase("wire", tcase);
}
