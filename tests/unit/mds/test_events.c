/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Main MDS: the last calls of a process, one by one.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mds/dump_process.h"
#include "mds/live.h"
#include "mds/mds_config.h"
#include "mds/mmds.h"
#include "mds/tool/read/dump_read.h"
#include "tests/unit/run_suite.h"

enum { SEND, BARRIER, N_PRIMITIVES, N_EVENTS = 7 };

/* Where calls are recorded. */
static struct mds_collect *collect;

/* The number of the slice that runs. */
static uint64_t slice;

static void start(uint32_t n_events)
{
    static const char *const names[N_PRIMITIVES] = {"MPI_Send", "MPI_Barrier"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_BLOCKING};
    const struct mmds_plan plan = {
        .shape = {.n_ranks = 4, .bits = 1, .n_events = n_events},
        .names = names,
        .timings = timings,
        .n_primitives = N_PRIMITIVES,
        .slice = &slice,
    };

    ck_assert_int_eq(mmds_start(&plan, &collect), 0);
}

/* A call that sends some messages to rank 2 and the ones behind, with tags from 10
 * on. */
static void call(uint32_t primitive, uint32_t n_messages)
{
    uint64_t began;

    mds_call_from((const void *)(uintptr_t)(1000 + primitive));
    began = mds_begin(collect, primitive, MDS_BLOCKING);
    for (uint32_t i = 0; i < n_messages; i++) {
        const struct mds_message message = {2 + i, (int32_t)(10 + i), 0, 100};

        mds_size_add(message.n_bytes);
        mds_sent(collect, &message);
    }
    mds_end(collect, primitive, MDS_BLOCKING, began);
}

static char *write_it(uint32_t end, size_t *n_bytes_out)
{
    struct mds_process process = {.collect = collect, .end = end};
    char *bytes;

    mmds_stop(collect);
    ck_assert_int_eq(mds_dump_process_bytes(&process, &bytes, n_bytes_out), 0);
    mds_live_drop(collect, NULL);
    return bytes;
}

static struct dump_file read_it(char *bytes, size_t n_bytes)
{
    char error[DUMP_ERROR_BYTES];
    struct dump_file file;

    ck_assert_int_eq(dump_file_take("it", bytes, n_bytes, &file, error), 0);
    return file;
}

/* What is written, and read again. */
static struct dump_file written(void)
{
    size_t n_bytes;
    char *bytes = write_it(MDS_DUMP_END_FINALIZE, &n_bytes);

    return read_it(bytes, n_bytes);
}

/* The same of a process that was killed. */
static struct dump_file written_of_killed(void)
{
    size_t n_bytes;
    char *bytes = write_it(MDS_DUMP_END_UNKNOWN, &n_bytes);

    mds_call = (struct mds_call){0}; /* it may be in a call */
    return read_it(bytes, n_bytes);
}

static struct mds_dump_section *find_events(char *bytes)
{
    const struct mds_dump_header *header = (const struct mds_dump_header *)bytes;
    struct mds_dump_section *section = (struct mds_dump_section *)(header + 1);

    while (strncmp(section->name, "events", sizeof(section->name)) != 0) {
        section++;
    }
    return section;
}

/* Make the only event's record one of an earlier version. */
static void make_older(char *bytes)
{
    struct mds_dump_section *section = find_events(bytes);

    ck_assert_uint_eq(section->n_records, 1);
    section->record_bytes = offsetof(struct mds_dump_event, first_bytes);
    section->n_bytes = section->record_bytes;
    section->digest = bcs_digest_add(BCS_DIGEST_OF_NOTHING, bytes + section->offset,
                                     section->n_bytes);
}

