/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What <bcs/bcs.h> says of the messages that calls cost, counted in descriptors: a
 * message is one at its sender and one at its receiver, posted or not; what an end
 * posts for each part that it has copied is not counted. Run by every rank of a job,
 * process or thread.
 */
#include <stdlib.h>

#include "libbcs/api/collective/near_collective.h"
#include "tests/engine/patterns.h"
#include <bcs/bcs.h>

/** One rank that counts. */
struct counting {
    struct rank *me;
    struct bcs_context *context;
    struct bcs_group *group;
    uint32_t was; /* descriptors posted before the call, to the own ring, */
    uint32_t linked[JOB_MAX_RANKS]; /* and to each link, */
    uint32_t linked_node;           /* and to the node's own desk, */
    uint64_t n_near;                /* and collectives that took none, */
    uint64_t n_at_hand;             /* and receives */
    uint32_t others;                /* members but this one */
    uint32_t tree; /* messages up or down a tree of all, at this member */
    bool spans_nodes, is_timed;
};

/** Descriptors that were posted to a ring since the last look, but for the control
 *  descriptors of parts of long data. They are still in the ring, which has room for
 *  more. */
static uint32_t count_in(const struct bcs_ring_writer *writer,
                         const struct bcs_ring *ring, uint32_t *was)
{
    uint32_t n = 0;

    for (; *was != writer->position; (*was)++) {
        uint8_t kind = ring->entries[*was & writer->mask].kind;

        n += kind != BCS_CHUNK_MOVED && kind != BCS_CHUNK_LOADED &&
             kind != BCS_CHUNK_STORED && kind != NIC_WIRE_DATA;
    }
    return n;
}

/** The same for all rings, with what takes none and is as good as one: a near
 *  collective, and a message at hand. */
static uint32_t count_posted(struct counting *c)
{
    const struct bcs_context *context = c->context;
    uint32_t n =
        count_in(&context->poster.ring, bcs_port_ring(context->poster.port), &c->was);

    n += (uint32_t)(c->group->n_near - c->n_near);
    c->n_near = c->group->n_near;
    n += (uint32_t)(context->n_at_hand - c->n_at_hand);
    c->n_at_hand = context->n_at_hand;
    for (uint32_t i = 0; context->links != NULL && i < (uint32_t)c->me->size; i++) {
        if (context->links[i].position > 0) {
            const struct nic_view *there = nic_engine_view(context->engine, i);

            n += count_in(&context->links[i], nic_view_link(there, context->rank),
                          &c->linked[i]);
        }
    }
    if (context->node_link.position > 0) {
        const struct nic_view *node =
            nic_engine_node(context->engine, context->engine->home);

        n += count_in(&context->node_link,
                      nic_view_link(node, context->rank - node->first_writer),
                      &c->linked_node);
    }
    return n;
}

/** A call has returned rc: complete its request, if any, and compare what it has
 *  posted. */
static void expect_cost(struct counting *c, int rc, struct bcs_request *request,
                        uint32_t n_descriptors, const char *what)
{
    if (rc == 0 && request != NULL) {
        rc = bcs_test(c->context, request, true);
    }
    rank_expect(c->me, rc == 0, what);
    rank_expect(c->me, count_posted(c) == n_descriptors, what);
}

static void count_messages(struct counting *c)
{
    char data[100] = {0};
    struct bcs_message message = {
        .group = c->group, .data = data, .n_bytes = sizeof(data), .peer = c->me->rank};
    struct bcs_request request;
    struct bcs_result found;
    int rc = bcs_probe(c->context, &message, false, &found) != BCS_E_PENDING;

    expect_cost(c, rc, NULL, 0, "the cost of a probe in vain");
    rc = bcs_recv(c->context, &message, NULL, &request);
    expect_cost(c, rc, NULL, 1, "the cost of a receive");
    rc = bcs_send(c->context, &message, BCS_SEND_STANDARD, NULL);
    expect_cost(c, rc, &request, 1, "the cost of a send");
}

