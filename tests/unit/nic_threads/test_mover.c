/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between the memory of ports by the kernel, and what is noted of those that it
 * refuses. All ports are of this process, so that it can look at both ends.
 */
#include "nic_threads/machine/mover.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbcs/fabric/copy/process_copy.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 70,
    FAR = 66, /* whose bit is in the second word */
    BUFFER = NIC_MOVER_BUFFER_BYTES,
    N_BYTES = 2 * BUFFER + 777,
};

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of a thread that copies for all */
static struct nic_mover *mover;
static uint8_t *source, *target;

static void begin(void)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS, .is_direct = true, .is_threaded = true};

    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, false);
    ck_assert_int_eq(nic_mover_create(engine, &mover), 0);
    source = mmap(NULL, 3 * BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    target = malloc(3 * BUFFER);
    for (size_t i = 0; i < 3 * BUFFER; i++) {
        source[i] = (uint8_t)(i / 251 + i);
    }
    memset(target, 0xee, 3 * BUFFER);
}

static void end(void)
{
    free(target);
    munmap(source, 3 * BUFFER);
    nic_mover_destroy(mover);
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

static struct nic_place place(uint32_t port, const uint8_t *address)
{
    return (struct nic_place){port, (uintptr_t)address};
}

static bool is_untouched(const uint8_t *bytes, const uint8_t *bytes_end)
{
    while (bytes < bytes_end && *bytes == 0xee) {
        bytes++;
    }
    return bytes == bytes_end;
}

START_TEST(all_bytes_are_copied_whoever_are_the_ends)
{
    const uint32_t ends[][2] = {{1, 2}, {engine->port, 1}, {1, engine->port}};
    const struct nic_place from = place(ends[_i][0], source),
                           to = place(ends[_i][1], target);

    ck_assert_int_eq(nic_mover_copy(mover, &from, &to, N_BYTES), NIC_DONE);
    ck_assert(memcmp(target, source, N_BYTES) == 0);
    ck_assert(is_untouched(target + N_BYTES, target + 3 * BUFFER));
}
END_TEST

START_TEST(a_copy_ends_where_it_is_refused)
{
    const struct nic_place from = place(1, source), to = place(2, target);

    munmap(source + BUFFER, BUFFER); /* in the midst */
    ck_assert_int_eq(nic_mover_copy(mover, &from, &to, 3 * BUFFER), NIC_REFUSED);
    ck_assert(memcmp(target, source, BUFFER) == 0);
    ck_assert(is_untouched(target + BUFFER, target + 3 * BUFFER));
    /* The thread may ask for none of that port's from now on. */
    ck_assert_uint_eq(nic_engine_port(engine, 1)->is_closed, 1);
    ck_assert_uint_eq(nic_engine_port(engine, 2)->is_closed, 0);
}
END_TEST

START_TEST(who_is_refused_is_apart_from_that_one_in_both_directions)
{
    const struct nic_engine *own = ranks[1].context->engine;
    const struct nic_place from = place(FAR, source + BUFFER);

    munmap(source + BUFFER, BUFFER);
    ck_assert_int_eq(nic_process_read(own, &from, target, 8), NIC_REFUSED);
    ck_assert_uint_eq(nic_engine_port(own, FAR)->is_closed, 0);
    for (uint32_t i = 0; i < N_RANKS; i++) {
        for (uint32_t k = 0; k < N_RANKS; k++) {
            bool are_those = (i == 1 && k == FAR) || (i == FAR && k == 1);

            ck_assert(nic_ports_are_apart(engine, i, k) == are_those);
        }
    }
}
END_TEST

/** This ends the process, as natively. */
START_TEST(who_has_named_bad_memory_himself_is_ended)
{
    const struct nic_place from = place(2, target);

    mprotect(source + BUFFER, BUFFER, PROT_NONE);
    nic_process_read(ranks[1].context->engine, &from, source + BUFFER - 16, 32);
}
END_TEST

START_TEST(a_copy_says_how_far_it_has_come)
{
    uint64_t n_done = 0;
    size_t n_page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t address = (uintptr_t)source + BUFFER - n_page;

    ck_assert_int_eq(bcs_copy_read(getpid(), address, target, 2 * n_page, &n_done), 0);
    ck_assert_uint_eq(n_done, 2 * n_page);
    munmap(source + BUFFER, BUFFER);
    ck_assert_int_eq(bcs_copy_read(getpid(), address, target, 2 * n_page, &n_done),
                     -EFAULT);
    ck_assert_uint_eq(n_done, n_page);
    ck_assert_int_eq(bcs_copy_write(getpid(), address, target, 2 * n_page, &n_done),
                     -EFAULT);
    ck_assert_uint_eq(n_done, n_page);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("mover");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, all_bytes_are_copied_whoever_are_the_ends, 0, 3);
    tcase_add_test(tcase, a_copy_ends_where_it_is_refused);
    tcase_add_test(tcase, who_is_refused_is_apart_from_that_one_in_both_directions);
    if (!HAS_ADDRESS_SANITIZER) {
        tcase_add_test_raise_signal(tcase, who_has_named_bad_memory_himself_is_ended,
                                    SIGSEGV);
    }
    tcase_add_test(tcase, a_copy_says_how_far_it_has_come);
    return run_tcase("mover", tcase);
}
