/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of arrival; see the header.
 *
 * Invariant: of each stream all messages up to n_done have taken effect, and no later
 * one has. The next one waits while its node is held for an operation of several nodes,
 * or until its own operation has ended; those behind it wait with it. So what a process
 * sends to another takes effect in the order of its calls, and an answer says that all
 * before it has.
 */
#include "libbcs/fabric/transport/ucx/ucx_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/fatal.h"
#include "libbcs/fabric/transport/shm/shm.h"
#include "libbcs/fabric/transport/ucx/ucx_group.h"
#include "libbcs/fabric/transport/ucx/ucx_send.h"

static struct ucx_stream *find_stream(struct ucx_worker *worker, uint64_t sender)
{
    struct ucx_stream **list = &worker->streams[sender % UCX_STREAM_LISTS];
    struct ucx_stream *stream = *list;

    while (stream != NULL && stream->sender != sender) {
        stream = stream->next;
    }
    if (stream == NULL) {
        stream = calloc(1, sizeof(*stream));
        if (stream == NULL) {
            bcs_fatal("no memory for what another machine sends");
        }
        stream->sender = sender;
        stream->next = *list;
        *list = stream;
    }
    return stream;
}

/** Carry out a transfer to one node. @return 0 or -errno */
static int put(struct ucx_worker *worker, const struct ucx_head *head, const void *data,
               size_t n_bytes)
{
    const struct bcs_node_set dests = bcs_node_set_one(head->node);
    const struct bcs_xfer xfer = {
        .src = data,
        .n_bytes = n_bytes,
        .dest_gva = head->gva,
        .dests = &dests,
        .remote_event_gva = head->event_gva,
    };

    bool is_looked_at = n_bytes > 0 && head->node == worker->looked_node &&
                        head->gva - worker->looked_gva < worker->n_looked_bytes;

    return is_looked_at ? shm_xfer_quietly(worker->near, &xfer)
                        : worker->near->ops->xfer(worker->near, &xfer);
}

/** Tell the result of a message, and of those before it that nobody asked for. */
static void tell(struct ucx_worker *worker, struct ucx_stream *stream,
                 const struct ucx_head *head, ucp_ep_h reply, int rc)
{
    stream->error = rc < 0 ? rc : stream->error;
    if (head->token != 0 && reply != NULL) {
        ucx_answer(worker, reply, head, stream->error);
        stream->error = 0;
    }
}

/** Whether the next message of a stream must wait. */
static bool must_wait(const struct ucx_worker *worker, const struct ucx_stream *stream,
                      const struct ucx_head *head)
{
    return stream->is_asking ||
           (head->kind == UCX_PUT && ucx_is_held(worker, head->node));
}

/** Carry out the next message of a stream. */
static void carry_out(struct ucx_worker *worker, struct ucx_stream *stream,
                      const struct ucx_head *head, const void *data, size_t n_bytes,
                      ucp_ep_h reply)
{
    if (head->kind == UCX_ASK) {
        stream->is_asking = true; /* until the operation's end, which counts it */
        ucx_job_add(worker, stream, head, data, n_bytes, reply);
        return;
    }
    tell(worker, stream, head, reply,
         head->kind == UCX_PUT ? put(worker, head, data, n_bytes) : 0);
    stream->n_done = head->number;
}

/** A copy of a message. */
static struct ucx_arrival *copy(const struct ucx_head *head, const void *data,
                                size_t n_bytes, ucp_ep_h reply)
{
    struct ucx_arrival *arrival = malloc(sizeof(*arrival) + n_bytes);

    if (arrival == NULL) {
        bcs_fatal("no memory for a message of %zu bytes from another machine", n_bytes);
    }
    arrival->head = *head;
    arrival->reply = reply;
    arrival->n_bytes = n_bytes;
    memcpy(arrival->data, data, n_bytes);
    return arrival;
}

/** Keep a message until its turn. */
static void hold(struct ucx_stream *stream, struct ucx_arrival *arrival)
{
    struct ucx_arrival **place = &stream->held;

    while (*place != NULL && (*place)->head.number < arrival->head.number) {
        place = &(*place)->next;
    }
    arrival->next = *place;
    *place = arrival;
}

static void drain(struct ucx_worker *worker, struct ucx_stream *stream)
{
    struct ucx_arrival *arrival;

    while ((arrival = stream->held) != NULL &&
           arrival->head.number == stream->n_done + 1 &&
           !must_wait(worker, stream, &arrival->head)) {
        stream->held = arrival->next;
        carry_out(worker, stream, &arrival->head, arrival->data, arrival->n_bytes,
                  arrival->reply);
        free(arrival);
    }
}

void ucx_streams_drain(struct ucx_worker *worker)
{
    while (worker->must_drain) {
        worker->must_drain = false;
        for (uint32_t i = 0; i < UCX_STREAM_LISTS; i++) {
            for (struct ucx_stream *stream = worker->streams[i]; stream != NULL;
                 stream = stream->next) {
                drain(worker, stream);
            }
        }
    }
}

static void arrive_numbered(struct ucx_worker *worker, const struct ucx_head *head,
                            const void *data, size_t n_bytes, ucp_ep_h reply)
{
    struct ucx_stream *stream = find_stream(worker, head->sender);

    if (head->number != stream->n_done + 1 || must_wait(worker, stream, head)) {
        hold(stream, copy(head, data, n_bytes, reply));
        return;
    }
    carry_out(worker, stream, head, data, n_bytes, reply);
    drain(worker, stream);
}

static void arrive(struct ucx_worker *worker, const struct ucx_head *head,
                   const void *data, size_t n_bytes, ucp_ep_h reply)
{
    worker->is_within = true;
    if (head->kind < UCX_N_NUMBERED) {
        arrive_numbered(worker, head, data, n_bytes, reply);
    } else if (head->kind == UCX_ANSWER) {
        ucx_answered(worker, head);
    } else {
        ucx_group_arrive(worker, head, data, n_bytes);
    }
    ucx_streams_drain(worker);
    worker->is_within = false;
}

void ucx_arrive(struct ucx_worker *worker, const struct ucx_head *head,
                const void *data, size_t n_bytes, ucp_ep_h reply)
{
    if (worker->is_within) {
        *worker->deferred_end = copy(head, data, n_bytes, reply);
        (*worker->deferred_end)->next = NULL;
        worker->deferred_end = &(*worker->deferred_end)->next;
        return;
    }
    arrive(worker, head, data, n_bytes, reply);
}

void ucx_arrive_deferred(struct ucx_worker *worker)
{
    struct ucx_arrival *arrival;

    while ((arrival = worker->deferred) != NULL) {
        worker->deferred = arrival->next;
        if (worker->deferred == NULL) {
            worker->deferred_end = &worker->deferred;
        }
        arrive(worker, &arrival->head, arrival->data, arrival->n_bytes, arrival->reply);
        free(arrival);
    }
}

static void free_arrivals(struct ucx_arrival *first)
{
    struct ucx_arrival *next;

    for (struct ucx_arrival *arrival = first; arrival != NULL; arrival = next) {
        next = arrival->next;
        free(arrival);
    }
}

void ucx_streams_fini(struct ucx_worker *worker)
{
    for (uint32_t i = 0; i < UCX_STREAM_LISTS; i++) {
        struct ucx_stream *next;

        for (struct ucx_stream *stream = worker->streams[i]; stream != NULL;
             stream = next) {
            next = stream->next;
            free_arrivals(stream->held);
            free(stream);
        }
    }
    free_arrivals(worker->deferred);
}
