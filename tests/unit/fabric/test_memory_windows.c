/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heaps that are mapped in windows: addresses beyond the first part lead to the same
 * bytes in all processes and threads, whoever comes first, a block that is put goes
 * over borders, and where there is no address space the process ends and says what to
 * raise.
 */
#include <bcs/primitives.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/transport/transport.h"
#include "tests/address_space.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

#define HEAP_BYTES (UINT64_C(1) << 40)
enum { WHOLE_BYTES = 10000, WINDOW_BYTES = 65536, N_THREADS = 4, N_WINDOWS = 200 };

static struct bcs_memory *memory;
static struct bcs_core *cores[2];

static void make(uint32_t n_nodes)
{
    struct bcs_memory_params params = {
        .transport = "shm",
        .n_nodes = n_nodes,
        .heap_bytes = HEAP_BYTES,
        .whole_bytes = WHOLE_BYTES,
        .window_bytes = WINDOW_BYTES,
    };

    params.makes = bcs_node_set_range(0, n_nodes);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    for (uint32_t i = 0; i < n_nodes; i++) {
        ck_assert_int_eq(bcs_core_create(memory, i, &cores[i]), 0);
    }
}

static void setup(void)
{
    make(2);
}

static void teardown(void)
{
    bcs_core_destroy(cores[0]);
    bcs_core_destroy(cores[1]);
    bcs_memory_destroy(memory);
}

static uint64_t *word(int node, uint64_t gva)
{
    return bcs_core_address(cores[node], gva);
}

START_TEST(address_space_grows_with_use)
{
    uint64_t before = address_space();

    for (uint64_t i = 1; i <= N_WINDOWS; i++) {
        *word(0, HEAP_BYTES / N_WINDOWS * i / WINDOW_BYTES * WINDOW_BYTES - 8) = i;
    }
    for (uint64_t i = 1; i <= N_WINDOWS; i++) {
        uint64_t gva = HEAP_BYTES / N_WINDOWS * i / WINDOW_BYTES * WINDOW_BYTES - 8;

        ck_assert_uint_eq(*word(0, gva), i);
        ck_assert_ptr_eq(word(0, gva), word(0, gva)); /* it stays where it is */
    }
    ck_assert_uint_ge(address_space() - before, N_WINDOWS * WINDOW_BYTES);
    ck_assert_uint_le(address_space() - before,
                      N_WINDOWS * (WINDOW_BYTES + 8192) + (1 << 20));
}
END_TEST

/* The first part ends within a window, whose rest is reached by a window of its own. */
START_TEST(all_of_a_window_is_there_and_so_is_its_neighbour)
{
    for (uint64_t gva = 64; gva < 3 * WINDOW_BYTES; gva += 8) {
        *word(1, gva) = gva;
    }
    for (uint64_t gva = 64; gva < 3 * WINDOW_BYTES; gva += 8) {
        ck_assert_uint_eq(*word(1, gva), gva);
        ck_assert_uint_eq(*word(0, gva), 0);
    }
}
END_TEST

START_TEST(nothing_is_mapped_behind_the_heap)
{
    uint64_t before = address_space();

    /* Who checks its place later gets one that is nobody's. */
    ck_assert_ptr_eq(bcs_memory_at(memory, 0, HEAP_BYTES),
                     (uint8_t *)bcs_memory_heap(memory, 0) + HEAP_BYTES);
    ck_assert_ptr_eq(bcs_memory_at(memory, 0, UINT64_MAX / 2),
                     (uint8_t *)bcs_memory_heap(memory, 0) + UINT64_MAX / 2);
    ck_assert_uint_lt(address_space() - before, WINDOW_BYTES);
}
END_TEST

START_TEST(a_heap_of_windows_is_mapped_when_all_have_connected_too)
{
    bcs_memory_seal(memory);
    *word(0, 9 * WINDOW_BYTES) = 5;
    ck_assert_uint_eq(*word(0, 9 * WINDOW_BYTES), 5);
}
END_TEST

START_TEST(a_block_is_put_over_borders)
{
    static uint8_t block[3 * WINDOW_BYTES];
    struct bcs_node_set both = bcs_node_set_range(0, 2);
    uint64_t gva = 7 * WINDOW_BYTES - 1001;

    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t)(i * 2654435761u >> 7);
    }
    ck_assert_int_eq(bcs_xfer_and_signal(cores[0],
                                         &(struct bcs_xfer){
                                             .src = block,
                                             .n_bytes = sizeof(block),
                                             .dest_gva = gva,
                                             .dests = &both,
                                             .remote_event_gva = 20 * WINDOW_BYTES,
                                         }),
                     0);
    for (int node = 0; node < 2; node++) {
        ck_assert_int_eq(bcs_test_event(cores[node], 20 * WINDOW_BYTES, 1, true), 0);
        for (size_t i = 0; i < sizeof(block); i++) {
            ck_assert_uint_eq(*(uint8_t *)bcs_core_address(cores[node], gva + i),
                              block[i]);
        }
    }
}
END_TEST

