/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking receives of messages that have come: which of them their receiver takes by
 * itself, and that it gets the same as by a slice; on one node, and each on a node of
 * its own. The ranks are contexts of this thread, one after the other.
 */
#include <check.h>
#include <string.h>

#include "nic_threads/drivers/take_at_hand.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/roles/turn.h"
#include "tests/engine/job.h"
#include "tests/pattern.h"
#include "tests/unit/run_suite.h"

enum {
    N_RANKS = 3,
    SENDER = 0,
    RECEIVER = 1,
    N_BYTES = 70000, /* longer than any that is buffered */
    N_MANY = 1000,
    SHORT = 8,
};

static struct job job;
static struct rank ranks[N_RANKS];
static uint8_t source[N_BYTES], target[N_BYTES];
static struct bcs_result result;
static bool are_far;        /* each rank is a node */
static uint64_t n_at_first; /* messages at hand before the test */

static void teardown(void)
{
    job_close(&job, ranks);
}

/** Send bytes of a pattern that belongs to a tag. */
static void send_from(int rank, int tag, size_t n_bytes)
{
    struct bcs_message message =
        rank_message(&ranks[rank], RECEIVER, tag, source, n_bytes);

    pattern_fill(source, n_bytes, tag);
    ck_assert_int_eq(bcs_send(ranks[rank].context, &message, BCS_SEND_STANDARD, NULL),
                     0);
}

static void send_one(int tag, size_t n_bytes)
{
    send_from(SENDER, tag, n_bytes);
}

/** Receive what was sent with a tag, into room for n_bytes. @return what bcs_recv
 *  returns */
static int receive_of(int rank, int wanted_tag, size_t n_bytes)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], rank, wanted_tag, target, n_bytes);

    memset(target, 0, sizeof(target));
    return bcs_recv(ranks[RECEIVER].context, &message, &result, NULL);
}

static void receive_one(int wanted_tag, int tag, size_t n_bytes)
{
    ck_assert_int_eq(receive_of(SENDER, wanted_tag, N_BYTES), 0);
    ck_assert_int_eq(result.source, SENDER);
    ck_assert_int_eq(result.tag, tag);
    ck_assert_uint_eq(result.n_bytes, n_bytes);
    ck_assert(pattern_is_filled(target, n_bytes, tag));
    ck_assert_int_eq(target[n_bytes], 0);
}

static uint64_t n_at_hand(void)
{
    return ranks[RECEIVER].context->n_at_hand - n_at_first;
}

/** Whether a message of this length is at hand once it has come. */
static bool is_taken(size_t n_bytes)
{
    return !are_far || n_bytes <= BCS_PUT_INLINE_BYTES;
}

static void open_job(uint32_t node_ranks, const char *limits)
{
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = node_ranks,
                                    .limits = limits,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .n_cpus = N_RANKS};

    are_far = node_ranks == 1;
    job_open(&job, &shape, ranks);
    n_at_first = 0;
}

static void setup(void)
{
    open_job(0, NULL);
}

/** A desk learns of a link from another node as it collects the first message. Links
 *  are short, so that their entries must be given back soon. */
static void setup_nodes(void)
{
    open_job(1, "link=4");
    for (int rank = 0; rank < N_RANKS; rank++) {
        if (rank != RECEIVER) {
            send_from(rank, 1, SHORT);
            ck_assert_int_eq(receive_of(rank, 1, N_BYTES), 0);
        }
    }
    n_at_first = ranks[RECEIVER].context->n_at_hand;
    ck_assert_uint_eq(n_at_first, 0);
}

static const size_t lengths[] = {0, 1, SHORT, 9, 72, 73, 80, 81, 1000, 32768};
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

START_TEST(what_has_come_takes_a_slice_but_no_descriptor_and_no_cell)
{
    const struct bcs_poster *poster = &ranks[RECEIVER].context->poster;
    uint64_t n_slices = bcs_context_slices(ranks[RECEIVER].context);
    uint32_t n_posted = poster->ring.position, n_cells = poster->n_cells_touched;

    send_one(5, lengths[_i]);
    receive_one(_i % 2 == 0 ? 5 : BCS_ANY_TAG, 5, lengths[_i]);
    ck_assert_uint_eq(n_at_hand(), is_taken(lengths[_i]));
    ck_assert(is_taken(lengths[_i]) == (poster->ring.position == n_posted));
    ck_assert_uint_eq(poster->n_cells_touched, n_cells);
    n_slices = bcs_context_slices(ranks[RECEIVER].context) - n_slices;
    ck_assert(n_slices == 1 || (n_slices > 1 && !is_taken(lengths[_i])));
}
END_TEST

