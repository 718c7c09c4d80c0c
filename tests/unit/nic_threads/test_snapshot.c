/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The snapshot of waits as the referee reads them, and whom it suspects by them alone.
 * They are written by hand: nobody waits.
 */
#include "nic_threads/referee/snapshot.h"

#include <check.h>

#include "nic_threads/referee/proof.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/stand_records.h"

enum { N_RANKS = 70, LATE = 66 /* whose bit is in the second word */ };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_snapshot *snapshot;
static struct nic_proof *proof;

static void begin(void)
{
    const struct job_shape shape = {.n_ranks = N_RANKS, .is_threaded = true};

    job_open(&job, &shape, ranks);
    ck_assert_int_eq(nic_snapshot_create(ranks[0].context->engine, false, &snapshot),
                     0);
    ck_assert_int_eq(nic_proof_create(ranks[0].context->engine, snapshot, NULL, &proof),
                     0);
}

static void end(void)
{
    nic_proof_destroy(proof);
    nic_snapshot_destroy(snapshot);
    job_close(&job, ranks);
}

/** A rank waits for another one. @param n operations @return its record, which has been
 *  told */
static struct bcs_stand *wait_for(uint32_t rank, uint32_t thread, uint32_t from,
                                  uint32_t n)
{
    struct bcs_stand *stand = stand_begin();

    for (uint32_t i = 0; i < n; i++) {
        stand_add(&ranks[0], stand, from, BCS_CELL_NONE);
    }
    stand_tell(&ranks[0], rank, thread, stand);
    return stand;
}

static uint32_t suspect(void)
{
    nic_snapshot_read(snapshot);
    return nic_proof_suspect(proof, false);
}

START_TEST(two_that_wait_for_each_other_are_suspected)
{
    wait_for(0, 0, LATE, 1);
    ck_assert_uint_eq(suspect(), 0);
    wait_for(LATE, 0, 0, 1);
    ck_assert_uint_eq(suspect(), 2);
    stand_tell(&ranks[0], LATE, 0, NULL);
    ck_assert_uint_eq(suspect(), 0);
}
END_TEST

/* The first thread looks at what else could act in its process. It leaves out those
 * that wait, which must have been read. */
START_TEST(a_thread_that_tells_later_has_changed_something)
{
    uint64_t meant[2] = {1};

    wait_for(0, 0, 0, 1);
    wait_for(0, 1, LATE, 1);
    stand_tell(&ranks[0], 0, 1, NULL);
    ck_assert_uint_eq(suspect(), 1);
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    wait_for(1, 0, 0, 1); /* of another rank */
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    wait_for(0, 1, LATE, 1);
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
    nic_snapshot_read(snapshot);
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    wait_for(0, 3, LATE, 1); /* in a place that nobody has used yet */
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
}
END_TEST

START_TEST(who_has_something_that_goes_on_by_itself_is_not_suspected)
{
    struct bcs_stand *stand;

    wait_for(0, 0, LATE, 1);
    stand = wait_for(LATE, 0, 0, 1);
    stand->has_others = 1;
    stand_tell(&ranks[0], LATE, 0, stand);
    ck_assert_uint_eq(suspect(), 0);
}
END_TEST

START_TEST(who_has_a_thread_that_does_not_wait_is_not_suspected)
{
    struct bcs_stand *stand;

    wait_for(0, 0, LATE, 1);
    stand = wait_for(LATE, 2, 0, 1);
    stand->n_threads = 2;
    stand->agent = BCS_AGENT_RUNS;
    stand_tell(&ranks[0], LATE, 2, stand);
    ck_assert_uint_eq(suspect(), 0);
    ck_assert_uint_eq(nic_proof_suspect(proof, true), 2);
    ck_assert(nic_snapshot_have(snapshot, 0));
    ck_assert(!nic_snapshot_have(snapshot, LATE));
    stand->agent = BCS_AGENT_NONE;
    stand_tell(&ranks[0], LATE, 2, stand);
    stand_tell(&ranks[0], LATE, 3, stand);
    ck_assert_uint_eq(suspect(), 2);
    ck_assert(nic_snapshot_have(snapshot, LATE));
    ck_assert(!nic_snapshot_have(snapshot, 1)); /* which has told nothing */
}
END_TEST