START_TEST(who_is_forked_before_finds_the_same_bytes)
{
    uint64_t gva = HEAP_BYTES - 4096;
    pid_t child = fork();
    int status;

    if (child == 0) {
        *word(0, gva) = 4711;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(*word(0, gva), 4711);
}
END_TEST

/* Windows that were mapped before and those that would be mapped later. */
START_TEST(a_child_from_which_it_is_taken_away_touches_nothing)
{
    const uint64_t gvas[] = {64, 5 * WINDOW_BYTES, 900 * WINDOW_BYTES};
    pid_t child;
    int status;

    *word(0, gvas[0]) = 1;
    *word(0, gvas[1]) = 1;
    child = fork();
    if (child == 0) {
        bcs_memory_take_away(memory);
        for (int i = 0; i < 3; i++) {
            if (*word(0, gvas[i]) != 0) {
                _exit(1);
            }
            *word(0, gvas[i]) = 2;
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(*word(0, gvas[0]), 1);
    ck_assert_uint_eq(*word(0, gvas[1]), 1);
    ck_assert_uint_eq(*word(0, gvas[2]), 0);
}
END_TEST

static pthread_barrier_t barrier;
static void *found[N_THREADS][N_WINDOWS];

static void *look_up(void *argument)
{
    void **mine = argument;

    for (uint64_t i = 0; i < N_WINDOWS; i++) {
        pthread_barrier_wait(&barrier);
        mine[i] = word(0, (i * 700 + 1) * WINDOW_BYTES);
        __atomic_fetch_add((uint64_t *)mine[i], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

START_TEST(threads_that_map_a_window_at_once_have_one_place)
{
    pthread_t threads[N_THREADS];
    uint64_t before;

    pthread_barrier_init(&barrier, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up, found[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int window = 0; window < N_WINDOWS; window++) {
        for (int i = 1; i < N_THREADS; i++) {
            ck_assert_ptr_eq(found[i][window], found[0][window]);
        }
        ck_assert_uint_eq(*(uint64_t *)found[0][window], N_THREADS);
    }
    before = address_space();
    teardown();
    ck_assert_uint_ge(before - address_space(), N_WINDOWS * WINDOW_BYTES);
    setup(); /* for teardown */
}
END_TEST

/** A child that looks at an address of which nothing is mapped ends with status 1, and
 *  says why. */
static void expect_end(void (*prepare)(void), const char *text)
{
    pid_t child;
    int status;

    caught_stderr_begin();
    child = fork();
    if (child == 0) {
        prepare();
        *word(0, 333 * WINDOW_BYTES) = 1;
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), text));
    caught_stderr_end();
}

static void take_address_space(void)
{
    const struct rlimit little = {1 << 20, 1 << 20};

    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
}

static void close_all(void)
{
    for (int fd = 512; fd < 600; fd++) { /* not that of standard error's reader */
        close(fd);
        open("/dev/zero", O_RDWR); /* what now has the number must not be mapped */
    }
}

START_TEST(without_address_space_the_process_ends_and_says_so)
{
    expect_end(take_address_space, "ulimit -v");
}
END_TEST

START_TEST(a_closed_file_descriptor_ends_the_process_and_is_named)
{
    expect_end(close_all, "has closed file descriptor");
}
END_TEST

START_TEST(impossible_windows_are_refused)
{
    static const struct {
        uint64_t whole_bytes, window_bytes;
    } wrong[] = {{WHOLE_BYTES, 5000},
                 {WHOLE_BYTES, 512},
                 {0, WINDOW_BYTES},
                 {HEAP_BYTES + 64, WINDOW_BYTES}};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct bcs_memory_params params = {
            .transport = "shm",
            .n_nodes = 1,
            .heap_bytes = HEAP_BYTES,
            .whole_bytes = wrong[i].whole_bytes,
            .window_bytes = wrong[i].window_bytes,
        };
        struct bcs_memory *none = NULL;

        ck_assert_int_eq(bcs_memory_create(&params, &none), -EINVAL);
        ck_assert_ptr_null(none);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("windows");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, address_space_grows_with_use);
    tcase_add_test(tcase, all_of_a_window_is_there_and_so_is_its_neighbour);
    tcase_add_test(tcase, nothing_is_mapped_behind_the_heap);
    tcase_add_test(tcase, a_heap_of_windows_is_mapped_when_all_have_connected_too);
    tcase_add_test(tcase, a_block_is_put_over_borders);
    tcase_add_test(tcase, who_is_forked_before_finds_the_same_bytes);
    tcase_add_test(tcase, a_child_from_which_it_is_taken_away_touches_nothing);
    tcase_add_test(tcase, threads_that_map_a_window_at_once_have_one_place);
    tcase_add_test(tcase, without_address_space_the_process_ends_and_says_so);
    tcase_add_test(tcase, a_closed_file_descriptor_ends_the_process_and_is_named);
    tcase_add_test(tcase, impossible_windows_are_refused);
    return run_tcase("windows", tcase);
}
