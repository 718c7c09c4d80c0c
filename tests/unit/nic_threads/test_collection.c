/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collection of what processes have posted for one that receives, where they share its
 * desk, and where they reach it by links, on its node or from others: a process that
 * always has more than a slice can take does not keep others waiting for longer than
 * there are processes on the node.
 */
#include <check.h>

#include "nic_threads/roles/collection.h"
#include "nic_threads/roles/roles.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_SENDERS = 3, RECEIVER = N_SENDERS, N_RANKS, N_FLOOD = 250, TAG = 5 };

static struct job job;
static struct rank ranks[N_RANKS];
static struct nic_engine *engine; /* of whoever helps */

static void setup(bool is_timed, uint32_t node_ranks)
{
    const struct job_shape shape = {
        .n_ranks = N_RANKS,
        .node_ranks = node_ranks,
        .is_direct = true,
        .is_threaded = true,
        .is_timed = is_timed,
        .limits = "link=256",
    };

    job_open(&job, &shape, ranks);
    engine = job_open_background(&job, false);
    ck_assert(nic_is_linked(engine) == !is_timed);
}

static void setup_shared(void)
{
    setup(true, 0);
}

static void setup_linked(void)
{
    setup(false, 0);
}

static void setup_nodes(void)
{
    setup(false, 1);
}

static void teardown(void)
{
    nic_engine_destroy(engine);
    job_close(&job, ranks);
}

/** Messages of a rank that nobody receives. */
static void post_sends(int rank, int n)
{
    struct bcs_request request;

    for (int i = 0; i < n; i++) {
        struct bcs_message message = rank_message(&ranks[rank], RECEIVER, TAG, NULL, 0);

        ck_assert_int_eq(
            bcs_send(ranks[rank].context, &message, BCS_SEND_STANDARD, &request), 0);
    }
}

static struct nic_view *desk(void)
{
    return nic_engine_view(engine, RECEIVER);
}

static const struct nic_match *queue(void)
{
    const struct nic_view *view = desk();

    return &view->per_port.match[nic_view_seat(view, RECEIVER)];
}

/** Whether a message of a rank has been taken. */
static bool has_come(int rank)
{
    return nic_match_find_send(queue(), &desk()->items,
                               &(struct bcs_descriptor){
                                   .context_id = ranks[rank].world.context_id,
                                   .source = rank,
                                   .tag = TAG,
                               }) != NIC_ITEM_NONE;
}

/** Take what a batch has room for, and match it: a slice, or a round of one. */
static void take_batch(void)
{
    if (nic_is_linked(engine)) {
        ck_assert_int_eq(nic_strobe_receiver_run_alone(desk()), NIC_CARRIED_SOME);
        return;
    }
    desk()->node->round++;
    ck_assert_uint_gt(nic_collection_take(desk()), 0);
    nic_buffer_receiver_step(desk());
    nic_collection_empty(&desk()->desk->batch);
    nic_collection_release(desk());
}

START_TEST(every_process_comes_first_in_turn)
{
    post_sends(_i, N_FLOOD);
    for (int rank = 0; rank < N_SENDERS; rank++) {
        if (rank != _i) {
            post_sends(rank, 1);
        }
    }
    for (int batch = 0; batch < N_SENDERS; batch++) {
        take_batch();
    }
    /* else the flood fits, and nothing is shown */
    ck_assert_uint_lt(nic_match_n_sends(queue()), N_FLOOD);
    for (int rank = 0; rank < N_SENDERS; rank++) {
        ck_assert(has_come(rank));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collection");
    void (*const setups[])(void) = {setup_shared, setup_linked, setup_nodes};
    static const char *const names[] = {"at a desk that is shared", "by links",
                                        "from other nodes"};

    for (int i = 0; i < 3; i++) {
        TCase *tcase = tcase_create(names[i]);

        tcase_add_checked_fixture(tcase, setups[i], teardown);
        tcase_add_loop_test(tcase, every_process_comes_first_in_turn, 0, N_SENDERS);
        suite_add_tcase(suite, tcase);
    }
    return run_suite(suite);
}
