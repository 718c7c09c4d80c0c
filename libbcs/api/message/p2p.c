/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point calls: fill a descriptor, and wait for what the engine completes.
 * Called by the process that owns the context, one thread at a time. [BCS-MPI table
 * 4.1]
 */
#include "libbcs/api/message/p2p.h"

#include <errno.h>

#include "libbcs/api/message/completion.h"
#include "libbcs/api/message/payload.h"
#include "libbcs/api/message/post.h"
#include "libbcs/api/message/receive_at_hand.h"
#include "libbcs/api/message/request_fetch.h"
#include "libbcs/api/message/wait.h"
#include "libbcs/api/record/stand_tell.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/notice.h"
#include "nic_threads/drivers/pending_desks.h"

int bcs_message_refuse(const char *call, const struct bcs_message *message)
{
    bcs_error("%s: no rank %d or no tag %d in a group of %d", call, message->peer,
              message->tag, message->group->size);
    return -EINVAL;
}

bool bcs_wants_copy(const struct bcs_context *context, size_t n_bytes)
{
    return context->engine->is_timed && context->engine->is_direct &&
           n_bytes > context->config.eager_limit_bytes;
}

static inline bool is_send_valid(const struct bcs_message *message)
{
    return (uint32_t)message->peer < (uint32_t)message->group->size &&
           message->tag >= 0;
}

/** Let bcs_serve_orders find a request by its cell. */
static inline void remember(struct bcs_context *context, struct bcs_request *request)
{
    context->pending[bcs_request_state(request)->cell].request = request;
}

/* The modes are in the order of what they wait for: without buffering, a standard send
 * waits as a synchronous one does, and a buffered one still does not. */
_Static_assert(BCS_SEND_BUFFERED + NIC_BUFFERING_NONE < BCS_SEND_SYNCHRONOUS &&
                   BCS_SEND_STANDARD + NIC_BUFFERING_EAGER < BCS_SEND_SYNCHRONOUS &&
                   BCS_SEND_STANDARD + NIC_BUFFERING_NONE == BCS_SEND_SYNCHRONOUS,
               "is_synchronous adds them");

/** Whether a send is done only when a receive has got its data. */
static inline bool is_synchronous(const struct bcs_context *context,
                                  enum bcs_send_mode mode)
{
    return mode + context->config.buffering >= BCS_SEND_SYNCHRONOUS;
}

/** No cell is free: a collective's plan waits for one, and says so itself if it must
 *  not. */
static int find_no_cell(const struct bcs_context *context,
                        const struct bcs_message *message)
{
    return bcs_message_space(message) == BCS_SPACE_COLLECTIVE
               ? -ENOMEM
               : bcs_post_no_cell(context);
}

/** A send waits that would have been done at once if it had found room. */
static void say_why_waiting(const struct bcs_context *context,
                            const struct bcs_message *message, enum bcs_send_mode mode)
{
    if (message->n_bytes <= context->config.eager_limit_bytes &&
        !is_synchronous(context, mode)) {
        bcs_notice(
            BCS_NOTICE_BLOCKS_USED,
            "rank %u has sent so many messages of about %zu bytes that nobody has "
            "received that no block is left",
            context->rank, message->n_bytes);
    }
}

/** Fill a send's descriptor in its ring, unpublished. @return NULL: no cell is free */
static inline struct bcs_descriptor *prepare_send(struct bcs_context *context,
                                                  struct bcs_ring_writer *ring,
                                                  const struct bcs_message *message,
                                                  enum bcs_send_mode mode,
                                                  uint32_t *cell_out)
{
    const struct bcs_group *group = message->group;
    struct bcs_descriptor *entry = bcs_post_begin(context, ring, BCS_SEND);
    bool must_match = is_synchronous(context, mode);
    bool is_buffered;

    entry->context_id = group->context_id + bcs_message_space(message);
    entry->port = group->ports[message->peer];
    entry->source = group->rank;
    entry->tag = message->tag;
    entry->n_bytes = message->n_bytes;
    entry->cell = bcs_ring_mark(ring);
    is_buffered = bcs_payload_put(context, ring, entry, message);
    if (!is_buffered || must_match) {
        entry->cell = bcs_post_cell(context);
        if (entry->cell == BCS_CELL_NONE) {
            return NULL;
        }
        entry->flags |= must_match ? BCS_SYNCHRONOUS : 0;
        nic_engine_add_pending(context->engine, ring->reader);
    }
    if (context->sent_to == ring) {
        bcs_ring_ask_ahead(ring);
    }
    context->sent_to = ring;
    *cell_out = entry->cell;
    return entry;
}