START_TEST(who_waits_for_more_than_a_page_has_is_suspected)
{
    struct bcs_stand *stand;

    wait_for(LATE, 0, 0, 1);
    stand = wait_for(0, 0, 1, BCS_STAND_OPERATIONS); /* who waits for nobody */
    ck_assert_uint_eq(suspect(), 0);
    ck_assert_uint_eq(nic_proof_n_pages(proof), 1);
    stand_add(&ranks[0], stand, LATE, BCS_CELL_NONE); /* on the second page */
    stand_tell(&ranks[0], 0, 0, stand);
    ck_assert_uint_eq(suspect(), 2);
    ck_assert_uint_eq(nic_proof_n_pages(proof), 2);
    stand->needs_all = 0; /* rank 1 could release it */
    stand_tell(&ranks[0], 0, 0, stand);
    ck_assert_uint_eq(suspect(), 0);
    stand->has_unknown = 1;
    stand_tell(&ranks[0], 0, 1,
               stand); /* a thread that waits for something else, too */
    wait_for(1, 0, 0, 1);
    ck_assert_uint_eq(suspect(), 0);
    stand_tell(&ranks[0], 0, 1, NULL);
    ck_assert_uint_eq(suspect(), 3);
}
END_TEST

START_TEST(all_that_collectives_need_must_be_stuck)
{
    struct bcs_stand *stand;

    wait_for(LATE, 0, 0, 1);
    stand = wait_for(0, 0, LATE, 1);
    for (uint32_t i = 0; i < BCS_STAND_PLANS; i++) {
        stand_add_plan(&ranks[0], stand, LATE, BCS_CELL_NONE);
    }
    stand_tell(&ranks[0], 0, 0, stand);
    ck_assert_uint_eq(suspect(), 2);
    ck_assert_uint_eq(nic_proof_n_pages(proof), 1);
    stand_add_plan(&ranks[0], stand, 1, BCS_CELL_NONE);
    stand_tell(&ranks[0], 0, 0, stand);
    ck_assert_uint_eq(suspect(), 0);
    wait_for(1, 0, 0, 1);
    ck_assert_uint_eq(suspect(), 3);
    ck_assert_uint_eq(nic_proof_n_pages(proof), 2);
}
END_TEST

START_TEST(a_page_that_is_turned_is_no_change)
{
    uint64_t meant[2] = {1}, stirs;
    struct bcs_stand *stand = wait_for(0, 0, LATE, 1);

    nic_snapshot_read(snapshot);
    stirs = nic_snapshot_changes(snapshot);
    stand->first = BCS_STAND_OPERATIONS;
    bcs_stand_turn(stand_slot(&ranks[0], 0, 0), stand, N_RANKS);
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    ck_assert_uint_eq(nic_snapshot_changes(snapshot), stirs);
    ck_assert_uint_eq(nic_snapshot_stand(snapshot, 0, 0)->first, 0);
    ck_assert(nic_snapshot_turn(snapshot, meant));
    ck_assert_uint_eq(nic_snapshot_stand(snapshot, 0, 0)->first, BCS_STAND_OPERATIONS);
    bcs_stand_write(stand_slot(&ranks[0], 0, 0), stand, N_RANKS);
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
    ck_assert_uint_ne(nic_snapshot_changes(snapshot), stirs);
    ck_assert(!nic_snapshot_turn(snapshot, meant));
}
END_TEST

/* Of a record that is being written it is not known what it will say. */
START_TEST(a_record_that_could_not_be_read_has_changed)
{
    uint64_t meant[2] = {1}, whole;
    struct bcs_stand_slot *slot = stand_slot(&ranks[0], 0, 0);

    wait_for(0, 0, LATE, 1);
    whole = atomic_load(&slot->sequence);
    atomic_store(&slot->sequence, whole | UINT64_C(1) << BCS_STAND_TURN_BITS);
    nic_snapshot_read(snapshot);
    ck_assert_ptr_null(nic_snapshot_stand(snapshot, 0, 0));
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
    atomic_store(&slot->sequence, whole);
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
    ck_assert(!nic_snapshot_turn(snapshot, meant));
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
}
END_TEST

