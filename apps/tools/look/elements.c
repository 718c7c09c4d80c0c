/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goes through tables in files with holes; see elements.h.
 */
#include "apps/tools/look/elements.h"

#include <unistd.h>

/** The element of the later part that a place is in, or the next one behind it. */
static uint64_t later_element_at(const struct nic_region *region, uint64_t gva)
{
    uint64_t window = (gva - region->gva) >> region->window_shift;
    uint64_t within = (gva - region->gva) & ((UINT64_C(1) << region->window_shift) - 1);
    uint64_t number = within / region->stride_bytes;

    /* What is left of a window behind its elements is nobody's. */
    return number >> region->shift != 0 ? (window + 1) << region->shift
                                        : (window << region->shift) + number;
}

/** Pass what is in the hole that the next element begins in. @return false: all is
 *  passed */
static bool pass_hole(struct bcs_elements *elements)
{
    const struct nic_region *region = &elements->region;
    uint64_t gva = nic_region_gva(region, elements->next);
    bool is_first = elements->next < region->n_first;
    off_t data = lseek(elements->fd, (off_t)gva, SEEK_DATA);
    off_t end = data < 0 ? -1 : lseek(elements->fd, data, SEEK_HOLE);

    if (end < 0) {
        return false;
    }
    elements->data_end = (uint64_t)end;
    if (!is_first) {
        elements->next = later_element_at(region, (uint64_t)data);
    } else if ((uint64_t)data <
               region->first_gva + (uint64_t)region->n_first * region->stride_bytes) {
        elements->next = ((uint64_t)data - region->first_gva) / region->stride_bytes;
    } else {
        elements->next = region->n_first;
        elements->data_end = 0;
    }
    return true;
}

bool bcs_elements_next(struct bcs_elements *elements, uint64_t *number_out)
{
    while (elements->next < elements->n) {
        /* The later part stands behind the first one: a stretch of that ends before
         * it. */
        if (nic_region_gva(&elements->region, elements->next) < elements->data_end) {
            *number_out = elements->next++;
            return true;
        }
        if (!pass_hole(elements)) {
            elements->next = elements->n;
        }
    }
    return false;
}
