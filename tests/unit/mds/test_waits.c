/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for whom, in runs whose events are written down here.
 */
#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/dump_process.h"
#include "mds/live.h"
#include "mds/mmds.h"
#include "mds/tool/analysis/waits.h"
#include "tests/unit/run_suite.h"

enum { SEND, RECV, WAITALL, BARRIER, ISEND, SENDRECV, N_PRIMITIVES };
enum { N_RANKS = 3, N_EVENTS = 16, RUN_NS = 1000000, COMM = 1 };

static struct mds_collect *collects[N_RANKS];
static struct dump_file files[N_RANKS];
static struct mmds_summary summaries[N_RANKS];
static struct run run;
static struct waits waits;

/* Ticks are nanoseconds, and all ranks begin at 0. */
static void begin_recording(void)
{
    static const char *const names[N_PRIMITIVES] = {"MPI_Send",    "MPI_Recv",
                                                    "MPI_Waitall", "MPI_Barrier",
                                                    "MPI_Isend",   "MPI_Sendrecv"};
    static const enum mds_timing timings[N_PRIMITIVES] = {MDS_BLOCKING, MDS_BLOCKING,
                                                          MDS_BLOCKING, MDS_BLOCKING,
                                                          MDS_INSTANT,  MDS_BLOCKING};

    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        const struct mmds_plan plan = {
            .shape = {.n_ranks = N_RANKS, .bits = 1, .n_events = N_EVENTS},
            .rank = rank,
            .names = names,
            .timings = timings,
            .n_primitives = N_PRIMITIVES,
        };

        ck_assert_int_eq(mmds_start(&plan, &collects[rank]), 0);
        collects[rank]->start_ticks = collects[rank]->start_ns = 0;
        collects[rank]->stop_ticks = collects[rank]->stop_ns = RUN_NS;
        mds_comm_number(collects[rank], 77, N_RANKS);
    }
}

static void end_recording(void)
{
    waits_fini(&waits);
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        dump_file_fini(&files[rank]);
        mds_live_drop(collects[rank], NULL);
    }
}

/* A message of a call that has another one, which is told with the call. */
static void message(uint32_t rank, uint32_t kind, int32_t peer, int32_t tag)
{
    *mds_event_next(collects[rank]) = (struct mds_event){
        .peer = peer, .tag = tag, .comm = COMM, .kind = MDS_EVENT_MESSAGE | kind};
}

/* A call, of so many messages, the first of that kind. */
static void call(uint32_t rank, uint32_t primitive, uint64_t begin, uint64_t end,
                 uint32_t n_messages, struct mds_event first)
{
    struct mds_sites *sites = &collects[rank]->sites;
    struct mds_site *site = mds_sites_find(sites, 1000 + primitive, NULL, primitive);

    site->time.count++;
    collects[rank]->primitives[primitive].time.count++;
    first.begin_ticks = begin;
    first.end_ticks = end;
    first.n_messages = n_messages;
    first.comm = COMM;
    first.site = (uint32_t)(site - sites->table);
    *mds_event_next(collects[rank]) = first;
}

static void sends(uint32_t rank, uint32_t primitive, uint64_t begin, uint64_t end,
                  int32_t peer, int32_t tag)
{
    call(rank, primitive, begin, end, 1,
         (struct mds_event){.peer = peer, .tag = tag, .kind = MDS_EVENT_SENT});
}

static void receives(uint32_t rank, uint32_t primitive, uint64_t begin, uint64_t end,
                     int32_t peer, int32_t tag)
{
    call(rank, primitive, begin, end, 1,
         (struct mds_event){.peer = peer, .tag = tag, .kind = MDS_EVENT_RECEIVED});
}

static void barrier(uint32_t rank, uint64_t begin, uint64_t end, int32_t number)
{
    call(rank, BARRIER, begin, end, 0,
         (struct mds_event){.tag = number, .kind = MDS_EVENT_COLLECTIVE});
}