START_TEST(events_have_what_their_calls_did)
{
    struct mds_dump_message message;
    struct mds_dump_event event;
    struct dump_file file;

    start(N_EVENTS);
    ck_assert_uint_eq(mds_comm_number(collect, 77, 4), 0);
    call(BARRIER, 0);
    call(SEND, 1);
    call(SEND, 2);
    file = written();
    ck_assert_uint_eq(file.events.n, 3);
    event = dump_event(&file, 0);
    ck_assert_str_eq(dump_name(&file, dump_call(&file, event.call).name),
                     "MPI_Barrier");
    ck_assert_uint_eq(event.n_messages, 0);
    ck_assert_uint_eq(event.first_bytes, 0);
    ck_assert_uint_eq(event.comm, MDS_DUMP_NONE);
    ck_assert_uint_eq(dump_site(&file, event.site).address, 1000 + BARRIER);
    event = dump_event(&file, 1);
    ck_assert_str_eq(dump_name(&file, dump_call(&file, event.call).name), "MPI_Send");
    ck_assert_uint_eq(event.n_messages, 1);
    ck_assert_int_eq(event.peer, 2);
    ck_assert_int_eq(event.tag, 10);
    ck_assert_uint_eq(event.n_bytes, 100);
    ck_assert_uint_eq(event.comm, 0);
    ck_assert_uint_eq(dump_site(&file, event.site).address, 1000 + SEND);
    event = dump_event(&file, 2);
    ck_assert_uint_eq(event.n_messages, 2);
    ck_assert_int_eq(event.peer, 2);
    ck_assert_uint_eq(event.n_bytes, 200);
    ck_assert_uint_eq(event.first_bytes, 100);
    ck_assert_uint_eq(file.messages.n, 1);
    message = dump_message(&file, 0);
    ck_assert_uint_eq(message.event, 2);
    ck_assert_int_eq(message.peer, 3);
    ck_assert_int_eq(message.tag, 11);
    ck_assert_uint_eq(message.comm, 0);
    ck_assert_uint_eq(message.n_bytes, 100);
    ck_assert_uint_eq(message.kind, MDS_EVENT_SENT);
    dump_file_fini(&file);
}
END_TEST

START_TEST(the_last_events_stay_in_their_order)
{
    enum { N_CALLS = 3 * N_EVENTS + 2 };
    struct mds_dump_event before = {0};
    struct dump_file file;

    start(N_EVENTS);
    ck_assert_uint_eq(mds_comm_number(collect, 77, 4), 0);
    for (uint32_t i = 0; i < N_CALLS; i++) {
        call(SEND, i < N_CALLS - N_EVENTS ? 2 : i % 2);
    }
    file = written();
    ck_assert_uint_eq(file.events.n, N_EVENTS);
    for (uint32_t i = 0; i < N_EVENTS; i++) {
        struct mds_dump_event event = dump_event(&file, i);

        ck_assert_uint_eq(event.n_messages, (N_CALLS - N_EVENTS + i) % 2);
        ck_assert_uint_ge(event.begin, before.end);
        ck_assert_uint_ge(event.end, event.begin);
        ck_assert_uint_le(event.end, file.process.run);
        before = event;
    }
    dump_file_fini(&file);
}
END_TEST

START_TEST(files_of_earlier_versions_are_read)
{
    struct mds_dump_event event;
    struct dump_file file;
    size_t n_bytes;
    char *bytes;

    start(N_EVENTS);
    ck_assert_uint_eq(mds_comm_number(collect, 77, 4), 0);
    call(SEND, 1);
    bytes = write_it(MDS_DUMP_END_FINALIZE, &n_bytes);
    make_older(bytes);
    file = read_it(bytes, n_bytes);
    event = dump_event(&file, 0);
    ck_assert_uint_eq(event.n_bytes, 100);
    ck_assert_int_eq(event.peer, 2);
    ck_assert_uint_eq(event.first_bytes, 0);
    ck_assert_uint_eq(event.slice, 0);
    dump_file_fini(&file);
}
END_TEST

/* A call during which some slices begin. */
static void call_through(uint32_t n_slices)
{
    uint64_t began = mds_begin(collect, BARRIER, MDS_BLOCKING);

    slice += n_slices;
    mds_end(collect, BARRIER, MDS_BLOCKING, began);
}

