/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port as its owner uses it: ring, cells and blocks. The test plays the engine.
 */
#include "libbcs/fabric/ring/poster.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"

enum { N_CELLS = 300, N_PORTS = 3, PORT = 1 };

static struct bcs_poster poster;
static struct bcs_memory *memory;
static struct bcs_core *core;
static struct nic_layout layout;

static void setup_with(const char *sizes)
{
    struct nic_shape shape = {.n_ports = N_PORTS,
                              .node_ranks = N_PORTS,
                              .desk_ranks = N_PORTS,
                              .n_cells = N_CELLS,
                              .n_groups = 4,
                              .n_node_bytes = 1000,
                              .n_item_bytes = 256,
                              .n_wire_bytes = 128,
                              .n_slot_bytes = 256,
                              .n_partner_bytes = 64,
                              .n_wire_end_bytes = 64};
    struct bcs_memory_params params = {.transport = "shm", .n_nodes = 1};
    const char *bad;

    ck_assert(bcs_limits_parse(sizes, &shape.limits, &bad));
    ck_assert_int_eq(nic_layout_init(&layout, &shape), 0);
    params.heap_bytes = layout.heap_bytes;
    params.whole_bytes = layout.whole_bytes;
    params.window_bytes = shape.limits.window;
    params.makes = bcs_node_set_one(0);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    ck_assert_int_eq(bcs_core_create(memory, 0, &core), 0);
    bcs_poster_init(&poster, core, &layout, PORT);
}

static void setup(void)
{
    setup_with("usual");
}

static void setup_with_least(void)
{
    setup_with("least");
}

static void setup_in_windows(void)
{
    setup_with("whole=0,window=131072");
}

static uint32_t n_ring(void)
{
    return poster.ring.mask + 1;
}

static struct bcs_cell *cell_at(uint32_t id)
{
    return bcs_poster_cell_at(&poster, id);
}

static struct bcs_block *block_at(uint64_t gva)
{
    return bcs_poster_block_at(&poster, gva);
}

static void teardown(void)
{
    bcs_poster_fini(&poster);
    bcs_core_destroy(core);
    bcs_memory_destroy(memory);
}

/* ---- ring */

static struct bcs_descriptor *post(uint32_t tag)
{
    struct bcs_descriptor *entry = bcs_ring_next(&poster.ring);

    ck_assert_ptr_nonnull(entry);
    entry->tag = (int32_t)tag;
    bcs_ring_publish(&poster.ring, entry);
    return entry;
}

static bool is_published(uint32_t position)
{
    return atomic_load(&poster.ring.entries[position % n_ring()].turn) == position + 1;
}

static void consume_up_to(uint32_t position)
{
    atomic_store(&bcs_port_ring(poster.port)->consumed, position);
}

START_TEST(an_entry_is_seen_once_it_is_published)
{
    struct bcs_descriptor *entry = bcs_ring_next(&poster.ring);

    ck_assert(!is_published(0));
    ck_assert_ptr_eq(bcs_ring_next(&poster.ring),
                     entry); /* not taken until published */
    bcs_ring_publish(&poster.ring, entry);
    ck_assert(is_published(0));
    ck_assert(!is_published(1));
    ck_assert_ptr_ne(bcs_ring_next(&poster.ring), entry);
}
END_TEST

START_TEST(a_full_ring_gives_no_entry_until_one_is_consumed)
{
    struct bcs_descriptor *first = post(0);

    for (uint32_t i = 1; i < n_ring(); i++) {
        post(i);
    }
    ck_assert_ptr_null(bcs_ring_next(&poster.ring));
    for (uint32_t i = 0; i < n_ring(); i++) {
        ck_assert(is_published(i));
        ck_assert_int_eq(poster.ring.entries[i].tag, (int32_t)i);
    }
    consume_up_to(1);
    ck_assert_ptr_eq(bcs_ring_next(&poster.ring), first);
    ck_assert(!is_published(n_ring())); /* the old turn is not the new one */
    post(1000);
    ck_assert(is_published(n_ring()));
    ck_assert_ptr_null(bcs_ring_next(&poster.ring));
}
END_TEST