START_TEST(entries_and_blocks_are_given_back)
{
    const struct bcs_poster *poster = &ranks[SENDER].context->poster;
    size_t n_bytes = lengths[_i];

    for (int i = 0; i < N_MANY; i++) {
        send_one(i % 100, n_bytes);
        receive_one(i % 100, i % 100, n_bytes);
    }
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        ck_assert_uint_le(poster->blocks[i].n_touched, 2);
    }
}
END_TEST

START_TEST(now_and_then_a_receive_waits_as_ever)
{
    for (int i = 0; i < N_MANY; i++) {
        send_one(1, SHORT);
        receive_one(1, 1, SHORT);
    }
    ck_assert_uint_gt(n_at_hand(), N_MANY * 9 / 10);
    ck_assert_uint_le(n_at_hand(), N_MANY - N_MANY / BCS_TURNS_A_LOOK);
}
END_TEST

START_TEST(a_receive_that_was_posted_before_gets_the_first_message)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, BCS_ANY_TAG, target, N_BYTES);
    struct bcs_request request;

    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, NULL, &request), 0);
    send_one(1, SHORT);
    send_one(2, SHORT);
    receive_one(BCS_ANY_TAG, 2, SHORT);
    ck_assert_uint_eq(n_at_hand(), 0);
    ck_assert_int_eq(bcs_test(ranks[RECEIVER].context, &request, true), 0);
    ck_assert_int_eq(request.result.tag, 1);
}
END_TEST

/* Or a transfer would stand still as long as its process finds short messages at
 * hand. */
START_TEST(who_has_a_long_message_under_way_waits_as_ever)
{
    struct bcs_message out = rank_message(&ranks[SENDER], RECEIVER, 1, source, N_BYTES);
    struct bcs_message in = rank_message(&ranks[RECEIVER], SENDER, 1, target, N_BYTES);
    struct bcs_request sending, receiving;
    uint8_t data[SHORT];

    pattern_fill(source, N_BYTES, 1);
    ck_assert_int_eq(bcs_send(ranks[SENDER].context, &out, BCS_SEND_STANDARD, &sending),
                     0);
    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &in, NULL, &receiving), 0);
    ck_assert(!bcs_look(ranks[RECEIVER].context, &receiving));
    out.n_bytes = in.n_bytes = SHORT;
    in.data = data;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(bcs_send(ranks[SENDER].context, &out, BCS_SEND_STANDARD, NULL),
                         0);
        ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &in, &result, NULL), 0);
        ck_assert(pattern_is_filled(data, SHORT, 1));
    }
    ck_assert_uint_eq(n_at_hand(), 0);
    while (!bcs_look(ranks[RECEIVER].context, &receiving)) {
        bcs_progress(ranks[RECEIVER].context);
        bcs_progress(ranks[SENDER].context);
    }
    ck_assert(pattern_is_filled(target, N_BYTES, 1));
    while (!bcs_look(ranks[SENDER].context, &sending)) {
        bcs_progress(ranks[SENDER].context);
    }
}
END_TEST

START_TEST(a_message_that_is_kept_comes_first)
{
    struct bcs_message any =
        rank_message(&ranks[RECEIVER], SENDER, BCS_ANY_TAG, NULL, 0);

    send_one(1, SHORT);
    ck_assert_int_eq(bcs_probe(ranks[RECEIVER].context, &any, false, &result), 0);
    send_one(2, SHORT);
    receive_one(BCS_ANY_TAG, 1, SHORT);
    receive_one(BCS_ANY_TAG, 2, SHORT);
}
END_TEST

START_TEST(a_kept_message_is_at_hand_for_any_source_too)
{
    struct bcs_message any = rank_message(&ranks[RECEIVER], BCS_ANY_SOURCE, 3, NULL, 0);
    const struct bcs_poster *poster = &ranks[SENDER].context->poster;
    const struct nic_desk *desk = nic_engine_own(ranks[RECEIVER].context->engine)->desk;
    size_t n_bytes = lengths[_i];

    for (int i = 0; i < N_MANY; i++) {
        uint64_t n = n_at_hand();

        send_one(3, n_bytes);
        ck_assert_int_eq(bcs_probe(ranks[RECEIVER].context, &any, true, &result), 0);
        ck_assert_int_eq(receive_of(i % 2 == 0 ? BCS_ANY_SOURCE : SENDER, 3, N_BYTES),
                         0);
        ck_assert_int_eq(result.source, SENDER);
        ck_assert_uint_eq(result.n_bytes, n_bytes);
        ck_assert(pattern_is_filled(target, n_bytes, 3));
        ck_assert(i > 10 || n_at_hand() == n + is_taken(n_bytes));
    }
    ck_assert_uint_eq(desk->n_sends_kept, 0);
    ck_assert_uint_le(desk->items_touched, 4);
    for (int i = 0; i < BCS_BLOCK_CLASSES; i++) {
        ck_assert_uint_le(poster->blocks[i].n_touched, 2);
    }
}
END_TEST