START_TEST(events_have_the_slices_of_their_calls)
{
    static const uint32_t n_slices[] = {0, 3, 0, 1}, ends[] = {0, 3, 3, 9};
    struct dump_file file;

    slice = 0;
    start(N_EVENTS);
    for (uint32_t i = 0; i < 4; i++) {
        slice += i == 3 ? 5 : 0; /* between two calls */
        call_through(n_slices[i]);
    }
    file = written();
    ck_assert_uint_eq(file.events.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        struct mds_dump_event event = dump_event(&file, i);

        ck_assert_uint_eq(event.slice, ends[i]);
        ck_assert_uint_eq(event.n_slices, n_slices[i]);
    }
    dump_file_fini(&file);
}
END_TEST

/* A process that is killed in mds_begin, or memory that is damaged. */
START_TEST(an_event_that_ends_in_an_earlier_slice_is_left_out)
{
    struct dump_file file;

    slice = 7;
    start(N_EVENTS);
    call_through(1);
    mds_events(collect)[0].first_slice = 9;
    call_through(0);
    file = written();
    ck_assert_uint_eq(file.events.n, 1);
    ck_assert_uint_eq(dump_event(&file, 0).n_slices, 0);
    dump_file_fini(&file);
}
END_TEST

START_TEST(a_file_with_more_slices_than_there_were_is_refused)
{
    char error[DUMP_ERROR_BYTES];
    struct mds_dump_section *section;
    struct mds_dump_event *event;
    struct dump_file file;
    size_t n_bytes;
    char *bytes;

    slice = 7;
    start(N_EVENTS);
    call_through(1);
    bytes = write_it(MDS_DUMP_END_FINALIZE, &n_bytes);
    section = find_events(bytes);
    event = (struct mds_dump_event *)(bytes + section->offset);
    ck_assert_uint_eq(event->slice, 8);
    event->n_slices = 9;
    section->digest = bcs_digest_add(BCS_DIGEST_OF_NOTHING, event, section->n_bytes);
    ck_assert_int_ne(dump_file_take("it", bytes, n_bytes, &file, error), 0);
}
END_TEST

START_TEST(there_are_none_unless_they_are_asked_for)
{
    struct dump_file file;

    start(0);
    call(BARRIER, 0);
    file = written();
    ck_assert_uint_eq(file.events.n, 0);
    dump_file_fini(&file);
}
END_TEST

/* A copy of a process that is in the first call of a primitive may have the place
 * counted only. */
START_TEST(a_place_whose_primitive_is_not_counted_yet_is_left_out)
{
    struct dump_file file;

    start(N_EVENTS);
    mds_comm_number(collect, 77, 4);
    call(SEND, 2);
    call(BARRIER, 0);
    collect->primitives[SEND].time.count = 0;
    file = written();
    ck_assert_uint_eq(file.calls.n, 1);
    ck_assert_uint_eq(file.sites.n, 1);
    ck_assert_uint_eq(dump_site(&file, 0).call, 0);
    ck_assert_uint_eq(file.events.n, 1);
    ck_assert_uint_eq(dump_event(&file, 0).site, 0);
    ck_assert_uint_eq(file.messages.n, 0);
    ck_assert_str_eq(dump_name(&file, dump_call(&file, 0).name), "MPI_Barrier");
    dump_file_fini(&file);
}
END_TEST

START_TEST(a_place_of_no_primitive_is_left_out)
{
    struct dump_file file;

    start(N_EVENTS);
    mds_comm_number(collect, 77, 4);
    call(SEND, 1);
    call(BARRIER, 0);
    collect->origin.n_kinds = 1; /* as somebody else's file may say */
    file = written();
    ck_assert_uint_eq(file.calls.n, 1);
    ck_assert_uint_eq(file.sites.n, 1);
    ck_assert_uint_eq(file.events.n, 1);
    dump_file_fini(&file);
}
END_TEST

/* Where several threads call, it is not known whose a message is. */
START_TEST(events_of_threads_have_no_messages)
{
    struct dump_file file;

    start(N_EVENTS);
    mds_comm_number(collect, 77, 4);
    call(SEND, 2);
    collect->is_shared = true;
    file = written();
    ck_assert_uint_eq(file.events.n, 1);
    ck_assert_uint_eq(file.messages.n, 0);
    dump_file_fini(&file);
}
END_TEST