START_TEST(the_ring_goes_on_when_positions_wrap_around)
{
    const uint32_t start = UINT32_MAX - 2 * n_ring() + 1;
    uint32_t consumed = start;

    poster.ring.position = start;
    poster.ring.consumed_seen = start;
    consume_up_to(start);
    for (uint32_t i = 0; i < 4 * n_ring(); i++) {
        if (i % n_ring() == 0 && i > 0) {
            ck_assert_ptr_null(bcs_ring_next(&poster.ring));
            for (; consumed != start + i; consumed++) {
                ck_assert(is_published(consumed));
            }
            consume_up_to(consumed);
        }
        ck_assert(!is_published(start + i));
        post(i);
        ck_assert(is_published(start + i));
    }
}
END_TEST

/* ---- cells */

START_TEST(every_cell_can_be_pending_at_once_and_not_one_more)
{
    bool is_taken[N_CELLS] = {false};

    for (int i = 0; i < N_CELLS; i++) {
        uint32_t id = bcs_poster_cell(&poster);

        ck_assert_uint_lt(id, N_CELLS);
        ck_assert(!is_taken[id]);
        is_taken[id] = true;
        ck_assert_int_eq(bcs_cell_state(cell_at(id)), BCS_CELL_PENDING);
    }
    ck_assert_uint_eq(bcs_poster_cell(&poster), BCS_CELL_NONE);
    bcs_poster_free_cell(&poster, 7);
    ck_assert_uint_eq(bcs_poster_cell(&poster), 7);
    ck_assert_uint_eq(bcs_poster_cell(&poster), BCS_CELL_NONE);
}
END_TEST

START_TEST(a_cell_has_a_new_generation_each_time)
{
    uint32_t id = bcs_poster_cell(&poster);
    uint32_t last = atomic_load(&cell_at(id)->state);

    for (int i = 0; i < 1000; i++) {
        uint32_t state;

        bcs_cell_complete(cell_at(id), BCS_CELL_DONE);
        bcs_poster_free_cell(&poster, id);
        ck_assert_uint_eq(bcs_poster_cell(&poster), id);
        state = atomic_load(&cell_at(id)->state);
        ck_assert_int_eq(bcs_cell_state(cell_at(id)), BCS_CELL_PENDING);
        ck_assert_uint_ne(state >> BCS_CELL_STATE_BITS, last >> BCS_CELL_STATE_BITS);
        last = state;
    }
}
END_TEST

START_TEST(completing_a_cell_keeps_its_generation)
{
    uint32_t id = bcs_poster_cell(&poster);
    struct bcs_cell *cell = cell_at(id);
    uint32_t generation = atomic_load(&cell->state) >> BCS_CELL_STATE_BITS;

    for (int state = BCS_CELL_PENDING; state <= BCS_CELL_CANCELLED; state++) {
        bcs_cell_complete(cell, (enum bcs_cell_state)state);
        ck_assert_int_eq((int)bcs_cell_state(cell), state);
        ck_assert_uint_eq(atomic_load(&cell->state) >> BCS_CELL_STATE_BITS, generation);
    }
}
END_TEST

/* Each keeps what is written to it, wherever the border between the first and the
 * others is. */
START_TEST(cells_are_apart)
{
    for (uint32_t id = 0; id < N_CELLS; id++) {
        ck_assert_uint_eq((uintptr_t)cell_at(id) % BCS_CACHE_LINE, 0);
        ck_assert_ptr_eq(cell_at(id), bcs_core_address(core, nic_layout_cell_gva(
                                                                 &layout, PORT, id)));
        cell_at(id)->n_bytes = id;
    }
    for (uint32_t id = 0; id < N_CELLS; id++) {
        ck_assert_uint_eq(cell_at(id)->n_bytes, id);
    }
    ck_assert_ptr_eq(poster.cells, (char *)poster.port + BCS_PORT_BYTES);
    ck_assert((char *)poster.orders.entries >=
              (char *)(poster.cells + poster.n_first_cells));
}
END_TEST

/* ---- blocks */

