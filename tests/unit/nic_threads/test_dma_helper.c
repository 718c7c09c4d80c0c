/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the DMA helper completes what one slice brings. The test fills the
 * batch; slices are timed, so that what is completed stands in a list until the next
 * strobe.
 */
#include <check.h>

#include "nic_threads/node/items.h"
#include "nic_threads/roles/roles.h"
#include "tests/engine/job.h"
#include "tests/unit/run_suite.h"

enum { N_RANKS = 2, FIRST = 0, SECOND = 1 };

static struct job job;
static struct rank ranks[N_RANKS];

static struct nic_posted keep(struct nic_view *view, uint32_t port,
                              const struct bcs_descriptor *descriptor)
{
    uint32_t id = nic_item_new(view, descriptor, port);

    return (struct nic_posted){
        .gva = nic_view_item_gva(view, nic_view_item(view, id), id),
        .port = port,
        .item = id,
    };
}

/* Who has got a message answers it: when the answer is there, the send is known to be
 * over. */
START_TEST(a_synchronous_send_is_over_before_its_answer_is_there)
{
    const struct job_shape shape = {.n_ranks = N_RANKS,
                                    .node_ranks = 1,
                                    .is_direct = true,
                                    .is_threaded = true,
                                    .is_timed = true};
    struct nic_view *view;
    struct nic_batch *batch;
    uint32_t sent, received;

    job_open(&job, &shape, ranks);
    view = nic_engine_view_at(ranks[FIRST].context->engine, 0);
    batch = &view->desk->batch;
    sent = bcs_poster_cell(&ranks[FIRST].context->poster);
    received = bcs_poster_cell(&ranks[FIRST].context->poster);
    batch->pairs[batch->n_pairs++] = (struct nic_pair){
        .send =
            keep(view, SECOND,
                 &(struct bcs_descriptor){.kind = BCS_SEND, .flags = BCS_DATA_INLINE}),
        .receive =
            keep(view, FIRST,
                 &(struct bcs_descriptor){.kind = BCS_RECEIVE, .cell = received}),
    };
    batch->controls[batch->n_controls++] =
        keep(view, SECOND,
             &(struct bcs_descriptor){
                 .kind = NIC_WIRE_MATCHED, .port = FIRST, .cell = sent});
    nic_dma_helper_step(view);
    ck_assert_uint_eq(view->per_port.deferred[FIRST].first, sent);
    ck_assert_uint_eq(view->per_port.deferred[FIRST].last, received);
    job_close(&job, ranks);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("dma_helper");

    tcase_add_test(tcase, a_synchronous_send_is_over_before_its_answer_is_there);
    return run_tcase("dma_helper", tcase);
}
