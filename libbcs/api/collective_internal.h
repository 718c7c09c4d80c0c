/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files collective*.c share: batches of point-to-point transfers that belong
 * to one collective, and a cursor over the blocks of a v-collective. Nobody else
 * includes this.
 */
#ifndef BCS_API_COLLECTIVE_INTERNAL_H
#define BCS_API_COLLECTIVE_INTERNAL_H

#include "libbcs/api/context.h"

/** Check a root, and log what is wrong. @return 0 or -EINVAL */
int bcs_root_check(const char *call, const struct bcs_group *group, int32_t root);

/* Transfers that one process keeps in progress at a time within a collective. */
#define BCS_BATCH_REQUESTS 64

/**
 * The transfers of one step of a collective. They use the collectives' context id and
 * a tag of the step's own, so that they match no other step. Lives on the stack.
 *
 * When there is no room for one more transfer, the oldest is waited for. Members that
 * exchange pairwise start send and receive of each pair together, the pairs in the same
 * order: the member that is furthest behind can then always go on.
 */
struct bcs_batch {
    struct bcs_context *context;
    const struct bcs_group *group;
    int32_t tag;
    uint32_t oldest; /* index in requests, a ring */
    uint32_t n_pending;
    int status; /* 0, the first -errno, or BCS_E_TRUNCATED */
    bool has_receives;
    struct bcs_request requests[BCS_BATCH_REQUESTS];
};

/** Begin a step: every member begins the same steps in the same order. */
void bcs_batch_begin(struct bcs_batch *batch, struct bcs_context *context,
                     struct bcs_group *group);

/** Start a send. No bytes: no message, as the receiver knows the length, too. The data
 *  must stay until bcs_batch_wait. When there is no room, waits for the oldest. */
void bcs_batch_send(struct bcs_batch *batch, int32_t to, const void *data,
                    size_t n_bytes);

/** Start a receive of up to n_bytes; see bcs_batch_send. */
void bcs_batch_receive(struct bcs_batch *batch, int32_t from, void *data,
                       size_t n_bytes);

/** Copy this member's own block to where it is wanted, as if it were a message. */
void bcs_batch_copy(struct bcs_batch *batch, void *to, size_t n_room_bytes,
                    const void *from, size_t n_bytes);

/**
 * Wait for all transfers of the batch.
 *
 * @return 0, BCS_E_TRUNCATED if a message was longer than its receive, or -errno
 */
int bcs_batch_wait(struct bcs_batch *batch);

/** A place in a bcs_blocks that moves to the next or previous member, cyclically. */
struct bcs_block_cursor {
    const struct bcs_blocks *blocks;
    int32_t size;
    int32_t index;
    size_t offset; /* bytes before block index; used when the blocks are packed */
    size_t total;
};

/** A cursor at one member's block, of size members. */
struct bcs_block_cursor bcs_block_cursor_at(const struct bcs_blocks *blocks,
                                            int32_t size, int32_t index);

/** Move to the next member's block; from the last to the first. */
void bcs_block_cursor_next(struct bcs_block_cursor *cursor);

/** Move to the previous member's block; from the first to the last. */
void bcs_block_cursor_previous(struct bcs_block_cursor *cursor);

/** Where the block starts. */
char *bcs_block_cursor_data(const struct bcs_block_cursor *cursor);

/** Length of the block. */
size_t bcs_block_cursor_bytes(const struct bcs_block_cursor *cursor);

/** Bytes of all size blocks. */
size_t bcs_blocks_total(const struct bcs_blocks *blocks, int32_t size);

/** Copy unless there is nothing to do (no bytes, or already in place). */
void bcs_block_copy(void *to, const void *from, size_t n_bytes);

#endif
