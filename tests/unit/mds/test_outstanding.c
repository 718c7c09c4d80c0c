/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said to stand out of runs that are written down here, with the bounds of what
 * is too little to be told.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/outstanding.h"
#include "tests/unit/run_suite.h"

#define MS UINT64_C(1000000)

enum { N_RANKS = 4, RUN_MS = 1000 };

static struct dump_file files[N_RANKS];
static struct mmds_summary summaries[N_RANKS];
static struct mds_dump_call calls[N_RANKS];
static struct mds_dump_peer peers[N_RANKS][N_RANKS];
static struct run run;
static uint64_t waited_ns[N_RANKS], root_ns[N_RANKS];
static struct wait lines[N_RANKS];
static struct waits waits;
static struct places *places;
static char *text;

/* A run in which all ranks compute all of the time. */
static void begin(void)
{
    run = (struct run){.files = files, .summaries = summaries, .n_files = N_RANKS};
    waits = (struct waits){
        .waits = lines, .waited_ns = waited_ns, .root_ns = root_ns, .n_events = 1};
    for (uint32_t i = 0; i < N_RANKS; i++) {
        files[i] = (struct dump_file){
            .process = {.rank = 10 + i, .end = MDS_DUMP_END_FINALIZE}};
        summaries[i] = (struct mmds_summary){.run_ns = RUN_MS * MS};
        summaries[i].computation.total_ns = RUN_MS * MS;
        waited_ns[i] = root_ns[i] = 0;
    }
    places = place_open(PLACE_PATIENT_NS);
}

static void end(void)
{
    free(text);
    text = NULL;
    place_close(places);
}

/* A rank has been in blocking calls for so long, and has waited there. */
static void blocks(uint32_t i, uint64_t ms, uint64_t waited_ms)
{
    summaries[i].computation.total_ns = (RUN_MS - ms) * MS;
    summaries[i].communication.total_ns = ms * MS;
    waited_ns[i] = waited_ms * MS;
}

/* A kind of waits for a rank at an address of no file. */
static void is_waited_for(uint32_t i, const char *primitive, uint64_t root_ms)
{
    lines[waits.n++] = (struct wait){
        .kind = WAIT_SENDER,
        .waiting = {.primitive = primitive, .address = 0x10},
        .late = {.primitive = "MPI_Send", .address = 0x20},
        .late_rank = 10 + i,
        .root_ns = root_ms * MS,
    };
    root_ns[i] += root_ms * MS;
}

/* Without events: each rank has a primitive whose calls are split, and knows the
 * others. */
static void has_split(void)
{
    waits.n_events = 0;
    memset(calls, 0, sizeof(calls));
    memset(peers, 0, sizeof(peers));
    for (uint32_t i = 0; i < N_RANKS; i++) {
        for (uint32_t j = 0; j < N_RANKS; j++) {
            peers[i][j].rank = 10 + j;
        }
        files[i].calls =
            (struct dump_records){(const char *)&calls[i], 1, sizeof(*calls)};
        files[i].peers =
            (struct dump_records){(const char *)peers[i], N_RANKS, sizeof(**peers)};
    }
}

/* A rank has waited for another one to send. */
static void waits_for(uint32_t i, uint32_t late, uint64_t ms)
{
    summaries[i].splits[0].ns[MDS_PART_SENDER] += ms * MS;
    peers[i][late].late[MDS_PART_SENDER] += ms * MS;
}

/* Each rank has been in blocking calls for so long, in parts but for late ranks. */
static void all_block(uint64_t slice_ms, uint64_t transfer_ms, uint64_t other_ms)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, slice_ms + transfer_ms + other_ms, 0);
        summaries[i].splits[0].ns[MDS_PART_SLICE] = slice_ms * MS;
        summaries[i].splits[0].ns[MDS_PART_TRANSFER] = transfer_ms * MS;
        summaries[i].splits[0].ns[MDS_PART_OTHER] = other_ms * MS;
    }
}

/** Ask what stands out. */
static void tell(void)
{
    free(text);
    text = NULL;
    ck_assert_int_eq(outstanding_of(&run, &waits, places, &text), 0);
}

/** Compare with the sentences, one behind the other. */
static void assert_told(const char *expected)
{
    char told[4096] = "";

    tell();
    for (const char *at = text; *at != '\0'; at += strlen(at) + 1) {
        strcat(strcat(told, at), "\n");
    }
    ck_assert_str_eq(told, expected);
}

START_TEST(nothing_stands_out_of_a_run_that_computes)
{
    assert_told("Nothing that costs 10 % of all time.\n");
}
END_TEST

