/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the random program: stores elements, and looks at every byte afterwards. */
#include "tests/random/layout.h"

enum { GUARD = 0xA5, MARGIN = 32 };

void buffer_make(struct buffer *buffer, const struct layout *layout, int count)
{
    int bytes = plan_base_bytes(layout->base);
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;

    buffer->layout = *layout;
    buffer->count = count;
    for (int i = 0; i < layout->n && count > 0; i++) {
        ptrdiff_t last = layout->at[i] + (count - 1) * layout->extent;

        low = layout->at[i] < low ? layout->at[i] : low;
        high = last + bytes > high ? last + bytes : high;
    }
    low = -((MARGIN - low + 15) / 16 * 16);
    buffer->n_bytes = (size_t)(high - low + MARGIN);
    buffer->memory = malloc(buffer->n_bytes);
    CHECK(buffer->memory != NULL);
    buffer->origin = buffer->memory - low;
    buffer_clear(buffer);
}

void buffer_clear(struct buffer *buffer)
{
    memset(buffer->memory, GUARD, buffer->n_bytes);
}

static char *element(const struct buffer *buffer, int64_t i)
{
    const struct layout *layout = &buffer->layout;

    return buffer->origin + i / layout->n * layout->extent + layout->at[i % layout->n];
}

void buffer_put(struct buffer *buffer, int64_t first, int n, uint64_t key)
{
    size_t bytes = (size_t)plan_base_bytes(buffer->layout.base);
    char *data = check_alloc((size_t)n * bytes);

    check_fill(data, (size_t)n * bytes, key);
    for (int i = 0; i < n; i++) {
        memcpy(element(buffer, first + i), data + (size_t)i * bytes, bytes);
    }
    free(data);
}

int buffer_take(struct buffer *buffer, int64_t first, int n, uint64_t key)
{
    size_t bytes = (size_t)plan_base_bytes(buffer->layout.base);
    char *data = check_alloc((size_t)n * bytes);
    int different = -1;

    check_fill(data, (size_t)n * bytes, key);
    for (int i = 0; i < n; i++) {
        char *at = element(buffer, first + i);

        if (different < 0 && memcmp(at, data + (size_t)i * bytes, bytes) != 0) {
            different = i;
        }
        memset(at, GUARD, bytes);
    }
    free(data);
    return different;
}

ptrdiff_t buffer_stray(const struct buffer *buffer, bool *is_stray)
{
    *is_stray = false;
    for (size_t i = 0; i < buffer->n_bytes; i++) {
        if ((unsigned char)buffer->memory[i] != GUARD) {
            *is_stray = true;
            return buffer->memory + i - buffer->origin;
        }
    }
    return 0;
}

void buffer_free(struct buffer *buffer)
{
    layout_free(&buffer->layout);
    free(buffer->memory);
    buffer->memory = NULL;
}