START_TEST(a_peer_that_is_no_rank_is_not_waited_for)
{
    struct bcs_stand *stand;

    wait_for(LATE, 0, 0, 1);
    stand = wait_for(0, 0, LATE, 2);
    stand->operations[1].peer = N_RANKS;
    stand_tell(&ranks[0], 0, 0, stand);
    ck_assert_uint_eq(suspect(), 0);
}
END_TEST

START_TEST(a_record_that_is_written_anew_has_changed)
{
    uint64_t meant[2] = {0, UINT64_C(1) << (LATE - 64)};
    const uint64_t others[2] = {UINT64_MAX, ~meant[1]};

    wait_for(0, 0, LATE, 1);
    wait_for(LATE, 0, 0, 1);
    wait_for(LATE, 3, 0, 1);
    nic_snapshot_read(snapshot);
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    wait_for(LATE, 3, 0, 1); /* the same once more */
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
    ck_assert(!nic_snapshot_have_changed(snapshot, others));
    nic_snapshot_read(snapshot);
    ck_assert(!nic_snapshot_have_changed(snapshot, meant));
    stand_tell(&ranks[0], LATE, 0, NULL);
    ck_assert(nic_snapshot_have_changed(snapshot, meant));
}
END_TEST

START_TEST(all_waits_of_a_rank_must_have_answered)
{
    wait_for(LATE, 0, 0, 1);
    wait_for(LATE, 3, 0, 1);
    nic_snapshot_read(snapshot);
    ck_assert(!nic_snapshot_have_answer(snapshot, LATE, 1));
    atomic_store(&stand_slot(&ranks[0], LATE, 0)->answered, 1);
    ck_assert(!nic_snapshot_have_answer(snapshot, LATE, 1));
    atomic_store(&stand_slot(&ranks[0], LATE, 3)->answered, 1);
    ck_assert(nic_snapshot_have_answer(snapshot, LATE, 1));
    ck_assert(!nic_snapshot_have_answer(snapshot, LATE, 2)); /* an older answer */
}
END_TEST

START_TEST(whatever_begins_or_ends_stirs)
{
    uint64_t before = nic_snapshot_changes(snapshot), after;

    ck_assert_uint_eq(nic_snapshot_changes(snapshot), before);
    wait_for(LATE, 3, 0, 1);
    after = nic_snapshot_changes(snapshot);
    ck_assert_uint_ne(after, before);
    atomic_fetch_add(&nic_engine_port(ranks[0].context->engine, LATE)->park, 1);
    ck_assert_uint_ne(nic_snapshot_changes(snapshot), after);
    after = nic_snapshot_changes(snapshot);
    stand_tell(&ranks[0], LATE, 3, NULL);
    ck_assert_uint_ne(nic_snapshot_changes(snapshot), after);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("snapshot");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, two_that_wait_for_each_other_are_suspected);
    tcase_add_test(tcase, a_thread_that_tells_later_has_changed_something);
    tcase_add_test(tcase, who_has_something_that_goes_on_by_itself_is_not_suspected);
    tcase_add_test(tcase, who_has_a_thread_that_does_not_wait_is_not_suspected);
    tcase_add_test(tcase, who_waits_for_more_than_a_page_has_is_suspected);
    tcase_add_test(tcase, all_that_collectives_need_must_be_stuck);
    tcase_add_test(tcase, a_page_that_is_turned_is_no_change);
    tcase_add_test(tcase, a_record_that_could_not_be_read_has_changed);
    tcase_add_test(tcase, a_peer_that_is_no_rank_is_not_waited_for);
    tcase_add_test(tcase, a_record_that_is_written_anew_has_changed);
    tcase_add_test(tcase, all_waits_of_a_rank_must_have_answered);
    tcase_add_test(tcase, whatever_begins_or_ends_stirs);
    return run_tcase("snapshot", tcase);
}
