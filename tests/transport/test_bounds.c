/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad arguments: each is refused with one line that names it, and changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/address_space.h"
#include "tests/transport/world.h"

/* Catches standard error in a file. */
struct capture {
    FILE *file;
    int saved_fd;
};

static void capture_begin(struct capture *capture)
{
    fflush(stderr);
    capture->file = tmpfile();
    ck_assert_ptr_nonnull(capture->file);
    capture->saved_fd = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(capture->file), STDERR_FILENO), 0);
}

/* Asserts that exactly one line was written, and that it has the text. */
static void capture_end(struct capture *capture, const char *text)
{
    char line[512] = "", more[8];

    fflush(stderr);
    ck_assert_int_ge(dup2(capture->saved_fd, STDERR_FILENO), 0);
    close(capture->saved_fd);
    rewind(capture->file);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), capture->file));
    ck_assert_msg(strstr(line, text) != NULL, "\"%s\" is not in: %s", text, line);
    ck_assert_ptr_null(fgets(more, sizeof(more), capture->file));
    fclose(capture->file);
}

static void xfer_is_refused(struct actor *me, const struct bcs_xfer *xfer,
                            const char *text)
{
    struct capture capture;
    int rc;

    capture_begin(&capture);
    rc = bcs_xfer_and_signal(me->core, xfer);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, -EINVAL);
}

static void comparison_is_refused(struct actor *me,
                                  const struct bcs_comparison *comparison,
                                  const char *text)
{
    struct capture capture;
    bool is_true = true;
    int rc;

    capture_begin(&capture);
    rc = bcs_compare_and_write(me->core, comparison, &is_true);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert(is_true);
}

static void test_is_refused(struct actor *me, uint64_t event_gva, const char *text)
{
    struct capture capture;
    int rc;

    capture_begin(&capture);
    rc = bcs_test_event(me->core, event_gva, 0, true);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, -EINVAL);
}

