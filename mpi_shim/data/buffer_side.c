/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of MPI calls as contiguous bytes. Called by the shim's collectives in the
 * application's threads.
 */
#include "mpi_shim/data/buffer_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/real/state.h"

/* The API takes NULL for "in place". With MPI_BOTTOM, displacements are addresses: they
 * are then counted from this address instead of 0. */
#define BOTTOM ((char *)1)

int shim_side_open(struct shim_side *side_out, const void *buf, size_t count,
                   const struct shim_datatype *type, bool is_input)
{
    struct shim_side *side = side_out;

    *side = (struct shim_side){
        .data = (char *)(uintptr_t)buf,
        .n_bytes = count * type->size,
        .buf = (void *)(uintptr_t)buf,
        .type = type,
    };
    if ((type->is_dense && (is_input || shim_state.buffers == NULL)) ||
        side->n_bytes == 0) {
        return 0;
    }
    side->temporary = malloc(side->n_bytes);
    if (side->temporary == NULL) {
        return -ENOMEM;
    }
    side->data = side->temporary;
    if (is_input) {
        shim_pack(buf, count, type, side->data);
    }
    return 0;
}

void shim_side_close(struct shim_side *side, bool is_output)
{
    if (side->temporary != NULL && is_output) {
        shim_unpack(side->data, side->n_bytes, side->buf, side->type);
    }
    free(side->temporary);
    side->temporary = NULL;
}

void shim_layout_keep(struct shim_layout *layout)
{
    size_t n = (size_t)layout->n_blocks;
    MPI_Aint *offsets;
    int *counts, *displs;

    if (n == 0) {
        return;
    }
    offsets = malloc(n * (sizeof(*offsets) + sizeof(*counts) + sizeof(*displs)));
    if (offsets == NULL) {
        return;
    }
    counts = (int *)(offsets + n);
    displs = counts + n;
    layout->kept = offsets;
    layout->counts = memcpy(counts, layout->counts, n * sizeof(*counts));
    if (layout->displs != NULL) {
        layout->displs = memcpy(displs, layout->displs, n * sizeof(*displs));
    }
    if (layout->offsets != NULL) {
        layout->offsets = memcpy(offsets, layout->offsets, n * sizeof(*offsets));
    }
}

static int count_of(const struct shim_layout *layout, int32_t rank)
{
    return layout->is_vector ? layout->counts[rank] : layout->count;
}

static const struct shim_datatype *type_of(const struct shim_layout *layout,
                                           int32_t rank)
{
    return layout->has_types ? layout->types[rank] : layout->type;
}

static size_t bytes_of(const struct shim_layout *layout, int32_t rank)
{
    return (size_t)count_of(layout, rank) * type_of(layout, rank)->size;
}

/* Where a block starts in the program's memory, in bytes from the buffer. */
static ptrdiff_t offset_of(const struct shim_layout *layout, int32_t rank)
{
    if (layout->offsets != NULL) {
        return layout->offsets[rank];
    }
    if (layout->has_types) {
        return layout->displs[rank];
    }
    return layout->type->extent *
           (layout->is_vector ? layout->displs[rank] : (ptrdiff_t)rank * layout->count);
}

const char *shim_layout_block(const struct shim_layout *layout, int32_t i,
                              size_t *count_out, const struct shim_datatype **type_out)
{
    *count_out = (size_t)count_of(layout, i);
    *type_out = type_of(layout, i);
    return (const char *)layout->buf + offset_of(layout, i);
}

static bool is_dense(const struct shim_layout *layout, int32_t size)
{
    if (!layout->has_types) {
        return layout->type->is_dense;
    }
    for (int32_t i = 0; i < size; i++) {
        if (!layout->types[i]->is_dense) {
            return false;
        }
    }
    return true;
}

static void use_in_place(struct shim_blocks *blocks)
{
    const struct shim_layout *layout = blocks->layout;
    char *base = layout->buf != NULL ? (char *)(uintptr_t)layout->buf : BOTTOM;
    size_t *displacements = blocks->numbers + blocks->size;

    blocks->blocks.data = base;
    if (!layout->is_vector) {
        return; /* without gaps: the API needs no displacements */
    }
    for (int32_t i = 0; i < blocks->size; i++) {
        uintptr_t address = (uintptr_t)layout->buf + (uintptr_t)offset_of(layout, i);

        displacements[i] = address - (uintptr_t)base;
    }
    blocks->blocks.displacements = displacements;
}

static void pack_blocks(struct shim_blocks *blocks, int input)
{
    const struct shim_layout *layout = blocks->layout;
    char *packed = blocks->temporary;

    for (int32_t i = 0; i < blocks->size; i++) {
        if (input == SHIM_INPUT_ALL || input == i) {
            shim_pack((const char *)layout->buf + offset_of(layout, i),
                      (size_t)count_of(layout, i), type_of(layout, i), packed);
        }
        packed += bytes_of(layout, i);
    }
}

static void unpack_blocks(struct shim_blocks *blocks)
{
    const struct shim_layout *layout = blocks->layout;
    char *buf = (char *)(uintptr_t)layout->buf;
    const char *packed = blocks->temporary;

    for (int32_t i = 0; i < blocks->size; i++) {
        shim_unpack(packed, bytes_of(layout, i), buf + offset_of(layout, i),
                    type_of(layout, i));
        packed += bytes_of(layout, i);
    }
}

/** Set the lengths of the blocks. @return 0 or -ENOMEM */
static int set_lengths(struct shim_blocks *blocks, size_t *total_out)
{
    const struct shim_layout *layout = blocks->layout;
    int32_t size = blocks->size;

    if (!layout->is_vector && !layout->has_types) {
        blocks->blocks.block_bytes = bytes_of(layout, 0);
        *total_out = (size_t)size * blocks->blocks.block_bytes;
        return 0;
    }
    if (size > SHIM_BLOCKS_SMALL) {
        blocks->numbers = malloc(2 * (size_t)size * sizeof(*blocks->numbers));
        if (blocks->numbers == NULL) {
            return -ENOMEM;
        }
    }
    *total_out = 0;
    for (int32_t i = 0; i < size; i++) {
        blocks->numbers[i] = bytes_of(layout, i);
        *total_out += blocks->numbers[i];
    }
    blocks->blocks.n_bytes = blocks->numbers;
    return 0;
}

int shim_blocks_open(struct shim_blocks *blocks_out, const struct shim_layout *layout,
                     int32_t size, int input)
{
    struct shim_blocks *blocks = blocks_out;
    size_t total;
    int status;

    blocks->blocks = (struct bcs_blocks){0};
    blocks->layout = layout;
    blocks->size = size;
    blocks->temporary = NULL;
    blocks->numbers = blocks->small;
    status = set_lengths(blocks, &total);
    if (status != 0) {
        return status;
    }
    if (is_dense(layout, size) && shim_state.buffers == NULL) {
        use_in_place(blocks);
        return 0;
    }
    blocks->temporary = malloc(total + 1);
    if (blocks->temporary == NULL) {
        return -ENOMEM;
    }
    blocks->blocks.data = blocks->temporary;
    pack_blocks(blocks, input);
    return 0;
}

void shim_blocks_close(struct shim_blocks *blocks, bool is_output)
{
    if (blocks->temporary != NULL && is_output) {
        unpack_blocks(blocks);
    }
    free(blocks->temporary);
    blocks->temporary = NULL;
    if (blocks->numbers != blocks->small) {
        free(blocks->numbers);
    }
    blocks->numbers = NULL;
}
