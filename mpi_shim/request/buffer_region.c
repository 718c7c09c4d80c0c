/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes, copies and compares described bytes; see buffer_region.h.
 */
#include "mpi_shim/request/buffer_region.h"

#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/layout.h"

enum { PART_BYTES = 4096 };

/* An odd number with bits all over. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* ---------------------------------------------------------------------------- bytes */

/** What is done with each part of the bytes, which begins at a position. */
typedef void (*part_fn)(void *arg, const char *part, size_t n_bytes, size_t position);

static void each_part(const struct shim_region *region, part_fn look, void *arg)
{
    char packed[PART_BYTES];
    size_t position = 0;

    for (size_t i = 0; i < region->n; i++) {
        const struct shim_piece *piece = &region->pieces[i];
        size_t total = piece->count * piece->type->size;

        for (size_t from = 0; from < total; from += PART_BYTES) {
            size_t n = total - from < PART_BYTES ? total - from : PART_BYTES;

            if (piece->type->is_dense) {
                look(arg, piece->buf + from, n, position + from);
            } else {
                bcs_layout_pack(piece->type->layout, piece->buf, from, n, packed);
                look(arg, packed, n, position + from);
            }
        }
        position += total;
    }
}

/** A part_fn. */
static void hash_part(void *arg, const char *part, size_t n_bytes, size_t position)
{
    uint64_t hash = *(uint64_t *)arg ^ position;

    for (size_t i = 0; i < n_bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, part + i,
               n_bytes - i < sizeof(word) ? n_bytes - i : sizeof(word));
        hash = (hash ^ word) * FACTOR;
        hash ^= hash >> 29;
    }
    *(uint64_t *)arg = hash;
}

static uint64_t hash_of(const struct shim_region *region)
{
    uint64_t hash = FACTOR;

    each_part(region, hash_part, &hash);
    return hash;
}

/** A part_fn. */
static void copy_part(void *arg, const char *part, size_t n_bytes, size_t position)
{
    if (position < SHIM_REGION_KEPT) {
        size_t n_room = SHIM_REGION_KEPT - position;

        memcpy((char *)arg + position, part, n_bytes < n_room ? n_bytes : n_room);
    }
}

void shim_region_keep(struct shim_region *region)
{
    region->n_bytes = 0;
    for (size_t i = 0; i < region->n; i++) {
        region->n_bytes += region->pieces[i].count * region->pieces[i].type->size;
    }
    region->hash = hash_of(region);
    region->copy = malloc(region->n_bytes < SHIM_REGION_KEPT ? region->n_bytes + 1
                                                             : SHIM_REGION_KEPT);
    if (region->copy != NULL) {
        each_part(region, copy_part, region->copy);
    }
}

/** Where the first difference is. */
struct difference {
    const char *copy;
    size_t at; /* SIZE_MAX: not found */
};

/** A part_fn. */
static void compare_part(void *arg, const char *part, size_t n_bytes, size_t position)
{
    struct difference *difference = arg;

    for (size_t i = 0; i < n_bytes && position + i < SHIM_REGION_KEPT; i++) {
        if (difference->at == SIZE_MAX && part[i] != difference->copy[position + i]) {
            difference->at = position + i;
        }
    }
}

bool shim_region_is_same(const struct shim_region *region, size_t *at_out)
{
    struct difference difference = {.copy = region->copy, .at = SIZE_MAX};

    if (hash_of(region) == region->hash) {
        return true;
    }
    if (region->copy != NULL) {
        each_part(region, compare_part, &difference);
    }
    *at_out = difference.at;
    return false;
}

/* ---------------------------------------------------------------------------
 * overlap */

/** Bytes that follow each other. */
struct block {
    uintptr_t begin, end;
};

/** Blocks of a region. */
struct blocks {
    struct block *list;
    size_t n;
    bool is_full;
};

