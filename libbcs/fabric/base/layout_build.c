/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of parts, and how parts are joined. Any thread.
 */
#include "libbcs/fabric/base/layout_build.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

void bcs_layout_list_fini(struct bcs_layout_list *list)
{
    free(list->parts);
    memset(list, 0, sizeof(*list));
}

/** Make room for n more parts. @return whether there is */
static bool reserve(struct bcs_layout_list *list, size_t n)
{
    size_t capacity = list->capacity > 0 ? list->capacity : FIRST_CAPACITY;
    struct bcs_layout_part *parts;

    if (list->is_too_large || list->n_parts + n > UINT32_MAX) {
        list->is_too_large = true;
        return false;
    }
    if (list->n_parts + n <= list->capacity) {
        return true;
    }
    while (capacity < list->n_parts + n) {
        capacity *= 2;
    }
    parts = realloc(list->parts, capacity * sizeof(*parts));
    if (parts == NULL) {
        list->is_too_large = true;
        return false;
    }
    list->parts = parts;
    list->capacity = capacity;
    return true;
}

static bool is_block(const struct bcs_layout_part *part)
{
    return part->n_parts == 0 && part->count == 1;
}

static bool have_same_body(const struct bcs_layout_part *a,
                           const struct bcs_layout_part *b)
{
    return a->size == b->size && a->n_parts == b->n_parts && a->first == b->first;
}

/** Let the last part include the next one, too. @return whether it can */
static bool join(struct bcs_layout_part *last, const struct bcs_layout_part *next)
{
    ptrdiff_t distance = next->offset - last->offset;
    ptrdiff_t stride = last->count == 1 ? distance : last->stride;

    if (is_block(last) && is_block(next) && distance == (ptrdiff_t)last->size) {
        last->size += next->size;
        return true;
    }
    if (have_same_body(last, next) && distance == (ptrdiff_t)last->count * stride &&
        (next->count == 1 || next->stride == stride)) {
        last->count += next->count;
        last->stride = stride;
        return true;
    }
    return false;
}

/** Add a part; its position is set here. */
static void add(struct bcs_layout_list *list, struct bcs_layout_part part)
{
    size_t n_bytes = part.count * part.size;

    if (n_bytes == 0) {
        return;
    }
    if (part.n_parts == 0 && part.stride == (ptrdiff_t)part.size) {
        part.size = n_bytes;
        part.count = 1;
    }
    part.position = list->size;
    if (list->n_parts == 0 || !join(&list->parts[list->n_parts - 1], &part)) {
        if (!reserve(list, 1)) {
            return;
        }
        list->parts[list->n_parts++] = part;
    }
    list->size += n_bytes;
}

void bcs_layout_add_block(struct bcs_layout_list *list, ptrdiff_t offset,
                          size_t n_bytes)
{
    add(list, (struct bcs_layout_part){.offset = offset, .count = 1, .size = n_bytes});
}

/** Put a list among the bodies, once. */
static bool place(struct bcs_layout_list *bodies, struct bcs_layout_list *list)
{
    if (list->is_placed) {
        return true;
    }
    if (!reserve(bodies, list->n_parts)) {
        return false;
    }
    list->is_placed = true;
    list->placed = (uint32_t)bodies->n_parts;
    memcpy(bodies->parts + bodies->n_parts, list->parts,
           list->n_parts * sizeof(*list->parts));
    bodies->n_parts += list->n_parts;
    return true;
}

/** Copies of a list as one part of another, without loops in which nothing repeats. */
static bool as_part(struct bcs_layout_list *bodies, struct bcs_layout_list *body,
                    const struct bcs_layout_places *places,
                    struct bcs_layout_part *part_out)
{
    struct bcs_layout_part part = {
        .offset = places->offset,
        .stride = places->stride,
        .count = places->count,
        .size = body->size,
        .n_parts = (uint32_t)body->n_parts,
    };

    if (body->n_parts == 1) {
        const struct bcs_layout_part *only = body->parts;
        bool is_longer = places->count == 1 ||
                         places->stride == (ptrdiff_t)only->count * only->stride;

        if (only->count == 1 || is_longer) {
            part.offset += only->offset;
            part.size = only->size;
            part.first = only->first;
            part.n_parts = only->n_parts;
            if (only->count > 1) {
                part.stride = only->stride;
                part.count = places->count * only->count;
            }
            *part_out = part;
            return true;
        }
    }
    if (!place(bodies, body)) {
        return false;
    }
    part.first = body->placed;
    *part_out = part;
    return true;
}

void bcs_layout_add_copies(struct bcs_layout_list *list, struct bcs_layout_list *bodies,
                           struct bcs_layout_list *body,
                           const struct bcs_layout_places *places)
{
    struct bcs_layout_part part;

    list->is_too_large |= body->is_too_large;
    if (body->n_parts == 0 || places->count == 0) {
        return;
    }
    if (as_part(bodies, body, places, &part)) {
        add(list, part);
    } else {
        list->is_too_large = true;
    }
}

struct bcs_layout *bcs_layout_make(struct bcs_layout_list *bodies,
                                   struct bcs_layout_list *element, ptrdiff_t extent)
{
    /* Elements without number: where the extent fits, their own loop just goes on. */
    const struct bcs_layout_places places = {.stride = extent, .count = SIZE_MAX};
    struct bcs_layout_part part = {.count = 1};
    struct bcs_layout *layout;

    if (element->n_parts > 0 && !as_part(bodies, element, &places, &part)) {
        return NULL;
    }
    if (element->is_too_large || bodies->is_too_large) {
        return NULL;
    }
    layout = malloc(sizeof(*layout) + bodies->n_parts * sizeof(*layout->parts));
    if (layout != NULL) {
        layout->elements = part;
        if (bodies->n_parts > 0) {
            memcpy(layout->parts, bodies->parts,
                   bodies->n_parts * sizeof(*layout->parts));
        }
    }
    return layout;
}
