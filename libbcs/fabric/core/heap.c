/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of the symmetric heap: a bump allocator without any shared state, so that
 * all processes of a job compute the same addresses. Pure functions.
 */
#include <bcs/primitives.h>

void bcs_heap_init(struct bcs_heap *heap, uint64_t heap_bytes)
{
    heap->next = BCS_HEAP_RESERVED_BYTES;
    heap->limit = heap_bytes;
}

uint64_t bcs_heap_reserve(struct bcs_heap *heap, size_t n_bytes, size_t align)
{
    uint64_t skip;

    if (align == 0 || align > BCS_HEAP_ALIGN || (align & (align - 1)) != 0) {
        return 0;
    }
    skip = -heap->next & (align - 1);
    if (heap->next > heap->limit || skip > heap->limit - heap->next ||
        n_bytes > heap->limit - heap->next - skip) {
        return 0;
    }
    heap->next += skip + n_bytes;
    return heap->next - n_bytes;
}