/** Make the request of a send, done unless the send has a cell. */
static inline void make_send(const struct bcs_message *message, uint32_t cell,
                             struct bcs_request *request_out)
{
    *bcs_request_state(request_out) = (struct bcs_request_state){
        .data = message->data,
        .n_bytes = message->n_bytes,
        .layout = bcs_message_layout(message),
        .cell = cell,
        .is_pending = bcs_is_cell(cell),
        .is_send = true,
    };
    request_out->result =
        (struct bcs_result){.source = BCS_ANY_SOURCE, .tag = BCS_ANY_TAG};
}

/** Fill a receive's descriptor, unpublished. @return NULL: no cell is free */
static inline __attribute__((always_inline)) struct bcs_descriptor *
prepare_receive(struct bcs_context *context, const struct bcs_message *message,
                struct bcs_request *request_out)
{
    struct bcs_descriptor *entry =
        bcs_post_begin(context, bcs_post_own(context), BCS_RECEIVE);
    const struct bcs_layout *layout = bcs_message_layout(message);
    struct bcs_request_state *inside = bcs_request_state(request_out);

    entry->cell = bcs_post_cell(context);
    if (entry->cell == BCS_CELL_NONE) {
        return NULL;
    }
    entry->context_id = message->group->context_id + bcs_message_space(message);
    entry->source = message->peer;
    entry->tag = message->tag;
    entry->n_bytes = message->n_bytes;
    entry->address = (uint64_t)(uintptr_t)message->data;
    if (__builtin_expect(layout != NULL, 0)) {
        entry->flags = BCS_LAID_OUT;
    }
    inside->data = message->data;
    inside->n_bytes = message->n_bytes;
    inside->layout = layout;
    inside->cell = entry->cell;
    inside->is_pending = true;
    inside->is_send = false;
    inside->is_collective = false;
    remember(context, request_out);
    return entry;
}

/** What the receive of a long message says whose process stays: how it had better come.
 *  Where cores are short, directly: blocks cost a second copy, of a core that somebody
 *  else could use. */
static __attribute__((noinline)) uint8_t
flags_of_stay(struct bcs_context *context, const struct bcs_message *message)
{
    if (message->peer == BCS_ANY_SOURCE || context->config.copy != NIC_COPY_AUTO ||
        context->engine->is_timed || nic_engine_is_crowded(context->engine)) {
        return 0;
    }
    return BCS_STAYING |
           (bcs_pace_wants_blocks(&context->pace, message->group->ports[message->peer],
                                  message->n_bytes)
                ? BCS_DATA_BLOCK
                : 0);
}

/** What the receive of a long message says besides, or any where the job has stamps.
 *  @param is_wait its process waits for it at once */
static __attribute__((noinline)) void prepare_further(struct bcs_context *context,
                                                      const struct bcs_message *message,
                                                      struct bcs_descriptor *entry,
                                                      bool is_wait)
{
    if (context->stamps.is_on) {
        entry->stamp = bcs_stamps_own(&context->stamps);
    }
    if (message->n_bytes > context->config.eager_limit_bytes &&
        (is_wait || bcs_message_stays(message))) {
        entry->flags |= flags_of_stay(context, message);
    }
}

int bcs_imrecv(struct bcs_context *context, const struct bcs_message *message,
               uint32_t item, struct bcs_request *request)
{
    struct bcs_descriptor *entry = prepare_receive(context, message, request);

    if (entry == NULL) {
        return bcs_post_no_cell(context);
    }
    if (context->stamps.is_on) {
        entry->stamp = bcs_stamps_own(&context->stamps);
    }
    entry->flags |= BCS_TAKE;
    entry->chunk.block = entry->address;
    entry->address = item;
    bcs_post_kick(context, bcs_post_own(context), entry);
    return 0;
}

/** Tell where a wait for a request stands. @param message its own; NULL: only the
 *  request's owner knows */
static __attribute__((cold, noinline)) void tell(struct bcs_context *context,
                                                 struct bcs_waiter *waiter,
                                                 const struct bcs_request *request,
                                                 const struct bcs_message *message)
{
    if (message == NULL) {
        bcs_stand_at_requests(context, waiter, request, 1);
    } else {
        bcs_stand_at_message(context, waiter,
                             bcs_request_state(request)->is_send ? BCS_STAND_SEND
                                                                 : BCS_STAND_RECEIVE,
                             message, bcs_request_state(request)->cell);
    }
}

/** Wait until a request is done. Inlined, since most often a single turn is enough.
 *  @param message as for tell */