START_TEST(a_kept_message_that_was_claimed_is_not_at_hand)
{
    struct bcs_message wanted =
        rank_message(&ranks[RECEIVER], SENDER, 1, target, SHORT);
    struct bcs_request request;
    uint32_t item;

    send_one(1, SHORT);
    ck_assert_int_eq(bcs_probe(ranks[RECEIVER].context, &wanted, true, &result), 0);
    ck_assert_int_eq(
        bcs_mprobe(ranks[RECEIVER].context, &wanted, false, &result, &item), 0);
    send_one(1, 9);
    receive_one(1, 1, 9);
    ck_assert_int_eq(bcs_imrecv(ranks[RECEIVER].context, &wanted, item, &request), 0);
    ck_assert_int_eq(bcs_test(ranks[RECEIVER].context, &request, true), 0);
    ck_assert_uint_eq(request.result.n_bytes, SHORT);
}
END_TEST

START_TEST(a_kept_synchronous_send_learns_of_its_receive)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, 1, source, SHORT);
    struct bcs_message any = rank_message(&ranks[RECEIVER], BCS_ANY_SOURCE, 1, NULL, 0);
    struct bcs_request request;

    pattern_fill(source, SHORT, 1);
    ck_assert_int_eq(
        bcs_send(ranks[SENDER].context, &message, BCS_SEND_SYNCHRONOUS, &request), 0);
    ck_assert_int_eq(bcs_probe(ranks[RECEIVER].context, &any, true, &result), 0);
    receive_one(1, 1, SHORT);
    ck_assert_int_eq(bcs_test(ranks[SENDER].context, &request, true), 0);
    ck_assert_uint_eq(n_at_hand(), 0);
}
END_TEST

START_TEST(a_message_behind_another_one_is_found)
{
    send_one(1, SHORT);
    send_one(2, SHORT);
    receive_one(2, 2, SHORT);
    ck_assert_uint_eq(n_at_hand(), 0);
    receive_one(1, 1, SHORT); /* the desk keeps it */
    send_one(3, SHORT);
    receive_one(3, 3, SHORT);
    ck_assert_uint_eq(n_at_hand(), 2);
}
END_TEST

START_TEST(a_message_of_another_group_is_not_taken)
{
    struct bcs_message message =
        rank_message(&ranks[RECEIVER], SENDER, 1, target, SHORT);
    struct bcs_group other = ranks[SENDER].world;

    other.context_id += 2;
    message.group = &other;
    send_one(1, SHORT);
    {
        struct bcs_message out =
            rank_message(&ranks[SENDER], RECEIVER, 1, source, SHORT);

        pattern_fill(source, SHORT, 7);
        out.group = &other;
        ck_assert_int_eq(bcs_send(ranks[SENDER].context, &out, BCS_SEND_STANDARD, NULL),
                         0);
    }
    ck_assert_int_eq(bcs_recv(ranks[RECEIVER].context, &message, &result, NULL), 0);
    ck_assert(pattern_is_filled(target, SHORT, 7));
    receive_one(1, 1, SHORT);
}
END_TEST

START_TEST(sources_are_told_apart)
{
    send_from(2, 9, SHORT);
    send_one(9, 50);
    receive_one(9, 9, 50);
    ck_assert_int_eq(receive_of(2, 9, N_BYTES), 0);
    ck_assert_int_eq(result.source, 2);
    ck_assert_uint_eq(result.n_bytes, SHORT);
    ck_assert_uint_eq(n_at_hand(), 2);
}
END_TEST

START_TEST(a_synchronous_send_learns_of_its_receive)
{
    struct bcs_message message =
        rank_message(&ranks[SENDER], RECEIVER, 1, source, SHORT);
    struct bcs_request request;

    pattern_fill(source, SHORT, 1);
    ck_assert_int_eq(
        bcs_send(ranks[SENDER].context, &message, BCS_SEND_SYNCHRONOUS, &request), 0);
    receive_one(1, 1, SHORT);
    ck_assert_int_eq(bcs_test(ranks[SENDER].context, &request, true), 0);
    ck_assert_uint_eq(n_at_hand(), 0);
}
END_TEST