START_TEST(a_block_holds_what_was_asked_for)
{
    static const size_t sizes[] = {0,    1,    511,  512,   513,  2048,
                                   2049, 8192, 8193, 65535, 65536};
    enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    uint64_t blocks[N_SIZES];

    for (size_t i = 0; i < N_SIZES; i++) {
        blocks[i] = bcs_poster_block(&poster, sizes[i], 0);
        ck_assert_uint_ne(blocks[i], 0);
        ck_assert_uint_le(blocks[i] + sizeof(struct bcs_block) + sizes[i],
                          layout.heap_bytes);
        memset(block_at(blocks[i])->data, (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < N_SIZES; i++) {
        const uint8_t *data = block_at(blocks[i])->data;

        for (size_t j = 0; j < sizes[i]; j++) {
            ck_assert_uint_eq(data[j], i + 1);
        }
    }
    ck_assert_uint_eq(bcs_poster_block(&poster, 65537, 0), 0);
    ck_assert_uint_eq(bcs_poster_block(&poster, SIZE_MAX, 0), 0);
}
END_TEST

START_TEST(an_empty_pool_gives_nothing_until_a_block_is_freed)
{
    static uint64_t blocks[(32 << 20) / BCS_CHUNK_BLOCK_BYTES];
    uint32_t n = 0;

    for (uint64_t block;
         (block = bcs_poster_block(&poster, BCS_CHUNK_BLOCK_BYTES, 0)) != 0; n++) {
        ck_assert_uint_lt(n, sizeof(blocks) / sizeof(blocks[0]));
        ck_assert(n == 0 || block > blocks[n - 1]);
        ck_assert_uint_le(block + sizeof(struct bcs_block) + BCS_CHUNK_BLOCK_BYTES,
                          layout.heap_bytes);
        blocks[n] = block;
    }
    ck_assert_uint_ge(n, 100);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t block = blocks[i * 7 % n];

        bcs_block_free(block_at(block));
        ck_assert_uint_eq(bcs_poster_block(&poster, BCS_CHUNK_BLOCK_BYTES, 0), block);
        ck_assert_uint_eq(bcs_poster_block(&poster, BCS_CHUNK_BLOCK_BYTES, 0), 0);
    }
}
END_TEST

/* Who gets a message frees its block late, beside what its sender does next. */
START_TEST(the_block_of_the_last_message_is_not_the_next_one)
{
    uint64_t first = bcs_poster_block(&poster, 100, 0), second;

    bcs_block_free(block_at(first));
    second = bcs_poster_block(&poster, 100, 0);
    bcs_block_free(block_at(second));
    ck_assert_uint_ne(second, first);
    ck_assert_uint_eq(bcs_poster_block(&poster, 100, 0), first);
}
END_TEST

START_TEST(blocks_that_are_freed_at_once_touch_little_memory)
{
    uint64_t lowest = UINT64_MAX, highest = 0;

    for (int i = 0; i < 10000; i++) {
        uint64_t block = bcs_poster_block(&poster, 8192, 0);

        ck_assert_uint_ne(block, 0);
        lowest = block < lowest ? block : lowest;
        highest = block > highest ? block : highest;
        bcs_block_free(block_at(block));
    }
    ck_assert_uint_lt(highest - lowest, 1 << 20);
}
END_TEST

START_TEST(no_busy_block_is_given_out_twice)
{
    enum { N_HELD = 300 };
    static struct {
        uint64_t block;
        size_t n_bytes;
    } held[N_HELD];

    srand(1);
    memset(held, 0, sizeof(held));
    for (uint64_t i = 1; i < 50000; i++) {
        int at = rand() % N_HELD;

        if (held[at].block != 0) {
            struct bcs_block *block = block_at(held[at].block);
            uint64_t first, last;

            memcpy(&first, block->data, sizeof(first));
            memcpy(&last, block->data + held[at].n_bytes - sizeof(last), sizeof(last));
            ck_assert_uint_eq(first, held[at].block);
            ck_assert_uint_eq(last, held[at].block);
            bcs_block_free(block);
        }
        held[at].n_bytes = 2 * sizeof(uint64_t) + (size_t)rand() % 9000;
        held[at].block = bcs_poster_block(&poster, held[at].n_bytes, 0);
        ck_assert_uint_ne(held[at].block, 0);
        memcpy(block_at(held[at].block)->data, &held[at].block, sizeof(uint64_t));
        memcpy(block_at(held[at].block)->data + held[at].n_bytes - sizeof(uint64_t),
               &held[at].block, sizeof(uint64_t));
    }
}
END_TEST

/** Post what has a cell of its own, which is pending. @return the cell */
static struct bcs_cell *post_with_cell(enum bcs_descriptor_kind kind, uint8_t flags)
{
    uint32_t cell = bcs_poster_cell(&poster);
    struct bcs_descriptor *entry = bcs_ring_next(&poster.ring);

    entry->kind = (uint8_t)kind;
    entry->flags = flags;
    entry->cell = cell;
    bcs_ring_publish(&poster.ring, entry);
    return cell_at(cell);
}

/* A batch's cancellations come before its probes. */
START_TEST(a_cancelled_receive_says_nothing_of_a_probe_before_it)
{
    struct bcs_cell *receive;

    ck_assert(bcs_poster_is_settled(&poster));
    post_with_cell(BCS_PROBE, BCS_TAKE);
    receive = post_with_cell(BCS_RECEIVE, 0);
    ck_assert(!bcs_poster_is_settled(&poster));
    bcs_cell_complete(receive, BCS_CELL_CANCELLED);
    ck_assert(!bcs_poster_is_settled(&poster));
    consume_up_to(2);
    ck_assert(bcs_poster_is_settled(&poster));
}
END_TEST

START_TEST(a_receive_that_has_its_message_is_carried_out_and_all_before_it)
{
    struct bcs_cell *receive;

    post_with_cell(BCS_PROBE, BCS_TAKE);
    receive = post_with_cell(BCS_RECEIVE, 0);
    bcs_cell_complete(receive, BCS_CELL_INLINE);
    ck_assert(bcs_poster_is_settled(&poster));
    post_with_cell(BCS_SEND, 0);
    ck_assert(bcs_poster_is_settled(&poster));
    post_with_cell(BCS_RECEIVE, 0);
    ck_assert(!bcs_poster_is_settled(&poster));
}
END_TEST

static TCase *ring_tcase(const char *name, SFun set_up)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, set_up, teardown);
    tcase_add_test(tcase, an_entry_is_seen_once_it_is_published);
    tcase_add_test(tcase, a_full_ring_gives_no_entry_until_one_is_consumed);
    tcase_add_test(tcase, the_ring_goes_on_when_positions_wrap_around);
    tcase_add_test(tcase, every_cell_can_be_pending_at_once_and_not_one_more);
    tcase_add_test(tcase, a_cell_has_a_new_generation_each_time);
    tcase_add_test(tcase, completing_a_cell_keeps_its_generation);
    tcase_add_test(tcase, cells_are_apart);
    return tcase;
}