START_TEST(a_block_must_lie_within_the_heap)
{
    static char block[WORLD_HEAP_BYTES];
    static const struct {
        uint64_t gva;
        size_t n_bytes;
    } cases[] = {
        {0, 1},
        {BCS_HEAP_RESERVED_BYTES - 1, 1},
        {WORLD_HEAP_BYTES, 1},
        {WORLD_HEAP_BYTES - 8, 9},
        {BCS_HEAP_RESERVED_BYTES, WORLD_HEAP_BYTES},
        {UINT64_MAX, 1},
        {UINT64_MAX - 7, 8},
        {BCS_HEAP_RESERVED_BYTES, SIZE_MAX},
    };
    struct world world;
    struct actor me;
    char text[64];

    world_init(&world, _i);
    actor_init(&me, &world, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bcs_xfer xfer = {block, cases[i].n_bytes, cases[i].gva, &world.all, 0,
                                0};

        snprintf(text, sizeof(text), "destination at 0x%llx, %zu bytes",
                 (unsigned long long)cases[i].gva, cases[i].n_bytes);
        xfer_is_refused(&me, &xfer, text);
    }
    xfer_is_refused(&me, &(struct bcs_xfer){NULL, 1, 1024, &world.all, 0, 0},
                    "null pointer");
    ck_assert_int_eq(actor_put(&me, &world.all, WORLD_HEAP_BYTES - 8, block, 8, 0), 0);
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

START_TEST(a_set_must_have_nodes_and_only_existing_ones)
{
    struct world world;
    struct actor me;
    struct bcs_node_set empty = {0};
    struct bcs_node_set unmarked = bcs_node_set_marked((const uint64_t[]){0}, 2);
    struct bcs_node_set strange = set_of_two(0, WORLD_N_NODES);
    struct bcs_node_set far = bcs_node_set_range(2, BCS_NODE_NONE - 2);
    struct bcs_xfer xfer = {.dests = &empty};
    struct bcs_comparison comparison = {.variable_gva = 1024, .dests = &empty};

    world_init(&world, _i);
    actor_init(&me, &world, 0);
    xfer_is_refused(&me, &xfer, "empty");
    comparison_is_refused(&me, &comparison, "empty");
    xfer.dests = comparison.dests = &unmarked;
    xfer_is_refused(&me, &xfer, "empty");
    comparison_is_refused(&me, &comparison, "empty");
    xfer.dests = comparison.dests = &strange;
    xfer_is_refused(&me, &xfer, "node 4; the last one is 3");
    comparison_is_refused(&me, &comparison, "node 4; the last one is 3");
    xfer.dests = comparison.dests = &far;
    xfer_is_refused(&me, &xfer, "node 4294967294; the last one is 3");
    comparison_is_refused(&me, &comparison, "node 4294967294; the last one is 3");
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

START_TEST(events_and_variables_must_be_aligned_and_within_the_heap)
{
    struct world world;
    struct actor me;
    struct bcs_xfer local = {.dests = &world.all, .local_event_gva = WORLD_HEAP_BYTES};
    struct bcs_xfer remote = {.dests = &world.all, .remote_event_gva = 1032};
    struct bcs_comparison comparison = {.variable_gva = 1025, .dests = &world.all};

    world_init(&world, _i);
    actor_init(&me, &world, 0);
    xfer_is_refused(&me, &local, "local event at 0x100000, 16 bytes, is outside");
    xfer_is_refused(&me, &remote, "remote event at 0x408, 16 bytes, is not aligned");
    test_is_refused(&me, 0, "no event");
    test_is_refused(&me, 8, "event at 0x8, 16 bytes, is outside");
    test_is_refused(&me, WORLD_HEAP_BYTES - 8,
                    "event at 0xffff8, 16 bytes, is outside");
    test_is_refused(&me, 1028, "event at 0x404, 16 bytes, is not aligned");
    comparison_is_refused(&me, &comparison,
                          "compared variable at 0x401, 8 bytes, is not");
    comparison.variable_gva = 0;
    comparison_is_refused(&me, &comparison,
                          "compared variable at 0x0, 8 bytes, is out");
    comparison.variable_gva = 1024;
    comparison.write_gva = WORLD_HEAP_BYTES - 4;
    comparison_is_refused(&me, &comparison,
                          "written variable at 0xffffc, 8 bytes, is out");
    comparison.write_gva = 1024;
    comparison.op = (enum bcs_compare)4;
    comparison_is_refused(&me, &comparison, "comparison 4");
    comparison.op = BCS_COMPARE_EQ;
    comparison.reserved = 1;
    comparison_is_refused(&me, &comparison, "the reserved member is not 0");
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

static void call_is_refused(struct bcs_core *core, uint64_t event_gva,
                            int (*call)(struct bcs_core *core, uint64_t event_gva),
                            const char *text)
{
    struct capture capture;
    int rc;

    capture_begin(&capture);
    rc = call(core, event_gva);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, -EINVAL);
}

static int test_event(struct bcs_core *core, uint64_t event_gva)
{
    return bcs_test_event(core, event_gva, 1, false);
}

static int await_event(struct bcs_core *core, uint64_t event_gva)
{
    return bcs_await_event(core, event_gva, 0);
}

/* The table of windows has room beyond the last one. */
START_TEST(an_event_beyond_a_heap_of_windows_maps_none)
{
    static const uint64_t window_bytes = UINT64_C(1) << 30;
    struct bcs_memory_params params = {
        .transport = bcs_transport_names()[_i],
        .n_nodes = 1,
        .heap_bytes = 2 * window_bytes,
        .whole_bytes = WORLD_HEAP_BYTES,
        .window_bytes = window_bytes,
        .makes = bcs_node_set_one(0),
    };
    const char *text = "event at 0x80000000, 16 bytes, is outside";
    struct bcs_memory *memory;
    struct bcs_core *core;
    uint64_t before;

    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    ck_assert_int_eq(bcs_core_create(memory, 0, &core), 0);
    before = address_space();
    call_is_refused(core, params.heap_bytes, test_event, text);
    call_is_refused(core, params.heap_bytes, bcs_signal_event, text);
    call_is_refused(core, params.heap_bytes, await_event, text);
    ck_assert_uint_lt(address_space(), before + window_bytes);
    bcs_core_destroy(core);
    bcs_memory_destroy(memory);
}
END_TEST

START_TEST(a_refused_call_signals_and_writes_nothing)
{
    struct world world;
    struct actor me;
    struct bcs_xfer xfer = {"x", 1, WORLD_HEAP_BYTES, &world.all, 1024, 1040};
    struct bcs_comparison comparison = {1056, BCS_COMPARE_EQ, 0, 0, &world.all, 4, 1};

    world_init(&world, _i);
    actor_init(&me, &world, 0);
    xfer_is_refused(&me, &xfer, "destination");
    comparison_is_refused(&me, &comparison, "written variable");
    ck_assert_int_eq(bcs_test_event(me.core, 1024, 1, false), BCS_E_PENDING);
    ck_assert_int_eq(bcs_test_event(me.core, 1040, 1, false), BCS_E_PENDING);
    ck_assert(actor_query(&me, &world.all, 1056, 0));
    actor_fini(&me);
    world_fini(&world);
}
END_TEST

static void create_is_refused(const struct bcs_memory_params *params, int error,
                              const char *text)
{
    struct bcs_memory *memory = NULL;
    struct capture capture;
    int rc;

    capture_begin(&capture);
    rc = bcs_memory_create(params, &memory);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, error);
    ck_assert_ptr_null(memory);
}

START_TEST(a_memory_needs_sound_parameters)
{
    const struct bcs_memory_params good = {
        .transport = bcs_transport_names()[_i],
        .n_nodes = WORLD_N_NODES,
        .heap_bytes = WORLD_HEAP_BYTES,
    };
    struct bcs_memory_params bad;

    bad = good, bad.transport = "pigeon";
    create_is_refused(&bad, -ENOENT, "no transport \"pigeon\"; there are: shm");
    bad = good, bad.n_nodes = 0;
    create_is_refused(&bad, -EINVAL, "0 nodes; allowed are 1 to 4294967294");
    bad = good, bad.n_nodes = BCS_NODE_NONE;
    create_is_refused(&bad, -EINVAL, "4294967295 nodes");
    bad = good, bad.heap_bytes = 100;
    create_is_refused(&bad, -EINVAL, "heaps of 100 bytes");
    bad = good, bad.heap_bytes = UINT64_C(1) << 62;
    create_is_refused(&bad, -EINVAL, "fit 4 times");
    bad = good, bad.makes = bcs_node_set_one(WORLD_N_NODES);
    create_is_refused(&bad, -EINVAL, "beyond the last, 3");
    bad = good, bad.near = bcs_node_set_range(1, WORLD_N_NODES);
    create_is_refused(&bad, -EINVAL, "near nodes that are no range of nodes 0 to 3");
    bad.near = bcs_node_set_range(UINT32_MAX, 2);
    create_is_refused(&bad, -EINVAL, "near nodes that are no range of nodes 0 to 3");
    bad.near = bcs_node_set_marked(&(uint64_t){3}, WORLD_N_NODES);
    create_is_refused(&bad, -EINVAL, "near nodes that are no range of nodes 0 to 3");
    bad.near = bcs_node_set_range(0, 2), bad.makes = bcs_node_set_one(2);
    create_is_refused(&bad, -EINVAL, "makes the heap of node 2, which is not near");
    for (size_t i = 0; i < sizeof(bad.reserved) / sizeof(bad.reserved[0]); i++) {
        bad = good, bad.reserved[i] = UINT64_C(1) << 63;
        create_is_refused(&bad, -EINVAL, "a reserved member is not 0");
    }
    bcs_memory_destroy(NULL);
}
END_TEST

static void open_is_refused(struct bcs_memory *memory, uint32_t node, const char *text)
{
    struct bcs_core *core = NULL;
    struct capture capture;
    int rc;

    capture_begin(&capture);
    rc = bcs_core_create(memory, node, &core);
    capture_end(&capture, text);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_ptr_null(core);
}

START_TEST(a_handle_needs_a_heap_that_is_mapped)
{
    struct bcs_memory_params params = {
        .transport = bcs_transport_names()[_i],
        .n_nodes = 2,
        .heap_bytes = WORLD_HEAP_BYTES,
    };
    struct bcs_memory *memory;

    params.makes = bcs_node_set_one(1);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    open_is_refused(memory, 2, "node 2 of 2");
    open_is_refused(memory, 0, "node 0 of 2 nodes is not mapped here");
    ck_assert_ptr_null(bcs_memory_heap(memory, 0));
    ck_assert_ptr_nonnull(bcs_memory_heap(memory, 1));
    bcs_core_destroy(NULL);
    bcs_memory_destroy(memory);
}
END_TEST

/* As two processes of two nodes: each makes its own heap, and finds the other's. */
START_TEST(memories_that_have_connected_are_one)
{
    struct bcs_memory_address addresses[2];
    struct bcs_memory *memories[2];

    for (uint32_t i = 0; i < 2; i++) {
        struct bcs_memory_params params = {
            .transport = bcs_transport_names()[_i],
            .n_nodes = 2,
            .heap_bytes = WORLD_HEAP_BYTES,
        };

        params.makes = bcs_node_set_one(i);
        ck_assert_int_eq(bcs_memory_create(&params, &memories[i]), 0);
        addresses[i] = bcs_memory_address(memories[i], i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(bcs_memory_connect(memories[i], addresses), 0);
        bcs_memory_seal(memories[1 - i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        char *mine = bcs_memory_heap(memories[i], i);
        const char *others = bcs_memory_heap(memories[1 - i], i);

        ck_assert_ptr_ne(mine, others);
        ck_assert_int_eq(others[WORLD_HEAP_BYTES - 1], 0);
        mine[WORLD_HEAP_BYTES - 1] = 'x';
        ck_assert_int_eq(others[WORLD_HEAP_BYTES - 1], 'x');
    }
    bcs_memory_destroy(memories[0]);
    bcs_memory_destroy(memories[1]);
}
END_TEST

TCase *bounds_tcase(int n_transports)
{
    TCase *tcase = tcase_create("bounds");

    tcase_add_loop_test(tcase, a_block_must_lie_within_the_heap, 0, n_transports);
    tcase_add_loop_test(tcase, a_set_must_have_nodes_and_only_existing_ones, 0,
                        n_transports);
    tcase_add_loop_test(tcase, events_and_variables_must_be_aligned_and_within_the_heap,
                        0, n_transports);
    tcase_add_loop_test(tcase, an_event_beyond_a_heap_of_windows_maps_none, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_refused_call_signals_and_writes_nothing, 0,
                        n_transports);
    tcase_add_loop_test(tcase, a_memory_needs_sound_parameters, 0, n_transports);
    tcase_add_loop_test(tcase, a_handle_needs_a_heap_that_is_mapped, 0, n_transports);
    tcase_add_loop_test(tcase, memories_that_have_connected_are_one, 0, n_transports);
    return tcase;
}
