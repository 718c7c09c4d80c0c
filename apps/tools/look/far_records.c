/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps what a machine knows of other ones; see far_records.h.
 */
#include "apps/tools/look/far_records.h"

#include <stddef.h>
#include <sys/mman.h>

int bcs_far_records_open(const struct bcs_shm_segment *heap,
                         const struct nic_layout *layout,
                         struct bcs_far_records *records_out)
{
    const struct nic_region *region = &layout->far_stands;
    uint64_t n_bytes = nic_layout_far_stand_gva(layout, layout->shape.n_ports - 1) +
                       region->stride_bytes - region->gva;
    const void *base = NULL;
    int rc = bcs_shm_segment_view(heap, region->gva, n_bytes, &base);

    if (rc == 0) {
        *records_out = (struct bcs_far_records){base, n_bytes};
    }
    return rc;
}

void bcs_far_records_close(struct bcs_far_records *records)
{
    if (records->base != NULL) {
        munmap((void *)(uintptr_t)records->base, records->n_bytes);
    }
    *records = (struct bcs_far_records){0};
}

const struct bcs_far_stand *bcs_far_records_of(const struct bcs_far_records *records,
                                               const struct nic_layout *layout,
                                               uint32_t port)
{
    return records->base == NULL
               ? NULL
               : (const void *)(records->base + nic_layout_far_stand_gva(layout, port) -
                                layout->far_stands.gva);
}