/* Find the waits of what was written down. */
static void look(void)
{
    char error[DUMP_ERROR_BYTES];

    run = (struct run){.files = files, .n_files = N_RANKS, .summaries = summaries};
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        const struct mds_process process = {.collect = collects[rank],
                                            .end = MDS_DUMP_END_FINALIZE};
        size_t n_bytes;
        char *bytes;

        ck_assert_int_eq(mds_dump_process_bytes(&process, &bytes, &n_bytes), 0);
        ck_assert_int_eq(dump_file_take("it", bytes, n_bytes, &files[rank], error), 0);
    }
    ck_assert_int_eq(waits_of(&run, &waits), 0);
}

/* All that is to be said of a line. */
static void assert_wait(size_t i, enum wait_kind kind, uint32_t late_rank,
                        uint64_t total_ns, const char *waiting, const char *late)
{
    ck_assert_uint_lt(i, waits.n);
    ck_assert_int_eq(waits.waits[i].kind, kind);
    ck_assert_uint_eq(waits.waits[i].late_rank, late_rank);
    ck_assert_uint_eq(waits.waits[i].total_ns, total_ns);
    ck_assert_str_eq(waits.waits[i].waiting.primitive, waiting);
    ck_assert_str_eq(waits.waits[i].late.primitive, late);
}

START_TEST(a_receive_waits_for_a_late_sender)
{
    receives(0, RECV, 100, 500, 1, 7);
    sends(1, SEND, 400, 420, 0, 7);
    receives(0, RECV, 600, 610, 1, 7);
    sends(1, ISEND, 430, 431, 0, 7); /* in time */
    look();
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_SENDER, 1, 300, "MPI_Recv", "MPI_Send");
    ck_assert_uint_eq(waits.waited_ns[0], 300);
    ck_assert_uint_eq(waits.caused_ns[1], 300);
}
END_TEST

START_TEST(no_wait_is_longer_than_its_call)
{
    receives(0, RECV, 100, 180, 1, 7);
    sends(1, SEND, 400, 420, 0, 7); /* clocks that differ, say */
    look();
    assert_wait(0, WAIT_SENDER, 1, 80, "MPI_Recv", "MPI_Send");
}
END_TEST

START_TEST(a_call_waits_for_the_last_of_its_messages)
{
    message(0, MDS_EVENT_RECEIVED, 2, 7);
    call(0, WAITALL, 100, 500, 2,
         (struct mds_event){.peer = 1, .tag = 7, .kind = MDS_EVENT_RECEIVED});
    sends(1, ISEND, 300, 301, 0, 7);
    sends(2, ISEND, 450, 451, 0, 7);
    look();
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_SENDER, 2, 350, "MPI_Waitall", "MPI_Isend");
}
END_TEST

START_TEST(messages_go_together_by_tag)
{
    receives(0, RECV, 0, 100, 1, 1);
    receives(0, RECV, 100, 200, 1, 2);
    sends(1, ISEND, 50, 51, 0, 1);
    sends(1, ISEND, 160, 161, 0, 2);
    look();
    ck_assert_uint_eq(waits.n, 1);
    ck_assert_uint_eq(waits.waits[0].n, 2);
    ck_assert_uint_eq(waits.waits[0].most_ns, 60);
    assert_wait(0, WAIT_SENDER, 1, 110, "MPI_Recv", "MPI_Isend");
}
END_TEST

START_TEST(a_blocking_send_waits_for_a_late_receiver)
{
    sends(1, SEND, 100, 400, 0, 7);
    receives(0, RECV, 350, 410, 1, 7);
    sends(2, ISEND, 100, 400, 0, 7); /* does not block */
    receives(0, RECV, 420, 430, 2, 7);
    look();
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_RECEIVER, 0, 250, "MPI_Send", "MPI_Recv");
}
END_TEST

START_TEST(a_blocking_send_waits_for_a_call_that_sends_and_receives)
{
    sends(1, SEND, 100, 400, 0, 7);
    message(0, MDS_EVENT_SENT, 2, 7);
    call(0, SENDRECV, 300, 600, 2,
         (struct mds_event){.peer = 1, .tag = 7, .kind = MDS_EVENT_RECEIVED});
    sends(2, SEND, 100, 400, 1, 7);
    receives(1, WAITALL, 410, 420, 2, 7); /* its receive was posted who knows when */
    look();
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_RECEIVER, 0, 200, "MPI_Send", "MPI_Sendrecv");
}
END_TEST

