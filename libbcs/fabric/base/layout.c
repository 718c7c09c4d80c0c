/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing and unpacking by a layout. Any thread.
 *
 * A range is found from its positions alone, by division at loops and by bisection in
 * lists of parts: nothing has to be kept between the pieces of a message, and any
 * process or thread may copy any of them.
 */
#include "libbcs/fabric/base/layout.h"

#include <string.h>

/** A copy under way: which way it goes, and where the contiguous bytes are. */
struct walk {
    const struct bcs_layout_part *parts;
    char *packed; /* the next byte */
    bool is_packing;
};

static inline void copy(char *to, const char *from, size_t n_bytes)
{
    switch (n_bytes) { /* what the basic types need is not worth a call */
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, n_bytes);
        break;
    }
}

static inline void copy_block(struct walk *walk, char *memory, size_t n_bytes)
{
    if (walk->is_packing) {
        copy(walk->packed, memory, n_bytes);
    } else {
        copy(memory, walk->packed, n_bytes);
    }
    walk->packed += n_bytes;
}

/** Copy count blocks of a fixed size between two places, each with its stride. */
#define COPY_ALL(n_bytes)                                                              \
    case n_bytes:                                                                      \
        for (size_t i = 0; i < count; i++, to += to_stride, from += from_stride) {     \
            memcpy(to, from, n_bytes);                                                 \
        }                                                                              \
        break;

static void copy_strided(char *to, ptrdiff_t to_stride, const char *from,
                         ptrdiff_t from_stride, size_t count, size_t n_bytes)
{
    switch (n_bytes) {
        COPY_ALL(1)
        COPY_ALL(2)
        COPY_ALL(4)
        COPY_ALL(8)
        COPY_ALL(16)
        COPY_ALL(32)
        COPY_ALL(64)
    default:
        for (size_t i = 0; i < count; i++, to += to_stride, from += from_stride) {
            memcpy(to, from, n_bytes);
        }
        break;
    }
}

static void copy_blocks(struct walk *walk, char *memory, ptrdiff_t stride, size_t count,
                        size_t n_bytes)
{
    ptrdiff_t n = (ptrdiff_t)n_bytes;

    if (stride == n) {
        copy_block(walk, memory, count * n_bytes);
        return;
    }
    if (walk->is_packing) {
        copy_strided(walk->packed, n, memory, stride, count, n_bytes);
    } else {
        copy_strided(memory, stride, walk->packed, n, count, n_bytes);
    }
    walk->packed += count * n_bytes;
}

/** Copy the first count copies of a part, the first of them at memory. */
static void copy_copies(struct walk *walk, const struct bcs_layout_part *part,
                        char *memory, size_t count)
{
    const struct bcs_layout_part *first = walk->parts + part->first;

    if (part->n_parts == 0) {
        copy_blocks(walk, memory, part->stride, count, part->size);
        return;
    }
    for (size_t i = 0; i < count; i++, memory += part->stride) {
        for (const struct bcs_layout_part *inner = first; inner < first + part->n_parts;
             inner++) {
            if (inner->count == 1 && inner->n_parts == 0) {
                copy_block(walk, memory + inner->offset, inner->size);
            } else {
                copy_copies(walk, inner, memory + inner->offset, inner->count);
            }
        }
    }
}

static void copy_range(struct walk *walk, const struct bcs_layout_part *part,
                       char *memory, size_t from, size_t to);

/** The last of n_parts parts that begins at a position or before it. */
static const struct bcs_layout_part *find(const struct bcs_layout_part *parts,
                                          uint32_t n_parts, size_t position)
{
    while (n_parts > 1) {
        uint32_t half = n_parts / 2;

        if (parts[half].position <= position) {
            parts += half;
            n_parts -= half;
        } else {
            n_parts = half;
        }
    }
    return parts;
}

/** Copy the bytes from position from to position to of one copy of a part's body. */
static void copy_within(struct walk *walk, const struct bcs_layout_part *part,
                        char *memory, size_t from, size_t to)
{
    const struct bcs_layout_part *first = walk->parts + part->first;
    const struct bcs_layout_part *end = first + part->n_parts;

    if (part->n_parts == 0) {
        copy_block(walk, memory + from, to - from);
        return;
    }
    for (const struct bcs_layout_part *inner = find(first, part->n_parts, from);
         inner < end && inner->position < to; inner++) {
        size_t n_inner = inner->count * inner->size;
        size_t low = from > inner->position ? from - inner->position : 0;
        size_t high = to - inner->position;

        copy_range(walk, inner, memory + inner->offset, low,
                   high < n_inner ? high : n_inner);
    }
}

/** Copy the bytes from position from to position to of a part, with all its copies. */
static void copy_range(struct walk *walk, const struct bcs_layout_part *part,
                       char *memory, size_t from, size_t to)
{
    size_t size = part->size;
    size_t index = from / size;
    size_t last = to / size;

    memory += (ptrdiff_t)index * part->stride;
    if (from % size != 0) {
        copy_within(walk, part, memory, from % size, index < last ? size : to % size);
        memory += part->stride;
        index++;
    }
    if (index < last) {
        copy_copies(walk, part, memory, last - index);
        memory += (ptrdiff_t)(last - index) * part->stride;
        index = last;
    }
    if (index == last && to % size != 0) {
        copy_within(walk, part, memory, 0, to % size);
    }
}

static void copy_elements(struct walk *walk, const struct bcs_layout *layout,
                          char *memory, size_t from, size_t n_bytes)
{
    if (n_bytes > 0) {
        copy_range(walk, &layout->elements, memory + layout->elements.offset, from,
                   from + n_bytes);
    }
}

void bcs_layout_pack(const struct bcs_layout *layout, const void *memory, size_t from,
                     size_t n_bytes, void *out)
{
    struct walk walk = {layout->parts, out, true};

    copy_elements(&walk, layout, (char *)(uintptr_t)memory, from, n_bytes);
}

void bcs_layout_unpack(const struct bcs_layout *layout, const void *in, size_t from,
                       size_t n_bytes, void *memory)
{
    struct walk walk = {layout->parts, (char *)(uintptr_t)in, false};

    copy_elements(&walk, layout, memory, from, n_bytes);
}