static inline __attribute__((always_inline)) void
wait_for(struct bcs_context *context, struct bcs_request *request,
         const struct bcs_message *message)
{
    struct bcs_waiter waiter = {0};

    while (!bcs_is_done(request) && !bcs_complete(context, request)) {
        if (__builtin_expect(bcs_wait_turn(context, &waiter), 0)) {
            tell(context, &waiter, request, message);
        }
    }
    bcs_wait_stop(context, &waiter);
}

int bcs_api_test(struct bcs_context *context, struct bcs_request *request, bool wait)
{
    if (!bcs_is_done(request)) {
        if (wait) {
            wait_for(context, request, NULL);
        } else if (!bcs_complete(context, request)) {
            if (!bcs_progress(context) || !bcs_look(context, request)) {
                bcs_wait_in_vain(context);
                return BCS_E_PENDING;
            }
        }
    }
    return request->result.error;
}

/** Look at all requests. @return whether all are done */
static bool look_at_all(struct bcs_context *context, struct bcs_request requests[],
                        size_t n_requests)
{
    bool are_done = true;

    for (size_t i = 0; i < n_requests; i++) {
        are_done &= bcs_look(context, &requests[i]);
    }
    return are_done;
}

static bool wait_for_all(struct bcs_context *context, struct bcs_request requests[],
                         size_t n_requests)
{
    struct bcs_waiter waiter = {0};

    while (!look_at_all(context, requests, n_requests)) {
        if (bcs_wait_turn(context, &waiter)) {
            bcs_stand_at_requests(context, &waiter, requests, n_requests);
        }
    }
    bcs_wait_stop(context, &waiter);
    return true;
}

int bcs_api_testall(struct bcs_context *context, struct bcs_request requests[],
                    size_t n_requests, bool wait)
{
    bool are_done = look_at_all(context, requests, n_requests);
    int error = 0;

    if (!are_done && wait) {
        are_done = wait_for_all(context, requests, n_requests);
    } else if (!are_done) {
        are_done = bcs_progress(context) && look_at_all(context, requests, n_requests);
        if (!are_done) {
            bcs_wait_in_vain(context);
        }
    }
    for (size_t i = 0; are_done && error == 0 && i < n_requests; i++) {
        error = requests[i].result.error;
    }
    return are_done ? error : BCS_E_PENDING;
}

int bcs_api_send(struct bcs_context *context, const struct bcs_message *message,
                 enum bcs_send_mode mode, struct bcs_request *request)
{
    struct bcs_ring_writer *ring;
    struct bcs_descriptor *entry;
    uint32_t cell;

    if (__builtin_expect(!is_send_valid(message), 0)) {
        return bcs_message_refuse("bcs_send", message);
    }
    ring = bcs_post_to(context, message->group->ports[message->peer]);
    entry = prepare_send(context, ring, message, mode, &cell);
    if (entry == NULL) {
        return find_no_cell(context, message);
    }
    if (request != NULL) {
        make_send(message, cell, request);
        if (!bcs_is_cell(cell)) {
            bcs_post_kick(context, ring, entry);
        } else {
            remember(context, request);
            bcs_post_kick(context, ring, entry);
            bcs_post_leave(context, ring);
        }
    } else if (!bcs_is_cell(cell)) {
        bcs_post_kick(context, ring, entry);
    } else {
        struct bcs_request own;

        make_send(message, cell, &own);
        remember(context, &own);
        bcs_post_publish(context, ring, entry);
        say_why_waiting(context, message, mode);
        wait_for(context, &own, message);
    }
    return 0;
}

int bcs_api_recv(struct bcs_context *context, const struct bcs_message *message,
                 struct bcs_result *result_out, struct bcs_request *request)
{
    struct bcs_ring_writer *ring = bcs_post_own(context);
    struct bcs_request own;
    struct bcs_descriptor *entry;

    if (__builtin_expect(!bcs_message_is_receivable(message), 0)) {
        return bcs_message_refuse("bcs_recv", message);
    }
    context->sent_to = NULL;
    if (request != NULL || !bcs_take_at_hand(context, message, &own.result)) {
        entry = prepare_receive(context, message, request == NULL ? &own : request);
        if (entry == NULL) {
            return find_no_cell(context, message);
        }
        if (message->n_bytes >= context->n_long) {
            prepare_further(context, message, entry, request == NULL);
            if (request != NULL) {
                bcs_post_kick(context, ring, entry);
                if (message->n_bytes > context->config.eager_limit_bytes) {
                    bcs_post_leave(context, ring);
                }
                return 0;
            }
        } else if (request != NULL) {
            bcs_post_kick(context, ring, entry);
            return 0;
        }
        bcs_ring_publish(ring, entry);
        wait_for(context, &own, message);
    }
    if (result_out != NULL) {
        *result_out = own.result;
    }
    return own.result.error;
}