START_TEST(nothing_is_at_hand_while_the_desk_has_something_to_tell)
{
    struct nic_desk *desk = nic_engine_own(ranks[RECEIVER].context->engine)->desk;

    send_one(1, SHORT);
    desk->n_outbox++;
    receive_one(1, 1, SHORT);
    ck_assert_uint_eq(n_at_hand(), 0);
    desk->n_outbox--;
}
END_TEST

/** The desk of the receiver, as a rank sees it. */
static struct nic_view *desk_of_receiver(int rank)
{
    return nic_engine_view(ranks[rank].context->engine, RECEIVER);
}

/** Whether a message of tag 1 is at hand. */
static bool is_at_hand(struct nic_found *found_out)
{
    struct nic_wish wish = {
        .context_id = ranks[RECEIVER].world.context_id, .source = SENDER, .tag = 1};

    return nic_at_hand_begin(ranks[RECEIVER].context->engine, &wish, SENDER, found_out);
}

START_TEST(who_could_not_lock_the_desk_meanwhile_is_served)
{
    struct nic_engine *engine = ranks[RECEIVER].context->engine;
    struct nic_found found;

    send_one(1, SHORT);
    ck_assert(is_at_hand(&found));
    send_one(2, SHORT);
    ck_assert(nic_engine_tell_holder(desk_of_receiver(SENDER)));
    nic_at_hand_end(engine, &found);
    ck_assert(!nic_engine_has_work(desk_of_receiver(RECEIVER)));
    receive_one(2, 2, SHORT);
    /* Nor is anything lost by who finds nothing. */
    ck_assert(!is_at_hand(&found));
    ck_assert(!nic_engine_tell_holder(desk_of_receiver(SENDER)));
}
END_TEST

START_TEST(nothing_is_at_hand_at_a_desk_that_another_one_has)
{
    struct nic_found found;

    send_one(1, SHORT);
    ck_assert(nic_engine_try_lock(desk_of_receiver(SENDER)));
    ck_assert(!is_at_hand(&found));
    nic_engine_unlock(desk_of_receiver(SENDER));
    receive_one(1, 1, SHORT);
}
END_TEST

START_TEST(a_message_that_is_too_long_is_cut_and_said_so)
{
    size_t n_bytes = lengths[_i], n_room = n_bytes / 2;

    send_one(1, n_bytes);
    ck_assert_int_eq(receive_of(SENDER, 1, n_room), n_bytes == 0 ? 0 : BCS_E_TRUNCATED);
    ck_assert_uint_eq(result.n_bytes, n_room);
    ck_assert(pattern_is_filled(target, n_room, 1));
    ck_assert_int_eq(target[n_room], 0);
    ck_assert_uint_eq(n_at_hand(), is_taken(n_bytes));
    send_one(2, SHORT);
    receive_one(2, 2, SHORT);
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(
        tcase, what_has_come_takes_a_slice_but_no_descriptor_and_no_cell, 0, N_LENGTHS);
    tcase_add_loop_test(tcase, entries_and_blocks_are_given_back, 0, N_LENGTHS);
    tcase_add_test(tcase, now_and_then_a_receive_waits_as_ever);
    tcase_add_test(tcase, a_receive_that_was_posted_before_gets_the_first_message);
    tcase_add_test(tcase, who_has_a_long_message_under_way_waits_as_ever);
    tcase_add_test(tcase, a_message_that_is_kept_comes_first);
    tcase_add_loop_test(tcase, a_kept_message_is_at_hand_for_any_source_too, 0,
                        N_LENGTHS);
    tcase_add_test(tcase, a_kept_message_that_was_claimed_is_not_at_hand);
    tcase_add_test(tcase, a_kept_synchronous_send_learns_of_its_receive);
    tcase_add_test(tcase, a_message_behind_another_one_is_found);
    tcase_add_test(tcase, a_message_of_another_group_is_not_taken);
    tcase_add_test(tcase, sources_are_told_apart);
    tcase_add_test(tcase, a_synchronous_send_learns_of_its_receive);
    tcase_add_test(tcase, nothing_is_at_hand_while_the_desk_has_something_to_tell);
    tcase_add_test(tcase, who_could_not_lock_the_desk_meanwhile_is_served);
    tcase_add_test(tcase, nothing_is_at_hand_at_a_desk_that_another_one_has);
    tcase_add_loop_test(tcase, a_message_that_is_too_long_is_cut_and_said_so, 0,
                        N_LENGTHS);
}

int main(void)
{
    Suite *suite = suite_create("at_hand");

    add_case(suite, "one node", setup, teardown, add_tests);
    add_case(suite, "nodes of one", setup_nodes, teardown, add_tests);
    return run_suite(suite);
}