static void count_reductions(struct counting *c)
{
    size_t n_most = (size_t)c->me->size * 2048 / sizeof(int64_t) + 8;
    int64_t *in = calloc(n_most, sizeof(*in)), *out = calloc(n_most, sizeof(*out));
    struct bcs_reduction r = {
        .in = in, .out = out, .count = 1, .op = BCS_SUM, .type = BCS_INT64};
    struct bcs_request request;
    uint32_t twice = c->is_timed ? 2 * c->others : 2 * c->tree;

    expect_cost(c, bcs_reduce(c->context, c->group, &r, BCS_ROOT_ALL, NULL), NULL, 1,
                "the cost of a short reduction for all");
    expect_cost(c, bcs_reduce(c->context, c->group, &r, 0, NULL), NULL,
                c->spans_nodes ? 1 : c->tree, "the cost of a short reduction");
    expect_cost(c, bcs_reduce(c->context, c->group, &r, BCS_ROOT_ALL, &request),
                &request, twice, "the cost of a reduction for all, with a request");
    expect_cost(c, bcs_scan(c->context, c->group, &r, false, NULL), NULL,
                c->is_timed ? c->others : twice, "the cost of a scan");
    expect_cost(c, bcs_reduce_scatter(c->context, c->group, &r, NULL, NULL), NULL,
                2 * c->others, "the cost of a reduce-scatter");
    r.count = n_most;
    expect_cost(c, bcs_reduce(c->context, c->group, &r, BCS_ROOT_ALL, NULL), NULL,
                4 * c->others, "the cost of a long reduction for all");
    r.count = n_most - 8;
    expect_cost(c, bcs_reduce(c->context, c->group, &r, 0, &request), &request, c->tree,
                "the cost of the longest reduction by one member");
    free(in);
    free(out);
}

static void count_exchanges(struct counting *c)
{
    size_t n = (size_t)c->me->size, block_bytes = 2048 * n;
    char *in = calloc(n, block_bytes), *out = calloc(n, block_bytes);
    struct bcs_blocks to = {.data = in, .block_bytes = 8};
    struct bcs_blocks from = {.data = out, .block_bytes = 8};
    const struct bcs_part mine = {out, 8};
    bool is_near = bcs_group_is_near(c->context, c->group);
    size_t short_bytes = BCS_INLINE_BYTES / (n * n); /* of each block of an alltoall */

    expect_cost(c, bcs_gather(c->context, c->group, &mine, &to, 0, NULL), NULL, c->tree,
                "the cost of a gather");
    expect_cost(c, bcs_scatter(c->context, c->group, &mine, &to, 0, NULL), NULL,
                c->tree, "the cost of a scatter");
    from.block_bytes = to.block_bytes = short_bytes + 1;
    expect_cost(c, bcs_alltoall(c->context, c->group, &from, &to, NULL), NULL,
                2 * c->others, "the cost of an alltoall");
    if (short_bytes > 0) {
        from.block_bytes = to.block_bytes = short_bytes;
        expect_cost(c, bcs_alltoall(c->context, c->group, &from, &to, NULL), NULL,
                    is_near ? 1 : 2 * c->others, "the cost of a short alltoall");
    }
    to.block_bytes = 8;
    expect_cost(c, bcs_allgather(c->context, c->group, out, &to, NULL), NULL, 1,
                "the cost of a short allgather");
    to.block_bytes = 100;
    expect_cost(c, bcs_allgather(c->context, c->group, out, &to, NULL), NULL,
                c->is_timed ? 2 * c->others : 2 * c->tree, "the cost of an allgather");
    to.block_bytes = block_bytes;
    expect_cost(c, bcs_allgather(c->context, c->group, out, &to, NULL), NULL,
                2 * c->others, "the cost of a long allgather");
    free(in);
    free(out);
}

void pattern_costs(struct rank *me)
{
    struct counting counting = {
        .me = me,
        .context = me->context,
        .group = &me->world,
        .others = (uint32_t)me->size - 1,
        .tree = me->rank == 0 ? (uint32_t)me->size - 1 : 1,
        .is_timed = me->job->shape.is_timed,
    };
    struct counting *c = &counting;
    struct bcs_request request;
    char data[1000] = {0};

    rank_open_world(me);
    c->spans_nodes = bcs_group_spans_nodes(&me->world);
    count_posted(c);
    expect_cost(c, bcs_barrier(c->context, c->group, NULL), NULL, 1,
                "the cost of a barrier");
    expect_cost(c, bcs_barrier(c->context, c->group, &request), &request,
                c->is_timed ? 2 * c->others : 2 * c->tree,
                "the cost of a barrier with a request");
    expect_cost(c, bcs_bcast(c->context, c->group, data, 8, 0, NULL), NULL,
                c->spans_nodes ? 1 : c->tree, "the cost of a short broadcast");
    expect_cost(c, bcs_bcast(c->context, c->group, data, sizeof(data), 0, &request),
                &request, c->tree, "the cost of a broadcast");
    count_messages(c);
    count_reductions(c);
    count_exchanges(c);
}