START_TEST(a_rank_that_computes_longer_is_told)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, i == 2 ? 0 : 200, 0);
    }
    assert_told(
        "Load imbalance costs 15.0 % of all time: rank 12 was outside of MPI for "
        "the longest, 1.000 s; 1 of 4 ranks were for longer than the mean, 0.850 "
        "s.\n");
    blocks(3, 0, 0); /* 10 % are told, */
    assert_told(
        "Load imbalance costs 10.0 % of all time: rank 12 was outside of MPI for "
        "the longest, 1.000 s; 2 of 4 ranks were for longer than the mean, 0.900 "
        "s.\n");
    blocks(1, 199, 0); /* and less is not */
    assert_told("Nothing that costs 10 % of all time.\n");
}
END_TEST

START_TEST(what_costs_less_than_10_ms_is_not_told)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        summaries[i].run_ns = 20 * MS;
        summaries[i].computation.total_ns = (i == 2 ? 20 : 7) * MS;
    }
    assert_told("Nothing that costs 10 % of all time.\n"); /* 9.75 ms */
    summaries[0].computation.total_ns = 5 * MS;
    tell();
    ck_assert_ptr_nonnull(strstr(text, "Load imbalance costs 51.2 %"));
}
END_TEST

START_TEST(a_late_rank_is_told_with_its_places)
{
    blocks(0, 400, 400);
    summaries[1].computation.total_ns = 600 * MS;
    summaries[1].communication.total_ns = 400 * MS;
    waited_ns[1] = 399 * MS;
    blocks(2, 400, 400);
    blocks(3, 400, 400);
    is_waited_for(1, "MPI_Recv", 300);
    is_waited_for(1, "MPI_Waitall", 500);
    is_waited_for(0, "MPI_Recv", 400);
    assert_told("Rank 11 is late: others have waited for it for 0.800 s, 20.0 % of all "
                "time; longest in MPI_Waitall at 0x10 in no file, for MPI_Send at 0x20 "
                "in no file of rank 11, 0.500 s (late sender).\n"
                "Serialisation costs 40.0 % of all time: ranks compute one after the "
                "other. Others have waited most for rank 11 (0.800 s), rank 10 (0.400 "
                "s), rank 12 (0.000 s), rank 13 (0.000 s); longest in MPI_Waitall at "
                "0x10 in no file, for MPI_Send at 0x20 in no file of rank 11, 0.500 s "
                "(late sender).\n");
    is_waited_for(0, "MPI_Recv",
                  1); /* one rank has less than two thirds of the blame */
    tell();
    ck_assert_ptr_null(strstr(text, "is late"));
}
END_TEST

START_TEST(a_rank_that_costs_little_is_not_late)
{
    is_waited_for(1, "MPI_Recv", 399); /* of 4000 */
    assert_told("Nothing that costs 10 % of all time.\n");
}
END_TEST

START_TEST(what_calls_cost_by_themselves_is_told)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, 300, 100);
    }
    assert_told("Serialisation costs 10.0 % of all time: ranks compute one after the "
                "other. Others have waited most for rank 10 (0.000 s), rank 11 (0.000 "
                "s), rank 12 (0.000 s), rank 13 (0.000 s).\n"
                "Calls themselves, not who is late for them, cost 20.0 % of all "
                "time.\n");
}
END_TEST

/* All calls of a rank have been at a place of its own, if in no file, for so long. */
static void has_place(uint32_t i, struct mds_dump_site *record, uint64_t address,
                      uint64_t ms)
{
    static const char names[] = "MPI_Recv";
    static const struct mds_dump_call recv = {.timing = MDS_BLOCKING};

    *record = (struct mds_dump_site){
        .module = MDS_DUMP_NONE, .address = address, .count = 1, .total = ms * MS};
    files[i].names = (struct dump_records){names, sizeof(names), 1};
    files[i].calls = (struct dump_records){(const char *)&recv, 1, sizeof(recv)};
    files[i].sites = (struct dump_records){(const char *)record, 1, sizeof(*record)};
}

START_TEST(the_place_whose_calls_cost_most_by_themselves_is_told)
{
    static struct mds_dump_site records[N_RANKS];

    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, 300, 100);
        has_place(i, &records[i], 0x10 * (i + 1), i == 1 ? 250 : 300);
    }
    is_waited_for(0, "MPI_Recv", 0);
    lines[0].total_ns = 100 * MS; /* of the first place; two more are waits, too: */
    is_waited_for(0, "MPI_Recv", 0);
    lines[1] = (struct wait){.waiting = {.primitive = "MPI_Recv", .address = 0x30},
                             .total_ns = 40 * MS};
    is_waited_for(0, "MPI_Recv", 0);
    lines[2] = (struct wait){.waiting = {.primitive = "MPI_Recv", .address = 0x40},
                             .total_ns = 301 * MS};
    tell();
    for (const char *at = text; *at != '\0'; at += strlen(at) + 1) {
        const char *costly = strstr(at, "; most those of ");

        ck_assert((costly != NULL) == (strncmp(at, "Calls themselves", 16) == 0));
        ck_assert(costly == NULL ||
                  strcmp(costly,
                         "; most those of MPI_Recv at 0x30 in no file, 0.260 s.") == 0);
    }
}
END_TEST

