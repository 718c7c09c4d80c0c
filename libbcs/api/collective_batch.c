/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches of transfers and cursors over blocks, of which the collectives are made. Runs
 * in the calling process.
 */
#include "libbcs/api/collective_internal.h"

#include <bcs/status.h>
#include <errno.h>
#include <string.h>

#define TAG_MASK 0x7fffffffu

void bcs_batch_begin(struct bcs_batch *batch, struct bcs_context *context,
                     struct bcs_group *group)
{
    batch->context = context;
    batch->group = group;
    batch->tag = (int32_t)(group->sequence & TAG_MASK);
    batch->oldest = 0;
    batch->n_pending = 0;
    batch->status = 0;
    batch->has_receives = false;
    group->sequence++;
}

static void note_status(struct bcs_batch *batch, int status)
{
    if (batch->status == 0 || (batch->status > 0 && status < 0)) {
        batch->status = status;
    }
}

static void finish_oldest(struct bcs_batch *batch)
{
    struct bcs_request *request = &batch->requests[batch->oldest];

    note_status(batch, bcs_test(batch->context, request, true));
    batch->oldest = (batch->oldest + 1) % BCS_BATCH_REQUESTS;
    batch->n_pending--;
}

static int start(struct bcs_batch *batch, const struct bcs_message *message,
                 bool is_send)
{
    uint32_t next = (batch->oldest + batch->n_pending) % BCS_BATCH_REQUESTS;
    struct bcs_request *request = &batch->requests[next];
    int status;

    if (is_send) {
        status = bcs_send(batch->context, message, BCS_SEND_BUFFERED, request);
    } else {
        status = bcs_recv(batch->context, message, NULL, request);
    }
    if (status != 0) {
        return status;
    }
    if (request->is_done) {
        return request->result.error;
    }
    batch->n_pending++;
    return 0;
}

static void start_or_wait(struct bcs_batch *batch, const struct bcs_message *message,
                          bool is_send)
{
    int status;

    if (message->n_bytes == 0 || batch->status < 0) {
        return;
    }
    if (batch->n_pending == BCS_BATCH_REQUESTS) {
        finish_oldest(batch);
    }
    status = start(batch, message, is_send);
    while (status == -ENOMEM && batch->n_pending > 0) {
        finish_oldest(batch);
        status = start(batch, message, is_send);
    }
    note_status(batch, status);
}

void bcs_batch_send(struct bcs_batch *batch, int32_t to, const void *data,
                    size_t n_bytes)
{
    struct bcs_message message = {
        .group = batch->group,
        .space = BCS_SPACE_COLLECTIVE,
        .data = (void *)(uintptr_t)data,
        .n_bytes = n_bytes,
        .peer = to,
        .tag = batch->tag,
        .will_wait = !batch->has_receives,
    };

    start_or_wait(batch, &message, true);
}

void bcs_batch_receive(struct bcs_batch *batch, int32_t from, void *data,
                       size_t n_bytes)
{
    struct bcs_message message = {
        .group = batch->group,
        .space = BCS_SPACE_COLLECTIVE,
        .data = data,
        .n_bytes = n_bytes,
        .peer = from,
        .tag = batch->tag,
    };

    batch->has_receives = true;
    start_or_wait(batch, &message, false);
}

void bcs_batch_copy(struct bcs_batch *batch, void *to, size_t n_room_bytes,
                    const void *from, size_t n_bytes)
{
    if (n_bytes > n_room_bytes) {
        note_status(batch, BCS_E_TRUNCATED);
        n_bytes = n_room_bytes;
    }
    bcs_block_copy(to, from, n_bytes);
}

int bcs_batch_wait(struct bcs_batch *batch)
{
    while (batch->n_pending > 0) {
        finish_oldest(batch);
    }
    batch->has_receives = false;
    return batch->status;
}

static inline size_t block_bytes(const struct bcs_blocks *blocks, int32_t index)
{
    return blocks->n_bytes == NULL ? blocks->block_bytes : blocks->n_bytes[index];
}

struct bcs_block_cursor bcs_block_cursor_at(const struct bcs_blocks *blocks,
                                            int32_t size, int32_t index)
{
    struct bcs_block_cursor cursor = {.blocks = blocks, .size = size, .index = index};

    for (int32_t i = 0; i < size; i++) {
        cursor.offset += i < index ? block_bytes(blocks, i) : 0;
        cursor.total += block_bytes(blocks, i);
    }
    return cursor;
}

void bcs_block_cursor_next(struct bcs_block_cursor *cursor)
{
    cursor->offset += bcs_block_cursor_bytes(cursor);
    cursor->index++;
    if (cursor->index == cursor->size) {
        cursor->index = 0;
        cursor->offset = 0;
    }
}

void bcs_block_cursor_previous(struct bcs_block_cursor *cursor)
{
    if (cursor->index == 0) {
        cursor->index = cursor->size;
        cursor->offset = cursor->total;
    }
    cursor->index--;
    cursor->offset -= bcs_block_cursor_bytes(cursor);
}

char *bcs_block_cursor_data(const struct bcs_block_cursor *cursor)
{
    const struct bcs_blocks *blocks = cursor->blocks;

    return (char *)blocks->data + (blocks->displacements != NULL
                                       ? blocks->displacements[cursor->index]
                                       : cursor->offset);
}

size_t bcs_block_cursor_bytes(const struct bcs_block_cursor *cursor)
{
    return block_bytes(cursor->blocks, cursor->index);
}

size_t bcs_blocks_total(const struct bcs_blocks *blocks, int32_t size)
{
    size_t total = 0;

    for (int32_t i = 0; i < size; i++) {
        total += block_bytes(blocks, i);
    }
    return total;
}

void bcs_block_copy(void *to, const void *from, size_t n_bytes)
{
    if (n_bytes > 0 && to != from) {
        memmove(to, from, n_bytes);
    }
}