static void add_block(struct blocks *blocks, uintptr_t begin, size_t n_bytes)
{
    blocks->is_full |= blocks->n == SHIM_REGION_BLOCKS_MOST;
    if (!blocks->is_full && n_bytes > 0) {
        blocks->list[blocks->n++] = (struct block){begin, begin + n_bytes};
    }
}

/** Add a part of a layout, in the body that starts at an address. */
static void add_part(struct blocks *blocks, const struct bcs_layout *layout,
                     const struct bcs_layout_part *part, uintptr_t start, size_t count)
{
    for (size_t i = 0; i < count && !blocks->is_full; i++) {
        uintptr_t at = start + (uintptr_t)part->offset + i * (uintptr_t)part->stride;

        if (part->n_parts == 0) {
            add_block(blocks, at, part->size);
        }
        for (uint32_t k = part->first; k < part->first + part->n_parts; k++) {
            add_part(blocks, layout, &layout->parts[k], at, layout->parts[k].count);
        }
    }
}

static int compare_blocks(const void *a, const void *b)
{
    const struct block *one = a, *other = b;

    return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/** Find the blocks of a region, in their order. @return whether all are known */
static bool find_blocks(const struct shim_region *region, struct blocks *blocks)
{
    *blocks = (struct blocks){
        .list = malloc(SHIM_REGION_BLOCKS_MOST * sizeof(*blocks->list))};
    for (size_t i = 0; blocks->list != NULL && i < region->n; i++) {
        const struct shim_piece *piece = &region->pieces[i];

        if (piece->type->is_dense) {
            add_block(blocks, (uintptr_t)piece->buf, piece->count * piece->type->size);
        } else {
            const struct bcs_layout_part *elements = &piece->type->layout->elements;

            /* A loop that ends where the next element begins goes on there: it has
             * several turns for each element. */
            add_part(blocks, piece->type->layout, elements, (uintptr_t)piece->buf,
                     piece->count * (piece->type->size / elements->size));
        }
    }
    if (blocks->list != NULL) {
        qsort(blocks->list, blocks->n, sizeof(*blocks->list), compare_blocks);
    }
    return blocks->list != NULL && !blocks->is_full;
}

static bool have_common(const struct blocks *a, const struct blocks *b)
{
    size_t i = 0, k = 0;

    while (i < a->n && k < b->n) {
        if (a->list[i].begin < b->list[k].end && b->list[k].begin < a->list[i].end) {
            return true;
        }
        if (a->list[i].end <= b->list[k].end) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

/** The bytes from the first to behind the last of a region. */
static struct block bounds_of(const struct shim_region *region)
{
    struct block bounds = {UINTPTR_MAX, 0};

    for (size_t i = 0; i < region->n; i++) {
        const struct shim_piece *piece = &region->pieces[i];
        const struct shim_datatype *type = piece->type;
        ptrdiff_t last = (ptrdiff_t)(piece->count - 1) * type->extent;
        uintptr_t first = (uintptr_t)piece->buf + (uintptr_t)type->true_lb;
        uintptr_t begin = first + (uintptr_t)(last < 0 ? last : 0);
        uintptr_t end =
            first + (uintptr_t)(last > 0 ? last : 0) + (uintptr_t)type->true_extent;

        if (piece->count > 0 && type->size > 0) {
            bounds.begin = begin < bounds.begin ? begin : bounds.begin;
            bounds.end = end > bounds.end ? end : bounds.end;
        }
    }
    return bounds;
}

bool shim_region_overlap(const struct shim_region *a, const struct shim_region *b)
{
    struct block one = bounds_of(a), other = bounds_of(b);
    struct blocks of_a, of_b;
    bool is_common;

    if (one.begin >= other.end || other.begin >= one.end) {
        return false; /* at once, in almost all cases */
    }
    is_common = find_blocks(a, &of_a);
    is_common = find_blocks(b, &of_b) && is_common && have_common(&of_a, &of_b);
    free(of_a.list);
    free(of_b.list);
    return is_common;
}

void shim_region_fini(struct shim_region *region)
{
    free(region->pieces);
    free(region->copy);
}