START_TEST(messages_of_a_call_that_has_not_ended_are_left_out)
{
    struct mds_dump_now now;
    struct dump_file file;

    start(N_EVENTS);
    mds_comm_number(collect, 77, 4);
    mds_begin(collect, SEND, MDS_BLOCKING);
    mds_call_with(collect, 3, 5, 0);
    for (int32_t i = 0; i < 3; i++) {
        mds_sent(collect, &(struct mds_message){2, i, 0, 100});
    }
    file = written_of_killed();
    ck_assert_uint_eq(file.events.n, 0);
    ck_assert_uint_eq(file.messages.n, 0);
    now = dump_now(&file, 0);
    ck_assert_uint_eq(now.comm, 0);
    ck_assert_int_eq(now.peer, 3);
    dump_file_fini(&file);
}
END_TEST

/* The counters of two cores may differ by some ticks. */
START_TEST(a_call_before_the_begin_has_begun_with_it)
{
    struct dump_file file;

    start(N_EVENTS);
    call(BARRIER, 0);
    mds_events(collect)[0].begin_ticks = collect->start_ticks - 1;
    file = written();
    ck_assert_uint_eq(dump_event(&file, 0).begin, 0);
    dump_file_fini(&file);
}
END_TEST

START_TEST(a_rank_that_only_sends_to_this_one_is_a_peer)
{
    struct dump_file file;

    start(N_EVENTS);
    mds_comm_number(collect, 77, 4);
    mds_received(collect, &(struct mds_message){3, 10, 0, 100});
    file = written();
    ck_assert_uint_eq(file.peers.n, 1);
    ck_assert_uint_eq(dump_peer(&file, 0).rank, 3);
    ck_assert_uint_eq(dump_peer(&file, 0).n_received, 1);
    dump_file_fini(&file);
}
END_TEST

START_TEST(phases_without_room_of_their_own_are_the_last)
{
    struct dump_file file;

    start(N_EVENTS);
    for (int32_t level = 2; level <= 2 * MDS_PHASES; level++) {
        mds_phase_begin(collect, level);
    }
    file = written();
    ck_assert_uint_eq(file.phases.n, MDS_PHASES);
    for (uint32_t i = 0; i < MDS_PHASES; i++) {
        ck_assert_uint_eq(dump_phase(&file, i).is_other, i == MDS_PHASES - 1);
    }
    dump_file_fini(&file);
}
END_TEST

START_TEST(as_many_events_as_can_be_asked_for_can_be_read)
{
    size_t i = 0;

    while (strcmp(mds_config_table.entries[i].name, "BCS_MDS_EVENTS") != 0) {
        ck_assert_uint_lt(++i, mds_config_table.n_entries);
    }
    ck_assert_uint_lt(mds_config_table.entries[i].maximum *
                          sizeof(struct mds_dump_event),
                      MDS_DUMP_MOST_BYTES - (UINT64_C(1) << 28));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("events");

    tcase_add_test(tcase, events_have_what_their_calls_did);
    tcase_add_test(tcase, the_last_events_stay_in_their_order);
    tcase_add_test(tcase, files_of_earlier_versions_are_read);
    tcase_add_test(tcase, events_have_the_slices_of_their_calls);
    tcase_add_test(tcase, an_event_that_ends_in_an_earlier_slice_is_left_out);
    tcase_add_test(tcase, a_file_with_more_slices_than_there_were_is_refused);
    tcase_add_test(tcase, there_are_none_unless_they_are_asked_for);
    tcase_add_test(tcase, a_place_whose_primitive_is_not_counted_yet_is_left_out);
    tcase_add_test(tcase, a_place_of_no_primitive_is_left_out);
    tcase_add_test(tcase, events_of_threads_have_no_messages);
    tcase_add_test(tcase, messages_of_a_call_that_has_not_ended_are_left_out);
    tcase_add_test(tcase, a_call_before_the_begin_has_begun_with_it);
    tcase_add_test(tcase, a_rank_that_only_sends_to_this_one_is_a_peer);
    tcase_add_test(tcase, phases_without_room_of_their_own_are_the_last);
    tcase_add_test(tcase, as_many_events_as_can_be_asked_for_can_be_read);
    return run_tcase("events", tcase);
}
