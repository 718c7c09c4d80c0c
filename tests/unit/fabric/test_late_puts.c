/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handle of the primitives over a transport that keeps puts back, and over one that
 * does not: what comes when, by one process.
 */
#include <bcs/primitives.h>
#include <check.h>
#include <errno.h>
#include <string.h>

#include "libbcs/fabric/core/core.h"
#include "libbcs/fabric/transport/event_word.h"
#include "libbcs/fabric/transport/transport.h"
#include "tests/unit/run_suite.h"

enum {
    HEAP_BYTES = 1 << 16,
    WORD = 4096,
    EVENT = 8192,
    N_MOST = 1 << 20,
    N_FEW = 1000
};

static struct bcs_memory *memory;
static struct bcs_core *core;
static struct bcs_node_set itself;

static void begin_with(const char *transport)
{
    const struct bcs_memory_params params = {.transport = transport,
                                             .n_nodes = 1,
                                             .heap_bytes = HEAP_BYTES,
                                             .makes = bcs_node_set_range(0, 1),
                                             .seed = 3};

    itself = bcs_node_set_one(0);
    ck_assert_int_eq(bcs_memory_create(&params, &memory), 0);
    ck_assert_int_eq(bcs_core_create(memory, 0, &core), 0);
}

static void begin(void)
{
    begin_with("shm-defer");
}

static void end(void)
{
    bcs_core_destroy(core);
    bcs_memory_destroy(memory);
}

static uint64_t word(void)
{
    return *(const uint64_t *)bcs_memory_at(memory, 0, WORD);
}

/** The put of a word, which tells an event. */
static struct bcs_xfer put_of(const uint64_t *value)
{
    return (struct bcs_xfer){.src = value,
                             .n_bytes = sizeof(*value),
                             .dest_gva = WORD,
                             .dests = &itself,
                             .remote_event_gva = EVENT};
}

/** Put numbers from 1 on until there is no room, n_most at most. @return the last one
 *  that there was room for */
static uint64_t fill(uint64_t n_most)
{
    for (uint64_t value = 1; value <= n_most; value++) {
        struct bcs_xfer xfer = put_of(&value);

        if (bcs_xfer_and_signal(core, &xfer) == BCS_E_BUSY) {
            return value - 1;
        }
    }
    return n_most;
}

START_TEST(who_blocks_waits_for_room)
{
    uint64_t last = fill(N_MOST) + 1;
    struct bcs_xfer xfer = put_of(&last);

    ck_assert_uint_lt(last, N_MOST);
    ck_assert_int_eq(bcs_xfer_and_signal_blocking(core, &xfer), 0);
    ck_assert_int_eq(bcs_core_flush(core), 0);
    ck_assert_uint_eq(word(), last);
    ck_assert_int_eq(bcs_test_event(core, EVENT, last, false), 0);
    ck_assert_int_eq(bcs_test_event(core, EVENT, last + 1, false), BCS_E_PENDING);
}
END_TEST

START_TEST(local_events_follow_each_once)
{
    const uint64_t local_event = EVENT + 64;

    for (uint64_t value = 1; value <= N_FEW; value++) {
        struct bcs_xfer xfer = put_of(&value);

        xfer.local_event_gva = local_event;
        ck_assert_int_eq(bcs_xfer_and_signal_blocking(core, &xfer), 0);
    }
    ck_assert_int_eq(bcs_core_flush(core), 0);
    ck_assert_int_eq(bcs_test_event(core, local_event, N_FEW, false), 0);
    ck_assert_int_eq(bcs_test_event(core, local_event, N_FEW + 1, false),
                     BCS_E_PENDING);
    ck_assert_int_eq(bcs_test_event(core, EVENT, N_FEW, false), 0);
    ck_assert_int_eq(bcs_test_event(core, EVENT, N_FEW + 1, false), BCS_E_PENDING);
}
END_TEST

START_TEST(who_tests_for_an_event_makes_progress)
{
    uint64_t last = fill(N_MOST);
    int n = 0;

    while (bcs_test_event(core, EVENT, last, false) == BCS_E_PENDING) {
        ck_assert_int_lt(++n, N_FEW);
    }
    ck_assert_uint_eq(word(), last);
}
END_TEST

START_TEST(what_is_kept_back_comes_at_the_end)
{
    uint64_t last = fill(N_MOST);

    bcs_core_destroy(core);
    core = NULL;
    ck_assert_uint_eq(word(), last);
}
END_TEST

START_TEST(a_transport_says_whether_it_is_late)
{
    ck_assert(bcs_core_is_late(core));
    end();
    begin_with("shm");
    ck_assert(!bcs_core_is_late(core));
    ck_assert_int_eq(bcs_core_flush(core), 0);
    ck_assert_uint_eq(fill(N_FEW), N_FEW);
    ck_assert_uint_eq(word(), N_FEW); /* at once */
}
END_TEST

START_TEST(a_sleep_ends_at_once_or_when_its_time_has_come)
{
    struct bcs_event *event = bcs_memory_at(memory, 0, EVENT);
    uint64_t count;

    ck_assert_int_eq(bcs_signal_event(core, EVENT), 0);
    count = event->count;
    ck_assert_uint_eq(count, 1);
    ck_assert(bcs_event_sleep(event, count, 1000)); /* ns: nobody signals it */
    ck_assert_uint_eq(*bcs_event_n_waiters(event), 0);
    /* It has counted on since the sleeper has looked. */
    bcs_event_signal(event);
    ck_assert(!bcs_event_sleep(event, count, 1000));
    ck_assert_uint_eq(*bcs_event_n_waiters(event), 0);
}
END_TEST

START_TEST(transports_are_found_by_their_whole_name)
{
    const char *const *names = bcs_transport_names();

    ck_assert_str_eq(names[0], "shm");
    ck_assert_str_eq(names[1], "ucx");
    ck_assert_str_eq(names[2], "shm-defer");
    ck_assert_ptr_null(names[3]);
    ck_assert_ptr_eq(bcs_transport_find("shm-defer"), memory->ops);
    ck_assert_ptr_nonnull(bcs_transport_find("shm"));
    ck_assert_ptr_ne(bcs_transport_find("shm"), memory->ops);
    ck_assert_ptr_null(bcs_transport_find("shm-"));
    ck_assert_ptr_null(bcs_transport_find(""));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("late_puts");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, who_blocks_waits_for_room);
    tcase_add_test(tcase, local_events_follow_each_once);
    tcase_add_test(tcase, who_tests_for_an_event_makes_progress);
    tcase_add_test(tcase, what_is_kept_back_comes_at_the_end);
    tcase_add_test(tcase, a_transport_says_whether_it_is_late);
    tcase_add_test(tcase, a_sleep_ends_at_once_or_when_its_time_has_come);
    tcase_add_test(tcase, transports_are_found_by_their_whole_name);
    return run_tcase("late_puts", tcase);
}
