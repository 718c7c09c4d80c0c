/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the random program: stores elements, and looks at every byte
 * afterwards. */
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

/** The longest run of elements, of at most n from `first` on, that lie one behind the
 *  other.
 *  @param at_out  where it begins */
static int run_of(const struct buffer *buffer, int64_t first, int n, char **at_out)
{
    const struct layout *layout = &buffer->layout;
    size_t bytes = (size_t)plan_base_bytes(layout->base);
    char *instance = buffer->origin + first / layout->n * layout->extent;
    int64_t i = first % layout->n;
    char *at = instance + layout->at[i], *end = at;
    int length = 0;

    do {
        length++;
        end += bytes;
        if (++i == layout->n) {
            i = 0;
            instance += layout->extent;
        }
    } while (length < n && instance + layout->at[i] == end);
    *at_out = at;
    return length;
}

void buffer_put(struct buffer *buffer, int64_t first, int n, uint64_t key)
{
    size_t bytes = (size_t)plan_base_bytes(buffer->layout.base);
    char *data = check_alloc((size_t)n * bytes), *at;

    check_fill(data, (size_t)n * bytes, key);
    for (int i = 0, length; i < n; i += length) {
        length = run_of(buffer, first + i, n - i, &at);
        memcpy(at, data + (size_t)i * bytes, (size_t)length * bytes);
    }
    free(data);
}

/** The first of n elements that differs, or n. */
static int first_different(const char *left, const char *right, int n, size_t bytes)
{
    int i = 0;

    if (memcmp(left, right, (size_t)n * bytes) == 0) {
        return n;
    }
    while (memcmp(left + (size_t)i * bytes, right + (size_t)i * bytes, bytes) == 0) {
        i++;
    }
    return i;
}

int buffer_take(struct buffer *buffer, int64_t first, int n, uint64_t key)
{
    size_t bytes = (size_t)plan_base_bytes(buffer->layout.base);
    char *data = check_alloc((size_t)n * bytes), *at;
    int different = -1;

    check_fill(data, (size_t)n * bytes, key);
    for (int i = 0, length; i < n; i += length) {
        int equal;

        length = run_of(buffer, first + i, n - i, &at);
        equal = first_different(at, data + (size_t)i * bytes, length, bytes);
        if (different < 0 && equal < length) {
            different = i + equal;
        }
        memset(at, GUARD, (size_t)length * bytes);
    }
    free(data);
    return different;
}

ptrdiff_t buffer_stray(const struct buffer *buffer, bool *is_stray)
{
    const unsigned char *bytes = (const unsigned char *)buffer->memory;
    size_t i = 0;

    /* All are as the first one if each is as the next. */
    *is_stray = bytes[0] != GUARD || memcmp(bytes, bytes + 1, buffer->n_bytes - 1) != 0;
    while (*is_stray && bytes[i] == GUARD) {
        i++;
    }
    return *is_stray ? buffer->memory + i - buffer->origin : 0;
}

void buffer_free(struct buffer *buffer)
{
    layout_free(&buffer->layout);
    free(buffer->memory);
    buffer->memory = NULL;
}
