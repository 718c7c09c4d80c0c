/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cursors over the blocks of collectives. Runs in the calling process.
 */
#include "libbcs/api/collective/collective_internal.h"

#include <string.h>

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

void bcs_block_copy(void *to, const void *from, size_t n_bytes)
{
    if (n_bytes > 0 && to != from) {
        memmove(to, from, n_bytes);
    }
}
