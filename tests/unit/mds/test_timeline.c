/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds: the events of a run side by side, and their messages.
 */
#include <check.h>

#include "mds/events.h"
#include "mds/tool/analysis/timeline.h"
#include "tests/unit/run_suite.h"

#define RECORDS(array)                                                                 \
    {                                                                                  \
        (const char *)(array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0])  \
    }

START_TEST(calls_at_the_same_time_stand_side_by_side)
{
    static const struct mds_dump_event one[] = {
        {.begin = 2, .end = 5},   {.begin = 5, .end = 6},  {.begin = 0, .end = 10},
        {.begin = 10, .end = 11}, {.begin = 4, .end = 12},
    };
    static const struct mds_dump_event other[] = {{.begin = 1, .end = 20}};
    struct dump_file files[2] = {
        {.process = {.rank = 0, .began_monotonic = 100}, .events = RECORDS(one)},
        {.process = {.rank = 3, .began_monotonic = 103}, .events = RECORDS(other)},
    };
    const struct run run = {.n_files = 2, .files = files};
    static const struct {
        uint64_t begin_ns, end_ns;
        uint32_t file, lane;
    } expected[] = {{0, 10, 0, 0}, {2, 5, 0, 1}, {4, 12, 0, 2},
                    {4, 23, 1, 0}, {5, 6, 0, 1}, {10, 11, 0, 0}};
    struct timeline timeline;

    ck_assert_int_eq(timeline_of(&run, -1, &timeline), 0);
    ck_assert_uint_eq(timeline.n, 6);
    ck_assert_uint_eq(timeline.n_lanes, 3);
    for (size_t i = 0; i < timeline.n; i++) {
        const struct moment *moment = &timeline.moments[i];

        ck_assert_uint_eq(moment->begin_ns, expected[i].begin_ns);
        ck_assert_uint_eq(moment_end_ns(moment), expected[i].end_ns);
        ck_assert_uint_eq(run_file_number(&run, moment->file), expected[i].file);
        ck_assert_uint_eq(moment->lane, expected[i].lane);
    }
    timeline_fini(&timeline);
}
END_TEST

/* Of three calls the second one has two messages and the third one three, of which one
 * was not kept. */
START_TEST(each_message_comes_once)
{
    static const struct mds_dump_event events[] = {
        {.begin = 0, .end = 1, .n_messages = 1, .peer = 7, .first_bytes = 70},
        {.begin = 1, .end = 2, .n_messages = 2, .peer = 8, .first_bytes = 80},
        {.begin = 2, .end = 3, .n_messages = 3, .peer = 9, .first_bytes = 90},
        {.begin = 3, .end = 4},
    };
    static const struct mds_dump_message messages[] = {
        {.event = 1, .peer = 18, .n_bytes = 180},
        {.event = 2, .peer = 19, .n_bytes = 190},
    };
    static const int32_t expected[4][3] = {{7}, {8, 18}, {9, 19}};
    struct dump_file file = {.events = RECORDS(events), .messages = RECORDS(messages)};
    const struct run run = {.n_files = 1, .files = &file};
    struct timeline timeline;

    ck_assert_int_eq(timeline_of(&run, -1, &timeline), 0);
    for (size_t i = 0; i < 4; i++) {
        struct moment_messages at = {.moment = &timeline.moments[i]};
        struct mds_dump_message message;
        size_t n = 0;

        while (moment_next_message(&at, &message)) {
            ck_assert_uint_lt(n, 3);
            ck_assert_int_eq(message.peer, expected[i][n]);
            ck_assert_uint_eq(message.n_bytes, 10 * (uint64_t)message.peer);
            n++;
        }
        ck_assert_uint_eq(n, i == 3 ? 0 : i == 0 ? 1 : 2);
    }
    timeline_fini(&timeline);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("timeline");

    tcase_add_test(tcase, calls_at_the_same_time_stand_side_by_side);
    tcase_add_test(tcase, each_message_comes_once);
    return run_tcase("timeline", tcase);
}