START_TEST(ranks_in_a_collective_wait_for_the_last_one)
{
    barrier(0, 100, 310, 0);
    barrier(1, 300, 310, 0);
    barrier(2, 50, 310, 0);
    barrier(0, 400, 500, 1); /* another one */
    look();
    ck_assert_uint_eq(waits.n, 1);
    ck_assert_uint_eq(waits.waits[0].n, 2);
    assert_wait(0, WAIT_COLLECTIVE, 1, 450, "MPI_Barrier", "MPI_Barrier");
}
END_TEST

START_TEST(a_rank_that_waits_itself_is_not_to_blame)
{
    receives(1, RECV, 0, 210, 0, 7); /* late for rank 0, */
    sends(0, ISEND, 200, 201, 1, 7);
    receives(2, RECV, 100, 310, 1, 7); /* and rank 1 for rank 2 */
    sends(1, ISEND, 300, 301, 2, 7);
    look();
    ck_assert_uint_eq(waits.caused_ns[0], 200);
    ck_assert_uint_eq(waits.caused_ns[1], 200);
    ck_assert_uint_eq(waits.root_ns[0], 300);
    ck_assert_uint_eq(waits.root_ns[1], 100);
    ck_assert_uint_eq(waits.n, 2);
    for (size_t i = 0; i < waits.n; i++) {
        ck_assert_uint_eq(waits.waits[i].root_ns,
                          waits.waits[i].late_rank == 0 ? 300 : 100);
    }
}
END_TEST

START_TEST(the_last_one_of_a_collective_waits_for_the_one_before_if_it_has_to)
{
    barrier(0, 100, 310, 0);
    barrier(1, 300, 500, 0); /* the last one, for nobody */
    barrier(2, 300, 310, 0);
    look();
    ck_assert_uint_eq(waits.n, 1);
    ck_assert_uint_eq(waits.waits[0].n, 1);
    ck_assert_uint_eq(waits.waits[0].total_ns, 200);
}
END_TEST

START_TEST(nobody_waits_for_a_rank_that_comes_when_he_has_left)
{
    barrier(0, 0, 10, 0);
    barrier(1, 500, 510, 0); /* a bcast of rank 0, say */
    barrier(2, 5, 12, 0);
    look();
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_COLLECTIVE, 2, 5, "MPI_Barrier", "MPI_Barrier");
}
END_TEST

START_TEST(nobody_waits_on_communicators_that_are_not_known_from_one_another)
{
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        collects[rank]->comms.table[0].id = 0; /* that of all that found no room */
    }
    receives(0, RECV, 100, 500, 1, 7);
    sends(1, SEND, 400, 420, 0, 7);
    barrier(0, 600, 700, 0);
    barrier(1, 690, 700, 0);
    look();
    ck_assert_uint_eq(waits.n, 0);
    ck_assert_uint_eq(waits.n_left_out, 0);
}
END_TEST

START_TEST(messages_of_a_rank_that_has_lost_events_are_left_out)
{
    for (int i = 0; i < N_EVENTS; i++) {
        receives(0, RECV, 0, 100, 1, 7);
        sends(1, ISEND, 50, 51, 0, 7);
    }
    receives(0, RECV, 100, 200, 1, 7);
    look();
    ck_assert_uint_eq(waits.n, 0);
    ck_assert_uint_eq(waits.n_left_out, 1);
}
END_TEST

/* Where several threads call, only the first message of a call is kept: those behind it
 * would be taken for the next ones. */