static TCase *blocks_tcase(const char *name, SFun set_up)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, set_up, teardown);
    tcase_add_test(tcase, a_block_holds_what_was_asked_for);
    tcase_add_test(tcase, an_empty_pool_gives_nothing_until_a_block_is_freed);
    tcase_add_test(tcase, the_block_of_the_last_message_is_not_the_next_one);
    tcase_add_test(tcase, blocks_that_are_freed_at_once_touch_little_memory);
    tcase_add_test(tcase, no_busy_block_is_given_out_twice);
    return tcase;
}

static TCase *settled_tcase(void)
{
    TCase *tcase = tcase_create("settled");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_cancelled_receive_says_nothing_of_a_probe_before_it);
    tcase_add_test(tcase,
                   a_receive_that_has_its_message_is_carried_out_and_all_before_it);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("poster");

    suite_add_tcase(suite, ring_tcase("ring", setup));
    suite_add_tcase(suite, ring_tcase("least ring", setup_with_least));
    suite_add_tcase(suite, ring_tcase("ring in windows", setup_in_windows));
    suite_add_tcase(suite, settled_tcase());
    suite_add_tcase(suite, blocks_tcase("blocks", setup));
    suite_add_tcase(suite, blocks_tcase("blocks in windows", setup_in_windows));
    return run_suite(suite);
}