START_TEST(of_what_is_not_known_nothing_is_told)
{
    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, 300, 300);
    }
    is_waited_for(1, "MPI_Recv", 1200);
    waits.n_left_out = 1;
    assert_told("");
    waits.n_left_out = 0;
    waits.n_events = 0;
    assert_told("");
    waits.n_events = 1;
    files[3].process.end = MDS_DUMP_END_UNKNOWN;
    assert_told("");
    files[3].process.end = MDS_DUMP_END_FINALIZE;
    run.n_files = 1;
    assert_told("");
}
END_TEST

START_TEST(without_events_the_split_tells_who_is_late)
{
    has_split();
    for (uint32_t i = 0; i < N_RANKS; i++) {
        blocks(i, 400, 0);
        waits_for(i, i == 1 ? 0 : 1, i == 1 ? 399 : 400);
    }
    assert_told("Rank 11 is late: others have waited for it for 1.200 s, 30.0 % of all "
                "time.\n"
                "Serialisation costs 40.0 % of all time: ranks compute one after the "
                "other. Others have waited most for rank 11 (1.200 s), rank 10 (0.399 "
                "s), rank 12 (0.000 s), rank 13 (0.000 s).\n");
    waits_for(1, 0, 202); /* of all waits less than two thirds are for rank 11 now */
    tell();
    ck_assert_ptr_null(strstr(text, "is late"));
}
END_TEST

START_TEST(waiting_for_slices_is_told_apart_from_calls)
{
    has_split();
    all_block(150, 120, 0);
    assert_told("Waiting for time slices to begin costs 15.0 % of all time.\n"
                "Calls themselves, not who is late for them, cost 12.0 % of all "
                "time.\n");
    all_block(250, 20, 0);
    assert_told("Waiting for time slices to begin costs 25.0 % of all time.\n");
}
END_TEST

START_TEST(calls_that_are_not_split_are_not_told_to_cost_by_themselves)
{
    has_split();
    all_block(0, 0, 300);
    assert_told("30.0 % of all time is spent in calls of which it was not recorded "
                "what they waited for.\n");
    all_block(0, 0, 50);
    assert_told("Nothing that costs 10 % of all time.\n");
}
END_TEST

START_TEST(lost_events_are_counted)
{
    has_split();
    waits.n_events = 28;
    waits.n_left_out = 2;
    for (uint32_t i = 0; i < N_RANKS; i++) {
        calls[i].count = 10;
        files[i].events.n = i < 2 ? 4 : 10;
    }
    assert_told("Nothing that costs 10 % of all time.\n"
                "2 of 4 ranks have lost events, of 12 of 40 calls: it is told which "
                "rank calls have waited for, not whom that rank has waited for itself, "
                "nor in which call it was. A larger BCS_MDS_EVENTS keeps more.\n");
    files[3].calls.record_bytes = 72; /* of an earlier version */
    assert_told("2 of 4 ranks have lost events, of 12 of 40 calls: only load imbalance "
                "is told. A larger BCS_MDS_EVENTS keeps more.\n");
    for (uint32_t i = 0; i < N_RANKS; i++) {
        files[i].events.n = 0; /* none were recorded */
    }
    assert_told("");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("outstanding");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, nothing_stands_out_of_a_run_that_computes);
    tcase_add_test(tcase, a_rank_that_computes_longer_is_told);
    tcase_add_test(tcase, what_costs_less_than_10_ms_is_not_told);
    tcase_add_test(tcase, a_late_rank_is_told_with_its_places);
    tcase_add_test(tcase, a_rank_that_costs_little_is_not_late);
    tcase_add_test(tcase, what_calls_cost_by_themselves_is_told);
    tcase_add_test(tcase, the_place_whose_calls_cost_most_by_themselves_is_told);
    tcase_add_test(tcase, of_what_is_not_known_nothing_is_told);
    tcase_add_test(tcase, without_events_the_split_tells_who_is_late);
    tcase_add_test(tcase, waiting_for_slices_is_told_apart_from_calls);
    tcase_add_test(tcase, calls_that_are_not_split_are_not_told_to_cost_by_themselves);
    tcase_add_test(tcase, lost_events_are_counted);
    return run_tcase("outstanding", tcase);
}