START_TEST(messages_of_a_rank_whose_threads_call_are_left_out_if_some_are_lost)
{
    collects[0]->is_shared = true;
    message(0, MDS_EVENT_RECEIVED, 1, 7);
    call(0, WAITALL, 0, 10, 2,
         (struct mds_event){.peer = 2, .tag = 7, .kind = MDS_EVENT_SENT});
    receives(0, RECV, 100, 110, 1, 7);
    sends(1, ISEND, 5, 6, 0, 7);
    sends(1, ISEND, 105, 106, 0, 7);
    receives(2, RECV, 100, 500, 1, 7); /* of ranks that have lost nothing */
    sends(1, SEND, 400, 420, 2, 7);
    look();
    ck_assert_uint_eq(waits.n_left_out, 1);
    ck_assert_uint_eq(waits.n_unpaired, 1);
    ck_assert_uint_eq(waits.waited_ns[0], 0);
    ck_assert_uint_eq(waits.n, 1);
    assert_wait(0, WAIT_SENDER, 1, 300, "MPI_Recv", "MPI_Send");
}
END_TEST

START_TEST(threads_that_have_one_message_a_call_lose_none)
{
    collects[0]->is_shared = true;
    receives(0, RECV, 100, 500, 1, 7);
    sends(1, SEND, 400, 420, 0, 7);
    look();
    ck_assert_uint_eq(waits.n_left_out, 0);
    ck_assert_uint_eq(waits.n, 1);
}
END_TEST

/* A trace may have ten million events. */
START_TEST(events_without_a_wait_take_no_room_of_lines)
{
    receives(0, RECV, 100, 500, 1, 7);
    sends(1, SEND, 400, 420, 0, 7);
    for (int i = 0; i < N_EVENTS - 1; i++) {
        sends(1, ISEND, 500, 501, 0, 8);
    }
    look();
    ck_assert_uint_eq(waits.n, 1);
    ck_assert_uint_ge(waits.n_events, N_EVENTS);
    ck_assert_uint_lt(malloc_usable_size(waits.waits), 4 * sizeof(struct wait));
}
END_TEST

static char *note_of(uint32_t n_left_out, uint32_t n_unpaired)
{
    const struct waits some = {.n_left_out = n_left_out, .n_unpaired = n_unpaired};
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    waits_write_note(out, &some, 20);
    fclose(out);
    return text;
}

START_TEST(what_is_left_out_is_told_with_the_reason)
{
    char *none = note_of(0, 0), *both = note_of(5, 2);

    ck_assert_ptr_null(strstr(none, "left out"));
    ck_assert_ptr_nonnull(
        strstr(both, "of 3 ranks are left out, which have made more"));
    ck_assert_ptr_nonnull(strstr(both, "of 2 ranks are left out, of which not all"));
    free(none);
    free(both);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("waits");

    tcase_add_checked_fixture(tcase, begin_recording, end_recording);
    tcase_add_test(tcase, a_receive_waits_for_a_late_sender);
    tcase_add_test(tcase, no_wait_is_longer_than_its_call);
    tcase_add_test(tcase, a_call_waits_for_the_last_of_its_messages);
    tcase_add_test(tcase, messages_go_together_by_tag);
    tcase_add_test(tcase, a_blocking_send_waits_for_a_late_receiver);
    tcase_add_test(tcase, a_blocking_send_waits_for_a_call_that_sends_and_receives);
    tcase_add_test(tcase, ranks_in_a_collective_wait_for_the_last_one);
    tcase_add_test(tcase, a_rank_that_waits_itself_is_not_to_blame);
    tcase_add_test(tcase,
                   the_last_one_of_a_collective_waits_for_the_one_before_if_it_has_to);
    tcase_add_test(tcase, nobody_waits_for_a_rank_that_comes_when_he_has_left);
    tcase_add_test(tcase,
                   nobody_waits_on_communicators_that_are_not_known_from_one_another);
    tcase_add_test(tcase, messages_of_a_rank_that_has_lost_events_are_left_out);
    tcase_add_test(tcase,
                   messages_of_a_rank_whose_threads_call_are_left_out_if_some_are_lost);
    tcase_add_test(tcase, threads_that_have_one_message_a_call_lose_none);
    tcase_add_test(tcase, events_without_a_wait_take_no_room_of_lines);
    tcase_add_test(tcase, what_is_left_out_is_told_with_the_reason);
    return run_tcase("waits", tcase);
}
