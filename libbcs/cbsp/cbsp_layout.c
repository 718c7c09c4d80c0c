/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a heap: the same in every process, computed by each.
 *
 * A buffer is as large as the number of processes allows, from 4 KB to 64 KB. Buffers
 * do not begin at multiples of their length, so that their first messages, which are
 * all polled, are not in the same few lines of a cache.
 */
#include <errno.h>

#include "libbcs/cbsp/cbsp_wire.h"
#include "libbcs/session/exports.h"

#define LEAST_BUFFER_BYTES 4096
#define ALL_BUFFERS_BYTES (512 * 1024) /* of one set, if they are not the smallest */
#define SKEW_BYTES 192

/** Reserve lines of their own. */
static uint64_t lines(struct bcs_heap *heap, uint64_t n_bytes)
{
    return bcs_heap_reserve(heap, bcs_align_up(n_bytes, 64), 64);
}

static uint64_t buffer_bytes(uint32_t n_procs, uint64_t most_bytes)
{
    uint64_t n_bytes = most_bytes;

    while (n_bytes > LEAST_BUFFER_BYTES && n_bytes * n_procs > ALL_BUFFERS_BYTES) {
        n_bytes /= 2;
    }
    return n_bytes;
}

int cbsp_layout_init(struct cbsp_layout *layout_out, uint32_t n_procs,
                     const struct bcs_limits *limits)
{
    struct bcs_heap heap;
    struct cbsp_layout layout = {
        .n_sets = limits->cbsp_sets,
        .n_children = limits->cbsp_children,
        .buffer_bytes = buffer_bytes(n_procs, limits->cbsp_buffer),
    };

    if (n_procs > CBSP_PROCESSES_MOST) {
        return -E2BIG;
    }
    bcs_heap_init(&heap, UINT64_MAX / CBSP_PROCESSES_MOST);
    layout.bell_gva = lines(&heap, sizeof(struct bcs_event));
    layout.wants_gva = lines(&heap, sizeof(struct bcs_event));
    layout.revocations_gva = lines(&heap, sizeof(struct bcs_event));
    layout.sent_gva = lines(&heap, sizeof(struct bcs_event));
    layout.progress_gva = lines(&heap, sizeof(uint64_t));
    layout.verdict_gva = lines(&heap, sizeof(uint64_t));
    layout.reporter_gva = lines(&heap, sizeof(uint64_t));
    layout.up_gva = lines(&heap, layout.n_children * sizeof(uint64_t));
    layout.down_gva = lines(&heap, sizeof(uint64_t));
    layout.from_gva = lines(&heap, n_procs * sizeof(struct cbsp_from));
    layout.exports_gva = lines(&heap, bcs_exports_bytes(n_procs));
    layout.stride_bytes = layout.buffer_bytes + SKEW_BYTES;
    layout.buffers_gva =
        lines(&heap, (uint64_t)n_procs * layout.n_sets * layout.stride_bytes);
    layout.stage_gva = lines(&heap, n_procs * layout.buffer_bytes);
    layout.heap_bytes = bcs_align_up(heap.next, BCS_HEAP_ALIGN);
    *layout_out = layout;
    return 0;
}
